package http

import (
	"adlens/internal/query"
)

type timelineAnswer struct{ *query.Timeline }

func (a timelineAnswer) fields(w *writer) {
	w.question(a.Request)
	w.text("granularity", a.Request.Granularity)
	w.list("data", func() {
		for _, p := range a.Points {
			w.object("", func() {
				w.text("date", p.Date.String())
				w.figures(p.Figures)
			})
		}
	})
	w.meta(a.Meta)
}
