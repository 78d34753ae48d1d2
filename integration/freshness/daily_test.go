package freshness_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"adlens/integration/harness"
	"adlens/integration/house"
	"adlens/integration/standin"
)

// lookBacks are for how many days before today the platform has figures.
var lookBacks = map[string]int{"spAdvertisedProduct": 95, "sbCampaigns": 60, "sdAdvertisedProduct": 65}

// firstRequests is how many reports of at most 31 days cover all look-backs.
const firstRequests = 4 + 2 + 3

// sale is a fact of a marketplace: 1,000 impressions, 10 clicks, 1 purchase.
func (m *merchant) sale(marketplace int, adProduct, day, cost, sales string) standin.Fact {
	f := house.Fact("B0"+strings.ToUpper(day[5:7]+day[8:]), day, cost, sales)
	f.Profile, f.AdProduct = m.profiles[marketplace].ID, adProduct
	if adProduct == standin.SponsoredBrands {
		f.Product = ""
	}
	return f
}

// back is a marketplace's day, so many before its today.
func (m *merchant) back(t *testing.T, marketplace, days int) string {
	t.Helper()
	zone, err := time.LoadLocation(m.profiles[marketplace].TimeZone)
	house.Need(t, err)
	return time.Now().In(zone).AddDate(0, 0, -days).Format(time.DateOnly)
}

// asked is a report as it was requested.
type asked struct {
	StartDate, EndDate string
	Configuration      struct{ ReportTypeID string }
}

// reports are the reports of a marketplace that were requested, by type, those
// of the oldest days first.
func (m *merchant) reports(t *testing.T, marketplace int) map[string][]asked {
	t.Helper()
	all := map[string][]asked{}
	for _, call := range m.live.platform.Recorded(standin.ReportCreate) {
		if call.Scope() != m.id(marketplace) {
			continue
		}
		var one asked
		house.Need(t, json.Unmarshal([]byte(call.Body), &one))
		all[one.Configuration.ReportTypeID] = append(all[one.Configuration.ReportTypeID], one)
	}
	for _, list := range all {
		slices.SortFunc(list, func(a, b asked) int { return strings.Compare(a.StartDate, b.StartDate) })
	}
	return all
}

// creates counts the reports of a marketplace that were requested.
func (m *merchant) creates(marketplace int) int {
	return len(slices.DeleteFunc(m.live.platform.Recorded(standin.ReportCreate), func(c standin.Call) bool { return c.Scope() != m.id(marketplace) }))
}

// wantLookBackOnce demands that the reports cover each type's look-back up to
// the marketplace's yesterday, no day twice, and are of 31 days at most.
func (m *merchant) wantLookBackOnce(t *testing.T, marketplace int) {
	t.Helper()
	all := m.reports(t, marketplace)
	for kind, days := range lookBacks {
		next := m.back(t, marketplace, days)
		for _, one := range all[kind] {
			if one.StartDate != next {
				t.Errorf("%s: a report begins on %s, want %s; all: %v", kind, one.StartDate, next, all[kind])
			}
			start, err := time.Parse(time.DateOnly, one.StartDate)
			house.Need(t, err)
			end, err := time.Parse(time.DateOnly, one.EndDate)
			house.Need(t, err)
			if n := int(end.Sub(start).Hours()/24) + 1; n < 1 || n > 31 {
				t.Errorf("%s: %s to %s are %d days, want 31 at most", kind, one.StartDate, one.EndDate, n)
			}
			next = end.AddDate(0, 0, 1).Format(time.DateOnly)
		}
		if today := m.back(t, marketplace, 0); next != today {
			t.Errorf("%s: the reports end before %s, want %s; all: %v", kind, next, today, all[kind])
		}
	}
	if len(all) != len(lookBacks) {
		t.Errorf("want %d types of reports, got %d", len(lookBacks), len(all))
	}
}

