package connector

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"adlens"
	"adlens/internal/platform"
	"adlens/internal/platform/api"
)

func TestWindowsCoverTheDaysOnce(t *testing.T) {
	for _, report := range platform.ReportTypes {
		for _, days := range []int{1, 14, 30, 31, 32, 60, 62, 63, 95, 400} {
			last := adlens.DayOf(time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC))
			want := min(days, lookBack[report.AdProduct])
			seen := map[adlens.Day]int{}
			one := lastDays(platform.Profile{ID: "1"}, report, last, days)
			one.planWindows(nil)
			for _, w := range one.windows {
				if n := int(w.end-w.start) + 1; n < 1 || n > api.MaxReportDays {
					t.Errorf("%s, %d days: a request of %d days", report.ID, days, n)
				}
				for day := w.start; day <= w.end; day++ {
					seen[day]++
				}
			}
			for day := last - adlens.Day(want) + 1; day <= last; day++ {
				if seen[day] != 1 {
					t.Errorf("%s, %d days: %s is requested %d times", report.ID, days, day, seen[day])
				}
			}
			if len(seen) != want {
				t.Errorf("%s, %d days: %d days are requested", report.ID, days, len(seen))
			}
		}
	}
}

func TestADayEndsWhereTheMarketplaceIs(t *testing.T) {
	now := time.Date(2026, 11, 20, 3, 30, 0, 0, time.UTC)
	for zone, want := range map[string]string{
		"America/Los_Angeles": "2026-11-18", "UTC": "2026-11-19", "Asia/Tokyo": "2026-11-19", "Pacific/Kiritimati": "2026-11-19",
		"America/New_York": "2026-11-18", "America/St_Johns": "2026-11-19",
		"Mars/Olympus": "2026-11-18",
	} {
		if got := LastEnded(platform.Profile{TimeZone: zone}, now); got.String() != want {
			t.Errorf("%s: %s, expected %s", zone, got, want)
		}
	}
}

// What a server that is off on some days reads of each day: nothing is left
// out that the platform has, what is restated daily is read each day that the
// server is on, and each day is read again once it is nearly final, and not after: of
// older days the platform may give less than it did.
func TestWhatIsRestatedIsReadAgain(t *testing.T) {
	for seed := range uint64(50) {
		random := rand.New(rand.NewPCG(seed, 1))
		for _, report := range platform.ReportTypes {
			simulate(t, random, report, 0)
			simulate(t, random, report, 0.5)
		}
	}
}

// simulate reads a report type as a server does, which is off on some days, and on
// a share of the others some days are pulled by hand first.
func simulate(t *testing.T, random *rand.Rand, report *platform.ReportType, pulls float64) {
	t.Helper()
	const first, days = adlens.Day(20_000), 200
	var state *adlens.Refreshed
	read := map[adlens.Day]adlens.Day{} // when a day was read last
	off := random.Float64() * 0.6
	lastOn := first
	on := map[adlens.Day]bool{}
	for today := first; today < first+days; today++ {
		if today > first && random.Float64() < off {
			continue
		}
		on[today] = true
		readTask := func(one task, chosen int) {
			one.planWindows(nil)
			for _, w := range one.windows {
				for day := w.start; day <= w.end; day++ {
					if _, again := read[day]; again && today-day > max(reliable, adlens.Day(chosen)) {
						t.Errorf("%s: %s is read again on %s, %d days later", report.ID, day, today, today-day)
					}
					read[day] = today
				}
			}
			if one.after.Account != "" {
				state = &one.after
			}
		}
		if random.Float64() < pulls {
			days := []int{0, 1, 5, 14, 20, 60, 95}[random.IntN(7)]
			pulled := chosenTask("acct", platform.Profile{ID: "1"}, report, state, today-1, days)
			_, due := newTask("acct", platform.Profile{ID: "1"}, report, state, today-1)
			readTask(pulled, days)
			if _, still := newTask("acct", platform.Profile{ID: "1"}, report, state, today-1); due && still != pulled.short {
				t.Errorf("%s: after %d days were pulled, due is %v, want %v", report.ID, days, still, pulled.short)
			}
		}
		one, ok := newTask("acct", platform.Profile{ID: "1"}, report, state, today-1)
		if !ok && pulls == 0 {
			t.Fatalf("nothing is due on a new day")
		}
		if ok {
			readTask(one, 0)
		}
		for day := today - restatedDaily; day < today; day++ {
			if read[day] != today {
				t.Errorf("%s: %s is not read on %s", report.ID, day, today)
			}
		}
		for age := adlens.Day(restatedWeekly + 1); age <= min(reliable, adlens.Day(lookBack[report.AdProduct])); age++ {
			if when := read[today-age]; when < today-age+restatedWeekly-week {
				t.Errorf("%s: %s is not final on %s, and was read last on %s", report.ID, today-age, today, when)
			}
		}
		if _, again := newTask("acct", platform.Profile{ID: "1"}, report, state, today-1); again {
			t.Errorf("%s: due twice on one day", report.ID)
		}
		lastOn = today
	}
	reach := adlens.Day(lookBack[report.AdProduct])
	for day := first - reach; day < lastOn; day++ {
		when, ok := read[day]
		if !ok {
			t.Errorf("%s: %s was never read", report.ID, day)
		}
		// A week may pass between two deep readings, and the server may be off
		// on the day of the second one, and after it.
		final := day + restatedWeekly
		for final > first && !on[final] {
			final--
		}
		if final < lastOn && when < final-week {
			t.Errorf("%s: %s was read last on %s, %d days later", report.ID, day, when, when-day)
		}
	}
}

