package period

import (
	"errors"
	"strings"
	"testing"

	"adlens"
	"pgregory.net/rapid"
)

func TestExplicitDatesReachSixCalendarYears(t *testing.T) {
	for _, c := range []struct{ start, lastEnd string }{
		{"2020-01-01", "2026-01-01"},
		{"2020-02-29", "2026-02-28"}, // no 29 February six years later
		{"2020-03-01", "2026-03-01"},
		{"2020-12-31", "2026-12-31"},
		{"2019-02-28", "2025-02-28"},
		{"2096-02-29", "2102-02-28"}, // 2100 has no leap day either
		{"2149-06-06", "2155-06-06"}, // the future is allowed, storable or not
		{"0001-01-01", "0007-01-01"},
		{"9990-02-28", "9996-02-28"},
	} {
		start, end := day(t, c.start), day(t, c.lastEnd)
		p, err := Between(start, end)
		if want := (Period{start, end, Custom}); err != nil || p != want {
			t.Errorf("%s..%s: got %v, %v", c.start, c.lastEnd, p, err)
		}
		var tooLong *TooLongError
		if _, err := Between(start, end+1); !errors.As(err, &tooLong) || tooLong.LastEnd != end {
			t.Errorf("%s and a day more than six years: got %v", c.start, err)
		}
	}
}

func TestOneDayIsAPeriodOfExplicitDates(t *testing.T) {
	p, err := Between(7, 7)
	if err != nil || p.Days() != 1 {
		t.Errorf("got %v, %v", p, err)
	}
}

func TestReversedDatesAreRefusedNamingBoth(t *testing.T) {
	_, err := Between(day(t, "2026-02-02"), day(t, "2026-02-01"))
	var reversed *ReversedError
	if !errors.As(err, &reversed) {
		t.Fatalf("got %v", err)
	}
	mustMention(t, err, "2026-02-02", "2026-02-01")
}

func TestTooLongDatesAreRefusedNamingTheLastAllowedEnd(t *testing.T) {
	_, err := Between(day(t, "2020-02-29"), day(t, "2026-03-01"))
	mustMention(t, err, "2020-02-29", "2026-03-01", "6 years", "2026-02-28")
}

func TestDatesAtTheEndsOfTheCalendarDoNotOverflow(t *testing.T) {
	first, last := day(t, "0001-01-01"), day(t, "9999-12-31")
	if _, err := Between(first, last); !errors.As(err, new(*TooLongError)) {
		t.Errorf("got %v", err)
	}
	if p, err := Between(last, last); err != nil || p.Days() != 1 {
		t.Errorf("got %v, %v", p, err)
	}
	if n := (Period{Start: first, End: last}).Days(); n != 3652059 {
		t.Errorf("years 1 to 9999 have %d days", n)
	}
}

func mustMention(t *testing.T, err error, words ...string) {
	t.Helper()
	if err == nil {
		t.Fatal("no error")
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("%q does not mention %s", err, word)
		}
	}
}

// days is shorthand for a period of explicit dates without their checks.
func days(t testing.TB, start, end string) Period {
	t.Helper()
	return Period{Start: day(t, start), End: day(t, end), Range: Custom}
}

var anyDay = rapid.Map(rapid.Int32Range(-100000, 100000), func(n int32) adlens.Day { return adlens.Day(n) })

func anyPeriod(t *rapid.T) Period {
	start := anyDay.Draw(t, "start")
	length := rapid.Int32Range(1, 6*366).Draw(t, "length")
	return Period{Start: start, End: start + adlens.Day(length) - 1, Range: Custom}
}
