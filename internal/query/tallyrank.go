package query

import (
	"cmp"
	"slices"

	"adlens/internal/catalogue"
	"adlens/internal/exact"
)

// place is a product among all in the order of the report.
type place struct {
	by  Value  // the figure that is sorted by
	id  uint32 // the place of the product's id in the order of ids
	key uint32
}

// noID is the place of a product without an id: behind all.
const noID = ^uint32(0)

// talliedProducts lists, sorts and cuts. Rows are ordered by what they show, so
// that a reader sees why; ties by id make pages that never overlap. then are the
// sums of the earlier period, nil where nothing is compared. It keeps neither.
func talliedProducts(r Request, v View, t, then *tallies, names productNames) *Products {
	all := collectPlaces(r, t, then, names)
	p := emptyPage(r, v, len(all))
	asked := cutPage(firstPlaces(all, r), r)
	rows := make([]talliedRow, len(asked))
	var countries marketplaceSets
	for i, one := range asked {
		rows[i] = talliedRow{key: one.key, now: t.of[one.key]}
		if then != nil {
			rows[i].then = then.of[one.key]
		}
		rows[i].countries = countries.countriesOf(v, rows[i].now.marketplaces)
	}
	p.Rows = eachProduct(rows, func(row *talliedRow) Product {
		id, s := names.ids[row.key], sides{current: row.now.exactSums()}
		if r.Compared() {
			s[earlier] = row.then.exactSums()
		}
		return p.newProduct(id, names.titles[id], row.countries, &s)
	})
	return p
}

// talliedRow is a row of a page with the sums of both periods.
type talliedRow struct {
	key       uint32
	now, then tally
	countries []string // shared by rows
}

// collectPlaces are the products with figures in either period, in no order.
func collectPlaces(r Request, t, then *tallies, names productNames) []place {
	all := make([]place, 0, len(t.of))
	sorted, sums := catalogue.FigureIndex(r.Sort), make(exact.Sums, measures)
	for key := range t.of {
		product := &t.of[key]
		if product.isEmpty() && (then == nil || then.of[key].isEmpty()) {
			continue
		}
		one := place{id: names.idRank(uint32(key)), key: uint32(key)}
		if r.Sort != SortProduct {
			one.by = quotients[sorted].computeValue(product.sumsIn(sums))
		}
		all = append(all, one)
	}
	return all
}

// firstPlaces puts all up to the end of the asked page in order, and leaves
// out what is behind. What cannot be among them any more is passed over, so a
// first page costs little more than looking at all products once.
func firstPlaces(all []place, r Request) []place {
	compare := placeComparison(r.Sort, r.Order)
	n := min(r.Page*r.PageSize, len(all))
	if n == 0 || 2*n >= len(all) {
		slices.SortFunc(all, compare)
		return all[:n]
	}
	first := all[:2*n]
	slices.SortFunc(first, compare)
	first = first[:n]
	for _, one := range all[2*n:] {
		if compare(one, first[n-1]) > 0 {
			continue
		}
		if first = append(first, one); len(first) == 2*n {
			slices.SortFunc(first, compare)
			first = first[:n]
		}
	}
	slices.SortFunc(first, compare)
	return first[:n]
}

// placeComparison orders products by a figure or by id.
func placeComparison(sort, order string) func(a, b place) int {
	sign := 1
	if order == Descending {
		sign = -1
	}
	if sort == SortProduct {
		return func(a, b place) int {
			return cmp.Or(nullsLast(a.id == noID, b.id == noID), sign*cmp.Compare(a.id, b.id))
		}
	}
	return func(a, b place) int {
		if a.by.Null() != b.by.Null() {
			return nullsLast(a.by.Null(), b.by.Null())
		}
		return cmp.Or(sign*a.by.Compare(b.by), cmp.Compare(a.id, b.id))
	}
}

// marketplaceSets are the countries of sets of marketplaces. Most rows of a
// page have one of few sets.
type marketplaceSets map[uint64][]string

func (s *marketplaceSets) countriesOf(v View, set uint64) []string {
	if codes, ok := (*s)[set]; ok {
		return codes
	}
	var keys []uint16
	for i := range v.Marketplaces {
		if set>>i&1 == 1 {
			keys = append(keys, v.Marketplaces[i].Key)
		}
	}
	if *s == nil {
		*s = marketplaceSets{}
	}
	(*s)[set] = v.countriesOf(keys)
	return (*s)[set]
}
