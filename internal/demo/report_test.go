package demo

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"adlens/internal/made"
)

func unzip(t *testing.T, b []byte) []byte {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	out, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func readObject(t *testing.T, path string) made.Report {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	var o made.Report
	if err := d.Decode(&o); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return o
}

// A line is a row of a report, its numbers as they were written.
type line map[string]any

func readLines(t *testing.T, path string) []line {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(bytes.NewReader(unzip(t, b)))
	d.UseNumber()
	var out []line
	if err := d.Decode(&out); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	if _, err := d.Token(); err != io.EOF {
		t.Fatalf("%s: more after the array: %v", path, err)
	}
	return out
}

func (l line) text(name string) string {
	s, _ := l[name].(string)
	return s
}

// count is a whole number, and -1 where it is none.
func (l line) count(name string) int64 {
	n, _ := l[name].(json.Number)
	v, err := strconv.ParseInt(string(n), 10, 64)
	if err != nil {
		return -1
	}
	return v
}

// amount is in cents, and -1 where it has more than two decimals or is none.
func (l line) amount(name string) int64 {
	n, _ := l[name].(json.Number)
	v, err := strconv.ParseFloat(string(n), 64)
	c := math.Round(v * 100)
	if err != nil || math.Abs(v*100-c) > 1e-3 {
		return -1
	}
	return int64(c)
}

func TestReports(t *testing.T) {
	t.Parallel()
	dir, _ := writeDemo(t, Options{Today: today, Years: 1})
	objects, err := filepath.Glob(filepath.Join(dir, reportsDir, "*.report.json"))
	if err != nil || len(objects) == 0 {
		t.Fatalf("%d reports, error %v", len(objects), err)
	}
	for _, path := range objects {
		name := strings.TrimSuffix(filepath.Base(path), ".report.json")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkReport(t, strings.TrimSuffix(path, ".report.json"))
		})
	}
}

func checkReport(t *testing.T, stem string) {
	o := readObject(t, stem+".report.json")
	checkObject(t, o, stem+".json.gz")
	m := markets[slices.IndexFunc(markets, func(m *market) bool { return strings.HasPrefix(o.Name, m.country) })]
	if o.ProfileID.String() != m.profileID {
		t.Errorf("profile %s", o.ProfileID)
	}
	rows := readLines(t, stem+".json.gz")
	empty := strings.HasPrefix(o.Name, "UK-sponsored-brands-2026-04")
	if empty != (len(rows) == 0) {
		t.Errorf("%d rows", len(rows))
	}
	for i, row := range rows {
		checkRow(t, o, m, row)
		if o.Configuration.AdProduct == "SPONSORED_PRODUCTS" {
			checkWindows(t, m, row)
		} else {
			checkResponse(t, row)
		}
		if t.Failed() {
			t.Fatalf("row %d: %v", i+1, row)
		}
	}
	if !strings.HasSuffix(o.Name, "earlier") { // their sales are still low
		checkRatios(t, m, rows)
	}
}

func checkObject(t *testing.T, o made.Report, download string) {
	t.Helper()
	info, err := os.Stat(download)
	if err != nil {
		t.Fatal(err)
	}
	c := o.Configuration
	if o.Status != "COMPLETED" || c.TimeUnit != "DAILY" || c.Format != "GZIP_JSON" || c.Filters != nil || o.FailureReason != nil {
		t.Errorf("status %q, unit %q, format %q, filters %v", o.Status, c.TimeUnit, c.Format, c.Filters)
	}
	if int64(o.FileSize) != info.Size() {
		t.Errorf("fileSize %d, the file has %d", o.FileSize, info.Size())
	}
	if !strings.HasPrefix(o.URL, "https://reports.example.com/"+o.ReportID) {
		t.Errorf("url %s", o.URL)
	}
	checkTimes(t, o)
}

