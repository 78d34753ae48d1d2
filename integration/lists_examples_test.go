package integration_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"adlens/integration/harness"
)

// shopWithLists is a shop of which marketplace 101 has lists; campaign 4 is
// archived.
func shopWithLists(t *testing.T) (*house, *tenant) {
	t.Helper()
	h, one := shopWithData(t)
	dir, hourAgo := t.TempDir(), time.Now().Add(-time.Hour)
	archived := with(campaignRow("4", "Four", "USD"), "state", "ARCHIVED")
	exportPair("campaigns", "101", "campaigns", hourAgo, append(threeCampaigns(), archived)...).write(t, dir)
	exportPair("adGroups", "101", "adGroups", hourAgo, threeAdGroups()...).write(t, dir)
	exportPair("ads", "101", "ads", hourAgo, threeAds()...).write(t, dir)
	put(t, dir, "rules.ndjson", lines(t, ruleLine("one"), ruleLine("two")))
	put(t, dir, "rule_runs.ndjson", lines(t, runLine("one", "one")))
	put(t, dir, "activity.ndjson", lines(t, activityLine("one", "101"), activityLine("two", "102")))
	load(t, h.Program, one, dir)
	return h, one
}

// members lists one member of every element of data.
func members(t *testing.T, c harness.Client, path, member string) []string {
	t.Helper()
	a := get(t, c, "/api/v1"+path)
	var body struct{ Data []map[string]any }
	decoder := json.NewDecoder(strings.NewReader(string(a.Body)))
	decoder.UseNumber()
	if err := decoder.Decode(&body); err != nil || a.Status != 200 {
		t.Fatalf("%s: %v %s", path, err, a)
	}
	values := []string{}
	for _, element := range body.Data {
		values = append(values, fmt.Sprint(element[member]))
	}
	return values
}

func wantMembers(t *testing.T, c harness.Client, path, member string, want ...string) {
	t.Helper()
	if got := members(t, c, path, member); !slices.Equal(got, want) {
		t.Errorf("%s: want %s %q, got %q", path, member, want, got)
	}
}

