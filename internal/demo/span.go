package demo

import (
	"errors"
	"fmt"
)

const (
	defaultYears = 3
	mostYears    = 20
	defaultSeed  = 0x7a11_0c4b_52d9_e631

	// The exchange rates walk from a fixed day (ratesEpoch); before it there
	// is nothing to walk from.
	oldestYear = 2000
)

// A span is the days that the account has reports for, both ends included.
type span struct{ first, last day }

// span gives whole months up to yesterday, at least the years asked for: a
// first month cut at today's date would change its content every day.
func (o Options) span() (span, error) {
	years := o.Years
	if years == 0 {
		years = defaultYears
	}
	if years < 0 || years > mostYears {
		return span{}, fmt.Errorf("demo: %d years: want 1 to %d", years, mostYears)
	}
	if o.Today.IsZero() {
		return span{}, errors.New("demo: Today is not set")
	}
	y, m, d := o.Today.Date()
	last := civil(y, m, d) - 1
	first := civil(y-years, m, d).monthStart()
	if fy, _, _ := first.civil(); fy <= oldestYear {
		return span{}, fmt.Errorf("demo: figures would begin in %d: want a year after %d", fy, oldestYear)
	}
	return span{first, last}, nil
}

func (o Options) seed() uint64 {
	if o.Seed == 0 {
		return defaultSeed
	}
	return o.Seed
}

// months cuts the span into calendar months; only the last can be unfinished.
func (s span) months() []span {
	var out []span
	for first := s.first; first <= s.last; {
		next := first.nextMonth()
		out = append(out, span{first, min(next-1, s.last)})
		first = next
	}
	return out
}

// from is the span without its first n months.
func (s span) from(n int) span {
	for range n {
		s.first = s.first.nextMonth()
	}
	return s
}
