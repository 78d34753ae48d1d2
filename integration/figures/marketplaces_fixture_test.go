package figures_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"adlens/integration/house"
)

// seller is a marketplace with everything that can be loaded of one. What two have in
// common are products.
type seller struct {
	id, country, currency string
	number                int // in most of its ids
}

// inIDs is the number in an id: of some campaigns and ad groups it is the same in all
// marketplaces, since the platform promises that they are unique in a profile alone.
func (s seller) inIDs(i int) int {
	if i == 4 || i == 6 {
		return 0
	}
	return s.number
}

func (s seller) campaign(i int) string {
	return fmt.Sprint(7_000_000+s.inIDs(i)*100_000+i) + "000000000"
}

func (s seller) adGroup(i int) string { return fmt.Sprintf("g-%d-%d", s.inIDs(i), i) }

// name begins alike in all marketplaces, so that a search finds some of each.
func (s seller) name(what string, i int) string {
	return fmt.Sprintf("%s No %d %s", what, i, s.country)
}

// product is one that all sell, or one of its own, whose id differs from another
// marketplace's in its letters' size alone.
func (s seller) product(i int) string {
	if i%2 == 0 {
		return fmt.Sprintf("B0SHARED%02d", i)
	}
	return fmt.Sprintf([]string{"B0own%02d", "B0OWN%02d", "b0Own%02d"}[s.number%3], i)
}

// report is a report of one ad product with random rows, for days that begin so many
// days ago.
func (s seller) report(r *rand.Rand, stem, product string, from, days int) *house.Pair {
	p := house.SpPair(stem, s.id, house.DaysAgo(from), days, time.Now().Add(-time.Hour))
	columns := []any{"date", "campaignId", "campaignName", "impressions", "clicks", "cost"}
	headline := []string{"purchases7d", "sales7d"}
	switch product {
	case "SPONSORED_BRANDS":
		p.Configuration()["reportTypeId"], p.Configuration()["groupBy"] = "sbCampaigns", []any{"campaign"}
		headline = []string{"purchases", "sales"}
	case "SPONSORED_DISPLAY":
		p.Configuration()["reportTypeId"] = "sdAdvertisedProduct"
		columns, headline = append(columns, "adGroupId", "adGroupName", "promotedAsin"), []string{"purchases", "sales"}
	default:
		columns = append(columns, "adGroupId", "adGroupName", "advertisedAsin")
	}
	p.Configuration()["adProduct"], p.Configuration()["columns"] = product, append(columns, headline[0], headline[1])
	p.Rows = nil
	for day := range days {
		for range 3 {
			campaign, clicks := r.IntN(7), r.IntN(9)
			row := map[string]any{
				"date": house.DaysAgo(from - day), "campaignId": s.campaign(campaign), "campaignName": s.name("Campaign", campaign),
				"adGroupId": s.adGroup(campaign), "adGroupName": s.name("Group", campaign), "impressions": 10*clicks + r.IntN(50), "clicks": clicks,
				"cost": json.Number(fmt.Sprintf("%d.%02d", r.IntN(40), r.IntN(100))), headline[0]: r.IntN(3), headline[1]: json.Number(fmt.Sprintf("%d.%02d", r.IntN(90), r.IntN(100))),
			}
			row["advertisedAsin"] = s.product(r.IntN(8))
			row["promotedAsin"] = row["advertisedAsin"]
			for name := range row {
				if !containsAny(p.Configuration()["columns"].([]any), name) {
					delete(row, name)
				}
			}
			p.Rows = append(p.Rows, row)
		}
	}
	return p
}

func containsAny(all []any, one any) bool {
	for _, other := range all {
		if other == one {
			return true
		}
	}
	return false
}

