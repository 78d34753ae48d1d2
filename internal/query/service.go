package query

import (
	"context"
	"math"
	"strings"

	"adlens"
	"adlens/internal/catalogue"
	"adlens/internal/exact"
	"adlens/internal/flight"
	"adlens/internal/lru"
)

// Service answers questions about accounts from a store.
type Service struct {
	store     Store
	lists     ListStore
	counts    *listCounts
	directory *directory
	days      *dayTotals
	buckets   *lru.Cache[countedReport, []BucketCount]
	limited   *lru.Cache[string, limitedView] // by account and marketplaces
	held      *lru.Cache[keyName, []HeldKey]  // in which years a stored number has rows
	seeking   flight.Group[string, []HeldKey] // by statement
	memory    *memory                         // nil: every product report is read
}

// NewService returns a service on a store of figures and one of lists.
func NewService(store Store, lists ListStore) *Service {
	return &Service{store: store, lists: lists, counts: newListCounts(lists), directory: newDirectory(store), days: newDayTotals(store),
		buckets: lru.New(maxCountedBuckets, func(_ countedReport, counts []BucketCount) int { return 8 + len(counts) }),
		limited: lru.New(maxLimitedBytes, func(_ string, l limitedView) int { return l.memoryBytes() }),
		held:    lru.New(maxHeldYears, func(_ keyName, years []HeldKey) int { return 5 + len(years) })}
}

// View is what is known about an account now.
func (s *Service) View(ctx context.Context, account string) (View, error) {
	return s.store.View(ctx, account)
}

// Forget drops what is kept of an account's figures, of all accounts' where it is "". Rows of
// a generation never change, but for those that the disk loses and a repair brings back, and
// where the database is put back as it was: what was read before would be kept for ever.
func (s *Service) Forget(account string) {
	of := func(other string) bool { return account == "" || account == other }
	named := func(name string) bool { return account == "" || strings.HasPrefix(name, limitedName(account, nil)) }
	s.days.known.Forget(func(k monthKey) bool { return of(k.account) })
	s.buckets.Forget(func(r countedReport) bool { return of(r.account) })
	s.counts.known.Forget(func(k listsKey) bool { return of(k.account) })
	s.limited.Forget(named)
	s.held.Forget(func(n keyName) bool { return of(n.account) })
	s.directory.accounts.Forget(of)
	s.directory.entities.Forget(named)
	if s.memory != nil {
		s.memory.units.Forget(func(n unitName) bool { return of(n.account) })
	}
}

// FaultsError is a request that cannot be answered as it is.
type FaultsError struct{ Faults []adlens.Fault }

// Error names all faults at once.
func (e *FaultsError) Error() string {
	details := make([]string, len(e.Faults))
	for i, f := range e.Faults {
		details[i] = f.Detail
		if !strings.Contains(f.Detail, f.Parameter) {
			details[i] = f.Parameter + ": " + f.Detail
		}
	}
	return strings.Join(details, "; also ")
}

// Answer is what every figure answer repeats of its question.
type Answer struct {
	Request   Request
	Meta      Meta
	quotients []quotient // of the request's figures
}

func newAnswer(r Request, v View) Answer {
	return Answer{Request: r, Meta: v.metaOf(r), quotients: r.quotients()}
}

// figuresOf computes the figures of the answer.
func (a *Answer) figuresOf(s exact.Sums) Figures { return computeFigures(a.quotients, s) }

// totalOf computes the figures of all rows of a report, and compares them. Amounts of
// several currencies have no total.
func (a *Answer) totalOf(s *sides) (Figures, *Comparison) {
	total, comparison := a.figuresOf(s[current]), a.comparisonOf(s)
	if a.Request.Mixed {
		for i, f := range a.Request.ListFigures() {
			if !f.IsAmount() {
				continue
			}
			total[i] = Value{}
			if comparison != nil {
				comparison.Figures[i], comparison.Change[i] = Value{}, Value{}
			}
		}
	}
	return total, comparison
}

