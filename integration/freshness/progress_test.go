package freshness_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"adlens/integration/harness"
	"adlens/integration/house"
	"adlens/integration/standin"
)

func (m *merchant) pull(t *testing.T, more ...string) harness.Result {
	t.Helper()
	return house.SpeakAs(t, m.live.Program, m.live.platform, "not needed", "not needed", append([]string{"pull", "--account", m.Files.ID, "--poll", "10ms"}, more...)...)
}

// wantDownloads demands that so many files were downloaded, none of them twice.
func (l *live) wantDownloads(t *testing.T, want int) {
	t.Helper()
	times := map[string]int{}
	for _, call := range l.platform.Recorded(standin.ReportFile) {
		if times[call.Path]++; times[call.Path] > 1 {
			t.Errorf("%s was downloaded %d times", call.Path, times[call.Path])
		}
	}
	if len(times) != want {
		t.Errorf("%d files were downloaded, want %d", len(times), want)
	}
}

// In America's afternoon the platform has forgotten a day more than the calendar
// of the profile says.
func TestAProfileOverTheRetentionWallIsReadFromTheDayThatThePlatformNames(t *testing.T) {
	t.Parallel()
	l := ownLive(t, 0)
	m := l.merchant(t, "US")
	m.planReports(whole)
	l.platform.MoveWall(m.profiles[0].ID, 1)
	l.platform.Restate(
		m.sale(0, standin.SponsoredProducts, m.back(t, 0, 95), "9000.00", "9000"), // behind the wall
		m.sale(0, standin.SponsoredProducts, m.back(t, 0, 94), "1.00", "2"),
		m.sale(0, standin.SponsoredProducts, m.back(t, 0, 1), "10.00", "20"),
		m.sale(0, standin.SponsoredBrands, m.back(t, 0, 60), "9000.00", "9000"),
		m.sale(0, standin.SponsoredBrands, m.back(t, 0, 59), "100.00", "200"),
		m.sale(0, standin.SponsoredDisplay, m.back(t, 0, 64), "1000.00", "2000"),
	)
	m.connect(t)
	const refused = 3 // the oldest report of each type
	r := m.pull(t)
	if r.Code != 0 || strings.Count(r.Stderr, "has no figures before") != refused || !strings.Contains(r.Stderr, m.back(t, 0, 94)) {
		t.Errorf("pull: %s", r)
	}
	if n := m.creates(0); n != firstRequests+refused {
		t.Errorf("%d reports were requested, want %d", n, firstRequests+refused)
	}
	l.wantDownloads(t, firstRequests)

	// A server has nothing left to do; of another account it meets the same wall.
	m.Ask.Address = l.start(t).Address
	other := l.merchant(t, "US")
	other.planReports(whole)
	l.platform.MoveWall(other.profiles[0].ID, 1)
	other.connect(t)
	house.Eventually(t, "the server has read all", func() bool { return other.creates(0) == firstRequests+refused })
	other.wantRest(t, firstRequests+refused)
	m.wantCreates(t, firstRequests+refused)
	sums(t, m.Ask, "range=all_time", `"spend":1111.00,"sales":2222.00`)
	if said := other.log(); len(said) != 0 {
		t.Errorf("the log complains:\n%s", strings.Join(said, "\n"))
	}
	if said := m.log(); len(said) != 0 {
		t.Errorf("the log complains:\n%s", strings.Join(said, "\n"))
	}
	if r := l.Run("doctor", "--account", m.Files.ID); r.Code != 0 || !strings.Contains(r.Stdout, "no sbCampaigns of US "+m.id(0)+" before "+m.back(t, 0, 59)) {
		t.Errorf("doctor: %s", r)
	}
}

func TestAWallThatMakesNoSenseEndsTheTries(t *testing.T) {
	t.Parallel()
	l := ownLive(t, 0)
	m := l.merchant(t, "US")
	m.planReports(whole)
	m.connect(t)
	for _, day := range []string{"2999-01-01", m.back(t, 0, 400), "2026-02-31", m.back(t, 0, 94)} {
		before := m.creates(0)
		heal := l.platform.Inject(standin.Fault{On: standin.ReportCreate, Profile: m.profiles[0].ID, Times: -1, Do: standin.Error(400, standin.Details,
			"startDate (2026-01-01) must be equal to or after report type data retention start date ("+day+")")})
		if r := m.pull(t); r.Code == 0 || !strings.Contains(r.Stderr, day) {
			t.Errorf("%s: %s", day, r)
		}
		heal()
		if n := m.creates(0) - before; n < firstRequests || n > 2*firstRequests {
			t.Errorf("%s: %d reports were requested", day, n)
		}
	}
	if r := m.pull(t); r.Code != 0 {
		t.Errorf("pull: %s", r)
	}
	l.wantDownloads(t, firstRequests)
}

