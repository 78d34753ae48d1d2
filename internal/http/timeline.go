package http

import (
	"adlens/internal/query"
)

type timelineAnswer struct{ *query.Timeline }

func (a timelineAnswer) fields(w *writer) {
	w.question(a.Request)
	w.text("granularity", a.Request.Granularity)
	rows(w, "data", query.Point{}, a.Points, func(p query.Point) {
		w.day("date", &p.Date)
		w.figures(p.Figures)
	})
	w.meta(a.Meta)
}
