package http

import "adlens/internal/query"

// compared writes which days an answer is compared with, and the figures of
// what it totals, where it does. Nothing is written where nothing is compared.
func (w *writer) compared(a query.Answer, total *query.Comparison) {
	if !a.Request.Compared() {
		return
	}
	w.object("comparison", func() {
		w.period(a.Request.EarlierRequest())
		w.bool("history_covered", a.Meta.EarlierCovered)
		w.then(total)
	})
}

// comparison writes the earlier side of an element or row.
func (w *writer) comparison(c *query.Comparison) {
	if c != nil {
		w.object("comparison", func() { w.then(c) })
	}
}

// pointComparison writes the earlier side of a point, which has a date of its
// own.
func (w *writer) pointComparison(c *query.PointComparison) {
	if c != nil {
		w.object("comparison", func() {
			w.day("date", c.Date)
			w.then(&c.Comparison)
		})
	}
}

// then writes the figures of the earlier period and how they changed since.
func (w *writer) then(c *query.Comparison) {
	if c != nil {
		w.figures(c.Figures)
		change := c.Change
		if change == nil {
			change = query.NoChange
		}
		w.object("change", func() { w.figures(change) })
	}
}

// blankComparison shows the fields of a row's comparison, where it has one.
func blankComparison(r query.Request) *query.Comparison {
	if !r.Compared() {
		return nil
	}
	return &query.Comparison{}
}

// blankPoint is blankComparison for a point.
func blankPoint(r query.Request) *query.PointComparison {
	if !r.Compared() {
		return nil
	}
	return &query.PointComparison{}
}
