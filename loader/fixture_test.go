package loader_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The profiles of all fixtures: dollars, and a currency that needs rates.
const (
	profileUS = "1001"
	profileDE = "9007199254740993" // beyond 2^53
)

const profilesText = `[
 {"profileId": 1001, "countryCode": "US", "currencyCode": "USD", "timezone": "America/Los_Angeles", "accountInfo": {"type": "seller", "name": "Lamps"}},
 {"profileId": 9007199254740993, "countryCode": "DE", "currencyCode": "EUR", "timezone": "Europe/Paris", "accountInfo": {"type": "seller", "name": "Lampen"}}
]`

// reportFile describes a Sponsored Products report of a fixture.
type reportFile struct {
	id, profile, start, end, generated string
	rows                               []string
}

// row writes a row of a Sponsored Products report.
func row(date, asin, impressions, cost, sales string) string {
	return fmt.Sprintf(`{"date":%q,"advertisedAsin":%q,"impressions":%s,"clicks":3,"cost":%s,"purchases7d":1,"sales7d":%s,"unitsSoldClicks7d":2,"sales30d":%s}`,
		date, asin, impressions, cost, sales, sales)
}

func writeFile(t testing.TB, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// write writes the report into a directory and returns its object's path.
func (r reportFile) write(t testing.TB, dir string) string {
	t.Helper()
	object, err := json.Marshal(map[string]any{
		"reportId": r.id, "profileId": r.profile, "status": "COMPLETED",
		"startDate": r.start, "endDate": r.end, "generatedAt": r.generated,
		"configuration": map[string]any{
			"adProduct": "SPONSORED_PRODUCTS", "reportTypeId": "spAdvertisedProduct", "timeUnit": "DAILY", "groupBy": []string{"advertiser"},
			"columns": []string{"date", "advertisedAsin", "impressions", "clicks", "cost", "purchases7d", "sales7d", "unitsSoldClicks7d", "sales30d"},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, r.id+".report.json")
	writeFile(t, path, string(object))
	writeFile(t, filepath.Join(dir, r.id+".json"), "["+strings.Join(r.rows, ",\n")+"]")
	return path
}

// writeBase writes profiles and rates, and returns their directory.
func writeBase(t testing.TB, rates ...string) string {
	t.Helper()
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "profiles.json"), profilesText)
	writeRates(t, dir, rates...)
	return dir
}

func writeRates(t testing.TB, dir string, rates ...string) string {
	t.Helper()
	path := filepath.Join(dir, "rates.csv")
	writeFile(t, path, "date,currency,usd\n"+strings.Join(rates, "\n")+"\n")
	return path
}
