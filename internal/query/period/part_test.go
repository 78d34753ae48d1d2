package period

import (
	"fmt"
	"testing"

	"adlens"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestMonthsAreCutToThePeriod(t *testing.T) {
	for _, c := range []struct {
		start, end string
		want       []string
	}{
		{"2022-01-17", "2022-02-01", []string{"2022-01-01: 2022-01-17..2022-01-31", "2022-02-01: 2022-02-01..2022-02-01"}},
		{"2024-02-01", "2024-02-29", []string{"2024-02-01: 2024-02-01..2024-02-29 whole"}},
		{"2024-02-01", "2024-02-28", []string{"2024-02-01: 2024-02-01..2024-02-28"}},
		{"2023-02-01", "2023-02-28", []string{"2023-02-01: 2023-02-01..2023-02-28 whole"}},
		{"2024-02-02", "2024-02-29", []string{"2024-02-01: 2024-02-02..2024-02-29"}},
		{"2023-12-31", "2024-02-01", []string{"2023-12-01: 2023-12-31..2023-12-31", "2024-01-01: 2024-01-01..2024-01-31 whole", "2024-02-01: 2024-02-01..2024-02-01"}},
		{"2024-06-15", "2024-06-15", []string{"2024-06-01: 2024-06-15..2024-06-15"}},
		{"1969-12-31", "1970-01-31", []string{"1969-12-01: 1969-12-31..1969-12-31", "1970-01-01: 1970-01-01..1970-01-31 whole"}},
	} {
		if diff := cmp.Diff(c.want, written(days(t, c.start, c.end).Months())); diff != "" {
			t.Errorf("%s..%s (-want +got):\n%s", c.start, c.end, diff)
		}
	}
}

func TestYearsAreCutToThePeriod(t *testing.T) {
	for _, c := range []struct {
		start, end string
		want       []string
	}{
		{"2023-12-31", "2025-01-01", []string{"2023-01-01: 2023-12-31..2023-12-31", "2024-01-01: 2024-01-01..2024-12-31 whole", "2025-01-01: 2025-01-01..2025-01-01"}},
		{"2024-01-01", "2024-12-31", []string{"2024-01-01: 2024-01-01..2024-12-31 whole"}},
		{"2024-01-01", "2024-12-30", []string{"2024-01-01: 2024-01-01..2024-12-30"}},
		{"2024-02-29", "2024-02-29", []string{"2024-01-01: 2024-02-29..2024-02-29"}},
	} {
		if diff := cmp.Diff(c.want, written(days(t, c.start, c.end).Years())); diff != "" {
			t.Errorf("%s..%s (-want +got):\n%s", c.start, c.end, diff)
		}
	}
}

func TestThisMonthIsWholeOnItsLastDayOnly(t *testing.T) {
	for today, want := range map[string]bool{"2024-02-28": false, "2024-02-29": true, "2023-02-28": true, "2024-12-31": true} {
		months := Resolve(ThisMonth, day(t, today), 0, false).Months()
		if len(months) != 1 || months[0].Whole() != want {
			t.Errorf("on %s: %v", today, written(months))
		}
	}
}

func TestAPeriodWithoutDaysHasNoMonths(t *testing.T) {
	if got := (Period{Start: 10, End: 9}).Months(); len(got) != 0 {
		t.Errorf("got %v", written(got))
	}
}

func TestMonthsAndYearsPartitionThePeriod(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := anyPeriod(t)
		partitions(t, p, p.Months())
		partitions(t, p, p.Years())
	})
}

func TestWholeMonthsAreWholeMonthsOfTheCalendar(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		for _, m := range anyPeriod(t).Months() {
			if m.First.DayOfMonth() != 1 || (m.Last+1).DayOfMonth() != 1 || m.Last-m.First > 30 {
				t.Fatalf("%s..%s is no month", m.First, m.Last)
			}
			if m.Whole() != (m.Days() == int(m.Last-m.First)+1) {
				t.Fatalf("%v: whole is %t", m, m.Whole())
			}
		}
	})
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

// partitions checks that the parts are the period's days, each once, in order.
func partitions(t *rapid.T, p Period, parts []Part) {
	next, total := p.Start, 0
	for _, part := range parts {
		if part.From != next || part.To < part.From || part.From < part.First || part.To > part.Last {
			t.Fatalf("%s..%s: bad part %v", p.Start, p.End, part)
		}
		next, total = part.To+1, total+part.Days()
	}
	if next != p.End+1 || total != p.Days() {
		t.Fatalf("%s..%s: the parts hold %d of %d days", p.Start, p.End, total, p.Days())
	}
}

var anyDay = rapid.Map(rapid.Int32Range(-100000, 100000), func(n int32) adlens.Day { return adlens.Day(n) })

func anyPeriod(t *rapid.T) Period {
	start := anyDay.Draw(t, "start")
	length := rapid.Int32Range(1, 6*366).Draw(t, "length")
	return Period{Start: start, End: start + adlens.Day(length) - 1, Range: Custom}
}

func written(parts []Part) []string {
	var lines []string
	for _, p := range parts {
		line := fmt.Sprintf("%s: %s..%s", p.First, p.From, p.To)
		if p.Whole() {
			line += " whole"
		}
		lines = append(lines, line)
	}
	return lines
}
