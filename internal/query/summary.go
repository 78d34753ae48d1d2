package query

import (
	"cmp"
	"slices"

	"adlens"
)

// Summary is the totals of a period, whole and in parts.
type Summary struct {
	Answer
	Total         Figures
	ByMarketplace []MarketplaceTotal // largest spend first
	ByAdProduct   []AdProductTotal   // largest spend first
}

// MarketplaceTotal is one marketplace's part.
type MarketplaceTotal struct {
	Marketplace Marketplace
	Figures     Figures
}

// AdProductTotal is one ad product's part.
type AdProductTotal struct {
	AdProduct adlens.AdProduct
	Figures   Figures
}

// newSummary folds the rows three ways. Each sum is exact and rounded on its
// own.
func newSummary(r Request, v View, rows []SliceRow) *Summary {
	var total Sums
	marketplaces, products := map[uint16]*Sums{}, map[adlens.AdProduct]*Sums{}
	for i := range rows {
		row := &rows[i]
		total.Add(&row.Sums)
		fold(marketplaces, row.Marketplace, &row.Sums)
		fold(products, row.AdProduct, &row.Sums)
	}
	s := &Summary{Answer: Answer{r, v.meta(r)}, Total: FiguresOf(&total),
		ByMarketplace: []MarketplaceTotal{}, ByAdProduct: []AdProductTotal{}}
	for key, sums := range marketplaces {
		if !sums.Empty() {
			s.ByMarketplace = append(s.ByMarketplace, MarketplaceTotal{v.byKey(key), FiguresOf(sums)})
		}
	}
	for product, sums := range products {
		if !sums.Empty() {
			s.ByAdProduct = append(s.ByAdProduct, AdProductTotal{product, FiguresOf(sums)})
		}
	}
	slices.SortFunc(s.ByMarketplace, func(a, b MarketplaceTotal) int {
		return cmp.Or(b.Figures[0].Compare(a.Figures[0]), cmp.Compare(a.Marketplace.Country, b.Marketplace.Country),
			cmp.Compare(a.Marketplace.ID, b.Marketplace.ID))
	})
	slices.SortFunc(s.ByAdProduct, func(a, b AdProductTotal) int {
		return cmp.Or(b.Figures[0].Compare(a.Figures[0]), cmp.Compare(a.AdProduct.String(), b.AdProduct.String()))
	})
	return s
}

func fold[K comparable](into map[K]*Sums, key K, s *Sums) {
	if into[key] == nil {
		into[key] = &Sums{}
	}
	into[key].Add(s)
}
