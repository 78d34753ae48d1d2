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
func (s *Service) answerLevel(ctx context.Context, v View, r Request, plan Plan) (*Report, error) {
	if report, ok := s.answerCached(ctx, v, r, plan); ok {
		return report, nil
	}
	if report, ok, err := s.answerFetched(ctx, v, r, plan, min(plan.Rows+plan.earlierPlan().Rows, plan.by.mostOf(v))); ok || err != nil {
		return report, err
	}
	if s.memory != nil && !plan.isNarrow() {
		defer s.noteMiss(v, r, plan)
		defer s.memory.computed.beginWork()()
	}
	return s.answerPlanned(ctx, v, r, plan)
}

// needsAdGroups reports whether rows of products alone cannot answer.
func (plan Plan) needsAdGroups() bool {
	return plan.by == byCampaign || plan.by == byAdGroup || plan.narrowing.isByAdGroup()
}

const (
	// maxRanked is how many rows divided by time are ranked in memory: all up to the
	// end of a page are kept until it is done.
	maxRanked = 20_000
	// maxTallied bounds the tallies of all days, weeks or months together, which are
	// looked at one by one, whether they have figures or not.
	maxTallied = 10_000_000
)

// isRankable reports whether memory may rank a report. Of many rows or days, the engine
// does it sooner.
func (plan Plan) isRankable(v View, r Request) bool {
	if r.TimeDimension() == "" {
		return true
	}
	most, rows := plan.by.mostOf(v), 0
	last := most // number
	for i, d := range identified {
		if d.name == levels[plan.by].name && len(plan.Only[i]) > 0 {
			last = uint64(slices.Max(plan.Only[i]))
		}
	}
	for table, units := range plan.unitsByTable() {
		for _, l := range units {
			rows += l.rowBound(unitTable(table), most)
		}
	}
	days := uint64(1 + r.offsetFrom(plan.From, plan.To))
	return min(r.Page*r.PageSize, rows) <= maxRanked && days*last <= maxTallied
}

// isKept reports whether memory keeps what the plan reads: not what a search finds, nor
// units from before there were campaigns and ad groups.
func (plan Plan) isKept() bool {
	return plan.Found == nil && !(plan.needsAdGroups() && plan.hasUndivided())
}

// hasUndivided reports whether units of either period are from before there were
// campaigns and ad groups.
func (plan Plan) hasUndivided() bool {
	tables := plan.bothTables()
	return slices.ContainsFunc(slices.Concat(tables[:]...), func(l Live) bool { return l.Undivided })
}

// place is a product, campaign or ad group among all in the order of the report, or
// what one of these has on a day, in a week or in a month.
type place struct {
	by     exact.Uint128 // the figure that is sorted by
	null   bool          // it has none
	bucket int
	id     uint32 // the place of its id in the order of ids
	key    uint32
}

// noID is the place of what has no id: behind all.
const noID = ^uint32(0)

// talliedRow is a row that may be on a page, with the sums of both periods.
type talliedRow struct {
	place
	now, then tally
	countries []string // shared by rows
}

// ranking puts the rows of a report in order. Rows are ordered by what they show, so
// that a reader sees why; ties by id make pages that never overlap. Each day, week or
// month of a report that is divided by these is added up by itself, and what may be on
// the page is kept of it.
type ranking struct {
	request Request
	names   rowNames
	compare func(a, b place) int
	first   []talliedRow
	room    []place // used again for each
	total   int
}

// last is how many rows there are up to the end of the page.
func (k *ranking) last() int { return k.request.Page * k.request.PageSize }

// compareRows compares the places of rows.
func (k *ranking) compareRows(a, b talliedRow) int { return k.compare(a.place, b.place) }

// addBucket takes the sums of a day, week or month, or of all there is. then are those
// of the earlier period, nil where nothing is compared. It keeps neither.
func (k *ranking) addBucket(bucket int, t, then *tallies) {
	all := slices.Grow(k.room[:0], len(t.of)) // with figures in either period, in no order
	var by quotient                           // where they are sorted by a figure
	byID := k.request.sortedDimension() != ""
	if !byID {
		by = k.request.sortQuotient()
	}
	for key := range t.of {
		sum := &t.of[key]
		if sum.isEmpty() && (then == nil || then.of[key].isEmpty()) {
			continue
		}
		one := place{bucket: bucket, id: k.names.idRank(uint32(key)), key: uint32(key)}
		if !byID {
			rank, defined := by.computeRank(&sum.counts)
			one.by, one.null = rank, !defined
		}
		all = append(all, one)
	}
	k.room = all
	k.total += len(all)
	for _, one := range firstOf(all, k.last(), k.compare) {
		row := talliedRow{place: one, now: t.of[one.key]}
		if then != nil {
			row.then = then.of[one.key]
		}
		k.first = append(k.first, row)
	}
	if len(k.first) > 2*k.last() {
		k.first = firstOf(k.first, k.last(), k.compareRows)
	}
}

// report is the page.
func (k *ranking) report(v View) *Report {
	r := k.request
	report := emptyPage(r, v, k.total)
	rows := cutPage(firstOf(k.first, k.last(), k.compareRows), r.Paging)
	countries := marketplaceSets{}
	for i := range rows {
		if r.isOfProducts() {
			rows[i].countries = countries.countriesOf(v, rows[i].now.marketplaces)
		}
	}
	report.Rows = eachRow(rows, func(row *talliedRow) Row {
		s := sides{current: row.now.exactSums()}
		if r.Compared() {
			s[earlier] = row.then.exactSums()
		}
		one := report.newRow(v, group{bucket: row.bucket}, &s)
		one.Marketplaces = row.countries
		k.names.putOn(&one, row.key)
		return one
	})
	return report
}

// firstOf puts the first n of all in order, and leaves out what is behind. What cannot
// be among them any more is passed over, so a first page costs little more than looking
// at all once.
func firstOf[T any](all []T, n int, compare func(a, b T) int) []T {
	n = min(n, len(all))
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

// placeComparison orders by a figure or by id, and then by the dimensions.
func placeComparison(r Request) func(a, b place) int {
	sign := 1
	if r.Order == Descending {
		sign = -1
	}
	then := func(a, b place) int { return cmp.Or(cmp.Compare(a.id, b.id), cmp.Compare(a.bucket, b.bucket)) }
	if len(r.Dimensions) > 0 && r.Dimensions[0] == r.TimeDimension() {
		then = func(a, b place) int { return cmp.Or(cmp.Compare(a.bucket, b.bucket), cmp.Compare(a.id, b.id)) }
	}
	if r.sortedDimension() != "" {
		return func(a, b place) int {
			return cmp.Or(nullsLast(a.id == noID, b.id == noID), sign*cmp.Compare(a.id, b.id), then(a, b))
		}
	}
	return func(a, b place) int {
		if a.null != b.null {
			return nullsLast(a.null, b.null)
		}
		if by := a.by.Compare(b.by); by != 0 {
			return sign * by
		}
		return then(a, b)
	}
}

// marketplaceSets are the countries of sets of marketplaces. Most rows of a
// page have one of few sets.
type marketplaceSets map[uint64][]string

func (s marketplaceSets) countriesOf(v View, set uint64) []string {
	if codes, ok := s[set]; ok {
		return codes
	}
	var keys []uint16
	for i := range v.Marketplaces {
		if set>>i&1 == 1 {
			keys = append(keys, v.Marketplaces[i].Key)
		}
	}
	s[set] = v.countriesOf(keys)
	return s[set]
}