// sums waits until a summary says what is wanted.
func sums(t *testing.T, c harness.Client, query, want string) {
	t.Helper()
	var last harness.Answer
	until := time.Now().Add(harness.Patience)
	for {
		last = house.Get(t, c, "/api/v1/summary?"+query)
		if last.Status == 200 && strings.Contains(string(last.Body), want) {
			return
		}
		if time.Now().After(until) {
			t.Fatalf("%s: want %s, got %s", query, want, last)
		}
		<-time.After(100 * time.Millisecond)
	}
}

func TestFiguresComeWithoutAnybodyPulling(t *testing.T) {
	t.Parallel()
	l := liveHouse(t)
	m := l.merchant(t, "US", "US")
	m.planReports(whole)
	l.platform.Restate(
		m.sale(0, standin.SponsoredProducts, m.back(t, 0, 95), "1.00", "2"),
		m.sale(0, standin.SponsoredProducts, m.back(t, 0, 1), "10.50", "20"),
		m.sale(0, standin.SponsoredBrands, m.back(t, 0, 60), "100.00", "200"),
		m.sale(0, standin.SponsoredDisplay, m.back(t, 0, 65), "1000.00", "2000"),
		m.sale(1, standin.SponsoredProducts, m.back(t, 1, 32), "20000.00", "40000"),
	)
	m.connect(t)
	sums(t, m.Ask, "range=all_time", `"spend":21111.50,"sales":42222.00`)
	for marketplace := range 2 {
		m.wantLookBackOnce(t, marketplace)
		if n := m.creates(marketplace); n != firstRequests {
			t.Errorf("%d reports were requested, want %d", n, firstRequests)
		}
	}
	out := filepath.Join(l.DataDir, "extracts", m.Files.ID)
	files, err := filepath.Glob(filepath.Join(out, "*.report.json"))
	if err != nil || len(files) != 2*firstRequests {
		t.Errorf("want %d extracts in %s, got %d (%v)", 2*firstRequests, out, len(files), err)
	}
	m.Model.Load(out)
	house.CheckAll(t, m.Ask, m.Model)
	house.Check(t, m.Ask, m.Model, house.NewQuestion("/marketplaces", ""))

	// What is restated comes with the next pull, by hand or by the day.
	l.platform.Restate(m.sale(0, standin.SponsoredProducts, m.back(t, 0, 1), "10.50", "80"))
	r := house.SpeakAs(t, l.Program, l.platform, "not needed", "not needed", "pull", "--account", m.Files.ID, "--days", "14", "--poll", "10ms")
	if r.Code != 0 {
		t.Errorf("pull beside serve: %s", r)
	}
	sums(t, m.Ask, "range=all_time", `"spend":21111.50,"sales":42282.00`)
	if said := m.log(); len(said) != 0 {
		t.Errorf("the log complains of what went well:\n%s", strings.Join(said, "\n"))
	}
	house.NoCanary(t, l.DataDir)
}

func TestOneReportThatFailsKeepsNoOtherBack(t *testing.T) {
	t.Parallel()
	l := liveHouse(t)
	m := l.merchant(t, "US", "CA")
	m.planReports(func(o standin.ReportOrder) standin.JobPlan {
		if o.ReportTypeID == "sdAdvertisedProduct" && o.Profile == m.profiles[0].ID {
			return standin.JobPlan{FailureReason: "the platform is out of order"}
		}
		return standin.JobPlan{}
	})
	l.platform.Restate(
		m.sale(0, standin.SponsoredProducts, m.back(t, 0, 3), "1.50", "6"),
		m.sale(0, standin.SponsoredDisplay, m.back(t, 0, 3), "7.00", "7"),
		m.sale(1, standin.SponsoredBrands, m.back(t, 1, 3), "9.00", "9"), // there is no rate of its currency
	)
	m.connect(t)
	sums(t, m.Ask, "range=all_time", `"spend":1.50,"sales":6.00`)
	for _, failure := range []string{"sdAdvertisedProduct", "out of order", "CAD"} {
		house.Eventually(t, "the log says "+failure, func() bool { return strings.Contains(strings.Join(m.log(), "\n"), failure) })
	}
	m.wantRest(t, firstRequests)
	if said := m.log(); len(said) > 12 {
		t.Errorf("the log has %d lines on one day:\n%s", len(said), strings.Join(said, "\n"))
	}
}

