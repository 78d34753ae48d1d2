package query

import "adlens"

// Timeline is a point for each day or month with figures, oldest first.
type Timeline struct {
	Answer
	Points []Point
}

// Point is the figures of a day, or of the days of a month that lie in the
// period.
type Point struct {
	Date    adlens.Day // the day, or the first day of the month
	Figures Figures
}

func newTimeline(r Request, v View, rows []PointRow) *Timeline {
	t := &Timeline{Answer: Answer{r, v.meta(r)}, Points: []Point{}}
	for i := range rows {
		if !rows[i].Sums.Empty() {
			t.Points = append(t.Points, Point{rows[i].Day, FiguresOf(&rows[i].Sums)})
		}
	}
	return t
}
