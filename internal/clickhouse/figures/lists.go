package figures

import (
	"context"
	"time"

	"adlens"
	"adlens/internal/clickhouse/cluster"
	"adlens/internal/clickhouse/conn"
	"adlens/internal/manifest"
	"adlens/internal/platform"
	"adlens/internal/query"
	"adlens/internal/records"

	"github.com/go-json-experiment/json"
	"github.com/shopspring/decimal"
)

var _ query.ListStore = Lists{}

// Lists is the database as lists are read from it.
type Lists struct{ Cluster *cluster.Cluster }

// Count runs a statement of one number.
func (l Lists) Count(ctx context.Context, s query.Statement) (int, error) {
	var n uint64
	err := l.Cluster.Read(ctx, s.SQL, s.Params, conn.ScanInto(&n))
	return int(n), err
}

// ListCounts counts what is listed, by marketplace and kind.
func (l Lists) ListCounts(ctx context.Context, s query.Statement) ([]query.ListCount, error) {
	return conn.Collect(ctx, l.Cluster, s.SQL, s.Params, func(scan conn.Scan) (query.ListCount, error) {
		var c query.ListCount
		var kind uint8
		var n uint64
		err := scan(&c.Marketplace, &kind, &n)
		c.Kind, c.Count = manifest.Kind(kind), int(n)
		return c, err
	})
}

// Campaigns reads a page of campaigns.
func (l Lists) Campaigns(ctx context.Context, s query.Statement) ([]query.Campaign, error) {
	return conn.Collect(ctx, l.Cluster, s.SQL, s.Params, func(scan conn.Scan) (query.Campaign, error) {
		var (
			c          query.Campaign
			product    uint8
			state      string
			budget     *decimal.Decimal
			start, end *time.Time
		)
		if err := scan(&c.ID, &c.Name, &product, &state, &c.Targeting, &budget, &c.BudgetType, &start, &end, &c.Provenance); err != nil {
			return c, err
		}
		c.AdProduct, c.State, c.Start, c.End = adlens.AdProduct(product), platform.State(state), dayOf(start), dayOf(end)
		var err error
		c.Budget, err = amountOrNil(budget)
		return c, err
	})
}

// AdGroups reads a page of ad groups.
func (l Lists) AdGroups(ctx context.Context, s query.Statement) ([]query.AdGroup, error) {
	return conn.Collect(ctx, l.Cluster, s.SQL, s.Params, func(scan conn.Scan) (query.AdGroup, error) {
		var (
			g       query.AdGroup
			product uint8
			state   string
			bid     *decimal.Decimal
		)
		if err := scan(&g.ID, &g.CampaignID, &g.Name, &product, &state, &bid); err != nil {
			return g, err
		}
		g.AdProduct, g.State = adlens.AdProduct(product), platform.State(state)
		var err error
		g.DefaultBid, err = amountOrNil(bid)
		return g, err
	})
}

func dayOf(t *time.Time) *adlens.Day {
	if t == nil {
		return nil
	}
	return new(adlens.DayOf(*t))
}

func amountOrNil(d *decimal.Decimal) (*adlens.Amount, error) {
	if d == nil {
		return nil, nil
	}
	a, err := adlens.ParseAmount([]byte(d.String()))
	return &a, err
}

// RulesWithRuns reads a page of rules, each with its last run.
func (l Lists) RulesWithRuns(ctx context.Context, s query.Statement) ([]query.Rule, error) {
	return conn.Collect(ctx, l.Cluster, s.SQL, s.Params, func(scan conn.Scan) (query.Rule, error) {
		var r query.Rule
		var rule, run string
		if err := scan(&rule, &run); err != nil {
			return r, err
		}
		if err := json.Unmarshal([]byte(rule), &r.Rule); err != nil || run == "" {
			return r, err
		}
		r.LastRun = &query.RuleRun{}
		return r, json.Unmarshal([]byte(run), r.LastRun)
	})
}

// Runs reads the runs of a rule.
func (l Lists) Runs(ctx context.Context, s query.Statement) ([]query.RuleRun, error) {
	return conn.CollectJSON[query.RuleRun](ctx, l.Cluster, s.SQL, s.Params)
}

// Entries reads a page of the activity.
func (l Lists) Entries(ctx context.Context, s query.Statement) ([]records.Activity, error) {
	return conn.CollectJSON[records.Activity](ctx, l.Cluster, s.SQL, s.Params)
}
