package query

import (
	"context"
	"time"

	"adlens"
)

// Service answers questions about accounts from a store.
type Service struct {
	store     Store
	directory *directory
}

// NewService returns a service on a store.
func NewService(store Store) *Service {
	return &Service{store: store, directory: newDirectory(store)}
}

// View is what is known about an account now.
func (s *Service) View(ctx context.Context, account string) (View, error) {
	return s.store.View(ctx, account)
}

// FaultsError is a request that cannot be answered as it stands.
type FaultsError struct{ Faults []adlens.Fault }

func (e *FaultsError) Error() string { return e.Faults[0].Detail }

func faultsError(faults []adlens.Fault) error {
	if len(faults) == 0 {
		return nil
	}
	return &FaultsError{faults}
}

// Answer is what every figure answer repeats of its question.
type Answer struct {
	Request Request
	Meta    Meta
}

// Summary answers the totals of a period.
func (s *Service) Summary(ctx context.Context, account string, params SummaryParams, now time.Time) (*Summary, error) {
	view, err := s.store.View(ctx, account)
	if err != nil {
		return nil, err
	}
	request, faults := ParseSummary(params, view, now)
	if err := faultsError(faults); err != nil {
		return nil, err
	}
	var rows []SliceRow
	if plan := PlanDays(request, view); !plan.Empty() {
		if rows, err = s.store.Slices(ctx, plan.SummaryStatement()); err != nil {
			return nil, err
		}
	}
	return newSummary(request, view, rows), nil
}

// Timeline answers a point for each day or month with figures.
func (s *Service) Timeline(ctx context.Context, account string, params TimelineParams, now time.Time) (*Timeline, error) {
	view, err := s.store.View(ctx, account)
	if err != nil {
		return nil, err
	}
	request, faults := ParseTimeline(params, view, now)
	if err := faultsError(faults); err != nil {
		return nil, err
	}
	var rows []PointRow
	if plan := PlanDays(request, view); !plan.Empty() {
		if rows, err = s.store.Points(ctx, plan.TimelineStatement(request.Granularity)); err != nil {
			return nil, err
		}
	}
	return newTimeline(request, view, rows), nil
}

// Products answers a page of the product report.
func (s *Service) Products(ctx context.Context, account string, params ProductParams, now time.Time) (*Products, error) {
	view, err := s.store.View(ctx, account)
	if err != nil {
		return nil, err
	}
	request, faults := ParseProducts(params, view, now)
	if err := faultsError(faults); err != nil {
		return nil, err
	}
	var rows []ProductRow
	if plan := PlanProducts(request, view); !plan.Empty() {
		if rows, err = s.store.Products(ctx, plan.ProductsStatement()); err != nil {
			return nil, err
		}
	}
	names, err := s.directory.of(ctx, view, rows)
	if err != nil {
		return nil, err
	}
	return newProducts(request, view, rows, names), nil
}