// wantRest demands that no more than so many reports are requested in each
// marketplace, now and in a while.
func (m *merchant) wantRest(t *testing.T, most int) {
	t.Helper()
	<-time.After(house.SeveralLooks)
	m.wantCreates(t, most)
}

func (m *merchant) wantCreates(t *testing.T, most int) {
	t.Helper()
	for marketplace := range m.profiles {
		if n := m.creates(marketplace); n > most {
			t.Errorf("marketplace %d: %d reports were requested, want at most %d", marketplace, n, most)
		}
	}
}

func TestReportsThatHangKeepNoOtherBack(t *testing.T) {
	t.Parallel()
	l := liveHouse(t)
	m := l.merchant(t, "US", "US", "US", "US", "US")
	m.planReports(func(o standin.ReportOrder) standin.JobPlan {
		return standin.JobPlan{Stuck: o.ReportTypeID == "sdAdvertisedProduct"}
	})
	for marketplace := range m.profiles {
		for days := 1; days <= 95; days += 31 {
			l.platform.Restate(m.sale(marketplace, standin.SponsoredProducts, m.back(t, marketplace, days), "1.00", "2"))
		}
	}
	m.connect(t)
	sums(t, m.Ask, "range=all_time", `"spend":20.00,"sales":40.00`)
}

func TestAMarketplaceOfNoKnownZoneKeepsNoOtherBack(t *testing.T) {
	t.Parallel()
	l := liveHouse(t)
	m := l.merchant(t, "US", "US")
	l.platform.Change(m.profiles[0].ID, func(p *standin.Profile) { p.TimeZone = "Mars/Olympus" })
	m.planReports(whole)
	l.platform.Restate(m.sale(1, standin.SponsoredProducts, m.back(t, 1, 2), "3.00", "9"))
	m.connect(t) // its days end where they end last on Earth
	<-time.After(house.SeveralLooks)
	if said := m.log(); len(said) > 1 {
		t.Errorf("the log repeats itself at every look:\n%s", strings.Join(said, "\n"))
	}
	sums(t, m.Ask, "range=all_time", `"spend":3.00,"sales":9.00`)
}

func TestAnAccountWhoseReportsHangKeepsNoOtherBack(t *testing.T) {
	t.Parallel()
	l := liveHouse(t)
	var hanging []*merchant
	for range 4 {
		m := l.merchant(t, "US", "US", "US") // their reports hang
		m.connect(t)
		hanging = append(hanging, m)
	}
	for i, m := range hanging {
		house.Eventually(t, fmt.Sprintf("account %d is requested", i), func() bool { return m.creates(0) > 0 })
	}
	m := l.merchant(t, "US")
	m.planReports(whole)
	l.platform.Restate(m.sale(0, standin.SponsoredProducts, m.back(t, 0, 2), "3.00", "9"))
	m.connect(t)
	sums(t, m.Ask, "range=all_time", `"spend":3.00,"sales":9.00`)
	r := random(t)
	hanging[0].hold(r, 0, "beside", 5, 5, 5)
	began := time.Now()
	hanging[0].begin(t, "/campaigns", 0)
	hanging[0].read(t, 0, began, hanging[0].settled(t, 0))
	house.Check(t, hanging[0].Ask, hanging[0].Model, house.NewQuestion("/campaigns", "marketplace_id="+hanging[0].id(0)))
}

