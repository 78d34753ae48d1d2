package main

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"adlens/internal/clickhouse"
	"adlens/internal/clickhouse/conn"
	"adlens/internal/query"
)

// api asks a running adlens serve, from this process over its port.
type api struct {
	label       string
	address     string
	wire        *wire
	conditional bool     // sends the ETag of the answer before
	tags        sync.Map // by question
}

func newAPI(label, address string) *api {
	return &api{label: label, address: address, wire: &wire{host: strings.TrimPrefix(address, "http://")}}
}

func (a *api) contestantName() string { return a.label }

func (a *api) close() error {
	a.wire.close()
	return nil
}

func (a *api) askQuestion(ctx context.Context, q *question) (reply, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, q.requestURL(a.address), nil)
	if err != nil {
		return reply{}, err
	}
	req.Header.Set("Authorization", "Bearer "+q.key)
	if tag, ok := a.tags.Load(q.name); a.conditional && ok {
		req.Header.Set("If-None-Match", tag.(string))
	}
	res, body, took, err := a.wire.sendRequest(req)
	if err != nil {
		return reply{}, err
	}
	if res.StatusCode == http.StatusNotModified && a.conditional {
		return reply{took: took}, nil
	}
	if res.StatusCode != http.StatusOK {
		return reply{}, fmt.Errorf("%w: %.500s", statusError(res.StatusCode), body)
	}
	a.tags.Store(q.name, res.Header.Get("ETag"))
	return reply{took, body, func() ([]string, error) { return q.readAnswer(body) }}, nil
}

// statements asks the engine what the API would ask it: the statements of the
// program's own plans, rows in the format that its driver asks for.
type statements struct {
	engine *embedded
	db     *clickhouse.Database
	now    time.Time
	plans  map[string][]sql // by question
}

func newStatements(ctx context.Context, e *embedded, now time.Time) (*statements, error) {
	db, err := clickhouse.Open(ctx, conn.Embedded{Engine: e.engine})
	return &statements{e, db, now, map[string][]sql{}}, err
}

func (s *statements) contestantName() string { return "engine" }

func (s *statements) close() error { return s.db.Close() }

func (s *statements) askQuestion(ctx context.Context, q *question) (reply, error) {
	plan, ok := s.plans[q.name]
	if !ok {
		var err error
		if plan, err = s.planStatements(ctx, q); err != nil {
			return reply{}, err
		}
		s.plans[q.name] = plan
	}
	var all reply // of no time where nothing held answers: the API asks nothing
	for _, statement := range plan {
		took, _, err := s.engine.timeStatement(ctx, statement)
		if err != nil {
			return reply{}, err
		}
		all.took += took
	}
	return all, nil
}

// planStatements finds the statements of a question, one but for some campaigns' report,
// which has another one for its totals.
func (s *statements) planStatements(ctx context.Context, q *question) ([]sql, error) {
	view, err := s.db.Figures.View(ctx, q.account.id)
	if err != nil {
		return nil, err
	}
	recorded := &recorder{Store: s.db.Figures}
	service := query.NewService(recorded, nil)
	period := query.PeriodParams{Range: q.params.Get("range"), StartDate: q.params.Get("start_date"), EndDate: q.params.Get("end_date")}
	filters := query.FilterParams{Marketplaces: listParam(q, "marketplaces"), AdProducts: listParam(q, "ad_products"), CampaignIDs: q.campaigns}
	add := func(statement query.Statement) { recorded.all = append(recorded.all, statement) }
	switch q.endpoint {
	case summaries:
		request, _ := query.ParseSummary(query.SummaryParams{PeriodParams: period, FilterParams: filters}, view, s.now)
		if plan := query.PlanDays(request, view); !plan.Empty() {
			add(plan.DayTotalsStatement(false))
		}
	case timelines:
		request, _ := query.ParseTimeline(query.TimelineParams{PeriodParams: period, FilterParams: filters, Granularity: q.params.Get("granularity")}, view, s.now)
		if q.campaigns != nil {
			_, err = service.Timeline(ctx, view, request)
		} else if plan := query.PlanDays(request, view); !plan.Empty() {
			add(plan.DayTotalsStatement(false))
		}
	case breakdown:
		request, _ := query.ParseReport(query.ReportParams{Dimensions: listParam(q, "dimensions"), PeriodParams: period, FilterParams: filters, Sort: q.sort, Order: q.order,
			PagingParams: query.PagingParams{Page: strconv.Itoa(q.page), PageSize: strconv.Itoa(q.size)}}, view, s.now)
		if q.campaigns != nil {
			_, err = service.Report(ctx, view, request)
		} else if plan := query.PlanReport(request, view); !plan.Empty() && q.sort != "date" { // by date a page reads its own days, which other pages tell
			add(plan.RankedStatement(request, query.NamesOf(view)))
		}
	default:
		request, _ := query.ParseProducts(query.ProductParams{PeriodParams: period, FilterParams: filters, Sort: q.sort, Order: q.order,
			PagingParams: query.PagingParams{Page: strconv.Itoa(q.page), PageSize: strconv.Itoa(q.size)}}, view, s.now)
		request.Dimensions = []string{"product"}
		if plan := query.PlanReport(request, view); !plan.Empty() {
			add(plan.RankedStatement(request, query.NamesOf(view)))
		}
	}
	var all []sql
	for _, statement := range recorded.all {
		all = append(all, sql{text: statement.SQL, params: statement.Params, format: "Native"})
	}
	return all, err
}

// recorder is a store that notes the statements of reports: those about some campaigns
// have numbers that only the service finds.
type recorder struct {
	query.Store
	mu  sync.Mutex
	all []query.Statement
}

func (r *recorder) Ranked(ctx context.Context, s query.Statement, sums int, compared bool) ([]query.RankedRow, int, error) {
	r.mu.Lock()
	r.all = append(r.all, s)
	r.mu.Unlock()
	return r.Store.Ranked(ctx, s, sums, compared)
}

func listParam(q *question, name string) []string {
	if !q.params.Has(name) {
		return nil
	}
	return strings.Split(q.params.Get(name), ",")
}
