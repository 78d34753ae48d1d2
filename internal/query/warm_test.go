package query

import (
	"testing"
)

func TestAWarmAccountsFirstSummaryReadsNothing(t *testing.T) {
	e := newEngine()
	s := NewService(e, nil)
	s.Remember(nil, 1<<20)
	if err := s.Warm(t.Context(), "acct-9"); err != nil || len(e.asked) != 1 {
		t.Fatalf("warming asked %d statements: %v; expected one of day totals", len(e.asked), err)
	}
	select {
	case <-s.Missed():
	default:
		t.Error("the product rows will not be read")
	}
	v, err := s.View(t.Context(), "acct-9")
	if err != nil {
		t.Fatal(err)
	}
	r, faults := ParseSummary(SummaryParams{PeriodParams: PeriodParams{Range: "all_time"}}, v, now)
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	if _, err := s.Summary(t.Context(), v, r); err != nil || len(e.asked) != 1 {
		t.Errorf("the first summary asked %d statements more: %v", len(e.asked)-1, err)
	}
}

func TestAnAccountWithoutFiguresIsWarmAsItIs(t *testing.T) {
	e := newEngine()
	e.view = View{}
	if err := NewService(e, nil).Warm(t.Context(), "acct-9"); err != nil || len(e.asked) != 0 {
		t.Errorf("asked %d statements: %v", len(e.asked), err)
	}
}