func TestTheNextPullFetchesOnlyWhatIsMissing(t *testing.T) {
	t.Parallel()
	l := ownLive(t, 0)
	m := l.merchant(t, "US")
	m.planReports(func(o standin.ReportOrder) standin.JobPlan {
		if o.ReportTypeID == "sbCampaigns" || o.ReportTypeID == "spAdvertisedProduct" && o.StartDate == m.back(t, 0, 95) {
			return standin.JobPlan{FailureReason: "out of order"}
		}
		return standin.JobPlan{}
	})
	l.platform.Restate(
		m.sale(0, standin.SponsoredProducts, m.back(t, 0, 95), "1.00", "2"),
		m.sale(0, standin.SponsoredProducts, m.back(t, 0, 1), "10.00", "20"),
		m.sale(0, standin.SponsoredBrands, m.back(t, 0, 60), "100.00", "200"),
	)
	m.connect(t)
	const failing = 2 + 1
	for range 2 {
		if r := m.pull(t); r.Code == 0 || !strings.Contains(r.Stderr, "out of order") {
			t.Errorf("pull: %s", r)
		}
		l.wantDownloads(t, firstRequests-failing)
	}
	m.planReports(whole)
	requested, looks := m.creates(0), l.platform.Calls(standin.ReportPoll)
	if r := m.pull(t); r.Code != 0 {
		t.Errorf("pull: %s", r)
	}
	if n := m.creates(0) - requested; n != failing {
		t.Errorf("%d reports were requested, want the %d that failed", n, failing)
	}
	if n := l.platform.Calls(standin.ReportPoll) - looks; n != failing {
		t.Errorf("%d looks at reports, want %d", n, failing)
	}
	l.wantDownloads(t, firstRequests)
	if r := m.pull(t); r.Code != 0 { // which begins again
		t.Errorf("pull: %s", r)
	}
	l.wantDownloads(t, firstRequests+2+2+1) // without what is read for good; the second report of Display begins there, and still counts
	m.Ask.Address = l.start(t).Address
	sums(t, m.Ask, "range=all_time", `"spend":111.00,"sales":222.00`)
}

func TestDownloadedReportsWaitForRates(t *testing.T) {
	t.Parallel()
	l := ownLive(t, 0)
	m := l.merchant(t, "CA")
	m.planReports(whole)
	for _, days := range []int{3, 4, 40} {
		l.platform.Restate(m.sale(0, standin.SponsoredProducts, m.back(t, 0, days), "10.00", "20"))
	}
	m.connect(t)
	elsewhere := t.TempDir()
	for _, out := range []string{elsewhere, elsewhere, filepath.Join(l.DataDir, "extracts", m.Files.ID), t.TempDir()} {
		r := m.pull(t, "--out", out)
		lacks := "CAD on " + m.back(t, 0, 40) + ", " + m.back(t, 0, 4) + " to " + m.back(t, 0, 3)
		if r.Code == 0 || !strings.Contains(r.Stderr, "2 reports were downloaded and wait for rates: "+lacks) || !strings.Contains(r.Stdout, "2 waiting") {
			t.Errorf("pull: %s", r)
		}
	}
	if r := l.Run("doctor", "--account", m.Files.ID); r.Code != 0 || !strings.Contains(r.Stdout, "2 downloaded reports of ") || !strings.Contains(r.Stdout, "for want of rates of CAD") {
		t.Errorf("doctor: %s", r)
	}
	m.loadRate(t, 40)
	m.Ask.Address = l.start(t).Address
	sums(t, m.Ask, "range=all_time", `"spend":5.00,"sales":10.00`)
	m.loadRate(t, 4)
	sums(t, m.Ask, "range=all_time", `"spend":15.00,"sales":30.00`) // the server finds the rates by itself
	<-time.After(house.SeveralLooks)
	m.wantCreates(t, firstRequests)
	l.wantDownloads(t, firstRequests)
}

// loadRate loads a rate of half a dollar for a day.
func (m *merchant) loadRate(t *testing.T, back int) {
	t.Helper()
	path := house.Put(t, t.TempDir(), "rates.csv", []byte("date,currency,usd\n"+m.back(t, 0, back)+",CAD,0.5\n"))
	if r := m.live.Run("load", "--account", m.Files.ID, path); r.Code != 0 {
		t.Fatalf("load: %s", r)
	}
}

