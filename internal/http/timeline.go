package http

import (
	"adlens/internal/query"
)

type timelineAnswer struct{ *query.Timeline }

func (a timelineAnswer) fields(w *writer) {
	w.question(a.Request)
	w.text("granularity", a.Request.Granularity)
	w.compared(a.Answer, nil)
	w.list("data", func() {
		for _, p := range a.Points {
			w.object("", func() {
				w.day("date", p.Date)
				w.figures(p.Figures)
				w.pointComparison(p.Comparison)
			})
		}
	})
	w.meta(a.Meta)
}
