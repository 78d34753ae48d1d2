package adlens

import (
	"testing"
	"time"
)

func TestDaysFollowTheCalendar(t *testing.T) {
	leap := Date(2024, time.February, 29)
	for name, pair := range map[string][2]string{
		"a year after 29 February is the 28th":  {leap.AddYears(1).String(), "2025-02-28"},
		"four years after 29 February":          {leap.AddYears(4).String(), "2028-02-29"},
		"a month before 31 March":               {Date(2025, 3, 31).AddMonths(-1).String(), "2025-02-28"},
		"the last of February in a leap year":   {leap.LastOfMonth().String(), "2024-02-29"},
		"the first of the year":                 {leap.FirstOfYear().String(), "2024-01-01"},
		"the last of the year":                  {leap.LastOfYear().String(), "2024-12-31"},
		"a day before the epoch":                {Date(1969, 12, 31).String(), "1969-12-31"},
		"the last day that can be stored":       {LastStorableDay.String(), "2149-06-06"},
		"a day in the far past":                 {Date(1, 1, 1).String(), "0001-01-01"},
		"thirteen months after 31 January 2023": {Date(2023, 1, 31).AddMonths(13).String(), "2024-02-29"},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s is %s, want %s", name, pair[0], pair[1])
		}
	}
}

func TestOnlyDaysThatExistAreRead(t *testing.T) {
	if d, err := ParseDay("2024-02-29"); err != nil || d.String() != "2024-02-29" {
		t.Errorf("29 February 2024 was read as %v, %v", d, err)
	}
	for _, text := range []string{"", "2026-02-30", "2026-2-3", "20260203", "03/02/2026", "2026-02-03T00:00Z", "0000-01-01", " 2026-02-03", "2025-02-29"} {
		if d, err := ParseDay(text); err == nil {
			t.Errorf("%q was read as %s", text, d)
		}
	}
}
