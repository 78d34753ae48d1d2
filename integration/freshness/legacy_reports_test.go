package freshness_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"adlens/integration/house"
	"adlens/integration/standin"
)

// Campaigns that the v3 reports leave out are read from legacy ones, a day each,
// as soon as a list says which these are; each campaign counts once.
func TestLegacyReportsBringWhatV3OnesLeaveOut(t *testing.T) {
	t.Parallel()
	l := ownLive(t, 0)
	m := l.merchant(t, "US")
	m.planReports(whole)
	e := structure(random(t), m.profiles[0].ID, "legacy", 1, 3, 1)
	brands := 0
	for i, c := range e.Campaigns {
		if c.AdProduct != standin.SponsoredBrands {
			continue
		}
		e.Campaigns[i].Legacy = brands != 1
		e.Campaigns[i].StartDate, e.Campaigns[i].EndDate = "2026-01-05", ""
		id, err := strconv.ParseUint(c.ID, 10, 64)
		house.Need(t, err)
		for back, cost := range map[int]string{1: []string{"1.00", "10.00", "100.00"}[brands], 5: []string{"1000.00", "20.00", "0"}[brands]} {
			f := m.sale(0, standin.SponsoredBrands, m.back(t, 0, back), cost, "3")
			f.CampaignID = id
			l.platform.Restate(f)
		}
		brands++
	}
	l.platform.SetEntitiesOf(m.profiles[0].ID, e)
	m.connect(t)
	summary := func(days string, want ...string) {
		t.Helper()
		r := l.Run("figures", "--account", m.Files.ID, "--format", "json", "summary", "range="+days)
		for _, w := range want {
			if without, absent := strings.CutPrefix(w, "no "); r.Code != 0 || strings.Contains(r.Stdout, without) == absent {
				t.Errorf("want %s, got %s", w, r)
			}
		}
	}
	// No server runs: it would request the legacy reports itself.
	m.fault(0, standin.Fault{On: standin.SBCampaigns, Times: 1, Do: standin.Error(http.StatusBadRequest, standin.Details, "no list today")})
	if r := m.pull(t); r.Code != 0 || !strings.Contains(r.Stderr, "no list today") {
		t.Fatalf("pull: %s", r)
	}
	l.wantLegacy(t, 0)
	house.Load(t, l.Program, m.Tenant, m.exports(t, 0, time.Now()))
	summary("last_30_days", `"spend":30.00`)
	summary("last_7_days", `"legacy_sponsored_brands"`)

	// A day that is refused keeps no other back, and is requested again.
	l.platform.Inject(standin.Fault{On: standin.LegacyCreate, Times: 1, Do: standin.Error(http.StatusBadRequest, standin.Details, "not today")})
	if r := m.pull(t, "--days", "9"); r.Code == 0 || !strings.Contains(r.Stderr, "not today") || strings.Contains(r.Stderr, "the platform has no such reports") {
		t.Fatalf("pull with a refused day: %s", r)
	}
	l.wantLegacy(t, 9)
	if r := m.pull(t, "--days", "9"); r.Code != 0 {
		t.Fatalf("pull: %s", r)
	}
	l.wantLegacy(t, 9)
	l.wantOneDownload(t)
	summary("last_7_days", `"spend":1131.00`, `no "legacy_sponsored_brands"`)
	summary("last_30_days", `"legacy_sponsored_brands"`) // of the other days

	// What is restated is read again, and a platform that has them no more is a notice.
	l.platform.Inject(standin.Fault{On: standin.LegacyCreate, Times: -1, Do: standin.Effected(func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		w.WriteHeader(http.StatusGone)
	})})
	if r := m.pull(t, "--days", "9"); r.Code != 0 || strings.Count(r.Stderr, "the platform has no such reports of this profile") != 1 {
		t.Errorf("pull without legacy reports: %s", r)
	}
	summary("last_7_days", `"spend":1131.00`)
}

// A pull by hand reads the lists itself, and no figure needs one that fails.
func TestAPullFindsTheCampaignsOfLegacyReports(t *testing.T) {
	t.Parallel()
	l := ownLive(t, 0)
	m := l.legacyMerchant(t)
	m.fault(0, standin.Fault{On: standin.SDCampaigns, Times: 1, Do: standin.Error(http.StatusBadRequest, standin.Details, "no list today")})
	if r := m.pull(t, "--days", "9"); r.Code != 0 || strings.Count(r.Stderr, "no list today") != 1 || !strings.Contains(r.Stderr, m.id(0)) {
		t.Errorf("pull: %s", r)
	}
	l.wantLegacy(t, 9)
	if r := l.Run("figures", "--account", m.Files.ID, "--format", "json", "range=last_7_days"); !strings.Contains(r.Stdout, `"spend":111.50`) {
		t.Errorf("want what both kinds of reports have, got %s", r)
	}
	if r := m.pull(t, "--days", "9"); r.Code != 0 || len(l.platform.Recorded(standin.SBCampaigns)) != 1 {
		t.Errorf("want no list to be read twice within half an hour: %s", r)
	}
}

// wantLegacy demands that so many legacy reports were requested, each of a day.
func (l *live) wantLegacy(t *testing.T, want int) {
	t.Helper()
	bodies := map[string]bool{}
	for _, call := range l.platform.Recorded(standin.LegacyCreate) {
		bodies[call.Body] = true
	}
	if len(bodies) != want {
		t.Errorf("%d legacy reports were requested, want %d: %v", len(bodies), want, bodies)
	}
}

// wantOneDownload demands that no file was downloaded twice, and that the storage got
// none of the platform's credentials.
func (l *live) wantOneDownload(t *testing.T) {
	t.Helper()
	times := map[string]int{}
	for _, call := range l.platform.Recorded(standin.ReportFile) {
		if times[call.Path]++; times[call.Path] > 1 || call.Scope() != "" {
			t.Errorf("%s was downloaded %d times, scope %q", call.Path, times[call.Path], call.Scope())
		}
	}
}
