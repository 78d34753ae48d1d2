package query

import (
	"context"
	"strings"

	"adlens"
)

// Service answers questions about accounts from a store.
type Service struct {
	store     Store
	lists     ListStore
	counts    *listCounts
	directory *directory
	days      *dayTotals
	memory    *memory // nil: every product report is read
}

// NewService returns a service on a store of figures and one of lists.
func NewService(store Store, lists ListStore) *Service {
	return &Service{store: store, lists: lists, counts: newListCounts(lists), directory: newDirectory(store), days: newDayTotals(store)}
}

// View is what is known about an account now.
func (s *Service) View(ctx context.Context, account string) (View, error) {
	return s.store.View(ctx, account)
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
	Request Request
	Meta    Meta
}

// Summary answers the totals of a period.
func (s *Service) Summary(ctx context.Context, v View, r Request) (*Summary, error) {
	defer s.queueAhead(v)
	plan := PlanDays(r, v)
	units, then, err := s.bothDays(ctx, plan)
	if err != nil {
		return nil, err
	}
	return newSummary(r, v, sumBySlice(plan, units), sumBySlice(plan.earlierPlan(), then)), nil
}

// bothDays are the days of the period, and of the earlier one.
func (s *Service) bothDays(ctx context.Context, plan Plan) (units, then []dayUnit, err error) {
	if units, err = s.days.getTotals(ctx, plan); err != nil {
		return nil, nil, err
	}
	then, err = s.days.getTotals(ctx, plan.earlierPlan())
	return units, then, err
}

// Timeline answers a point for each day or month with figures.
func (s *Service) Timeline(ctx context.Context, v View, r Request) (*Timeline, error) {
	defer s.queueAhead(v)
	plan := PlanDays(r, v)
	units, then, err := s.bothDays(ctx, plan)
	if err != nil {
		return nil, err
	}
	return newTimeline(r, v, sumByDate(plan, units, r.Granularity), sumByDate(plan.earlierPlan(), then, r.Granularity)), nil
}

// Products answers a page of the product report: from memory, where little is
// missing there after that was read, and else by a statement that sums, ranks and
// cuts. What was missed then is read in after the answer: at the same time, each
// would take the other's core.
func (s *Service) Products(ctx context.Context, v View, r Request) (*Products, error) {
	defer s.queueAhead(v)
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

// answerPastEnd answers a page that has no rows: how many there are is said by the
// first one.
func (s *Service) answerPastEnd(v View, r Request, ask func(Request) ([]RankedRow, int, error)) (*Products, error) {
	first := r
	first.Page, first.PageSize = 1, 1
	_, total, err := ask(first)
	return rankedProducts(r, v, nil, total), err
}
