package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"adlens"
	"adlens/internal/exact"
)

// group is one row of a peer's answer: sums by some key.
type group struct {
	market, adProduct int    // summary
	bucket            string // timeline, reports by date: YYYY-MM-DD
	id                string // reports: of a product or campaign
	markets           uint64 // products: a bit for each marketplace with rows
	sums              exact.Sums
}

// expected is the right answer, as a peer and as the API must give it.
type expected struct{ sums, shown []string }

// places tell the marketplaces of an account by their stored keys.
type places map[int]market

// expectAnswer makes the right answer of all groups of the raw rows.
func (q *question) expectAnswer(groups []group, at places) expected {
	switch q.endpoint {
	case summaries:
		return expectSummary(groups, at)
	case timelines:
		return expectTimeline(groups)
	}
	return q.expectProducts(groups, at)
}

func expectSummary(groups []group, at places) expected {
	var e expected
	var total exact.Sums
	type part struct {
		name, id string
		sums     exact.Sums
	}
	byMarket, byProduct := map[int]*part{}, map[int]*part{}
	for i := range groups {
		g := &groups[i]
		e.sums = append(e.sums, fmt.Sprintf("marketplace %d ad product %d %s", g.market, g.adProduct, sumsText(g.sums)))
		total.AddSums(g.sums)
		if byMarket[g.market] == nil {
			byMarket[g.market] = &part{name: at[g.market].country, id: at[g.market].profile}
		}
		if byProduct[g.adProduct] == nil {
			byProduct[g.adProduct] = &part{name: adlens.AdProduct(g.adProduct).String()}
		}
		byMarket[g.market].sums.AddSums(g.sums)
		byProduct[g.adProduct].sums.AddSums(g.sums)
	}
	e.shown = []string{"total" + figuresText(total)}
	for _, by := range []map[int]*part{byMarket, byProduct} {
		var parts []*part
		for _, p := range by {
			parts = append(parts, p)
		}
		slices.SortFunc(parts, func(a, b *part) int {
			return cmp.Or(figureOf(b.sums, "spend").hundredths.Cmp(figureOf(a.sums, "spend").hundredths), strings.Compare(a.name, b.name))
		})
		for _, p := range parts {
			e.shown = append(e.shown, p.name+" "+p.id+figuresText(p.sums))
		}
	}
	return e
}

func expectTimeline(groups []group) expected {
	var e expected
	for i := range groups {
		e.sums = append(e.sums, groups[i].bucket+" "+sumsText(groups[i].sums))
		e.shown = append(e.shown, groups[i].bucket+figuresText(groups[i].sums))
	}
	return e
}

func (q *question) expectProducts(groups []group, at places) expected {
	sorted := slices.Clone(groups)
	keys := map[string]figure{}
	if q.sort != "product_id" && q.sort != "date" {
		for i := range groups {
			keys[groups[i].bucket+groups[i].id] = figureOf(groups[i].sums, q.sort)
		}
	}
	slices.SortFunc(sorted, func(a, b group) int { return q.compareProducts(&a, &b, keys) })
	e := expected{}
	first := min((q.page-1)*q.size, len(sorted))
	page := sorted[first:min(first+q.size, len(sorted))]
	for i := range page {
		g := &page[i]
		if q.endpoint == breakdown {
			e.sums = append(e.sums, fmt.Sprintf("%q on %s %s", g.id, g.bucket, sumsText(g.sums)))
			e.shown = append(e.shown, fmt.Sprintf("%q on %s%s", g.id, g.bucket, figuresText(g.sums)))
			continue
		}
		e.sums = append(e.sums, fmt.Sprintf("%q in %b %s", g.id, g.markets, sumsText(g.sums)))
		e.shown = append(e.shown, fmt.Sprintf("%q in %s%s", g.id, at.countryCodes(g.markets), figuresText(g.sums)))
	}
	total := fmt.Sprintf("%d rows in all", len(sorted))
	if len(page) > 0 {
		e.sums = append(e.sums, total)
	}
	e.shown = append(e.shown, total)
	return e
}

// compareProducts orders rows as the API must: by the value as shown, null last, ties
// by date and id, none last.
func (q *question) compareProducts(a, b *group, keys map[string]figure) int {
	sign := 1
	if q.order == "desc" {
		sign = -1
	}
	last := func(a, b bool) int {
		if a == b {
			return 0
		}
		if a {
			return 1
		}
		return -1
	}
	byID := cmp.Or(strings.Compare(a.bucket, b.bucket), last(a.id == "", b.id == ""), strings.Compare(a.id, b.id))
	if q.sort == "product_id" {
		return cmp.Or(last(a.id == "", b.id == ""), sign*byID)
	}
	x, y := keys[a.bucket+a.id].hundredths, keys[b.bucket+b.id].hundredths
	by := last(x == nil, y == nil)
	if x != nil && y != nil {
		by = sign * x.Cmp(y)
	}
	return cmp.Or(by, byID)
}

// countryCodes are the countries of marked marketplaces, sorted.
func (p places) countryCodes(marked uint64) string {
	var codes []string
	for key, m := range p {
		if marked&(1<<key) != 0 {
			codes = append(codes, m.country)
		}
	}
	slices.Sort(codes)
	return strings.Join(codes, ",")
}
