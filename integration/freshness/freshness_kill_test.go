package freshness_test

import (
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"adlens/integration/house"
	"adlens/integration/standin"
)

func TestNoKillTearsAReading(t *testing.T) {
	t.Parallel()
	rounds := house.Scaled(5)
	l := ownLive(t, 1)
	countries := []string{"US"} // the first tells how long a reading takes
	for range rounds {
		countries = append(countries, "US")
	}
	m := l.merchant(t, countries...)
	r := random(t)
	m.connect(t)
	for marketplace := range countries {
		m.hold(r, marketplace, "before", 260, 60, 40)
		m.loadOld(t, marketplace, time.Hour)
		m.hold(r, marketplace, "after", 330, 160, 140)
		for _, endpoint := range listEndpoints {
			m.fault(marketplace, standin.Fault{On: endpoint, Times: -1, Do: standin.Slow(20 * time.Millisecond)})
		}
	}
	began := time.Now()
	m.begin(t, "/campaigns", 0)
	m.read(t, 0, began, m.settled(t, 0))
	usual := time.Since(began)

	for round := 1; round <= rounds; round++ {
		m.begin(t, "/campaigns", round)
		// Some of them when the lists are all read and being stored.
		<-time.After(time.Duration(r.Int64N(int64(usual) + 1)))
		l.kill(t)
		m.Ask.Address = l.start(t).Address
		m.showsOldOrNew(t, round)
	}
	// A killed reader's claim ends a minute after its last sign of life, and is
	// not renewed within the half hour.
	calls := m.listCalls(rounds)
	m.settled(t, rounds)
	for round := 1; round <= rounds; round++ {
		m.settled(t, round)
		m.showsOldOrNew(t, round)
		for page, times := range m.pagesAsked(round) {
			// A page that was on its way at the kill is the one that may differ.
			if times > 1 {
				t.Errorf("round %d: %s was requested %d times", round, page, times)
			}
		}
	}
	if now := m.listCalls(rounds); now != calls {
		t.Errorf("the reading was begun again within its half hour: %d calls became %d", calls, now)
	}
	house.CheckLists(t, m.Tenant)
}

func TestAReadingOutlivesTheEngine(t *testing.T) {
	t.Parallel()
	house.NeedEngine(t)
	l := ownLive(t, 1)
	m := l.stale(t)
	gate := make(chan struct{})
	m.holdBack(0, gate)
	m.begin(t, "/campaigns", 0)
	house.Need(t, l.KillEngine())
	close(gate)
	house.Eventually(t, "the engine answers", func() bool {
		return house.Get(t, m.Ask, "/api/v1/marketplaces").Status == 200
	})
	m.settled(t, 0)
	m.showsOldOrNew(t, 0)
}

// showsOldOrNew demands that a marketplace's lists and counts are together
// those from before its reading, or those of a whole one.
func (m *merchant) showsOldOrNew(t *testing.T, marketplace int) {
	t.Helper()
	l := listOf(t, m.Ask, "/campaigns", m.id(marketplace))
	if l.Meta.SyncedAt == nil {
		t.Fatalf("marketplace %d lost its list: %s", marketplace, l.answer)
	}
	if time.Since(*l.Meta.SyncedAt) < 50*time.Minute {
		m.Model.Load(m.exportsAsShown(t, marketplace))
	}
	for _, path := range []string{"/campaigns", "/ad-groups"} {
		q := house.NewQuestion(path, "page_size=1000&marketplace_id="+m.id(marketplace))
		if lines := withoutSyncing(house.Differences(m.Ask, m.Model, q)); len(lines) > 0 {
			t.Errorf("%s of marketplace %d is neither the old list nor the new: %s", path, marketplace, firstOf(lines))
		}
	}
	if lines := house.Differences(m.Ask, m.Model, house.NewQuestion("/marketplaces", "")); len(lines) > 0 {
		t.Errorf("counts after round %d: %s", marketplace, firstOf(lines))
	}
}

// withoutSyncing forgives an answer that it says syncing.
func withoutSyncing(lines []string) []string {
	return slices.DeleteFunc(lines, func(line string) bool { return strings.HasPrefix(line, "$.meta.syncing:") })
}

func firstOf(lines []string) string { return strings.Join(lines[:min(len(lines), 5)], "\n  ") }

// A report that waits for rates is where a server, or a pull without --out, finds it also
// where its pull into another directory is killed meanwhile.
func TestAWaitingReportOfAKilledPullIsDownloadedOnce(t *testing.T) {
	t.Parallel()
	h, a, account := &house.House{Program: house.OwnProgram(t)}, newAbroad(t), "acme"
	_, err := h.Account(account)
	house.Need(t, err)
	a.connect(t, h, account)
	gate := make(chan struct{})
	a.platform.Inject(standin.Fault{On: standin.ReportPoll, Profile: profileUK, Times: -1, Do: standin.Effected(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		select {
		case <-gate:
			next.ServeHTTP(w, r)
		case <-r.Context().Done():
		}
	})})
	args := append([]string{"pull", "--account", account, "--days", "7", "--poll", "10ms", "--rates-url", "none"}, house.PlatformFlags(a.platform)...)
	killed := h.Command(t.Context(), append(args, "--out", t.TempDir())...)
	house.Need(t, killed.Start())
	kept := filepath.Join(h.DataDir, "extracts", account, "*-spAdvertisedProduct-*.report.json")
	house.Eventually(t, "the reports that have come are kept", func() bool {
		found, err := filepath.Glob(kept)
		return err == nil && len(found) == len(currencyOf)-1
	})
	house.Need(t, killed.Process.Kill())
	_ = killed.Wait()
	close(gate)
	rates := "date,currency,usd\n"
	for _, currency := range currencyOf {
		rates += house.DaysAgo(7) + "," + currency + ",2\n"
	}
	if l, err := h.Load(account, house.Put(t, t.TempDir(), "rates.csv", []byte(rates))); err != nil || l.Code != 0 {
		t.Fatalf("loading the rates: %v %s", err, l.Result)
	}
	if r := h.Run(args...); r.Code != 0 {
		t.Fatalf("pull: %s", r)
	}
	files := map[string]int{}
	for _, call := range a.platform.Recorded(standin.ReportFile) {
		if files[call.Path]++; files[call.Path] > 1 {
			t.Errorf("%s was downloaded again", call.Path)
		}
	}
	if want := 3 * len(currencyOf); len(files) != want {
		t.Errorf("%d reports were downloaded, expected %d", len(files), want)
	}
}
