package model_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"adlens/integration/model"
)

var now = time.Date(2026, 11, 20, 23, 30, 0, 0, time.UTC)

func TestNamedRangesResolve(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, zone, start, end string }{
		{"today", "UTC", "2026-11-20", "2026-11-20"},
		{"today", "Asia/Tokyo", "2026-11-21", "2026-11-21"},
		{"yesterday", "UTC", "2026-11-19", "2026-11-19"},
		{"last_7_days", "UTC", "2026-11-14", "2026-11-20"},
		{"last_30_days", "UTC", "2026-10-22", "2026-11-20"},
		{"last_90_days", "Pacific/Kiritimati", "2026-08-24", "2026-11-21"},
		{"this_month", "UTC", "2026-11-01", "2026-11-20"},
		{"last_month", "UTC", "2026-10-01", "2026-10-31"},
		{"this_year", "UTC", "2026-01-01", "2026-11-20"},
		{"last_year", "UTC", "2025-01-01", "2025-12-31"},
		{"all_time", "UTC", "2026-03-04", "2026-11-20"},
	} {
		q := url.Values{"range": {c.name}, "timezone": {c.zone}}
		p, err := model.ResolvePeriod(q, now, "2026-03-04")
		if err != nil || p.Start != c.start || p.End != c.end {
			t.Errorf("%s in %s: want %s..%s, got %+v %v", c.name, c.zone, c.start, c.end, p, err)
		}
	}
}

func TestAllTimeIsTodayWhenNothingEarlierIsHeld(t *testing.T) {
	t.Parallel()
	for _, oldest := range []string{"", "2026-11-21"} {
		p, err := model.ResolvePeriod(url.Values{"range": {"all_time"}}, now, oldest)
		if err != nil || p.Start != "2026-11-20" || p.End != "2026-11-20" {
			t.Errorf("oldest %q: got %+v %v", oldest, p, err)
		}
	}
}

// write makes one report with its download; rows are JSON objects.
func write(t *testing.T, dir, stem, id, profile, start, end, generated, rows string) {
	t.Helper()
	object := fmt.Sprintf(`{"reportId":%q,"profileId":%s,"status":"COMPLETED","startDate":%q,"endDate":%q,"generatedAt":%q,
		"configuration":{"adProduct":"SPONSORED_PRODUCTS"}}`, id, profile, start, end, generated)
	put(t, dir, stem+".report.json", object)
	put(t, dir, stem+".json", "["+rows+"]")
}

