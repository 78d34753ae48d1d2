package query

import (
	"context"
	"errors"
	"sync"
	"testing"

	"adlens"
	"adlens/internal/exact"

	"github.com/google/go-cmp/cmp"
)

// engine is a store that answers every statement with the same rows and notes
// what it was asked.
type engine struct {
	shelf
	view   View
	noView error
	failed error
	mu     sync.Mutex
	asked  []Statement
	days   []DayTotal
	ranked []RankedRow
}

func (e *engine) View(_ context.Context, account string) (View, error) {
	v := e.view
	v.Account = account
	return v, e.noView
}

func (e *engine) DayTotals(_ context.Context, s Statement) ([]DayTotal, error) {
	e.note(s)
	return e.days, e.failed
}

func (*engine) BucketCounts(context.Context, Statement) ([]BucketCount, error) {
	return nil, nil
}

func (e *engine) Ranked(_ context.Context, s Statement, _ int, _ bool) ([]RankedRow, int, error) {
	e.note(s)
	return e.ranked, len(e.ranked), e.failed
}

// note is called by both sides of a report at once.
func (e *engine) note(s Statement) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.asked = append(e.asked, s)
}

func newEngine() *engine { return &engine{view: exampleView(), shelf: shelf{last: 9}} }

// ask puts the same question to all three endpoints.
func ask(t *testing.T, e *engine, asked PeriodParams) map[string]error {
	t.Helper()
	s, ctx := NewService(e, nil), context.Background()
	v, err := s.View(ctx, "acct-9")
	if err != nil {
		t.Fatal(err)
	}
	r, faults := ParseTimeline(TimelineParams{PeriodParams: asked}, v, now)
	mustNotFail(t, faults)
	_, summary := s.Summary(ctx, v, r)
	_, timeline := s.Timeline(ctx, v, r)
	r, faults = ParseProducts(ofPeriod(asked), v, now)
	mustNotFail(t, faults)
	_, products := s.Products(ctx, v, r)
	return map[string]error{"summary": summary, "timeline": timeline, "products": products}
}

func TestEveryStatementIsOfTheAccountThatAsks(t *testing.T) {
	e := newEngine()
	for name, err := range ask(t, e, ranged("all_time")) {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	// The days of the summary are those of the timeline.
	if len(e.asked) != 2 {
		t.Errorf("%d statements", len(e.asked))
	}
	for _, s := range e.asked {
		if s.Params["account"] != "acct-9" {
			t.Errorf("of %q:\n%s", s.Params["account"], s)
		}
	}
}

func TestNothingIsAskedWhereNothingIsHeld(t *testing.T) {
	e := newEngine()
	for name, err := range ask(t, e, between("2020-01-01", "2020-12-31")) {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if len(e.asked)+len(e.since()) > 0 {
		t.Errorf("asked %v", e.asked)
	}
}

func TestErrorsOfTheStoreKeepTheirKind(t *testing.T) {
	down := &adlens.Error{Kind: adlens.EngineUnavailable, Err: errors.New("connection refused")}
	noRows, noView := newEngine(), newEngine()
	noRows.failed, noView.noView = down, down
	for name, err := range ask(t, noRows, ranged("all_time")) {
		if adlens.KindOf(err) != adlens.EngineUnavailable {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := NewService(noView, nil).View(context.Background(), "a"); adlens.KindOf(err) != adlens.EngineUnavailable {
		t.Errorf("view: %v", err)
	}
}

func TestFaultsAreAnErrorThatNamesAll(t *testing.T) {
	err := &FaultsError{Faults: []adlens.Fault{{Parameter: "range", Detail: "range is empty"}, {Parameter: "sort", Detail: `"x" is not known`}}}
	if err.Error() != `range is empty; also sort: "x" is not known` {
		t.Errorf("got %q", err)
	}
}

func TestRowsBecomeAReportWithItsQuestion(t *testing.T) {
	e := newEngine()
	e.ranked = []RankedRow{{ID: "P1", Title: "one", Marketplaces: []uint16{uk1Key}, Sums: sums(4, 2, 1, 1_000_000, 5_000_000)}, {Sums: sums(1, 0, 0, 0, 0)}}
	r, faults := ParseProducts(ProductParams{Sort: "clicks"}, e.view, now)
	mustNotFail(t, faults)
	report, err := NewService(e, nil).Products(context.Background(), e.view, r)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"P1", ""}, ids(rowsOf(report))); diff != "" || rowsOf(report)[0].Title != "one" {
		t.Errorf("%s\n%+v", diff, rowsOf(report))
	}
	if report.Request.Sort != "clicks" || *report.Meta.LastDate != day("2026-11-19") || !report.Meta.HistoryCovered {
		t.Errorf("got %+v", report.Answer)
	}
}

// Local amounts have 20 decimals: a day of them may be too much for the totals that
// are kept, and is then added up by the engine, to the last digit.
func TestDaysThatAreTooLargeToBeKeptAreAddedUpByTheEngine(t *testing.T) {
	for name, wide := range map[string]bool{"small": false, "large": true} {
		e := newEngine()
		e.days = []DayTotal{{Generation: 212611, Day: day("2026-11-01"), TooWide: wide, Sums: [measures]exact.Uint128{{Lo: 7}}}}
		e.ranked = []RankedRow{{Marketplace: uk1Key, AdProduct: uint8(adlens.SponsoredProducts), Sums: sums(9, 0, 0, 0, 0)}}
		s, ctx := NewService(e, nil), context.Background()
		v, err := s.View(ctx, "acct-9")
		if err != nil {
			t.Fatal(err)
		}
		r, faults := ParseSummary(SummaryParams{PeriodParams: ranged("all_time"), FilterParams: onlyUK, Currency: "local"}, v, now)
		mustNotFail(t, faults)
		answer, err := s.Summary(ctx, v, r)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := figure(answer.Total, "impressions"), map[bool]string{false: "7", true: "9"}[wide]; got != want {
			t.Errorf("%s: %s impressions, want %s", name, got, want)
		}
	}
}