// write puts all extracts of the marketplace alone into a directory.
func (s seller) write(t *testing.T, r *rand.Rand, dir string, from, to int) {
	for i, product := range house.AdProducts {
		stem := fmt.Sprintf("%s-%d", s.country, i)
		s.report(r, stem, product, from-i, from-i-to).Write(t, dir)
		s.report(r, stem+"-restated", product, to+9, 8).Write(t, dir)
	}
	var campaigns, adGroups []map[string]any
	for i := range 5 { // the others have figures and are in no list
		campaign := house.CampaignRow(s.campaign(i), s.name("Campaign", i)+" renamed", s.currency)
		if i == 3 {
			campaign["adProduct"], campaign["isMultiAdGroupsEnabled"] = "SPONSORED_BRANDS", false
		}
		campaigns = append(campaigns, campaign)
		group := house.AdGroupRow(s.adGroup(i), s.campaign(i), s.name("Group", i))
		group["bid"] = map[string]any{"defaultBid": json.Number("0.75"), "currencyCode": s.currency}
		adGroups = append(adGroups, group)
	}
	generated := time.Now().Add(-time.Duration(s.number) * time.Hour)
	house.ExportPair("campaigns-"+s.country, s.id, "campaigns", generated, campaigns...).Write(t, dir)
	house.ExportPair("groups-"+s.country, s.id, "adGroups", generated, adGroups...).Write(t, dir)
	house.ExportPair("ads-"+s.country, s.id, "ads", generated).Write(t, dir)
}

// records are rules, their runs and activity as the marketplaces' own account has
// them: what is of none of these is not there, and what is of others too is cut.
func records(t *testing.T, dir string, all ...seller) {
	var rules, runs, entries []map[string]any
	var codes, ids []any
	for _, s := range all {
		codes, ids = append(codes, s.country), append(ids, s.campaign(1), s.campaign(5))
		add := func(rule string, scope map[string]any) {
			rules = append(rules, house.With(house.With(house.RuleLine(rule), "scope", scope), "edited_at", fmt.Sprintf("2026-10-%02dT08:00:00.000Z", s.number)))
			run := house.With(house.RunLine("run-"+rule, rule), "marketplaces", []any{s.country})
			runs = append(runs, house.With(run, "changes", []any{map[string]any{"marketplace": s.country, "entity_type": "campaign", "entity_id": s.campaign(1),
				"entity_name": s.name("Campaign", 1), "field": "budget", "from": 1, "to": 2, "reason": nil}}))
		}
		add("own-"+s.country, map[string]any{"marketplaces": []any{s.country}, "campaign_ids": nil})
		add("campaigns-"+s.country, map[string]any{"marketplaces": nil, "campaign_ids": []any{s.campaign(0)}})
		runs = append(runs, house.With(house.With(house.RunLine("everywhere-"+s.country, "everywhere"), "marketplaces", []any{s.country}), "started_at", fmt.Sprintf("2026-10-%02dT08:00:00.000Z", 10+s.number)))
		for i := range 7 {
			entry := house.ActivityLine(fmt.Sprintf("%s-%d", s.country, i), s.id)
			entries = append(entries, house.With(entry, "created_campaign_ids", []any{s.campaign(i)}))
		}
	}
	for rule, scope := range map[string]map[string]any{
		"everywhere": {"marketplaces": nil, "campaign_ids": nil}, "named": {"marketplaces": codes, "campaign_ids": ids}, "nowhere": {"marketplaces": []any{}, "campaign_ids": []any{}},
	} {
		rules = append(rules, house.With(house.RuleLine(rule), "scope", scope))
	}
	house.Put(t, dir, "rules.ndjson", house.Lines(t, rules...))
	house.Put(t, dir, "rule_runs.ndjson", house.Lines(t, runs...))
	house.Put(t, dir, "activity.ndjson", house.Lines(t, entries...))
}

// accountOf writes the extracts of an account of some marketplaces, whose own are in
// a directory each.
func accountOf(t *testing.T, own map[string]string, all ...seller) (paths []string) {
	dir := t.TempDir()
	var profiles [][4]string
	rates := "date,currency,usd\n"
	for _, s := range all {
		profiles = append(profiles, [4]string{s.id, s.country, s.currency, "seller"})
		paths = append(paths, own[s.country])
	}
	for back := range 260 {
		rates += fmt.Sprintf("%s,EUR,1.0%d\n%[1]s,CAD,0.7%[2]d\n", house.DaysAgo(back), back%10)
	}
	house.ProfilesFile(t, dir, profiles...)
	house.Put(t, dir, "rates.csv", []byte(rates))
	house.Put(t, dir, "products.csv", []byte("product_id,title\nB0SHARED00,Lamp\nB0TITLED,Never sold\n"))
	records(t, filepath.Join(dir, "records"), all...)
	return append(paths, dir)
}
