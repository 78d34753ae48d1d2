package query

import (
	"cmp"
	"context"
	"iter"
	"slices"

	"adlens/internal/exact"
	"adlens/internal/flight"
)

// Products is a page of the product report.
type Products struct {
	Answer
	Total      Figures     // of the whole report
	Comparison *Comparison // nil where nothing is compared
	// Rows makes the rows of the page one by one, in their order: with their
	// figures, a hundred thousand at once would take as much memory as all else
	// of an answer.
	Rows      iter.Seq[Product]
	TotalRows int // of all pages
}

// Product is the figures of one advertised product.
type Product struct {
	ID           string   // "" for figures that the platform ties to no product
	Title        string   // "" where none is known
	Marketplaces []string // codes with figures of this row in the period, sorted
	Figures      Figures
	Comparison   *Comparison // nil where nothing is compared
}

// Products answers a page of the product report, and the totals of all of it, which
// are those of a summary.
func (s *Service) Products(ctx context.Context, v View, r Request) (*Products, error) {
	defer s.queueAhead(v)
	var p *Products
	var total sides
	err := flight.Together(
		func() (err error) { p, err = s.answerPage(ctx, v, r); return err },
		func() (err error) { total, err = s.sumPeriod(ctx, v, r); return err },
	)
	if err != nil {
		return nil, err
	}
	p.Total, p.Comparison = FiguresOf(total[current]), p.comparisonOf(&total)
	return p, nil
}

// answerPage answers a page from memory, where little is missing there after that
// was read, and else by a statement that sums, ranks and cuts. What was missed then
// is read in after the answer: at the same time, each would take the other's core.
func (s *Service) answerPage(ctx context.Context, v View, r Request) (*Products, error) {
	plan := PlanProducts(r, v)
	if plan.Empty() && plan.earlierPlan().Empty() {
		return emptyPage(r, v, 0), nil
	}
	if p, ok := s.answerCached(ctx, v, r, plan); ok {
		return p, nil
	}
	if p, ok, err := s.answerFetched(ctx, v, r, plan, s.productBound(v, plan)); ok || err != nil {
		return p, err
	}
	if s.memory != nil {
		defer s.noteMiss(v, r, plan)
		defer s.memory.computed.beginWork()()
	}
	return s.answerRanked(ctx, v, r, plan)
}

// MostRows is how many rows an answer has at most whose rows are paged.
func (s *Service) MostRows(_ context.Context, v View, r Request) (int, error) {
	if !r.All {
		return r.PageSize, nil
	}
	return int(min(s.productBound(v, PlanProducts(r, v)), uint64(r.PageSize))), nil
}

// productBound is how many products a report has at most.
func (s *Service) productBound(v View, plan Plan) uint64 {
	return min(plan.Rows+plan.earlierPlan().Rows, MostProducts(v))
}

// answerRanked answers a page that the engine has cut.
func (s *Service) answerRanked(ctx context.Context, v View, r Request, plan Plan) (*Products, error) {
	names := namesOf(v)
	ask := func(r Request) ([]RankedRow, int, error) {
		return s.store.Ranked(ctx, plan.RankedStatement(r, names.products, names.titles), r.Compared())
	}
	if r.All && r.Page > 1 {
		return s.answerPastEnd(v, r, ask)
	}
	rows, total, err := ask(r)
	if err == nil && len(rows) == 0 && r.Page > 1 {
		return s.answerPastEnd(v, r, ask)
	}
	return rankedProducts(r, v, rows, total), err
}

// answerPastEnd answers a page past the end. The total number of rows comes from
// the first page.
func (s *Service) answerPastEnd(v View, r Request, ask func(Request) ([]RankedRow, int, error)) (*Products, error) {
	first := r
	first.Page, first.PageSize = 1, 1
	_, total, err := ask(first)
	return rankedProducts(r, v, nil, total), err
}

// eachProduct makes products of what is known of them, whenever they are
// ranged over.
func eachProduct[T any](all []T, make func(*T) Product) iter.Seq[Product] {
	return func(yield func(Product) bool) {
		for i := range all {
			if !yield(make(&all[i])) {
				return
			}
		}
	}
}

// emptyPage is a page that has no rows yet.
func emptyPage(r Request, v View, total int) *Products {
	p := &Products{Answer: Answer{r, v.answerMeta(r)}, TotalRows: total, Rows: func(func(Product) bool) {}}
	p.Meta.Truncated = r.All && total > MaxRows
	return p
}

// rankedProducts is a page that was put in order and cut by the engine.
func rankedProducts(r Request, v View, rows []RankedRow, total int) *Products {
	p := emptyPage(r, v, total)
	p.Rows = eachProduct(rows, func(row *RankedRow) Product {
		return p.newProduct(row.ID, row.Title, v.countriesOf(row.Marketplaces), &sides{row.Sums, row.Earlier})
	})
	return p
}

func (p *Products) newProduct(id, title string, marketplaces []string, s *sides) Product {
	return Product{ID: id, Title: title, Marketplaces: marketplaces, Figures: FiguresOf(s[current]), Comparison: p.comparisonOf(s)}
}

func cutPage[T any](all []T, r Request) []T {
	if r.All && r.Page > 1 {
		return nil // all rows are one page, and what the cap left out is none
	}
	from := min((r.Page-1)*r.PageSize, len(all))
	return all[from:min(from+r.PageSize, len(all))]
}

func nullsLast(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// countriesOf are the countries of marketplaces, sorted, each once.
func (v View) countriesOf(keys []uint16) []string {
	codes := make([]string, 0, len(keys))
	for _, key := range keys {
		codes = append(codes, v.byKey(key).Country)
	}
	slices.Sort(codes)
	return slices.Compact(codes)
}

// place is a product among all in the order of the report.
type place struct {
	by   exact.Uint128 // the figure that is sorted by
	null bool          // it has none
	id   uint32        // the place of the product's id in the order of ids
	key  uint32
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
	sorted := quotientNamed[r.Sort]
	for key := range t.of {
		product := &t.of[key]
		if product.isEmpty() && (then == nil || then.of[key].isEmpty()) {
			continue
		}
		one := place{id: names.idRank(uint32(key)), key: uint32(key)}
		if r.Sort != SortProduct {
			by, defined := sorted.computeRank(&product.counts)
			one.by, one.null = by, !defined
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
		if a.null != b.null {
			return nullsLast(a.null, b.null)
		}
		if by := a.by.Compare(b.by); by != 0 {
			return sign * by
		}
		return cmp.Compare(a.id, b.id)
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
