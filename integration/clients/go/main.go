// Command go reads an account through a client that oapi-codegen made of the
// API's document, and prints what it read. Its address and key are arguments.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
)

//go:generate go tool oapi-codegen -config config.yaml json.json

func main() {
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// report is what the test compares.
type report struct {
	Account      string   `json:"account"`
	Spend        float64  `json:"spend"`
	Marketplaces []string `json:"marketplaces"`
	Points       int      `json:"points"`
	Products     []string `json:"products"`
	NextPage     *int     `json:"next_page"`
	Campaigns    int      `json:"campaigns"`
	RuleRuns     int      `json:"rule_runs"`
	Refused      string   `json:"refused"`
}

func run(address, key string) error {
	withKey := func(_ context.Context, r *http.Request) error {
		r.Header.Set("Authorization", "Bearer "+key)
		return nil
	}
	c, err := NewClientWithResponses(address, WithRequestEditorFn(withKey))
	if err != nil {
		return err
	}
	var r report
	for _, read := range []func(context.Context, *ClientWithResponses, *report) error{readAccount, readFigures, readProducts, readLists, readRefusal} {
		if err := read(context.Background(), c, &r); err != nil {
			return err
		}
	}
	return json.NewEncoder(os.Stdout).Encode(r)
}

func readAccount(ctx context.Context, c *ClientWithResponses, r *report) error {
	a, err := c.GetAccountWithResponse(ctx)
	if err != nil || a.JSON200 == nil {
		return fmt.Errorf("account: %v, %s", err, a.Body)
	}
	r.Account = a.JSON200.AccountId
	return nil
}

func readFigures(ctx context.Context, c *ClientWithResponses, r *report) error {
	year := NamedPeriodLastYear
	countries := Marketplaces{"US", "DE"}
	s, err := c.GetSummaryWithResponse(ctx, &GetSummaryParams{Range: &year, Marketplaces: &countries})
	if err != nil || s.JSON200 == nil {
		return fmt.Errorf("summary: %v, %s", err, s.Body)
	}
	r.Spend = s.JSON200.Spend
	for _, m := range s.JSON200.ByMarketplace {
		r.Marketplaces = append(r.Marketplaces, m.Marketplace)
	}
	t, err := c.GetTimelineWithResponse(ctx, &GetTimelineParams{Range: &year})
	if err != nil || t.JSON200 == nil {
		return fmt.Errorf("timeline: %v, %s", err, t.Body)
	}
	r.Points = len(t.JSON200.Data)
	return nil
}

func readProducts(ctx context.Context, c *ClientWithResponses, r *report) error {
	year, by := NamedPeriodLastYear, Sales
	var size ReportPageSize
	if err := size.FromPageSizeOrAll0(3); err != nil {
		return err
	}
	p, err := c.ListProductsWithResponse(ctx, &ListProductsParams{Range: &year, Sort: &by, PageSize: &size})
	if err != nil || p.JSON200 == nil {
		return fmt.Errorf("products: %v, %s", err, p.Body)
	}
	for _, row := range p.JSON200.Data {
		if row.ProductId != nil {
			r.Products = append(r.Products, *row.ProductId)
		}
	}
	r.NextPage = p.JSON200.Pagination.NextPage
	return nil
}

func readLists(ctx context.Context, c *ClientWithResponses, r *report) error {
	m, err := c.ListMarketplacesWithResponse(ctx, &ListMarketplacesParams{})
	if err != nil || m.JSON200 == nil {
		return fmt.Errorf("marketplaces: %v, %s", err, m.Body)
	}
	listed, err := c.ListCampaignsWithResponse(ctx, &ListCampaignsParams{MarketplaceId: m.JSON200.Data[0].MarketplaceId})
	if err != nil || listed.JSON200 == nil {
		return fmt.Errorf("campaigns: %v, %s", err, listed.Body)
	}
	r.Campaigns = listed.JSON200.Pagination.TotalRows
	rules, err := c.ListRulesWithResponse(ctx, &ListRulesParams{})
	if err != nil || rules.JSON200 == nil {
		return fmt.Errorf("rules: %v, %s", err, rules.Body)
	}
	runs, err := c.ListRuleRunsWithResponse(ctx, rules.JSON200.Data[0].RuleId, &ListRuleRunsParams{})
	if err != nil || runs.JSON200 == nil {
		return fmt.Errorf("runs: %v, %s", err, runs.Body)
	}
	r.RuleRuns = len(runs.JSON200.Data)
	return nil
}

// readRefusal asks for a country that there is none of.
func readRefusal(ctx context.Context, c *ClientWithResponses, r *report) error {
	nowhere := Marketplaces{"XX"}
	s, err := c.GetSummaryWithResponse(ctx, &GetSummaryParams{Marketplaces: &nowhere})
	if err != nil || s.ApplicationproblemJSON400 == nil {
		return fmt.Errorf("a country that is none: %v, %s", err, s.Body)
	}
	r.Refused = string(s.ApplicationproblemJSON400.Code)
	return nil
}
