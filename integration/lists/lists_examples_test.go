package lists_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"adlens/integration/house"
)

func TestIdsSurviveExactlyWhetherTheyCameAsNumbersOrText(t *testing.T) {
	t.Parallel()
	h, one := house.ShopWithData(t)
	ids := []string{"1", "007", "276748589410145", "9007199254740992", "9007199254740993", "144158449488730278", "144158449488730279", "18446744073709551615"}
	slices.Sort(ids) // as names are equal, ids decide, by their bytes
	var campaigns, adGroups []map[string]any
	for i, id := range ids {
		campaign, adGroup := house.CampaignRow("1", "Lamp", "USD"), house.AdGroupRow(id, "1", "Lamp")
		campaign["campaignId"], adGroup["campaignId"] = any(id), any(id)
		if i%2 == 0 && id != "007" {
			campaign["campaignId"], adGroup["adGroupId"] = json.Number(id), json.Number(id)
		} else if id != "007" {
			adGroup["campaignId"] = json.Number(id)
		}
		campaigns, adGroups = append(campaigns, campaign), append(adGroups, adGroup)
	}
	slices.Reverse(campaigns)
	dir := t.TempDir()
	house.ExportPair("campaigns", "101", "campaigns", time.Now(), campaigns...).Write(t, dir)
	house.ExportPair("adGroups", "101", "adGroups", time.Now(), adGroups...).Write(t, dir)
	house.Load(t, h.Program, one, dir)
	house.WantMembers(t, one.Ask, "/campaigns?marketplace_id=101", "campaign_id", ids...)
	house.WantMembers(t, one.Ask, "/ad-groups?marketplace_id=101", "ad_group_id", ids...)
	for _, id := range ids {
		house.WantMembers(t, one.Ask, "/ad-groups?marketplace_id=101&campaign_id="+id, "ad_group_id", id)
	}
	house.CheckLists(t, one)
}

func TestNarrowedExportsReplaceOnlyTheirAdProducts(t *testing.T) {
	t.Parallel()
	h, one := house.ShopWithData(t)
	const list = "/campaigns?marketplace_id=101"
	named := func(id, name, adProduct string) map[string]any {
		return house.With(house.CampaignRow(id, name, "USD"), "adProduct", adProduct)
	}
	at := func(minutes int) time.Time { return time.Now().Add(time.Duration(minutes-100) * time.Minute) }
	for i, step := range []struct {
		export *house.Pair
		want   []string
	}{
		{house.ExportPair("a", "101", "campaigns", at(50), named("1", "p50", house.AdProducts[0])).Narrow(house.AdProducts[0]), []string{"p50"}},
		{house.ExportPair("b", "101", "campaigns", at(40), named("1", "p40", house.AdProducts[0]), named("2", "b40", house.AdProducts[1])), []string{"b40", "p50"}},
		{house.ExportPair("c", "101", "campaigns", at(45), named("2", "b45", house.AdProducts[1]), named("3", "d45", house.AdProducts[2])).Narrow(house.AdProducts[2], house.AdProducts[1]), []string{"b45", "d45", "p50"}},
		{house.ExportPair("d", "101", "campaigns", at(60)).Narrow(house.AdProducts[1]), []string{"d45", "p50"}},
		{house.ExportPair("e", "101", "campaigns", at(10), named("9", "old", house.AdProducts[0])), []string{"d45", "p50"}},
		{house.ExportPair("f", "101", "campaigns", at(70), named("7", "whole", house.AdProducts[1])), []string{"whole"}},
		{house.ExportPair("g", "101", "campaigns", at(65), named("1", "p65", house.AdProducts[0])).Narrow(house.AdProducts[0]), []string{"whole"}},
		{house.ExportPair("h", "101", "campaigns", at(80)), []string{}},
	} {
		house.Load(t, h.Program, one, step.export.Write(t, t.TempDir())...)
		if got := house.Members(t, one.Ask, list, "name"); !slices.Equal(got, step.want) {
			t.Errorf("step %d: want %v, got %v", i, step.want, got)
		}
		house.CheckLists(t, one)
	}
}

