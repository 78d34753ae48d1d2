package query

import (
	"context"

	"adlens/internal/query/period"
)

// Warm brings an account's day totals into memory, and has its product rows
// read ahead, as if it had been requested.
func (s *Service) Warm(ctx context.Context, account string) error {
	v, err := s.View(ctx, account)
	if err != nil {
		return err
	}
	oldest, newest, held := v.HeldSpan()
	if !held {
		return nil
	}
	r := Request{Period: period.Period{Start: oldest, End: newest}, Sort: DefaultSort, Order: Descending}
	if _, err := s.days.getTotals(ctx, PlanDays(r, v), false); err != nil {
		return err
	}
	s.queueAhead(v)
	return nil
}
