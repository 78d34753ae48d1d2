package period

import (
	"fmt"

	"adlens"
)

// The ways to find the earlier days that a period is compared with. As the
// Range of a period they say how it was found; they are no named range.
const (
	PreviousPeriod Name = "previous_period"
	PreviousYear   Name = "previous_year"
)

// Until returns the days of the period up to the last one; ok is false where
// none is left.
func (p Period) Until(last adlens.Day) (cut Period, ok bool) {
	p.End = min(p.End, last)
	return p, p.Start <= p.End
}

// Earlier returns the days that the period is compared with: as many days
// immediately before it, or both of its dates a year earlier, where 29
// February becomes the 28th.
//
// The way is one of the two above: text of a client is compared with them
// first, and any other is a mistake in the program and panics.
func (p Period) Earlier(way Name) Period {
	switch way {
	case PreviousPeriod:
		return Period{Start: p.Start - adlens.Day(p.Days()), End: p.Start - 1, Range: way}
	case PreviousYear:
		return Period{Start: p.Start.AddYears(-1), End: p.End.AddYears(-1), Range: way}
	}
	panic(fmt.Sprintf("period: %q is no way to compare", way))
}
