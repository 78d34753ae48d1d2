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
	ByMarketplace []MarketplaceTotal // largest spend first
	ByAdProduct   []AdProductTotal   // largest spend first
}

// MarketplaceTotal is one marketplace's part.
type MarketplaceTotal struct {
	Marketplace Marketplace
	Figures     Figures
	Comparison  *Comparison
}

// AdProductTotal is one ad product's part.
type AdProductTotal struct {
	AdProduct  adlens.AdProduct
	Figures    Figures
	Comparison *Comparison
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
	s := &Summary{Answer: newAnswer(r, v), ByMarketplace: []MarketplaceTotal{}, ByAdProduct: []AdProductTotal{}}
	s.Total, s.Comparison = s.figuresOf(total[current]), s.comparisonOf(&total)
	for key, sums := range marketplaces {
		if !sums.isEmpty(r.summands()) {
			s.ByMarketplace = append(s.ByMarketplace, MarketplaceTotal{v.byKey(key), s.figuresOf(sums[current]), s.comparisonOf(sums)})
		}
	}
	for product, sums := range products {
		if !sums.isEmpty(r.summands()) {
			s.ByAdProduct = append(s.ByAdProduct, AdProductTotal{product, s.figuresOf(sums[current]), s.comparisonOf(sums)})
		}
	}
	s.sortBySpend()
	return s
}

// sortBySpend puts the largest spend first.
func (s *Summary) sortBySpend() {
	slices.SortFunc(s.ByMarketplace, func(a, b MarketplaceTotal) int {
		return cmp.Or(b.Figures[0].Compare(a.Figures[0]), cmp.Compare(a.Marketplace.Country, b.Marketplace.Country),
			cmp.Compare(a.Marketplace.ID, b.Marketplace.ID))
	})
	slices.SortFunc(s.ByAdProduct, func(a, b AdProductTotal) int {
		return cmp.Or(b.Figures[0].Compare(a.Figures[0]), cmp.Compare(a.AdProduct.String(), b.AdProduct.String()))
	})
}

// sumsAt returns the sums of a side under a key, which are zero where there are none yet.
func sumsAt[K comparable](all map[K]*sides, key K, side int) *exact.Sums {
	if all[key] == nil {
		all[key] = &sides{}
	}
	return &all[key][side]
}
