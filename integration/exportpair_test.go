package integration_test

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"
)

// exportPair is an export object with its download, to be bent like a report.
func exportPair(stem, profile, entity string, generated time.Time, rows ...map[string]any) *pair {
	if rows == nil {
		rows = []map[string]any{}
	}
	return &pair{
		stem: stem, objectName: stem + ".export.json", rowsName: stem + ".json", rows: rows,
		object: map[string]any{
			"exportId": "id-" + stem, "profileId": json.Number(profile), "entity": entity, "status": "COMPLETED",
			"generatedAt": stamp(generated), "createdAt": stamp(generated), "url": nil,
		},
	}
}

// narrow makes an export speak for some ad products alone.
func (p *pair) narrow(adProducts ...string) *pair {
	p.object["adProductFilter"] = adProducts
	return p
}

func campaignRow(id, name, currency string) map[string]any {
	return map[string]any{
		"campaignId": json.Number(id), "adProduct": "SPONSORED_PRODUCTS", "name": name, "state": "ENABLED", "targetingSettings": "AUTO",
		"startDate": "2026-01-01", "endDate": nil,
		"budgetCaps": map[string]any{"recurrenceTimePeriod": "DAILY", "budgetType": "MONETARY", "budgetValue": map[string]any{
			"monetaryBudget": map[string]any{"currencyCode": currency, "amount": json.Number("10.5")},
		}},
	}
}

func adGroupRow(id, campaign, name string) map[string]any {
	return map[string]any{
		"adGroupId": id, "campaignId": json.Number(campaign), "adProduct": "SPONSORED_PRODUCTS", "name": name, "state": "ENABLED",
		"bid": map[string]any{"defaultBid": json.Number("0.75"), "currencyCode": "USD"},
	}
}

func adRow(id, adGroup string) map[string]any {
	return map[string]any{"adId": id, "adGroupId": adGroup, "adProduct": "SPONSORED_PRODUCTS", "state": "ENABLED"}
}

// with changes a member and gives the same row.
func with(row map[string]any, name string, value any) map[string]any {
	row[name] = value
	return row
}

func ruleLine(id string) map[string]any {
	return map[string]any{
		"rule_id": id, "name": "Rule " + id, "status": "on", "edited_at": "2026-10-01T08:00:00.000Z",
		"scope":    map[string]any{"marketplaces": []any{"US"}, "campaign_ids": nil},
		"schedule": map[string]any{"frequency": "daily", "time": "08:00", "timezone": "UTC"},
	}
}

func runLine(id, rule string) map[string]any {
	return map[string]any{
		"rule_run_id": id, "rule_id": rule, "test": false, "started_at": "2026-10-02T08:00:00.000Z", "finished_at": "2026-10-02T08:01:00.000Z",
		"status": "completed", "marketplaces": []any{"US"}, "looked_at": map[string]any{"campaigns": 3, "ad_groups": 4, "targets": 5},
		"changed": 0, "changes": []any{},
	}
}

func activityLine(id, marketplaceID string) map[string]any {
	return map[string]any{
		"activity_id": id, "occurred_at": "2026-10-02T08:01:00.000Z", "tool": "campaign_create", "marketplace_id": marketplaceID,
		"rule_id": nil, "rule_run_id": nil, "status": "completed", "summary": "Created a campaign.", "changed": 1,
		"created_campaign_ids": []any{}, "changed_campaign_ids": []any{},
	}
}

// lines writes NDJSON.
func lines(t *testing.T, records ...map[string]any) []byte {
	t.Helper()
	var text bytes.Buffer
	for _, record := range records {
		text.Write(append(marshal(t, record), '\n'))
	}
	return text.Bytes()
}
