package answer

import (
	"slices"

	"adlens/internal/formats"
	"adlens/internal/query"
)

func (w *writer) writeSummary(a *query.Summary) {
	w.writeRequest(a.Request)
	if w.Flat() {
		w.writeComparedPeriod(a.Answer, nil)
		formats.Rows(w.Writer, "data", section{Part: query.Part{Comparison: blankComparison(a.Request)}}, slices.Values(sectionsOf(a)), w.writeSection)
	} else {
		w.nestedSummary(a)
	}
	w.writeMeta(a.Meta)
}

// nestedSummary writes the totals, and below them their parts.
func (w *writer) nestedSummary(a *query.Summary) {
	w.writeFigures(a.Total)
	w.writeComparedPeriod(a.Answer, a.Comparison)
	w.List("by_marketplace", func() {
		for _, m := range a.ByMarketplace {
			w.Object("", func() {
				w.marketplaceName(m.Marketplace)
				w.writeFigures(m.Figures)
				w.writeComparison(m.Comparison)
			})
		}
	})
	w.List("by_ad_product", func() {
		for _, p := range a.ByAdProduct {
			w.Object("", func() {
				w.Text("ad_product", p.AdProduct.String())
				w.writeFigures(p.Figures)
				w.writeComparison(p.Comparison)
			})
		}
	})
}

// section is the total of a summary or a part of it, for formats that have only
// rows. What it does not go by is null there.
type section struct {
	name string
	query.Part
}

// sectionsOf returns the total and its parts as rows.
func sectionsOf(a *query.Summary) []section {
	all := []section{{"total", query.Part{Figures: a.Total, Comparison: a.Comparison}}}
	for _, part := range a.ByMarketplace {
		all = append(all, section{"by_marketplace", part})
	}
	for _, part := range a.ByAdProduct {
		all = append(all, section{"by_ad_product", part})
	}
	return all
}

func (w *writer) writeSection(s section) {
	w.Text("section", s.name)
	w.marketplaceName(s.Marketplace)
	var adProduct string
	if s.AdProduct != 0 {
		adProduct = s.AdProduct.String()
	}
	w.TextOrNull("ad_product", adProduct)
	w.writeFigures(s.Figures)
	w.writeComparison(s.Comparison)
}

func (w *writer) marketplaceName(m query.Marketplace) {
	w.TextOrNull("marketplace", m.Country)
	w.TextOrNull("marketplace_id", m.ID)
}

func (w *writer) writeTimeline(a *query.Timeline) {
	w.writeRequest(a.Request)
	w.Text("granularity", a.Request.Granularity)
	w.writeComparedPeriod(a.Answer, nil)
	formats.Rows(w.Writer, "data", blankRow(a.Request), slices.Values(a.Points), func(p query.Row) {
		w.writeDay("date", p.Date)
		w.writeFigures(p.Figures)
		w.writePointComparison(a.Request, p.Comparison)
	})
	w.writeMeta(a.Meta)
}

func (w *writer) writeProducts(a *query.Report) {
	w.writeRequest(a.Request)
	w.writeRows(a, func(row query.Row) {
		w.TextOrNull("product_id", row.ID)
		w.TextOrNull("title", row.Title)
		w.Texts("marketplaces", row.Marketplaces)
	})
}

func (w *writer) writeReport(a *query.Report) {
	r := a.Request
	w.figures = r.ListFigures()
	w.writeRequest(r)
	w.Texts("dimensions", r.Dimensions)
	w.Texts("figures", r.FigureNames())
	if r.Search != "" {
		w.Text("search", r.Search)
	}
	w.writeRows(a, func(row query.Row) {
		for _, dimension := range r.Dimensions {
			w.writeDimension(dimension, row)
		}
		if r.Mixed {
			w.TextOrNull("currency", row.Marketplace.Currency)
		}
	})
}

// writeDimension writes which value of a dimension a row is of.
func (w *writer) writeDimension(name string, row query.Row) {
	switch name {
	case "marketplace":
		w.marketplaceName(row.Marketplace)
	case "ad_product":
		w.Text("ad_product", row.AdProduct.String())
	case "campaign":
		w.TextOrNull("campaign_id", row.Campaign.ID)
		w.TextOrNull("campaign_name", row.Campaign.Name.Text)
	case "ad_group":
		w.TextOrNull("ad_group_id", row.AdGroup.ID)
		w.TextOrNull("ad_group_name", row.AdGroup.Name.Text)
	case "product":
		w.TextOrNull("product_id", row.ID)
		w.TextOrNull("title", row.Title)
	default: // of time
		w.writeDay(name, row.Date)
	}
}

// writeRows writes the order of a report, its totals, and its rows, which begin as
// head writes them.
func (w *writer) writeRows(a *query.Report, head func(query.Row)) {
	w.Text("sort", a.Request.Sort)
	w.Text("order", a.Request.Order)
	w.writeComparedPeriod(a.Answer, nil)
	w.Object("totals", func() {
		w.writeFigures(a.Total)
		w.writeComparison(a.Comparison)
	})
	formats.Rows(w.Writer, "data", blankRow(a.Request), a.Rows, func(row query.Row) {
		head(row)
		w.writeFigures(row.Figures)
		w.writePointComparison(a.Request, row.Comparison)
	})
	w.writePagination(a.Request.Paging, a.TotalRows, a.Meta.Truncated)
	w.writeMeta(a.Meta)
}