func TestTestRunsAndOldRunsAreNotListed(t *testing.T) {
	t.Parallel()
	h, one := house.ShopWithData(t)
	var runs []map[string]any
	var want []string
	for i := range 30 {
		run := house.RunLine(fmt.Sprintf("run-%02d", i), "one")
		run["started_at"] = fmt.Sprintf("2026-10-%02dT08:00:00Z", 1+i/2) // two at a time
		run["test"] = i%5 == 4                                           // so the newest of all
		runs = append(runs, run)
		if i%5 != 4 {
			want = append([]string{fmt.Sprintf("run-%02d", i)}, want...)
		}
	}
	slices.Reverse(runs[10:20])
	dir := t.TempDir()
	house.Put(t, dir, "rules.ndjson", house.Lines(t, house.RuleLine("one"), house.RuleLine("two")))
	house.Put(t, dir, "rule_runs.ndjson", house.Lines(t, runs...))
	house.Load(t, h.Program, one, dir)
	house.WantMembers(t, one.Ask, "/rules/one/runs", "rule_run_id", want[:20]...)
	house.WantMembers(t, one.Ask, "/rules/two/runs", "rule_run_id")
	house.CheckLists(t, one)
	house.Put(t, dir, "rules.ndjson", house.Lines(t, map[string]any{"rule_id": "one", "deleted": true}))
	house.Put(t, dir, "rule_runs.ndjson", house.Lines(t))
	house.Load(t, h.Program, one, dir)
	house.ProblemOf(t, house.Get(t, one.Ask, "/api/v1/rules/one/runs"), 404, "not_found")
	house.WantMembers(t, one.Ask, "/rules", "rule_id", "two")
}

func TestRecordsNameCountriesCanonically(t *testing.T) {
	t.Parallel()
	h, one := house.ShopWithData(t)
	rule, run := house.RuleLine("one"), house.RunLine("one", "one")
	rule["scope"] = map[string]any{"marketplaces": []any{"GB"}, "campaign_ids": nil}
	run["marketplaces"] = []any{"GB", "US"}
	run["changes"] = []any{map[string]any{"marketplace": "GB", "entity_type": "campaign", "entity_id": "1", "entity_name": "x", "field": "budget", "from": "1", "to": "2", "reason": "y"}}
	entry := house.With(house.ActivityLine("one", ""), "marketplace", "GB")
	delete(entry, "marketplace_id")
	dir := t.TempDir()
	house.Put(t, dir, "rules.ndjson", house.Lines(t, rule))
	house.Put(t, dir, "rule_runs.ndjson", house.Lines(t, run))
	house.Put(t, dir, "activity.ndjson", house.Lines(t, entry))
	house.Load(t, h.Program, one, dir)
	house.CheckLists(t, one)
}

func TestARuleForAllMarketplacesIsNotShownAsActingNowhere(t *testing.T) {
	t.Parallel()
	h, one := house.ShopWithData(t)
	rule := house.With(house.RuleLine("one"), "scope", map[string]any{"marketplaces": nil, "campaign_ids": nil})
	house.Load(t, h.Program, one, house.Put(t, t.TempDir(), "rules.ndjson", house.Lines(t, rule)))
	house.CheckLists(t, one)
}

func TestTheLastLineOfAnIdWins(t *testing.T) {
	t.Parallel()
	h, one := house.ShopWithData(t)
	dir := t.TempDir()
	house.Put(t, dir, "rules.ndjson", house.Lines(t, house.RuleLine("one"), house.RuleLine("two"), house.With(house.RuleLine("one"), "name", "Renamed"), map[string]any{"rule_id": "two", "deleted": true}))
	house.Put(t, dir, "activity.ndjson", house.Lines(t, house.ActivityLine("one", "101"), map[string]any{"activity_id": "one", "deleted": true}, house.With(house.With(house.ActivityLine("one", "102"), "summary", "Again. \u00fc \",\u2028"), "changed_campaign_ids", []any{"1", "2"})))
	house.Load(t, h.Program, one, dir)
	house.WantMembers(t, one.Ask, "/rules", "name", "Renamed")
	house.WantMembers(t, one.Ask, "/activity", "summary", "Again. \u00fc \",\u2028")
	house.CheckLists(t, one)
}

func TestListsOfOneMarketplaceSayNothingOfAnother(t *testing.T) {
	t.Parallel()
	h, one := house.ShopWithLists(t)
	entry := house.With(house.ActivityLine("three", "102"), "created_campaign_ids", []any{"1"})
	house.Load(t, h.Program, one, house.Put(t, t.TempDir(), "activity.ndjson", house.Lines(t, entry)))
	// The id is marketplace 101's as well, which the entry does not speak of.
	house.WantMembers(t, one.Ask, "/campaigns?marketplace_id=101", "provenance", "untouched", "untouched", "untouched")
	twin := house.ExportPair("twin", "102", "campaigns", time.Now(), house.CampaignRow("1", "Twin", "GBP"))
	house.Load(t, h.Program, one, twin.Write(t, t.TempDir())...)
	house.WantMembers(t, one.Ask, "/campaigns?marketplace_id=102", "provenance", "created")
	house.CheckLists(t, one)
}
