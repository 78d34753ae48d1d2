package period

import (
	"fmt"

	"adlens"
)

// MaxYears is how many calendar years the end of explicit dates may lie after
// their start.
const MaxYears = 6

// Period is a range of days; both ends belong to it.
type Period struct {
	Start, End adlens.Day
	Range      Name // what was requested: a named range, a way to compare, or Custom
}

// Days returns the number of days of the period.
func (p Period) Days() int { return int(p.End-p.Start) + 1 }

// Between returns the period of explicit dates. They may lie in the future.
// The error is a *ReversedError or a *TooLongError.
func Between(start, end adlens.Day) (Period, error) {
	if end < start {
		return Period{}, &ReversedError{Start: start, End: end}
	}
	if last := start.AddYears(MaxYears); end > last {
		return Period{}, &TooLongError{Start: start, End: end, LastEnd: last}
	}
	return Period{Start: start, End: end, Range: Custom}, nil
}

// ReversedError says that a period would end before it starts.
type ReversedError struct{ Start, End adlens.Day }

func (e *ReversedError) Error() string {
	return fmt.Sprintf("the period would end on %s, before it starts on %s", e.End, e.Start)
}

// TooLongError says that explicit dates lie more than MaxYears apart.
type TooLongError struct {
	Start, End adlens.Day
	LastEnd    adlens.Day // the last end that this start allows
}

func (e *TooLongError) Error() string {
	return fmt.Sprintf("the period %s to %s is longer than %d years: from this start it can end on %s at the latest",
		e.Start, e.End, MaxYears, e.LastEnd)
}