// writePointComparison writes the earlier side of a point or row, with its date
// where it has one.
func (w *writer) writePointComparison(r query.Request, c *query.PointComparison) {
	if c == nil {
		return
	}
	w.Object("comparison", func() {
		if r.Granularity != "" {
			w.writeDay(r.TimeDimension(), c.Date)
		}
		w.earlierFigures(&c.Comparison)
	})
}

// writeRequest writes what every figure answer repeats of its request.
func (w *writer) writeRequest(r query.Request) {
	w.writePeriod(r)
	w.Object("filters", func() {
		w.TextsOrNull("marketplaces", r.Filters.Marketplaces)
		w.TextsOrNull("ad_products", r.Filters.AdProductNames())
		f := r.Filters
		for _, sent := range []struct {
			name string
			ids  []string
		}{{"campaign_ids", f.Campaigns}, {"ad_group_ids", f.AdGroups}, {"product_ids", f.Products}} {
			if sent.ids != nil {
				w.TextsOrNull(sent.name, sent.ids)
			}
		}
	})
	w.TextOrNull("currency", r.Currency)
}

// writePeriod writes days, how they were found, and whose calendar says today.
func (w *writer) writePeriod(r query.Request) {
	w.Object("period", func() {
		w.writeDay("start_date", &r.Period.Start)
		w.writeDay("end_date", &r.Period.End)
		w.Text("range", string(r.Period.Range))
		w.Text("timezone", r.TimeZone)
	})
}

func (w *writer) writeMeta(m query.Meta) {
	w.Object("meta", func() {
		w.writeDay("data_last_date", m.LastDate)
		w.Bool("history_covered", m.HistoryCovered)
		w.Bool("truncated", m.Truncated)
		w.writeLacks(m)
	})
}

// writeLacks writes what figures are not of, where there is such.
func (w *writer) writeLacks(m query.Meta) {
	w.writeIncomplete(m.Incomplete)
	if m.NotHeld == nil {
		return
	}
	w.List("not_held", func() {
		for _, missing := range m.NotHeld {
			w.Object("", func() {
				w.marketplaceName(missing.Marketplace)
				w.Text("ad_product", missing.AdProduct.String())
				w.writeDay("start_date", &missing.First)
				w.writeDay("end_date", &missing.Last)
				w.writeInt("days", missing.Days)
			})
		}
	})
}

// maxNamedCampaigns is how many of the campaigns that reports leave out are named.
const maxNamedCampaigns = 10

// writeIncomplete writes what reports leave out of figures.
func (w *writer) writeIncomplete(parts []query.Incomplete) {
	if parts == nil {
		return
	}
	w.List("incomplete", func() {
		for _, part := range parts {
			w.Object("", func() {
				w.marketplaceName(part.Marketplace)
				w.Text("ad_product", part.AdProduct.String())
				w.Text("reason", part.Reason)
				if part.Figures != nil {
					w.Texts("figures", part.Figures)
				}
				if part.Campaigns != nil {
					w.writeLeftOut(part.Campaigns)
				}
			})
		}
	})
}

// writeLeftOut counts campaigns, and names the first of them.
func (w *writer) writeLeftOut(all []query.LegacyCampaign) {
	w.writeInt("campaign_count", len(all))
	w.List("campaigns", func() {
		for _, c := range all[:min(len(all), maxNamedCampaigns)] {
			w.Object("", func() {
				w.Text("campaign_id", c.ID)
				w.Text("campaign_name", c.Name)
			})
		}
	})
}

// writeComparedPeriod writes which days an answer is compared with, and the figures of
// what it totals, where it does. Nothing is written where nothing is compared.
func (w *writer) writeComparedPeriod(a query.Answer, total *query.Comparison) {
	if !a.Request.Compared() {
		return
	}
	w.Object("comparison", func() {
		w.writePeriod(a.Request.EarlierRequest())
		w.Bool("history_covered", a.Meta.EarlierCovered)
		w.earlierFigures(total)
	})
}

// writeComparison writes the earlier side of an element or row.
func (w *writer) writeComparison(c *query.Comparison) {
	if c != nil {
		w.Object("comparison", func() { w.earlierFigures(c) })
	}
}

// earlierFigures writes the figures of the earlier period and how they changed
// since.
func (w *writer) earlierFigures(c *query.Comparison) {
	if c == nil {
		return
	}
	w.writeFigures(c.Figures)
	w.Object("change", func() { w.writeChanges(c.Change) })
}

// blankRow shows the fields of rows.
func blankRow(r query.Request) (row query.Row) {
	if r.Compared() {
		row.Comparison = &query.PointComparison{}
	}
	return row
}

// blankComparison shows the fields of a row's comparison, where it has one.
func blankComparison(r query.Request) *query.Comparison {
	if !r.Compared() {
		return nil
	}
	return &query.Comparison{}
}
