package query

import (
	"maps"
	"slices"

	"adlens"
	"adlens/internal/query/period"
)

// Timeline is a point for each day, week or month with figures, oldest first.
type Timeline struct {
	Answer
	Points []Row
}

// PointComparison is the earlier side of a point or row: of the day, week or month at
// the same distance from the start of the earlier period.
type PointComparison struct {
	Date *adlens.Day // nil where the period alone is so long
	Comparison
}

func newTimeline(r Request, v View, byDate map[group]*sides) *Timeline {
	t := &Timeline{Answer: newAnswer(r, v), Points: []Row{}}
	inOrder := func(a, b group) int { return a.bucket - b.bucket }
	for _, at := range slices.SortedFunc(maps.Keys(byDate), inOrder) {
		if sums := byDate[at]; !sums.isEmpty(r.summands()) {
			t.Points = append(t.Points, t.newRow(v, at, sums))
		}
	}
	return t
}

const daysOfWeek = 7

// firstDayOf is the first day of the week or month of a day, or the day itself.
func (r Request) firstDayOf(day adlens.Day) adlens.Day {
	switch r.Granularity {
	case ByWeek:
		return day.FirstOfWeek()
	case ByMonth:
		return day.FirstOfMonth()
	}
	return day
}

// bucketOf is a number of the day, week or month of a day: the next one has the
// next number.
func (r Request) bucketOf(day adlens.Day) int {
	switch r.Granularity {
	case ByWeek:
		return (int(day.FirstOfWeek()) + 3) / daysOfWeek // 1970 began on a Thursday
	case ByMonth:
		date := day.Time()
		return 12*date.Year() + int(date.Month())
	}
	return int(day)
}

// offsetFrom counts the days, weeks or months from the start of a period.
func (r Request) offsetFrom(start, date adlens.Day) int {
	return r.bucketOf(date) - r.bucketOf(start)
}

// dateAt is the day, week or month at a distance from the start of a period, nil
// where that is past its end.
func (r Request) dateAt(within period.Period, distance int) *adlens.Day {
	date := r.firstDayOf(within.Start)
	switch r.Granularity {
	case ByWeek:
		date += adlens.Day(distance * daysOfWeek)
	case ByMonth:
		date = date.AddMonths(distance)
	default:
		date += adlens.Day(distance)
	}
	if date > within.End {
		return nil
	}
	return &date
}
