package http

import (
	"adlens/internal/query"
)

type summaryAnswer struct{ *query.Summary }

func (a summaryAnswer) fields(w *writer) {
	w.question(a.Request)
	w.figures(a.Total)
	w.compared(a.Answer, a.Comparison)
	w.list("by_marketplace", func() {
		for _, m := range a.ByMarketplace {
			w.object("", func() {
				w.text("marketplace", m.Marketplace.Country)
				w.text("marketplace_id", m.Marketplace.ID)
				w.figures(m.Figures)
				w.comparison(m.Comparison)
			})
		}
	})
	w.list("by_ad_product", func() {
		for _, p := range a.ByAdProduct {
			w.object("", func() {
				w.text("ad_product", p.AdProduct.String())
				w.figures(p.Figures)
				w.comparison(p.Comparison)
			})
		}
	})
	w.meta(a.Meta)
}
