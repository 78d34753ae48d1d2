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

// sumPeriod adds up all days of the period, and of the earlier one.
func (s *Service) sumPeriod(ctx context.Context, v View, r Request) (total sides, err error) {
	plan := PlanDays(r, v)
	units, then, err := s.bothDays(ctx, plan)
	for i := range units {
		units[i].addTo(&total[current], plan)
	}
	for i := range then {
		then[i].addTo(&total[earlier], plan.earlierPlan())
	}
	return total, err
}

// Timeline answers a point for each day, week or month with figures.
func (s *Service) Timeline(ctx context.Context, v View, r Request) (*Timeline, error) {
	defer s.queueAhead(v)
	plan := PlanDays(r, v)
	units, then, err := s.bothDays(ctx, plan)
	if err != nil {
		return nil, err
	}
	return newTimeline(r, v, sumByDate(plan, units, r.Granularity), sumByDate(plan.earlierPlan(), then, r.Granularity)), nil
}
