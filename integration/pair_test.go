package integration_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// pair is a report object with its download, to be bent before it is written.
type pair struct {
	stem   string
	object map[string]any
	rows   []map[string]any
	// Where set, these bytes are written instead; an empty name is not written.
	rawObject, rawRows   []byte
	objectName, rowsName string
}

// stamp is a generatedAt.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

func daysAgo(n int) string { return time.Now().UTC().AddDate(0, 0, -n).Format(time.DateOnly) }

// spPair is a right report of Sponsored Products with one row for each day.
func spPair(stem, profile, start string, days int, generated time.Time) *pair {
	first, err := time.Parse(time.DateOnly, start)
	if err != nil {
		panic(err)
	}
	p := &pair{
		stem: stem, objectName: stem + ".report.json", rowsName: stem + ".json",
		object: map[string]any{
			"reportId": "id-" + stem, "profileId": json.Number(profile), "status": "COMPLETED", "startDate": start,
			"endDate": first.AddDate(0, 0, days-1).Format(time.DateOnly), "generatedAt": stamp(generated), "failureReason": nil,
			"configuration": map[string]any{
				"adProduct": "SPONSORED_PRODUCTS", "reportTypeId": "spAdvertisedProduct", "groupBy": []any{"advertiser"},
				"timeUnit": "DAILY", "format": "GZIP_JSON", "filters": nil,
				"columns": []any{"date", "campaignId", "campaignBudgetCurrencyCode", "advertisedAsin", "impressions", "clicks",
					"cost", "purchases7d", "sales7d", "purchases14d", "sales14d"},
			},
		},
	}
	for i := range days {
		p.rows = append(p.rows, spRow(first.AddDate(0, 0, i).Format(time.DateOnly), fmt.Sprintf("B%03d", i), "1.25"))
	}
	return p
}

func spRow(date, asin, cost string) map[string]any {
	return map[string]any{
		"date": date, "campaignId": json.Number("144158449488730278"), "advertisedAsin": asin,
		"impressions": 100, "clicks": 4, "cost": json.Number(cost), "purchases7d": 1, "sales7d": json.Number("9.5"),
		"purchases14d": 2, "sales14d": json.Number("19.5"),
	}
}

func (p *pair) configuration() map[string]any { return p.object["configuration"].(map[string]any) }

// without takes a column out of the configuration.
func (p *pair) without(column string) {
	var kept []any
	for _, name := range p.configuration()["columns"].([]any) {
		if name != column {
			kept = append(kept, name)
		}
	}
	p.configuration()["columns"] = kept
}

// write puts the files into dir and gives their paths.
func (p *pair) write(t *testing.T, dir string) []string {
	t.Helper()
	if p.rawObject == nil {
		p.rawObject = marshal(t, p.object)
	}
	if p.rawRows == nil {
		p.rawRows = marshal(t, p.rows)
	}
	var paths []string
	for _, file := range []struct {
		name    string
		content []byte
	}{{p.objectName, p.rawObject}, {p.rowsName, p.rawRows}} {
		if file.name != "" {
			paths = append(paths, put(t, dir, file.name, file.content))
		}
	}
	return paths
}

func put(t *testing.T, dir, name string, content []byte) string {
	t.Helper()
	need(t, os.MkdirAll(dir, 0o755))
	path := filepath.Join(dir, name)
	need(t, os.WriteFile(path, content, 0o644))
	return path
}

func marshal(t *testing.T, value any) []byte {
	t.Helper()
	content, err := json.Marshal(value)
	need(t, err)
	return content
}

// profilesFile is a profiles.json of lines: id, country, currency, type.
func profilesFile(t *testing.T, dir string, profiles ...[4]string) string {
	t.Helper()
	list := []any{}
	for _, p := range profiles {
		list = append(list, map[string]any{
			"profileId": json.Number(p[0]), "countryCode": p[1], "currencyCode": p[2], "timezone": "UTC",
			"accountInfo": map[string]any{"marketplaceStringId": "A", "id": "A1", "type": p[3], "name": "x"},
		})
	}
	return put(t, dir, "profiles.json", marshal(t, list))
}
