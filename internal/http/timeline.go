package http

import (
	"adlens/internal/query"

	"github.com/gin-gonic/gin"
)

type timelineAnswer struct{ *query.Timeline }

func (s *Server) timeline(c *gin.Context, caller caller) (answer, error) {
	var params query.TimelineParams
	faults := decode(c.Request.URL.RawQuery, &params)
	timeline, err := s.figures.Timeline(c.Request.Context(), caller.account.ID, params, s.now())
	if err := merged(faults, err, &params); err != nil {
		return nil, err
	}
	return timelineAnswer{timeline}, nil
}

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