// Summary answers the totals of a period.
func (s *Service) Summary(ctx context.Context, v View, r Request) (*Summary, error) {
	defer s.queueAhead(v)
	r.Dimensions = []string{dimMarketplace, dimAdProduct}
	bySlice, err := s.sumGroups(ctx, v, r)
	if err != nil {
		return nil, err
	}
	return newSummary(r, v, bySlice), nil
}

// Timeline answers a point for each day, week or month with figures.
func (s *Service) Timeline(ctx context.Context, v View, r Request) (*Timeline, error) {
	defer s.queueAhead(v)
	r.Dimensions = []string{dimDate}
	byDate, err := s.sumGroups(ctx, v, r)
	if err != nil {
		return nil, err
	}
	return newTimeline(r, v, byDate), nil
}

// sumGroups adds figures up by the request's dimensions, of which none has
// ids: from the totals of days, or by a statement where some products,
// campaigns or ad groups alone are requested, or what only facts have.
func (s *Service) sumGroups(ctx context.Context, v View, r Request) (map[group]*sides, error) {
	if r.narrowsByID() || r.sumsFurther() {
		return s.readGroups(ctx, v, r)
	}
	plan := PlanDays(r, v)
	all, ok, err := s.groupDays(ctx, r, plan, r.Local)
	if err == nil && !ok {
		return s.readGroups(ctx, v, r)
	}
	if err != nil || !r.Mixed {
		return all, err
	}
	inDollars, _, err := s.groupDays(ctx, r, plan, false)
	for group, both := range inDollars {
		for side := range both {
			if sums := &all[group][side]; *sums != nil { // as r.summands has them
				*sums = append(*sums, both[side].At(catalogue.Spend), both[side].At(catalogue.Sales))
			}
		}
	}
	return all, err
}

// groupKept adds up what filters leave, from memory: for several questions about one
// campaign or product it is read once. ok is false where memory cannot keep it.
func (s *Service) groupKept(ctx context.Context, v View, r Request, plan Plan) (all map[group]*sides, ok bool, err error) {
	plan = plan.dividedBy(byNothing)
	if s.memory == nil || !plan.isNarrow() || r.sumsMore() || !plan.isKept() {
		return nil, false, nil
	}
	missing, few := s.memory.fewMissing(plan, 1)
	if !few {
		return nil, false, nil
	}
	units, err := s.memory.fetchUnits(ctx, plan, missing)
	if err != nil {
		return nil, false, err
	}
	now, then, ok := s.memory.findBoth(v, r, plan, units)
	if !ok || now.unfit || then.unfit {
		return nil, false, nil
	}
	all = map[group]*sides{}
	undated := r
	undated.Granularity = ""
	for side, of := range [...]found{current: now, earlier: then} {
		for _, rows := range of.parts {
			sum := tallies{make([]tally, 1)}
			sum.addPart(rows)
			g := undated.groupOf(rows.slice, 0, 0)
			g.bucket = rows.bucket
			sumsAt(all, g, side).AddSums(sum.of[0].exactSums())
		}
	}
	return all, true, nil
}

// readGroups has the engine add up, where memory does not.
func (s *Service) readGroups(ctx context.Context, v View, r Request) (map[group]*sides, error) {
	r.Sort, r.Order, r.Paging = DefaultSort, Descending, Paging{Page: 1, PageSize: math.MaxInt32}
	all := map[group]*sides{}
	plan, err := s.narrowPlan(ctx, v, r, PlanReport(r, v))
	if err != nil || plan.isEmpty() {
		return all, err
	}
	if kept, ok, err := s.groupKept(ctx, v, r, plan); ok || err != nil {
		return kept, err
	}
	rows, _, err := s.readPlanned(ctx, v, r, plan)
	for _, row := range rows {
		all[row.group()] = &sides{row.Sums, row.Earlier}
	}
	return all, err
}
