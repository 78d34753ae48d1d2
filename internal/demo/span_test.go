package demo

import (
	"testing"
	"time"

	"adlens"
)

func TestSpan(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		today       string
		years       int
		first, last string
		months      int
	}{
		{"2026-11-20", 0, "2023-11-01", "2026-11-19", 37},
		{"2026-12-01", 3, "2023-12-01", "2026-11-30", 36},
		{"2026-12-02", 3, "2023-12-01", "2026-12-01", 37},
		{"2024-03-01", 1, "2023-03-01", "2024-02-29", 12},
		{"2025-03-01", 1, "2024-03-01", "2025-02-28", 12},
		{"2024-02-29", 1, "2023-03-01", "2024-02-28", 12},
		{"2026-01-01", 1, "2025-01-01", "2025-12-31", 12},
		{"2026-11-20", mostYears, "2006-11-01", "2026-11-19", 241},
		{"2002-01-01", 1, "2001-01-01", "2001-12-31", 12},
	} {
		today, err := time.Parse(time.DateOnly, c.today)
		if err != nil {
			t.Fatal(err)
		}
		s, err := Options{Today: today, Years: c.years}.figureSpan()
		if err != nil {
			t.Fatal(err)
		}
		if s.first.String() != c.first || s.last.String() != c.last || len(s.splitMonths()) != c.months {
			t.Errorf("%s, %d years: %v to %v, %d months; want %s to %s, %d", c.today, c.years, s.first, s.last, len(s.splitMonths()), c.first, c.last, c.months)
		}
	}
}

// Today is a calendar day, whatever zone it comes in.
func TestSpanTakesTheCalendarDay(t *testing.T) {
	t.Parallel()
	far := time.FixedZone("far", 13*3600)
	s, err := Options{Today: time.Date(2026, time.November, 20, 1, 0, 0, 0, far)}.figureSpan()
	if err != nil || s.last.String() != "2026-11-19" {
		t.Errorf("the last day is %v, error %v", s.last, err)
	}
}

func TestMonthsFollowOneAnother(t *testing.T) {
	t.Parallel()
	s := span{adlens.Date(2023, time.November, 1), adlens.Date(2026, time.November, 19)}
	next := s.first
	for _, m := range s.splitMonths() {
		if m.first != next || m.last-m.first > 30 {
			t.Errorf("a month from %v to %v", m.first, m.last)
		}
		next = m.last + 1
	}
	if next != s.last+1 {
		t.Errorf("the months end before %v", next)
	}
}

func TestSales(t *testing.T) {
	t.Parallel()
	for date, want := range map[string]bool{
		"2026-07-13": false, "2026-07-14": true, "2026-07-15": true, "2026-07-16": false,
		"2026-11-26": false, "2026-11-27": true, "2026-11-30": true, "2026-12-01": false,
	} {
		at, err := time.Parse(time.DateOnly, date)
		if err != nil {
			t.Fatal(err)
		}
		if got := isSale(adlens.Date(at.Date())); got != want {
			t.Errorf("%s: a sale is %v", date, got)
		}
	}
}
