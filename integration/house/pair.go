package house

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Exact is a number that keeps its digits in JSON.
func Exact(number string) json.Number { return json.Number(number) }

// Zip packs text with gzip.
func Zip(text string) []byte {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, errWrite := z.Write([]byte(text))
	if errClose := z.Close(); errWrite != nil || errClose != nil {
		panic("gzip into memory failed")
	}
	return packed.Bytes()
}

// Pair is a report object with its download, to be bent before it is written.
type Pair struct {
	Stem   string
	Object map[string]any
	Rows   []map[string]any
	// Where set, these bytes are written instead; an empty name is not written.
	RawObject, RawRows   []byte
	ObjectName, RowsName string
}

// Stamp is a generatedAt.
func Stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// DaysAgo is a day in UTC.
func DaysAgo(n int) string { return time.Now().UTC().AddDate(0, 0, -n).Format(time.DateOnly) }

// SpPair is a right report of Sponsored Products with one row for each day.
func SpPair(stem, profile, start string, days int, generated time.Time) *Pair {
	first, err := time.Parse(time.DateOnly, start)
	if err != nil {
		panic(err)
	}
	p := &Pair{
		Stem: stem, ObjectName: stem + ".report.json", RowsName: stem + ".json",
		Object: map[string]any{
			"reportId": "id-" + stem, "profileId": json.Number(profile), "status": "COMPLETED", "startDate": start,
			"endDate": first.AddDate(0, 0, days-1).Format(time.DateOnly), "generatedAt": Stamp(generated), "failureReason": nil,
			"configuration": map[string]any{
				"adProduct": "SPONSORED_PRODUCTS", "reportTypeId": "spAdvertisedProduct", "groupBy": []any{"advertiser"},
				"timeUnit": "DAILY", "format": "GZIP_JSON", "filters": nil,
				"columns": []any{"date", "campaignId", "campaignBudgetCurrencyCode", "advertisedAsin", "impressions", "clicks",
					"cost", "purchases7d", "sales7d", "purchases14d", "sales14d"},
			},
		},
	}
	for i := range days {
		p.Rows = append(p.Rows, SpRow(first.AddDate(0, 0, i).Format(time.DateOnly), fmt.Sprintf("B%03d", i), "1.25"))
	}
	return p
}

// SpRow is a right row of such a report.
func SpRow(date, asin, cost string) map[string]any {
	return map[string]any{
		"date": date, "campaignId": json.Number("144158449488730278"), "advertisedAsin": asin,
		"impressions": 100, "clicks": 4, "cost": json.Number(cost), "purchases7d": 1, "sales7d": json.Number("9.5"),
		"purchases14d": 2, "sales14d": json.Number("19.5"),
	}
}

// Configuration is that of a report's object.
func (p *Pair) Configuration() map[string]any { return p.Object["configuration"].(map[string]any) }

// Without takes a column out of the configuration.
func (p *Pair) Without(column string) {
	var kept []any
	for _, name := range p.Configuration()["columns"].([]any) {
		if name != column {
			kept = append(kept, name)
		}
	}
	p.Configuration()["columns"] = kept
}

// Write puts the files into dir and gives their paths.
func (p *Pair) Write(t *testing.T, dir string) []string {
	t.Helper()
	if p.RawObject == nil {
		p.RawObject = Marshal(t, p.Object)
	}
	if p.RawRows == nil {
		p.RawRows = Marshal(t, p.Rows)
	}
	var paths []string
	for _, file := range []struct {
		name    string
		content []byte
	}{{p.ObjectName, p.RawObject}, {p.RowsName, p.RawRows}} {
		if file.name != "" {
			paths = append(paths, Put(t, dir, file.name, file.content))
		}
	}
	return paths
}

// Put writes a file and gives its path.
func Put(t *testing.T, dir, name string, content []byte) string {
	t.Helper()
	Need(t, os.MkdirAll(dir, 0o755))
	path := filepath.Join(dir, name)
	Need(t, os.WriteFile(path, content, 0o644))
	return path
}

// Marshal writes JSON.
func Marshal(t *testing.T, value any) []byte {
	t.Helper()
	content, err := json.Marshal(value)
	Need(t, err)
	return content
}

// ProfilesFile is a profiles.json of lines: id, country, currency, type.
func ProfilesFile(t *testing.T, dir string, profiles ...[4]string) string {
	t.Helper()
	list := []any{}
	for _, p := range profiles {
		list = append(list, map[string]any{
			"profileId": json.Number(p[0]), "countryCode": p[1], "currencyCode": p[2], "timezone": "UTC",
			"accountInfo": map[string]any{"marketplaceStringId": "A", "id": "A1", "type": p[3], "name": "x"},
		})
	}
	return Put(t, dir, "profiles.json", Marshal(t, list))
}
