package http

import (
	"adlens/internal/query"

	"github.com/gin-gonic/gin"
)

type summaryAnswer struct{ *query.Summary }

func (s *Server) summary(c *gin.Context, caller caller) (answer, error) {
	var params query.SummaryParams
	faults := decode(c.Request.URL.RawQuery, &params)
	summary, err := s.figures.Summary(c.Request.Context(), caller.account.ID, params, s.now())
	if err := merged(faults, err, &params); err != nil {
		return nil, err
	}
	return summaryAnswer{summary}, nil
}

func (a summaryAnswer) fields(w *writer) {
	w.question(a.Request)
	w.figures(a.Total)
	w.list("by_marketplace", func() {
		for _, m := range a.ByMarketplace {
			w.object("", func() {
				w.text("marketplace", m.Marketplace.Country)
				w.text("marketplace_id", m.Marketplace.ID)
				w.figures(m.Figures)
			})
		}
	})
	w.list("by_ad_product", func() {
		for _, p := range a.ByAdProduct {
			w.object("", func() {
				w.text("ad_product", p.AdProduct.String())
				w.figures(p.Figures)
			})
		}
	})
	w.meta(a.Meta)
}
