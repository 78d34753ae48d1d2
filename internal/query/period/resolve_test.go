package period

import (
	"fmt"
	"testing"

	"adlens"
	"adlens/internal/catalogue"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// worstDays are days at which calendars go wrong, each with all named ranges
// in the order of the catalogue, all_time from 1999-12-31. They were computed by
// Python's datetime, not by this package.
var worstDays = map[string][]string{
	"2026-01-01": { // New Year's Day
		"2026-01-01..2026-01-01",
		"2025-12-31..2025-12-31",
		"2025-12-26..2026-01-01",
		"2025-12-19..2026-01-01",
		"2025-12-03..2026-01-01",
		"2025-11-03..2026-01-01",
		"2025-10-04..2026-01-01",
		"2026-01-01..2026-01-01",
		"2025-12-01..2025-12-31",
		"2026-01-01..2026-01-01",
		"2025-01-01..2025-12-31",
		"1999-12-31..2026-01-01",
	},
	"2024-02-29": { // leap day
		"2024-02-29..2024-02-29",
		"2024-02-28..2024-02-28",
		"2024-02-23..2024-02-29",
		"2024-02-16..2024-02-29",
		"2024-01-31..2024-02-29",
		"2024-01-01..2024-02-29",
		"2023-12-02..2024-02-29",
		"2024-02-01..2024-02-29",
		"2024-01-01..2024-01-31",
		"2024-01-01..2024-02-29",
		"2023-01-01..2023-12-31",
		"1999-12-31..2024-02-29",
	},
	"2000-02-29": { // leap day of a century that has one
		"2000-02-29..2000-02-29",
		"2000-02-28..2000-02-28",
		"2000-02-23..2000-02-29",
		"2000-02-16..2000-02-29",
		"2000-01-31..2000-02-29",
		"2000-01-01..2000-02-29",
		"1999-12-02..2000-02-29",
		"2000-02-01..2000-02-29",
		"2000-01-01..2000-01-31",
		"2000-01-01..2000-02-29",
		"1999-01-01..1999-12-31",
		"1999-12-31..2000-02-29",
	},
	"2023-02-28": { // February of a common year ends
		"2023-02-28..2023-02-28",
		"2023-02-27..2023-02-27",
		"2023-02-22..2023-02-28",
		"2023-02-15..2023-02-28",
		"2023-01-30..2023-02-28",
		"2022-12-31..2023-02-28",
		"2022-12-01..2023-02-28",
		"2023-02-01..2023-02-28",
		"2023-01-01..2023-01-31",
		"2023-01-01..2023-02-28",
		"2022-01-01..2022-12-31",
		"1999-12-31..2023-02-28",
	},
	"2025-03-01": { // the day after
		"2025-03-01..2025-03-01",
		"2025-02-28..2025-02-28",
		"2025-02-23..2025-03-01",
		"2025-02-16..2025-03-01",
		"2025-01-31..2025-03-01",
		"2025-01-01..2025-03-01",
		"2024-12-02..2025-03-01",
		"2025-03-01..2025-03-01",
		"2025-02-01..2025-02-28",
		"2025-01-01..2025-03-01",
		"2024-01-01..2024-12-31",
		"1999-12-31..2025-03-01",
	},
	"2023-03-31": { // last month is shorter, common year
		"2023-03-31..2023-03-31",
		"2023-03-30..2023-03-30",
		"2023-03-25..2023-03-31",
		"2023-03-18..2023-03-31",
		"2023-03-02..2023-03-31",
		"2023-01-31..2023-03-31",
		"2023-01-01..2023-03-31",
		"2023-03-01..2023-03-31",
		"2023-02-01..2023-02-28",
		"2023-01-01..2023-03-31",
		"2022-01-01..2022-12-31",
		"1999-12-31..2023-03-31",
	},
	"2024-03-31": { // last month is shorter, leap year
		"2024-03-31..2024-03-31",
		"2024-03-30..2024-03-30",
		"2024-03-25..2024-03-31",
		"2024-03-18..2024-03-31",
		"2024-03-02..2024-03-31",
		"2024-02-01..2024-03-31",
		"2024-01-02..2024-03-31",
		"2024-03-01..2024-03-31",
		"2024-02-01..2024-02-29",
		"2024-01-01..2024-03-31",
		"2023-01-01..2023-12-31",
		"1999-12-31..2024-03-31",
	},
	"2024-05-31": { // last month has 30 days
		"2024-05-31..2024-05-31",
		"2024-05-30..2024-05-30",
		"2024-05-25..2024-05-31",
		"2024-05-18..2024-05-31",
		"2024-05-02..2024-05-31",
		"2024-04-02..2024-05-31",
		"2024-03-03..2024-05-31",
		"2024-05-01..2024-05-31",
		"2024-04-01..2024-04-30",
		"2024-01-01..2024-05-31",
		"2023-01-01..2023-12-31",
		"1999-12-31..2024-05-31",
	},
	"2024-12-31": { // a leap year ends
		"2024-12-31..2024-12-31",
		"2024-12-30..2024-12-30",
		"2024-12-25..2024-12-31",
		"2024-12-18..2024-12-31",
		"2024-12-02..2024-12-31",
		"2024-11-02..2024-12-31",
		"2024-10-03..2024-12-31",
		"2024-12-01..2024-12-31",
		"2024-11-01..2024-11-30",
		"2024-01-01..2024-12-31",
		"2023-01-01..2023-12-31",
		"1999-12-31..2024-12-31",
	},
	"2021-05-05": { // an ordinary day, the clock of the peers' tests
		"2021-05-05..2021-05-05",
		"2021-05-04..2021-05-04",
		"2021-04-29..2021-05-05",
		"2021-04-22..2021-05-05",
		"2021-04-06..2021-05-05",
		"2021-03-07..2021-05-05",
		"2021-02-05..2021-05-05",
		"2021-05-01..2021-05-05",
		"2021-04-01..2021-04-30",
		"2021-01-01..2021-05-05",
		"2020-01-01..2020-12-31",
		"1999-12-31..2021-05-05",
	},
}

// named are the catalogue's ranges.
func named() (names []Name) {
	for _, name := range catalogue.Ranges {
		names = append(names, Name(name))
	}
	return names
}

func TestNamedRangesOnTheWorstDaysOfTheCalendar(t *testing.T) {
	for today, want := range worstDays {
		t.Run(today, func(t *testing.T) {
			var got []string
			for _, name := range named() {
				p := Resolve(name, day(t, today), day(t, "1999-12-31"), true)
				got = append(got, fmt.Sprintf("%s..%s", p.Start, p.End))
				if p.Range != name {
					t.Errorf("the range of %s is given as %s", name, p.Range)
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestAllTimeStartsAtTheOldestHeldDayAndIsNeverReversed(t *testing.T) {
	today := day(t, "2026-11-20")
	for _, c := range []struct {
		name   string
		oldest adlens.Day
		held   bool
		want   adlens.Day
	}{
		{"years held", day(t, "2019-02-28"), true, day(t, "2019-02-28")},
		{"held since today", today, true, today},
		{"only days of the future held", today + 1, true, today},
		{"nothing held", 0, false, today},
		{"the oldest held day is the epoch", 0, true, 0},
	} {
		got := Resolve(AllTime, today, c.oldest, c.held)
		want := Period{Start: c.want, End: today, Range: AllTime}
		if got != want {
			t.Errorf("%s: got %v, want %v", c.name, got, want)
		}
	}
}

func TestLastNDaysAreNDays(t *testing.T) {
	for name, want := range map[Name]int{
		Today: 1, Yesterday: 1, Last7Days: 7, Last14Days: 14, Last30Days: 30, Last60Days: 60, Last90Days: 90,
	} {
		if got := Resolve(name, day(t, "2024-03-10"), 0, false).Days(); got != want {
			t.Errorf("%s has %d days", name, got)
		}
	}
}

func TestEveryNamedRangeHoldsItsToday(t *testing.T) {
	without := map[Name]bool{Yesterday: true, LastMonth: true, LastYear: true}
	rapid.Check(t, func(t *rapid.T) {
		today := anyDay.Draw(t, "today")
		name := rapid.SampledFrom(named()).Draw(t, "name")
		p := Resolve(name, today, anyDay.Draw(t, "oldest"), rapid.Bool().Draw(t, "held"))
		if p.Start > p.End || p.End > today || (p.End == today) == without[name] {
			t.Fatalf("%s on %s is %s..%s", name, today, p.Start, p.End)
		}
	})
}

func TestNamesAreThoseOfTheContractInItsOrder(t *testing.T) {
	want := []Name{
		"today", "yesterday", "last_7_days", "last_14_days", "last_30_days", "last_60_days", "last_90_days",
		"this_month", "last_month", "this_year", "last_year", "all_time",
	}
	if diff := cmp.Diff(want, named()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestResolveRefusesWhatIsNoNamedRange(t *testing.T) {
	for _, name := range []Name{"", Custom, "TODAY", "last_8_days"} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%q was taken for a named range", name)
				}
			}()
			Resolve(name, 0, 0, true)
		}()
	}
}

func day(t testing.TB, text string) adlens.Day {
	t.Helper()
	d, err := adlens.ParseDay(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}
