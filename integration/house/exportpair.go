package house

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"
)

// ThreeCampaigns are campaigns with ids 1 to 3.
func ThreeCampaigns() []map[string]any {
	return []map[string]any{CampaignRow("1", "One", "USD"), CampaignRow("2", "Two", "USD"), CampaignRow("3", "Three", "USD")}
}

// ThreeAdGroups are two of campaign 1 and one of campaign 3.
func ThreeAdGroups() []map[string]any {
	return []map[string]any{AdGroupRow("11", "1", "One"), AdGroupRow("12", "1", "Two"), AdGroupRow("13", "3", "Three")}
}

// ThreeAds are ads of the ad groups 11 and 13.
func ThreeAds() []map[string]any {
	return []map[string]any{adRow("21", "11"), adRow("22", "11"), adRow("23", "13")}
}

// ExportPair is an export object with its download, to be bent like a report.
func ExportPair(stem, profile, entity string, generated time.Time, rows ...map[string]any) *Pair {
	if rows == nil {
		rows = []map[string]any{}
	}
	return &Pair{
		Stem: stem, ObjectName: stem + ".export.json", RowsName: stem + ".json", Rows: rows,
		Object: map[string]any{
			"exportId": "id-" + stem, "profileId": json.Number(profile), "entity": entity, "status": "COMPLETED",
			"generatedAt": Stamp(generated), "createdAt": Stamp(generated), "url": nil,
		},
	}
}

// Narrow makes an export speak for some ad products alone.
func (p *Pair) Narrow(adProducts ...string) *Pair {
	p.Object["adProductFilter"] = adProducts
	return p
}

// CampaignRow is a right row of an export of campaigns.
func CampaignRow(id, name, currency string) map[string]any {
	return map[string]any{
		"campaignId": json.Number(id), "adProduct": "SPONSORED_PRODUCTS", "name": name, "state": "ENABLED", "targetingSettings": "AUTO",
		"startDate": "2026-01-01", "endDate": nil,
		"budgetCaps": map[string]any{"recurrenceTimePeriod": "DAILY", "budgetType": "MONETARY", "budgetValue": map[string]any{
			"monetaryBudget": map[string]any{"currencyCode": currency, "amount": json.Number("10.5")},
		}},
	}
}

// AdGroupRow is a right row of an export of ad groups.
func AdGroupRow(id, campaign, name string) map[string]any {
	return map[string]any{
		"adGroupId": id, "campaignId": json.Number(campaign), "adProduct": "SPONSORED_PRODUCTS", "name": name, "state": "ENABLED",
		"bid": map[string]any{"defaultBid": json.Number("0.75"), "currencyCode": "USD"},
	}
}

func adRow(id, adGroup string) map[string]any {
	return map[string]any{"adId": id, "adGroupId": adGroup, "adProduct": "SPONSORED_PRODUCTS", "state": "ENABLED"}
}

// With changes a member and gives the same row.
func With(row map[string]any, name string, value any) map[string]any {
	row[name] = value
	return row
}

// RuleLine is a right record of a rule.
func RuleLine(id string) map[string]any {
	return map[string]any{
		"rule_id": id, "name": "Rule " + id, "status": "on", "edited_at": "2026-10-01T08:00:00.000Z",
		"scope":    map[string]any{"marketplaces": []any{"US"}, "campaign_ids": nil},
		"schedule": map[string]any{"frequency": "daily", "time": "08:00", "timezone": "UTC"},
	}
}

// RunLine is a right record of a rule's run.
func RunLine(id, rule string) map[string]any {
	return map[string]any{
		"rule_run_id": id, "rule_id": rule, "test": false, "started_at": "2026-10-02T08:00:00.000Z", "finished_at": "2026-10-02T08:01:00.000Z",
		"status": "completed", "marketplaces": []any{"US"}, "looked_at": map[string]any{"campaigns": 3, "ad_groups": 4, "targets": 5},
		"changed": 0, "changes": []any{},
	}
}

// ActivityLine is a right record of activity.
func ActivityLine(id, marketplaceID string) map[string]any {
	return map[string]any{
		"activity_id": id, "occurred_at": "2026-10-02T08:01:00.000Z", "tool": "campaign_create", "marketplace_id": marketplaceID,
		"rule_id": nil, "rule_run_id": nil, "status": "completed", "summary": "Created a campaign.", "changed": 1,
		"created_campaign_ids": []any{}, "changed_campaign_ids": []any{},
	}
}

// Lines writes NDJSON.
func Lines(t *testing.T, records ...map[string]any) []byte {
	t.Helper()
	var text bytes.Buffer
	for _, record := range records {
		text.Write(append(Marshal(t, record), '\n'))
	}
	return text.Bytes()
}
