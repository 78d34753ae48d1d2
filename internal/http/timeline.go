package http

import (
	"slices"

	"adlens/internal/query"
)

type timelineAnswer struct{ *query.Timeline }

func (a timelineAnswer) fields(w *writer) {
	w.question(a.Request)
	w.text("granularity", a.Request.Granularity)
	w.compared(a.Answer, nil)
	rows(w, "data", query.Point{Comparison: blankPoint(a.Request)}, slices.Values(a.Points), func(p query.Point) {
		w.day("date", p.Date)
		w.figures(p.Figures)
		w.pointComparison(p.Comparison)
	})
	w.meta(a.Meta)
}