func TestTheDailyRefreshSurvivesWhatThePlatformDoes(t *testing.T) {
	t.Parallel()
	l := liveHouse(t)
	m := l.merchant(t, "US")
	m.planReports(whole)
	for _, fault := range []standin.Fault{
		{On: standin.ReportCreate, Nth: 1, Do: standin.ServerError(500)},
		{On: standin.ReportCreate, Nth: 3, Do: standin.Throttled("1")},
		{On: standin.ReportCreate, Nth: 5, Do: standin.ExpiredToken()},
		{On: standin.ReportPoll, Nth: 2, Do: standin.CutBody()},
		{On: standin.ReportPoll, Nth: 4, Do: standin.HTML()},
	} {
		m.fault(0, fault)
	}
	l.platform.Restate(m.sale(0, standin.SponsoredProducts, m.back(t, 0, 40), "4.00", "8"))
	m.connect(t)
	sums(t, m.Ask, "range=all_time", `"spend":4.00,"sales":8.00`)
}

func TestTheDoctorNamesReportsThatThePlatformRefuses(t *testing.T) {
	t.Parallel()
	l := ownLive(t, 1)
	m := l.merchant(t, "US", "US")
	m.planReports(whole)
	m.fault(1, standin.Fault{On: standin.ReportCreate, Times: -1, Do: standin.Error(403, standin.Details, "not for you")})
	l.platform.Restate(m.sale(0, standin.SponsoredProducts, m.back(t, 0, 2), "3.00", "9"))
	m.connect(t)
	sums(t, m.Ask, "range=all_time", `"spend":3.00,"sales":9.00`)
	house.Eventually(t, "the log says so", func() bool { return strings.Contains(strings.Join(m.log(), "\n"), "not for you") })
	var said string
	house.Eventually(t, "the doctor says which reports were never read", func() bool {
		said = l.Run("doctor", "--quick", "--account", m.Files.ID).Stdout
		return strings.Contains(said, "sbCampaigns of US "+m.id(1)+" never read, sdAdvertisedProduct of US "+m.id(1)+" never read, spAdvertisedProduct of US "+m.id(1)+" never read")
	})
	if strings.Contains(said, m.id(0)+" never read") {
		t.Errorf("the doctor names what was read: %s", said)
	}
}

// Of days older than 65 the platform may have nothing left, and answers so with newer
// reports: what was loaded before the account was connected stays, until it is chosen.
func TestOldDaysThatWereLoadedOutliveTheFirstRefresh(t *testing.T) {
	t.Parallel()
	for name, isPulled := range map[string]bool{"by serve": false, "by pull": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := ownLive(t, 0)
			m := l.merchant(t, "US")
			m.planReports(whole)
			l.platform.Restate(m.sale(0, standin.SponsoredProducts, m.back(t, 0, 1), "10.50", "20"))
			files := house.SpPair("files", m.id(0), m.back(t, 0, 95), 95, time.Now().Add(-time.Hour)).Write(t, t.TempDir())
			house.Load(t, l.Program, m.Tenant, append(files, m.profilesFile(t))...)
			m.connect(t)
			if isPulled {
				if r := m.pull(t); r.Code != 0 {
					t.Errorf("pull: %s", r)
				}
			}
			m.Ask.Address = l.start(t).Address
			const kept = `"spend":48.00,"sales":305.00` // of thirty days, and the platform's
			sums(t, m.Ask, "range=all_time", kept)
			m.wantRest(t, firstRequests-1)
			sums(t, m.Ask, "range=all_time", kept)
			if sp := m.reports(t, 0)["spAdvertisedProduct"]; len(sp) != 3 || sp[0].StartDate != m.back(t, 0, 65) {
				t.Errorf("want the last 65 days, got %v", sp)
			}
			if r := m.pull(t, "--days", "95"); r.Code != 0 {
				t.Errorf("pull: %s", r)
			}
			sums(t, m.Ask, "range=all_time", `"spend":10.50,"sales":20.00`)
		})
	}
}
