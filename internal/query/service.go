package query

import (
	"context"

	"adlens"
)

// Service answers questions about accounts from a store.
type Service struct {
	store     Store
	lists     ListStore
	directory *directory
}

// NewService returns a service on a store of figures and one of lists.
func NewService(store Store, lists ListStore) *Service {
	return &Service{store: store, lists: lists, directory: newDirectory(store)}
}

// View is what is known about an account now.
func (s *Service) View(ctx context.Context, account string) (View, error) {
	return s.store.View(ctx, account)
}

// FaultsError is a request that cannot be answered as it stands.
type FaultsError struct{ Faults []adlens.Fault }

func (e *FaultsError) Error() string { return e.Faults[0].Detail }

// Answer is what every figure answer repeats of its question.
type Answer struct {
	Request Request
	Meta    Meta
}

// Summary answers the totals of a period.
func (s *Service) Summary(ctx context.Context, v View, r Request) (*Summary, error) {
	plan := PlanDays(r, v)
	if plan.Empty() {
		return newSummary(r, v, nil), nil
	}
	rows, err := s.store.Slices(ctx, plan.SummaryStatement())
	if err != nil {
		return nil, err
	}
	return newSummary(r, v, rows), nil
}

// Timeline answers a point for each day or month with figures.
func (s *Service) Timeline(ctx context.Context, v View, r Request) (*Timeline, error) {
	plan := PlanDays(r, v)
	if plan.Empty() {
		return newTimeline(r, v, nil), nil
	}
	rows, err := s.store.Points(ctx, plan.TimelineStatement(r.Granularity))
	if err != nil {
		return nil, err
	}
	return newTimeline(r, v, rows), nil
}

// Products answers a page of the product report.
func (s *Service) Products(ctx context.Context, v View, r Request) (*Products, error) {
	plan := PlanProducts(r, v)
	if plan.Empty() {
		return newProducts(r, v, nil, productNames{}), nil
	}
	rows, err := s.store.Products(ctx, plan.ProductsStatement())
	if err != nil {
		return nil, err
	}
	names, err := s.directory.of(ctx, v, rows)
	if err != nil {
		return nil, err
	}
	return newProducts(r, v, rows, names), nil
}
