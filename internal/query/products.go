package query

import (
	"cmp"
	"context"
	"slices"

	"adlens/internal/exact"
)

// answerLevel answers a page by products, campaigns or ad groups alone from memory,
// where little is missing there after that was read, and else by a statement that
// sums, ranks and cuts. What was missed then is read in after the answer: at the same
// time, each would take the other's core.
func (s *Service) answerLevel(ctx context.Context, v View, r Request) (*Report, error) {
	plan := PlanReport(r, v)
	switch {
	case plan.isEmpty():
		return emptyPage(r, v, 0), nil
	case plan.by != byProduct && plan.hasUndivided():
		return s.answerRanked(ctx, v, r, plan)
	}
	if report, ok := s.answerCached(ctx, v, r, plan); ok {
		return report, nil
	}
	if report, ok, err := s.answerFetched(ctx, v, r, plan, min(plan.Rows+plan.earlierPlan().Rows, plan.by.mostOf(v))); ok || err != nil {
		return report, err
	}
	if s.memory != nil {
		defer s.noteMiss(v, r, plan)
		defer s.memory.computed.beginWork()()
	}
	return s.answerRanked(ctx, v, r, plan)
}

// hasUndivided reports whether units of either period are from before there were
// campaigns and ad groups.
func (plan Plan) hasUndivided() bool {
	tables := plan.bothTables()
	return slices.ContainsFunc(slices.Concat(tables[:]...), func(l Live) bool { return l.Undivided })
}

// place is a product, campaign or ad group among all in the order of the report.
type place struct {
	by   exact.Uint128 // the figure that is sorted by
	null bool          // it has none
	id   uint32        // the place of its id in the order of ids
	key  uint32
}

// noID is the place of what has no id: behind all.
const noID = ^uint32(0)

// talliedRows lists, sorts and cuts. Rows are ordered by what they show, so
// that a reader sees why; ties by id make pages that never overlap. then are the
// sums of the earlier period, nil where nothing is compared. It keeps neither.
func talliedRows(r Request, v View, t, then *tallies, names rowNames) *Report {
	all := collectPlaces(r, t, then, names)
	report := emptyPage(r, v, len(all))
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
	report.Rows = eachRow(rows, func(row *talliedRow) Row {
		s := sides{current: row.now.exactSums()}
		if r.Compared() {
			s[earlier] = row.then.exactSums()
		}
		one := report.newRow(v, group{}, &s)
		one.Marketplaces = row.countries // which rows of products have
		names.putOn(&one, row.key)
		return one
	})
	return report
}

// talliedRow is a row of a page with the sums of both periods.
type talliedRow struct {
	key       uint32
	now, then tally
	countries []string // shared by rows
}

// collectPlaces are those with figures in either period, in no order.
func collectPlaces(r Request, t, then *tallies, names rowNames) []place {
	all := make([]place, 0, len(t.of))
	var by quotient // where they are sorted by a figure
	byID := r.sortedDimension() != ""
	if !byID {
		by = r.sortQuotient()
	}
	for key := range t.of {
		product := &t.of[key]
		if product.isEmpty() && (then == nil || then.of[key].isEmpty()) {
			continue
		}
		one := place{id: names.idRank(uint32(key)), key: uint32(key)}
		if !byID {
			rank, defined := by.computeRank(&product.counts)
			one.by, one.null = rank, !defined
		}
		all = append(all, one)
	}
	return all
}

// firstPlaces puts all up to the end of the asked page in order, and leaves
// out what is behind. What cannot be among them any more is passed over, so a
// first page costs little more than looking at all products once.
func firstPlaces(all []place, r Request) []place {
	compare := placeComparison(r)
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

// placeComparison orders by a figure or by id.
func placeComparison(r Request) func(a, b place) int {
	sign := 1
	if r.Order == Descending {
		sign = -1
	}
	if r.sortedDimension() != "" {
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