func put(t *testing.T, dir, name, content string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func line(date, asin, impressions, clicks, cost, sales7, sales14 string) string {
	return fmt.Sprintf(`{"date":%q,"advertisedAsin":%s,"impressions":%s,"clicks":%s,"cost":%s,"purchases7d":1,"sales7d":%s,"purchases14d":2,"sales14d":%s}`,
		date, asin, impressions, clicks, cost, sales7, sales14)
}

const profiles = `[{"profileId":1,"countryCode":"US","currencyCode":"USD","accountInfo":{"type":"seller"}},
	{"profileId":"2","countryCode":"GB","currencyCode":"GBP","accountInfo":{"type":"vendor"}}]`

func loaded(t *testing.T, dir string) *model.Account {
	t.Helper()
	put(t, dir, "profiles.json", profiles)
	put(t, dir, "rates.csv", "date,currency,usd\n2026-11-06,GBP,1.25\n")
	m := model.New()
	for _, r := range m.Load(dir) {
		if r.Err != nil {
			t.Fatal(r.Err)
		}
	}
	return m
}

func TestFiguresAreThoseComputedByHand(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	// US seller: the 7-day sales. 14.5 + 0.005 = 14.505 spend, shown 14.51.
	write(t, dir, "us", "r1", "1", "2026-11-01", "2026-11-07", "2026-11-08T00:00:00.000Z",
		line("2026-11-06", `"A"`, "1000", "10", "14.5", "50.00", "99")+","+line("2026-11-06", `"A"`, "0", "0", "0.005", "0", "0"))
	// UK vendor on a Saturday: Friday's 1.25 and the 14-day sales.
	write(t, dir, "uk", "r2", `"2"`, "2026-11-07", "2026-11-07", "2026-11-08T00:00:00.000Z",
		line("2026-11-07", "null", "3", "0", "2.000001", "7", "8"))
	m := loaded(t, dir)
	answer, err := m.Summary(url.Values{"start_date": {"2026-11-01"}, "end_date": {"2026-11-30"}}, now)
	if err != nil {
		t.Fatal(err)
	}
	// Spend 14.505 + 2.500001 = 17.005001; sales 50 + 10 = 60.
	expect(t, answer, `{"spend":17.01,"sales":60,"acos":28.34,"roas":3.53,"impressions":1003,"clicks":10,"ctr":1,
		"average_cpc":1.7,"purchases":4,"conversion_rate":40,"currency":"USD",
		"period":{"start_date":"2026-11-01","end_date":"2026-11-30","range":"custom","timezone":"UTC"},
		"filters":{"marketplaces":null,"ad_products":null},
		"by_marketplace":[{"marketplace":"US","marketplace_id":"1","spend":14.51,"sales":50,"purchases":2},
		 {"marketplace":"UK","marketplace_id":"2","spend":2.5,"sales":10,"ctr":0,"average_cpc":null,"conversion_rate":null}],
		"by_ad_product":[{"ad_product":"SPONSORED_PRODUCTS","spend":17.01}],
		"meta":{"data_last_date":"2026-11-07","history_covered":true,"truncated":false}}`)
}

func TestTheNewestReportSpeaksForItsDays(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	day := func(d, cost string) string { return line(d, `"A"`, "1", "1", cost, "0", "0") }
	write(t, dir, "old", "r1", "1", "2026-11-01", "2026-11-03", "2026-11-04T00:00:00.000Z",
		day("2026-11-01", "1")+","+day("2026-11-02", "2")+","+day("2026-11-03", "4"))
	write(t, dir, "new", "r2", "1", "2026-11-02", "2026-11-02", "2026-11-05T00:00:00.000Z", "")
	write(t, dir, "tie-a", "ra", "1", "2026-11-03", "2026-11-04", "2026-11-06T00:00:00.000Z", day("2026-11-03", "8"))
	write(t, dir, "tie-b", "rb", "1", "2026-11-03", "2026-11-03", "2026-11-06T00:00:00.000Z", day("2026-11-03", "16"))
	m := loaded(t, dir)
	answer, err := m.Timeline(url.Values{"start_date": {"2026-10-31"}, "end_date": {"2026-11-30"}}, now)
	if err != nil {
		t.Fatal(err)
	}
	expect(t, answer, `{"granularity":"day","data":[{"date":"2026-11-01","spend":1},{"date":"2026-11-03","spend":16}],
		"meta":{"data_last_date":"2026-11-04","history_covered":false}}`)
}

func TestProductsAreOrderedAsShownWithNullsLast(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	rows := line("2026-11-01", `"B"`, "5", "0", "1.004", "0", "0") + "," + line("2026-11-01", `"A"`, "5", "0", "1.001", "9", "0") +
		"," + line("2026-11-01", `""`, "5", "0", "1.0049", "4", "0") + "," + line("2026-11-01", `"C"`, "5", "2", "0", "4", "0")
	write(t, dir, "us", "r1", "1", "2026-11-01", "2026-11-01", "2026-11-04T00:00:00.000Z", rows)
	m := loaded(t, dir)
	q := url.Values{"range": {"last_30_days"}, "page_size": {"3"}}
	answer, err := m.Products(q, now)
	if err != nil {
		t.Fatal(err)
	}
	expect(t, answer, `{"data":[{"product_id":"A","spend":1,"marketplaces":["US"]},{"product_id":"B","acos":null},{"product_id":null}],
		"sort":"spend","order":"desc","pagination":{"page":1,"page_size":3,"total_rows":4,"total_pages":2,"next_page":2}}`)
	q = url.Values{"sort": {"acos"}, "order": {"asc"}}
	if answer, err = m.Products(q, now); err != nil {
		t.Fatal(err)
	}
	expect(t, answer, `{"data":[{"product_id":"C","acos":0},{"product_id":"A"},{"product_id":null,"acos":25.12},{"product_id":"B","acos":null}]}`)
}

func TestDiffTellsDecimalsApartAndNothingElse(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		want, got string
		lines     int
	}{
		{`{"spend":14.5}`, `{"spend":14.50,"more":1}`, 0},
		{`{"spend":14.5}`, `{"spend":14.500000000000001}`, 1},
		{`{"clicks":2}`, `{"clicks":2.0}`, 1},
		{`{"a":null}`, `{}`, 1},
		{`{"a":null}`, `{"a":0}`, 1},
		{`{"a":0}`, `{"a":"0"}`, 1},
		{`[1,2]`, `[1]`, 1},
		{`[1,2]`, `[2,1]`, 2},
	} {
		want, got := decoded(t, c.want), decoded(t, c.got)
		if lines := model.Diff(want, got); len(lines) != c.lines {
			t.Errorf("%s against %s: want %d lines, got %q", c.want, c.got, c.lines, lines)
		}
	}
}

func expect(t *testing.T, answer map[string]any, want string) {
	t.Helper()
	for _, difference := range model.Diff(decoded(t, want), any(answer)) {
		// The oracle itself writes counts as integers, so every line is real.
		t.Error(difference)
	}
}

func decoded(t *testing.T, content string) any {
	t.Helper()
	value, err := model.Decode([]byte(content))
	if err != nil {
		t.Fatalf("%s: %v", content, err)
	}
	if _, err := json.Marshal(value); err != nil {
		t.Fatal(err)
	}
	return value
}
