package period

import (
	"testing"

	"adlens"
	"pgregory.net/rapid"
)

func TestEarlierDaysAreThoseOfTheCalendar(t *testing.T) {
	for _, c := range []struct {
		start, end        string
		way               Name
		wantStart, wantTo string
	}{
		{"2026-01-07", "2026-01-13", PreviousPeriod, "2025-12-31", "2026-01-06"},
		{"2026-03-01", "2026-03-02", PreviousPeriod, "2026-02-27", "2026-02-28"},
		{"2023-02-01", "2023-02-28", PreviousPeriod, "2023-01-04", "2023-01-31"},
		{"2024-03-01", "2024-03-01", PreviousPeriod, "2024-02-29", "2024-02-29"},
		{"2023-02-01", "2023-02-28", PreviousYear, "2022-02-01", "2022-02-28"},
		{"2024-02-01", "2024-02-29", PreviousYear, "2023-02-01", "2023-02-28"},
		{"2024-02-29", "2024-02-29", PreviousYear, "2023-02-28", "2023-02-28"},
		{"2024-02-29", "2024-03-10", PreviousYear, "2023-02-28", "2023-03-10"},
		{"2025-02-01", "2025-02-28", PreviousYear, "2024-02-01", "2024-02-28"}, // not its 29th
		{"2025-02-01", "2025-03-01", PreviousYear, "2024-02-01", "2024-03-01"}, // a day more
		{"2020-01-01", "2025-12-31", PreviousYear, "2019-01-01", "2024-12-31"},
	} {
		got := days(t, c.start, c.end).Earlier(c.way)
		want := days(t, c.wantStart, c.wantTo)
		want.Range = c.way
		if got != want {
			t.Errorf("%s of %s..%s is %s..%s, want %s..%s", c.way, c.start, c.end, got.Start, got.End, want.Start, want.End)
		}
	}
}

func TestThePreviousPeriodTouchesThePeriodAndIsAsLong(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := anyPeriod(t)
		if e := p.Earlier(PreviousPeriod); e.Days() != p.Days() || e.End+1 != p.Start {
			t.Fatalf("%s..%s is before %s..%s", e.Start, e.End, p.Start, p.End)
		}
	})
}

// A year earlier is never a year and a day earlier, and never longer than by
// the one day that a leap year has more.
func TestThePreviousYearDiffersByALeapDayAtMost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := anyPeriod(t)
		e := p.Earlier(PreviousYear)
		for _, moved := range []adlens.Day{p.Start - e.Start, p.End - e.End} {
			if moved != 365 && moved != 366 {
				t.Fatalf("%s..%s is compared with %s..%s", p.Start, p.End, e.Start, e.End)
			}
		}
	})
}

func TestAPeriodIsCutAtItsEndAlone(t *testing.T) {
	p := days(t, "2026-11-10", "2026-11-20")
	for last, want := range map[string]string{"2026-11-19": "2026-11-19", "2026-11-10": "2026-11-10", "2026-11-20": "2026-11-20", "2027-01-01": "2026-11-20"} {
		cut, ok := p.Until(day(t, last))
		if !ok || cut.Start != p.Start || cut.End != day(t, want) || cut.Range != p.Range {
			t.Errorf("until %s: %+v, %v", last, cut, ok)
		}
	}
	if cut, ok := p.Until(p.Start - 1); ok {
		t.Errorf("nothing is left, and still it is %+v", cut)
	}
}

func TestNoWayToCompareIsARange(t *testing.T) {
	for _, name := range named() {
		if name == PreviousPeriod || name == PreviousYear {
			t.Errorf("%s can be requested as a range", name)
		}
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s is a way to compare", name)
				}
			}()
			days(t, "2026-01-01", "2026-01-02").Earlier(name)
		}()
	}
}