// A report is made a few hours after its last day has ended in its own zone.
func checkTimes(t *testing.T, o made.Report) {
	t.Helper()
	at := func(layout, s string) time.Time {
		v, err := time.Parse(layout, s)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	first, last := at(time.DateOnly, o.StartDate), at(time.DateOnly, o.EndDate)
	if days := last.Sub(first).Hours()/24 + 1; days < 1 || days > 31 {
		t.Errorf("%v days", days)
	}
	const layout = "2006-01-02T15:04:05.000Z"
	created, generated := at(layout, o.CreatedAt), at(layout, o.GeneratedAt)
	if late := generated.Sub(last.AddDate(0, 0, 1)); late < time.Hour || late > 16*time.Hour {
		t.Errorf("generated %v after the end of the last day", late)
	}
	if !created.Before(generated) || !generated.Before(at(layout, o.URLExpiresAt)) {
		t.Errorf("created %s, generated %s, url until %s", o.CreatedAt, o.GeneratedAt, o.URLExpiresAt)
	}
}

func checkRow(t *testing.T, o made.Report, m *market, row line) {
	t.Helper()
	for _, c := range o.Configuration.Columns {
		if _, ok := row[c]; !ok {
			t.Errorf("no %s", c)
		}
	}
	if len(row) != len(o.Configuration.Columns) {
		t.Errorf("%d fields, %d columns", len(row), len(o.Configuration.Columns))
	}
	if d := row.text("date"); d < o.StartDate || d > o.EndDate {
		t.Errorf("date %s", d)
	}
	if row.text("campaignBudgetCurrencyCode") != m.currency {
		t.Errorf("currency %s", row.text("campaignBudgetCurrencyCode"))
	}
	impressions, clicks, cost := row.count("impressions"), row.count("clicks"), row.amount("cost")
	if impressions < 1 || clicks < 0 || clicks > impressions || cost < 0 || (clicks == 0) != (cost == 0) {
		t.Errorf("%d impressions, %d clicks, cost %d", impressions, clicks, cost)
	}
	checkIDs(t, o, row)
	for name, v := range row {
		if n, ok := v.(json.Number); ok && strings.ContainsAny(string(n), "-eE") {
			t.Errorf("%s is %s", name, n)
		}
	}
}

func checkIDs(t *testing.T, o made.Report, row line) {
	t.Helper()
	id := row.count("campaignId")
	digits := len(strconv.FormatInt(id, 10))
	if o.Configuration.AdProduct == "SPONSORED_BRANDS" {
		if digits != 18 || int64(float64(id)) == id {
			t.Errorf("campaignId %d survives a binary float", id)
		}
		return
	}
	if digits != 15 || row.count("adGroupId") < 1 || row.count("adId") < 1 {
		t.Errorf("ids %v %v %v", row["campaignId"], row["adGroupId"], row["adId"])
	}
}

func checkWindows(t *testing.T, m *market, row line) {
	t.Helper()
	if _, ok := row["advertisedSku"]; ok != m.isSeller() {
		t.Errorf("advertisedSku is there: %v", ok)
	}
	before := map[string]int64{}
	for _, days := range []string{"1d", "7d", "14d", "30d"} {
		now := map[string]int64{"sales": row.amount("sales" + days), "sales same": row.amount("attributedSalesSameSku" + days)}
		for _, c := range []string{"purchases", "purchasesSameSku", "unitsSoldClicks", "unitsSoldSameSku"} {
			now[c] = row.count(c + days)
		}
		for name, v := range now {
			if v < before[name] {
				t.Errorf("%s%s: %d after %d", name, days, v, before[name])
			}
		}
		if now["sales same"] > now["sales"] || now["purchasesSameSku"] > now["purchases"] || now["unitsSoldClicks"] < now["purchases"] {
			t.Errorf("%s: %v", days, now)
		}
		if (now["purchases"] == 0) != (now["sales"] == 0) || now["purchases"] > row.count("clicks") {
			t.Errorf("%s: %d purchases, sales %d", days, now["purchases"], now["sales"])
		}
		before = now
	}
}

func checkResponse(t *testing.T, row line) {
	t.Helper()
	if (row.count("purchases") == 0) != (row.amount("sales") == 0) {
		t.Errorf("%v purchases, sales %v", row["purchases"], row["sales"])
	}
	for part, whole := range map[string]string{
		"purchasesClicks": "purchases", "unitsSoldClicks": "unitsSold", "salesClicks": "sales", "newToBrandPurchases": "purchases",
		"newToBrandSales": "sales", "detailPageViewsClicks": "detailPageViews", "newToBrandDetailPageViews": "detailPageViews",
		"brandedSearchesClicks": "brandedSearches", "addToCartClicks": "addToCart", "purchases": "addToCart",
		"videoCompleteViews": "videoThirdQuartileViews", "videoFirstQuartileViews": "impressions",
	} {
		if p, w := row.amount(part), row.amount(whole); p < 0 || p > w {
			t.Errorf("%s %v, %s %v", part, row[part], whole, row[whole])
		}
	}
}

// checkRatios tells figures that no account would have.
func checkRatios(t *testing.T, m *market, rows []line) {
	t.Helper()
	if len(rows) < 300 {
		return // too few to judge
	}
	var impressions, clicks, cost, sales float64
	for _, row := range rows {
		impressions += float64(row.count("impressions"))
		clicks += float64(row.count("clicks"))
		cost += float64(row.amount("cost")) / 100
		sales += float64(row.amount(headline(m, row))) / 100
	}
	if ctr, cpc, acos := clicks/impressions, cost/clicks, cost/sales; ctr < 0.003 || ctr > 0.01 || cpc < 0.3 || cpc > 1.8 || acos < 0.15 || acos > 0.4 {
		t.Errorf("clicks for impressions %.4f, cost of a click %.2f, cost for sales %.2f", ctr, cpc, acos)
	}
}

// headline is the column that the account's sales are read from.
func headline(m *market, row line) string {
	switch _, windows := row["sales7d"]; {
	case !windows:
		return "sales"
	case m.isSeller():
		return "sales7d"
	}
	return "sales14d"
}