func TestAServersReportsWaitForRates(t *testing.T) {
	t.Parallel()
	l := ownLive(t, 1)
	m := l.merchant(t, "CA")
	m.planReports(whole)
	l.platform.Restate(m.sale(0, standin.SponsoredBrands, m.back(t, 0, 2), "10.00", "20"))
	m.connect(t)
	house.Eventually(t, "the log says what lacks", func() bool {
		said := strings.Join(m.log(), "\n")
		return strings.Contains(said, "wait for rates") && strings.Contains(said, "CAD on "+m.back(t, 0, 2))
	})
	<-time.After(house.SeveralLooks)
	l.kill(t) // the next server begins with the disk
	m.Ask.Address = l.start(t).Address
	<-time.After(house.SeveralLooks)
	m.loadRate(t, 2)
	sums(t, m.Ask, "range=all_time", `"spend":5.00,"sales":10.00`)
	m.wantCreates(t, firstRequests)
	l.wantDownloads(t, firstRequests)
	if said := m.log(); len(said) != 0 {
		t.Errorf("the log repeats it:\n%s", strings.Join(said, "\n"))
	}
}

func TestAProfileThatNeverHasAReportFailsNoPull(t *testing.T) {
	t.Parallel()
	l := ownLive(t, 0)
	m := l.merchant(t, "US")
	l.platform.Change(m.profiles[0].ID, func(p *standin.Profile) { p.SubType = "KDP_AUTHOR" })
	m.planReports(whole)
	m.connect(t)
	m.Ask.Address = l.start(t).Address
	house.Eventually(t, "the server has read the others", func() bool { return m.creates(0) >= 4+3+1 })
	m.wantRest(t, 4+3+2)
	l.kill(t)
	l.start(t) // it remembers
	m.wantRest(t, 4+3+2)
	if r := m.pull(t); r.Code != 0 || !strings.Contains(r.Stderr, "KDP authors do not have access to Sponsored Brands functionality") {
		t.Errorf("pull: %s", r)
	}
	if said := m.log(); len(said) != 0 {
		t.Errorf("the log complains:\n%s", strings.Join(said, "\n"))
	}
	if r := l.Run("doctor", "--account", m.Files.ID); !strings.Contains(r.Stdout, "no sbCampaigns of US "+m.id(0)+" at all") {
		t.Errorf("doctor: %s", r)
	}
	// Any other refusal is a failure.
	l.platform.Inject(standin.Fault{On: standin.ReportCreate, Times: -1, Do: standin.Error(400, standin.Detail, "Invalid Advertiser or Marketplace ID.")})
	if r := m.pull(t); r.Code == 0 {
		t.Errorf("pull: %s", r)
	}
}

// A pull by hand that read all that is due is a refresh as serve's are: the server
// does not repeat it, its failures are over, and doctor and /readyz know it.
func TestAPullByHandIsARefresh(t *testing.T) {
	t.Parallel()
	l := ownLive(t, 1)
	m := l.merchant(t, "US")
	m.planReports(func(standin.ReportOrder) standin.JobPlan { return standin.JobPlan{FailureReason: "out of order"} })
	l.platform.Restate(m.sale(0, standin.SponsoredProducts, m.back(t, 0, 20), "1.00", "2"), m.sale(0, standin.SponsoredProducts, m.back(t, 0, 1), "10.00", "20"))
	m.connect(t)
	house.Eventually(t, "a refresh failed", func() bool { return strings.Contains(strings.Join(m.log(), "\n"), "could not be refreshed") })
	l.kill(t)
	doctor := func() string { return l.Run("doctor", "--account", m.Files.ID).Stdout }
	if text := doctor(); !strings.Contains(text, "figures could not be refreshed, once") {
		t.Errorf("doctor after a failed refresh: %s", text)
	}
	m.planReports(whole)
	if r := m.pull(t, "--days", "14"); r.Code != 0 { // the rest stays due
		t.Errorf("pull: %s", r)
	}
	if text := doctor(); !strings.Contains(text, "figures could not be refreshed, once") {
		t.Errorf("doctor after a pull of some days: %s", text)
	}
	if r := m.pull(t); r.Code != 0 {
		t.Errorf("pull: %s", r)
	}
	if text := doctor(); strings.Contains(text, "could not be refreshed") {
		t.Errorf("doctor after a pull of all: %s", text)
	}
	requested := m.creates(0)
	m.Ask.Address = l.start(t).Address
	m.wantRest(t, requested)
	mustSum(t, m.Ask, `"spend":11.00,"sales":22.00`)
	ready := house.Get(t, harness.Client{Address: m.Ask.Address, Other: true}, "/readyz")
	if text := string(ready.Body); ready.Status != 200 || !strings.Contains(text, `"oldest_refresh":`) || strings.Contains(text, `"oldest_refresh":null`) {
		t.Errorf("the pull is no refresh for /readyz: %s", ready)
	}
}
