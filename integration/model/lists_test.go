package model

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"testing"
)

// These expectations are worked out by hand, so that the oracle of the lists
// is itself held by something.

const aCampaign = `{"campaignId":%s,"adProduct":"%s","name":"%s","state":"%s","targetingSettings":"T00020","startDate":"2026-01-01",
"budgetCaps":{"recurrenceTimePeriod":"LIFETIME","budgetValue":{"monetaryBudget":{"amount":12.5,"currencyCode":"GBP"}}}}`

func write(t *testing.T, dir, name, content string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func writeExport(t *testing.T, dir, name, entity, generated, filter, rows string) {
	t.Helper()
	write(t, dir, name+".export.json", fmt.Sprintf(`{"exportId":"%s","profileId":7,"entity":"%s","generatedAt":"%s","adProductFilter":%s}`, name, entity, generated, filter))
	write(t, dir, name+".json", rows)
}

func loaded(t *testing.T, dir string) *Account {
	t.Helper()
	write(t, dir, "profiles.json", `[{"profileId":7,"countryCode":"GB","currencyCode":"GBP","timezone":"Europe/London","accountInfo":{"type":"seller"}}]`)
	a := New()
	for _, r := range a.Load(dir) {
		if r.Err != nil {
			t.Fatal(r.Err)
		}
	}
	return a
}

func wanted(t *testing.T, want string, got any) {
	t.Helper()
	expectation, err := Decode([]byte(want))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range Diff(expectation, got) {
		t.Error(line)
	}
}

func TestOracleListsWhatLivesWithItsParents(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	row := func(id, adProduct, name, state string) string {
		return fmt.Sprintf(aCampaign, id, adProduct, name, state)
	}
	writeExport(t, dir, "whole", "campaigns", "2026-05-01T00:00:00Z", "null", "["+row(`144158449488730278`, "SPONSORED_DISPLAY", "b", "proposed")+","+
		row(`"9"`, "SPONSORED_BRANDS", "a", "ARCHIVED")+","+row(`"8"`, "SPONSORED_BRANDS", "\U0001f600", "ENABLING")+","+row(`"10"`, "SPONSORED_PRODUCTS", "gone", "ENABLED")+"]")
	writeExport(t, dir, "narrow", "campaigns", "2026-05-02T00:00:00.5Z", `["SPONSORED_PRODUCTS"]`, "["+row(`"11"`, "SPONSORED_PRODUCTS", "\uff76", "OTHER")+"]")
	writeExport(t, dir, "late", "campaigns", "2026-04-01T00:00:00Z", "null", "["+row(`"12"`, "SPONSORED_PRODUCTS", "old", "ENABLED")+"]")
	writeExport(t, dir, "groups", "adGroups", "2026-05-01T00:00:00Z", "null",
		`[{"adGroupId":1,"campaignId":8,"adProduct":"SPONSORED_BRANDS","name":"x","state":"PAUSED"},{"adGroupId":2,"campaignId":9,"adProduct":"SPONSORED_BRANDS","name":"y","state":"ENABLED"},
		{"adGroupId":3,"campaignId":77,"adProduct":"SPONSORED_PRODUCTS","name":"z","state":"ENABLED","bid":{"defaultBid":1}}]`)
	write(t, dir, "activity.ndjson", `{"activity_id":"a","occurred_at":"2026-05-01T00:00:00Z","marketplace":"UK","created_campaign_ids":[11],"changed_campaign_ids":["8"]}
{"activity_id":"b","occurred_at":"2026-05-01T00:00:00Z","marketplace_id":7,"created_campaign_ids":[],"changed_campaign_ids":["11"]}`)
	a := loaded(t, dir)
	got, err := a.Campaigns(url.Values{"marketplace_id": {"7"}, "page_size": {"3"}})
	if err != nil {
		t.Fatal(err)
	}
	wanted(t, `{"data":[
		{"campaign_id":"144158449488730278","name":"b","state":"PAUSED","targeting":null,"provenance":"untouched","budget":{"amount":12.5,"type":"LIFETIME","currency_code":"GBP"}},
		{"campaign_id":"11","name":"\uff76","state":"PAUSED","provenance":"created"},
		{"campaign_id":"8","name":"\ud83d\ude00","state":"ENABLED","provenance":"changed","start_date":"2026-01-01","end_date":null}],
		"pagination":{"total_rows":3,"total_pages":1,"next_page":null},"meta":{"synced_at":"2026-05-01T00:00:00.000Z","syncing":false}}`, got)
	wanted(t, `{"data":[{"country_code":"UK","name":"United Kingdom","counts":{"campaigns":3,"ad_groups":1,"ads":null}}]}`, a.Marketplaces())
}

func TestOracleDerivesTheLastRun(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "rules.ndjson", `{"rule_id":"a","status":"on","edited_at":"2026-05-01T10:00:00+02:00","scope":{"marketplaces":["GB"],"campaign_ids":[9]},"schedule":{}}
{"rule_id":"b","status":"off","edited_at":"2026-05-01T08:00:00Z","scope":{},"schedule":{}}`)
	write(t, dir, "rule_runs.ndjson", `{"rule_run_id":"1","rule_id":"a","test":false,"started_at":"2026-05-01T00:00:00Z","changed":3,"changes":[],"status":"completed"}
{"rule_run_id":"2","rule_id":"a","test":false,"started_at":"2026-05-01T00:00:00Z","changed":4,"changes":[],"status":"completed"}
{"rule_run_id":"3","rule_id":"a","test":true,"started_at":"2026-05-02T00:00:00Z","changed":5,"changes":[],"status":"completed"}`)
	got, err := loaded(t, dir).Rules(url.Values{})
	if err != nil {
		t.Fatal(err)
	}
	wanted(t, `{"data":[{"rule_id":"b","last_run":null},{"rule_id":"a","edited_at":"2026-05-01T08:00:00.000Z","scope":{"marketplaces":["UK"],"campaign_ids":["9"]},
		"last_run":{"rule_run_id":"2","changed":4,"finished_at":null}}],"pagination":{"page_size":1000}}`, got)
}