func TestIdsSurviveExactlyWhetherTheyCameAsNumbersOrText(t *testing.T) {
	t.Parallel()
	h, one := shopWithData(t)
	ids := []string{"1", "007", "276748589410145", "9007199254740992", "9007199254740993", "144158449488730278", "144158449488730279", "18446744073709551615"}
	slices.Sort(ids) // as names are equal, ids decide, by their bytes
	var campaigns, adGroups []map[string]any
	for i, id := range ids {
		campaign, adGroup := campaignRow("1", "Lamp", "USD"), adGroupRow(id, "1", "Lamp")
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
	exportPair("campaigns", "101", "campaigns", time.Now(), campaigns...).write(t, dir)
	exportPair("adGroups", "101", "adGroups", time.Now(), adGroups...).write(t, dir)
	load(t, h.Program, one, dir)
	wantMembers(t, one.ask, "/campaigns?marketplace_id=101", "campaign_id", ids...)
	wantMembers(t, one.ask, "/ad-groups?marketplace_id=101", "ad_group_id", ids...)
	for _, id := range ids {
		wantMembers(t, one.ask, "/ad-groups?marketplace_id=101&campaign_id="+id, "ad_group_id", id)
	}
	checkLists(t, one)
}

func TestNarrowedExportsReplaceOnlyTheirAdProducts(t *testing.T) {
	t.Parallel()
	h, one := shopWithData(t)
	const list = "/campaigns?marketplace_id=101"
	named := func(id, name, adProduct string) map[string]any {
		return with(campaignRow(id, name, "USD"), "adProduct", adProduct)
	}
	at := func(minutes int) time.Time { return time.Now().Add(time.Duration(minutes-100) * time.Minute) }
	for i, step := range []struct {
		export *pair
		want   []string
	}{
		{exportPair("a", "101", "campaigns", at(50), named("1", "p50", adProducts[0])).narrow(adProducts[0]), []string{"p50"}},
		{exportPair("b", "101", "campaigns", at(40), named("1", "p40", adProducts[0]), named("2", "b40", adProducts[1])), []string{"b40", "p50"}},
		{exportPair("c", "101", "campaigns", at(45), named("2", "b45", adProducts[1]), named("3", "d45", adProducts[2])).narrow(adProducts[2], adProducts[1]), []string{"b45", "d45", "p50"}},
		{exportPair("d", "101", "campaigns", at(60)).narrow(adProducts[1]), []string{"d45", "p50"}},
		{exportPair("e", "101", "campaigns", at(10), named("9", "old", adProducts[0])), []string{"d45", "p50"}},
		{exportPair("f", "101", "campaigns", at(70), named("7", "whole", adProducts[1])), []string{"whole"}},
		{exportPair("g", "101", "campaigns", at(65), named("1", "p65", adProducts[0])).narrow(adProducts[0]), []string{"whole"}},
		{exportPair("h", "101", "campaigns", at(80)), []string{}},
	} {
		load(t, h.Program, one, step.export.write(t, t.TempDir())...)
		if got := members(t, one.ask, list, "name"); !slices.Equal(got, step.want) {
			t.Errorf("step %d: want %v, got %v", i, step.want, got)
		}
		checkLists(t, one)
	}
}

func TestTestRunsAndOldRunsAreNotListed(t *testing.T) {
	t.Parallel()
	h, one := shopWithData(t)
	var runs []map[string]any
	var want []string
	for i := range 30 {
		run := runLine(fmt.Sprintf("run-%02d", i), "one")
		run["started_at"] = fmt.Sprintf("2026-10-%02dT08:00:00Z", 1+i/2) // two at a time
		run["test"] = i%5 == 4                                           // so the newest of all
		runs = append(runs, run)
		if i%5 != 4 {
			want = append([]string{fmt.Sprintf("run-%02d", i)}, want...)
		}
	}
	slices.Reverse(runs[10:20])
	dir := t.TempDir()
	put(t, dir, "rules.ndjson", lines(t, ruleLine("one"), ruleLine("two")))
	put(t, dir, "rule_runs.ndjson", lines(t, runs...))
	load(t, h.Program, one, dir)
	wantMembers(t, one.ask, "/rules/one/runs", "rule_run_id", want[:20]...)
	wantMembers(t, one.ask, "/rules/two/runs", "rule_run_id")
	checkLists(t, one)
	put(t, dir, "rules.ndjson", lines(t, map[string]any{"rule_id": "one", "deleted": true}))
	put(t, dir, "rule_runs.ndjson", lines(t))
	load(t, h.Program, one, dir)
	problemOf(t, get(t, one.ask, "/api/v1/rules/one/runs"), 404, "not_found")
	wantMembers(t, one.ask, "/rules", "rule_id", "two")
}

func TestRecordsNameCountriesCanonically(t *testing.T) {
	t.Parallel()
	h, one := shopWithData(t)
	rule, run := ruleLine("one"), runLine("one", "one")
	rule["scope"] = map[string]any{"marketplaces": []any{"GB"}, "campaign_ids": nil}
	run["marketplaces"] = []any{"GB", "US"}
	run["changes"] = []any{map[string]any{"marketplace": "GB", "entity_type": "campaign", "entity_id": "1", "entity_name": "x", "field": "budget", "from": "1", "to": "2", "reason": "y"}}
	entry := with(activityLine("one", ""), "marketplace", "GB")
	delete(entry, "marketplace_id")
	dir := t.TempDir()
	put(t, dir, "rules.ndjson", lines(t, rule))
	put(t, dir, "rule_runs.ndjson", lines(t, run))
	put(t, dir, "activity.ndjson", lines(t, entry))
	load(t, h.Program, one, dir)
	checkLists(t, one)
}

func TestARuleForAllMarketplacesIsNotShownAsActingNowhere(t *testing.T) {
	t.Parallel()
	h, one := shopWithData(t)
	rule := with(ruleLine("one"), "scope", map[string]any{"marketplaces": nil, "campaign_ids": nil})
	load(t, h.Program, one, put(t, t.TempDir(), "rules.ndjson", lines(t, rule)))
	checkLists(t, one)
}

func TestTheLastLineOfAnIdWins(t *testing.T) {
	t.Parallel()
	h, one := shopWithData(t)
	dir := t.TempDir()
	put(t, dir, "rules.ndjson", lines(t, ruleLine("one"), ruleLine("two"), with(ruleLine("one"), "name", "Renamed"), map[string]any{"rule_id": "two", "deleted": true}))
	put(t, dir, "activity.ndjson", lines(t, activityLine("one", "101"), map[string]any{"activity_id": "one", "deleted": true}, with(activityLine("one", "102"), "summary", "Again.")))
	load(t, h.Program, one, dir)
	wantMembers(t, one.ask, "/rules", "name", "Renamed")
	wantMembers(t, one.ask, "/activity", "summary", "Again.")
	checkLists(t, one)
}

func TestListsOfOneMarketplaceSayNothingOfAnother(t *testing.T) {
	t.Parallel()
	h, one := shopWithLists(t)
	entry := with(activityLine("three", "102"), "created_campaign_ids", []any{"1"})
	load(t, h.Program, one, put(t, t.TempDir(), "activity.ndjson", lines(t, entry)))
	// The id is marketplace 101's as well, which the entry does not speak of.
	wantMembers(t, one.ask, "/campaigns?marketplace_id=101", "provenance", "untouched", "untouched", "untouched")
	twin := exportPair("twin", "102", "campaigns", time.Now(), campaignRow("1", "Twin", "GBP"))
	load(t, h.Program, one, twin.write(t, t.TempDir())...)
	wantMembers(t, one.ask, "/campaigns?marketplace_id=102", "provenance", "created")
	checkLists(t, one)
}
