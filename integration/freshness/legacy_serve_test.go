package freshness_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"adlens/integration/house"
	"adlens/integration/standin"
)

// brandsCampaigns makes campaigns of Sponsored Brands of a form, the first of which has
// the profile's id, and each a figure of yesterday with its cost.
func (m *merchant) brandsCampaigns(t *testing.T, legacy bool, costs ...string) (all []standin.Campaign) {
	t.Helper()
	for i, cost := range costs {
		c := standin.Campaign{Profile: m.profiles[0].ID, AdProduct: standin.SponsoredBrands, ID: strconv.Itoa(int(m.profiles[0].ID) + i), Name: "Campaign of " + cost,
			State: "ENABLED", Budget: "5.00", BudgetType: "DAILY", StartDate: "2026-01-05", Legacy: legacy}
		f := m.sale(0, standin.SponsoredBrands, m.back(t, 0, 1), cost, "3")
		id, err := strconv.ParseUint(c.ID, 10, 64)
		house.Need(t, err)
		f.CampaignID = id
		m.live.platform.Restate(f)
		all = append(all, c)
	}
	return all
}

// legacyMerchant makes a connected account of which yesterday's spend is 10.00, and 101.50
// more that only legacy reports have.
func (l *live) legacyMerchant(t *testing.T) *merchant {
	t.Helper()
	m := l.merchant(t, "US")
	m.planReports(whole)
	l.platform.Restate(m.sale(0, standin.SponsoredProducts, m.back(t, 0, 1), "10.00", "20"))
	l.platform.SetEntitiesOf(m.profiles[0].ID, standin.Entities{Campaigns: m.brandsCampaigns(t, true, "1.50", "100.00")})
	m.connect(t)
	return m
}

// legacyDays is for how many days the platform has legacy reports, one of each day.
const legacyDays = 60

// serve reads lists after the reports, although no client asks for campaigns, and
// requests legacy reports as soon as a list names campaigns which only these have.
func TestServeRequestsLegacyReportsOnceAListNamesTheirCampaigns(t *testing.T) {
	t.Parallel()
	l := ownLive(t, 1)
	m := l.legacyMerchant(t)
	sums(t, m.Ask, "range=last_7_days", `"spend":111.50`)
	l.wantLegacy(t, legacyDays)
	l.wantOneDownload(t)
	m.wantRest(t, firstRequests)
	if said := m.log(); len(said) != 0 {
		t.Errorf("the log complains of what went well:\n%s", strings.Join(said, "\n"))
	}

	// Another list brings no second request of the same days.
	l.kill(t)
	m.Ask.Address = l.start(t).Address
	m.wantRest(t, firstRequests)
	l.wantLegacy(t, legacyDays)
	if n := len(l.platform.Recorded(standin.LegacyCreate)); n != legacyDays {
		t.Errorf("%d legacy reports were requested, want each of the %d once", n, legacyDays)
	}
}

// A report with a campaign that no list knows waits on the disk, is reported once with
// the campaign, and is loaded by itself when a list names it.
func TestAReportWaitsForTheListThatNamesItsCampaign(t *testing.T) {
	t.Parallel()
	l := ownLive(t, 1)
	m := l.merchant(t, "US")
	m.planReports(whole)
	all := m.brandsCampaigns(t, true, "1.50", "100.00")
	fact := m.sale(0, standin.SponsoredBrands, m.back(t, 0, 5), "7.00", "3")
	id, err := strconv.ParseUint(all[0].ID, 10, 64)
	house.Need(t, err)
	fact.CampaignID = id
	l.platform.Restate(fact)
	l.platform.SetEntitiesOf(m.profiles[0].ID, standin.Entities{Campaigns: all})
	m.fault(0, standin.Fault{On: standin.SBCampaigns, Times: 1, Do: standin.Effected(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		l.platform.SetEntitiesOf(m.profiles[0].ID, standin.Entities{Campaigns: all[:1]}) // after the reports
		next.ServeHTTP(w, r)
	})})
	m.connect(t)
	sums(t, m.Ask, "range=last_7_days", `"spend":7.00`) // yesterday waits as a whole
	said := func() string { return strings.Join(m.log(), "\n") }
	house.Eventually(t, "the log names the campaign", func() bool { return strings.Contains(said(), "waits for a list of campaigns") })
	if text := said(); !strings.Contains(text, all[1].ID) {
		t.Errorf("want the campaign %s to be named, got:\n%s", all[1].ID, text)
	}
	m.wantRest(t, firstRequests)
	m.wantOneReading(t, 0) // it rests for half an hour
	if text := said(); strings.Count(text, "waits for a list of campaigns; it is loaded") != 1 {
		t.Errorf("want it reported once, got:\n%s", text)
	}
	if r := l.Run("doctor", "--quick", "--account", m.Files.ID); strings.Contains(r.Stdout, "want of rates") || !strings.Contains(r.Stdout, "1 downloaded reports of "+m.back(t, 0, 1)+" to "+m.back(t, 0, 1)+" are not loaded yet") {
		t.Errorf("want the doctor to name the report, and no rates: %s", r)
	}
	day := m.back(t, 0, 1)
	if _, err := os.Stat(filepath.Join(l.DataDir, "extracts", m.Files.ID, strings.Join([]string{m.id(0), "hsaCampaigns", day, day}, "-")+".report.json")); err != nil {
		t.Error(err)
	}

	// So it does for a pull, where the report waits on.
	l.platform.SetEntitiesOf(m.profiles[0].ID, standin.Entities{Campaigns: all})
	if r := m.pull(t, "--days", "1"); r.Code != 1 || !strings.Contains(r.Stdout, "1 waiting") || !strings.Contains(r.Stderr, all[1].ID) {
		t.Errorf("pull without the list: %s", r)
	}
	m.wantOneReading(t, 0)
	sums(t, m.Ask, "range=last_7_days", `"spend":7.00`)

	house.Load(t, l.Program, m.Tenant, m.exports(t, 0, time.Now()))
	sums(t, m.Ask, "range=last_7_days", `"spend":108.50`)
	l.wantOneDownload(t)
	if n := len(l.platform.Recorded(standin.LegacyCreate)); n != legacyDays {
		t.Errorf("%d legacy reports were requested, want each of the %d once", n, legacyDays)
	}
}
