package query

import (
	"cmp"
	"slices"

	"adlens"
	"adlens/internal/exact"
)

// Summary is the totals of a period, whole and in parts. Comparisons are nil
// where nothing is compared.
type Summary struct {
	Answer
	Total         Figures
	Comparison    *Comparison
	ByMarketplace []Part // largest spend first
	ByAdProduct   []Part // largest spend first
}

// Part is the part of a marketplace or of an ad product; the other one is zero.
type Part struct {
	Marketplace Marketplace
	AdProduct   adlens.AdProduct
	Figures     Figures
	Comparison  *Comparison
}

// newSummary folds the sums of the period, and of the earlier one, three ways.
// Each sum is exact and rounded on its own.
func newSummary(r Request, v View, bySlice map[group]*sides) *Summary {
	var total sides
	marketplaces, products := map[uint16]*sides{}, map[adlens.AdProduct]*sides{}
	for slice, both := range bySlice {
		for side, sums := range both {
			total[side].AddSums(sums)
			sumsAt(marketplaces, slice.marketplace, side).AddSums(sums)
			sumsAt(products, slice.adProduct, side).AddSums(sums)
		}
	}
	s := &Summary{Answer: newAnswer(r, v)}
	s.Total, s.Comparison = s.figuresOf(total[current]), s.comparisonOf(&total)
	s.ByMarketplace = partsOf(&s.Answer, marketplaces, func(key uint16) Part { return Part{Marketplace: v.byKey(key)} })
	s.ByAdProduct = partsOf(&s.Answer, products, func(product adlens.AdProduct) Part { return Part{AdProduct: product} })
	return s
}

// partsOf returns the parts that have figures, largest spend first; it is never nil, so
// that none are written as an empty list.
func partsOf[K comparable](a *Answer, all map[K]*sides, newPart func(K) Part) []Part {
	parts := []Part{}
	for key, sums := range all {
		if !sums.isEmpty(a.Request.summands()) {
			part := newPart(key)
			part.Figures, part.Comparison = a.figuresOf(sums[current]), a.comparisonOf(sums)
			parts = append(parts, part)
		}
	}
	slices.SortFunc(parts, func(a, b Part) int {
		return cmp.Or(b.Figures[0].Compare(a.Figures[0]), cmp.Compare(a.Marketplace.Country, b.Marketplace.Country),
			cmp.Compare(a.Marketplace.ID, b.Marketplace.ID), cmp.Compare(a.AdProduct.String(), b.AdProduct.String()))
	})
	return parts
}

// sumsAt returns the sums of a side under a key, which are zero where there are none yet.
func sumsAt[K comparable](all map[K]*sides, key K, side int) *exact.Sums {
	if all[key] == nil {
		all[key] = &sides{}
	}
	return &all[key][side]
}