// A report on the disk is loaded whether or not it still counts, and a new one of the same
// days, which would take its place there, is requested after that.
func TestWhatIsOnTheDiskIsLoaded(t *testing.T) {
	const last = adlens.Day(20_000)
	for first, want := range map[adlens.Day]int{last: 1, last - 1: 2, last - 40: 2} {
		one := lastDays(platform.Profile{ID: "1"}, platform.LegacyReportType, last, 1)
		one.planWindows([]asked{{readOn: last - 1, progress: onDisk, ReportRequest: adlens.ReportRequest{
			MarketplaceID: "1", ReportType: platform.LegacyReportType.ID, Start: first, End: first}}})
		if len(one.windows) != want || one.windows[0].progress != onDisk || one.needsPlatform() == one.later || one.later != (first == last) || one.isRead() {
			t.Errorf("a report of %d days before: %d windows", last-first, len(one.windows))
		}
	}
}

// Days that are held are left out once reports of them are not reliable, whatever lies
// between them, and all others are requested once.
func TestHeldDaysAreLeftOutOnceTheyAreOld(t *testing.T) {
	const last = adlens.Day(20_000)
	for name, isHeld := range map[string]func(adlens.Day) bool{
		"none": func(adlens.Day) bool { return false }, "all": func(adlens.Day) bool { return true },
		"every third": func(day adlens.Day) bool { return day%3 == 0 }, "a month": func(day adlens.Day) bool { return last-90 < day && day < last-70 },
	} {
		m := newMemory("acct")
		m.days = map[adlens.Day]bool{}
		for day := last - 200; day <= last; day++ {
			if isHeld(day) {
				m.days[day] = true
			}
		}
		one, _ := newTask("acct", platform.Profile{ID: "1"}, platform.ReportTypes[0], nil, last)
		if err := New(Config{Store: m}).keepHeld(t.Context(), "acct", &one); err != nil {
			t.Fatal(err)
		}
		one.planWindows(nil)
		seen := map[adlens.Day]int{}
		for _, w := range one.windows {
			if n := int(w.end-w.start) + 1; n < 1 || n > api.MaxReportDays {
				t.Errorf("%s are held: a request of %d days", name, n)
			}
			for day := w.start; day <= w.end; day++ {
				seen[day]++
			}
		}
		for day := last - 200; day <= last; day++ {
			want := 1
			if day <= last-95 || day <= last-reliable && isHeld(day) {
				want = 0
			}
			if seen[day] != want {
				t.Errorf("%s are held: %s, %d days before, is requested %d times, want %d", name, day, last-day, seen[day], want)
			}
		}
	}
}

// Days that the platform no longer has when a connection works again are lost: nothing else
// would say so, because the newest days are there.
func TestDaysThatWereNotReadInTimeAreNamed(t *testing.T) {
	const last = adlens.Day(20_500)
	for _, c := range []struct {
		missed int // days
		want   string
	}{
		{60, ""},
		{95, ""},
		{100, "spAdvertisedProduct of US 1: " + (last - 99).String() + " to " + (last - 95).String() + " were not read while the platform had them, and are missing unless they are loaded from files"},
	} {
		var said string
		before := &adlens.Refreshed{Through: last - adlens.Day(c.missed), DeepThrough: last - adlens.Day(c.missed)}
		report := platform.ReportTypes[slices.IndexFunc(platform.ReportTypes, func(r *platform.ReportType) bool { return r.ID == "spAdvertisedProduct" })]
		for _, chosen := range []bool{false, true} {
			due, _ := newTask("acct", platform.Profile{ID: "1", Country: "US"}, report, before, last)
			if chosen {
				due = chosenTask("acct", platform.Profile{ID: "1", Country: "US"}, report, before, last, 0)
			}
			p := pull{account: "acct", connector: &Connector{Config: Config{Notice: func(_, text string) { said = text }}}, tasks: []*task{&due}}
			if err := p.joinFailures(); err != nil || said != c.want {
				t.Errorf("%d days missed: %q, want %q: %v", c.missed, said, c.want, err)
			}
		}
	}
}
