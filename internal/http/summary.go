package http

import (
	"slices"

	"adlens/internal/query"
)

type summaryAnswer struct{ *query.Summary }

func (a summaryAnswer) fields(w *writer) {
	w.question(a.Request)
	if w.flat() {
		w.compared(a.Answer, nil)
		rows(w, "data", sectionRow{comparison: blankComparison(a.Request)}, slices.Values(a.sections()), w.section)
	} else {
		a.nested(w)
	}
	w.meta(a.Meta)
}

// nested writes the totals, and below them their parts.
func (a summaryAnswer) nested(w *writer) {
	w.figures(a.Total)
	w.compared(a.Answer, a.Comparison)
	w.list("by_marketplace", func() {
		for _, m := range a.ByMarketplace {
			w.object("", func() {
				w.marketplaceName(m.Marketplace)
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
}

// sectionRow is the total or a part of it, for formats that have only rows.
// What a section does not go by is "" there.
type sectionRow struct {
	section     string
	marketplace query.Marketplace
	adProduct   string
	figures     query.Figures
	comparison  *query.Comparison
}

// sections are the total and its parts as rows.
func (a summaryAnswer) sections() []sectionRow {
	all := []sectionRow{{section: "total", figures: a.Total, comparison: a.Comparison}}
	for _, m := range a.ByMarketplace {
		all = append(all, sectionRow{section: "by_marketplace", marketplace: m.Marketplace, figures: m.Figures, comparison: m.Comparison})
	}
	for _, p := range a.ByAdProduct {
		all = append(all, sectionRow{section: "by_ad_product", adProduct: p.AdProduct.String(), figures: p.Figures, comparison: p.Comparison})
	}
	return all
}

func (w *writer) section(r sectionRow) {
	w.text("section", r.section)
	w.marketplaceName(r.marketplace)
	w.textOrNull("ad_product", r.adProduct)
	w.figures(r.figures)
	w.comparison(r.comparison)
}

func (w *writer) marketplaceName(m query.Marketplace) {
	w.textOrNull("marketplace", m.Country)
	w.textOrNull("marketplace_id", m.ID)
}
