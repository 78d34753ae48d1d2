package figures_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"adlens/integration/house"
)

// An id that only figures named is unknown once they were all restated away, and known
// where a list or a title still has it. What is named with zeros alone has no figure.
func TestIdsOfWhichEveryFigureWasRestatedAreUnknown(t *testing.T) {
	t.Parallel()
	h, one := house.ShopWithData(t)
	start := house.DaysAgo(20)
	load := func(p *house.Pair, campaign string, products ...string) {
		p.Rows = nil
		for _, product := range products {
			p.Rows = append(p.Rows, house.With(house.SpRow(start, product, "1.25"), "campaignId", json.Number(campaign)))
		}
		p.Rows = append(p.Rows, map[string]any{"date": start, "advertisedAsin": "B0ZERO", "campaignId": 70, "impressions": 0, "clicks": 0, "cost": 0, "purchases7d": 0, "sales7d": 0})
		dir := t.TempDir()
		p.Write(t, dir)
		house.Put(t, dir, "products.csv", []byte("product_id,title\nB0TITLED,Lamp\n"))
		house.Load(t, h.Program, one, dir)
	}
	status := func(filter string) int {
		a := house.Get(t, one.Ask, "/api/v1/report?range=last_30_days&dimensions=campaign&"+filter)
		if a.Status == 400 {
			if p := house.ProblemOf(t, a, 400, "unknown_value"); !strings.Contains(p.Detail, filter[strings.Index(filter, "=")+1:]) {
				t.Errorf("%s: %s", filter, a)
			}
		}
		return a.Status
	}
	load(house.SpPair("first", "101", start, 1, time.Now().Add(-time.Hour)), "71", "B0GONE", "B0TITLED")
	for _, filter := range []string{"campaign_ids=71", "product_ids=B0GONE", "product_ids=B0TITLED"} {
		if got := status(filter); got != 200 {
			t.Errorf("%s: %d", filter, got)
		}
	}
	load(house.SpPair("second", "101", start, 1, time.Now()), "72", "B0STAYS")
	for filter, want := range map[string]int{"campaign_ids=71": 400, "product_ids=B0GONE": 400, "product_ids=B0TITLED": 200, "campaign_ids=72": 200, "product_ids=B0STAYS": 200,
		"campaign_ids=70": 400, "product_ids=B0ZERO": 400} {
		for range 2 { // as it is found out, and as it is known
			if got := status(filter); got != want {
				t.Errorf("%s after the restatement: %d, expected %d", filter, got, want)
			}
		}
	}
	for dimension, gone := range map[string]string{"campaign": "70", "product": "B0ZERO"} {
		if ids, _ := one.Model.IDs(dimension); slices.Contains(ids, gone) {
			t.Errorf("the oracle has the %s %s, of which no figure is held", dimension, gone)
		}
	}
}

// A name that a list alone gave stays known when a newer list does not have the
// campaign, as one that is filtered by state.
func TestACampaignThatLeftTheListKeepsItsName(t *testing.T) {
	t.Parallel()
	older := house.ExportPair("older", "101", "campaigns", time.Now().Add(-2*time.Hour), house.CampaignRow("71", "Lamp", "USD"), house.CampaignRow("72", "Chair", "USD"))
	newer := house.ExportPair("newer", "101", "campaigns", time.Now().Add(-time.Hour), house.CampaignRow("72", "Stool", "USD"))
	for name, lists := range map[string][]*house.Pair{"in order": {older, newer}, "the other way": {newer, older}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, one := house.ShopWithData(t)
			report := house.SpPair("unnamed", "101", house.DaysAgo(20), 1, time.Now())
			report.Rows = []map[string]any{house.With(house.SpRow(house.DaysAgo(20), "B0", "1.25"), "campaignId", json.Number("71"))}
			for _, p := range append(lists, report) {
				dir := t.TempDir()
				p.Write(t, dir)
				house.Load(t, h.Program, one, dir)
			}
			for _, query := range []string{"search=lamp", "campaign_ids=71"} {
				query = "range=last_30_days&dimensions=campaign&" + query
				house.Check(t, one.Ask, one.Model, house.NewQuestion("/report", query))
				if a := house.Get(t, one.Ask, "/api/v1/report?"+query); !strings.Contains(string(a.Body), `"campaign_id":"71","campaign_name":"Lamp"`) {
					t.Errorf("%s: %s", query, a)
				}
			}
		})
	}
}
