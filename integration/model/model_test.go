package model_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
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

// write makes one report with its download; rows are JSON objects. The columns are
// those that the report was asked for beside the figures.
func write(t *testing.T, dir, stem, id, profile, start, end, generated, rows string, columns ...string) {
	t.Helper()
	asked, err := json.Marshal(columns)
	if err != nil {
		t.Fatal(err)
	}
	object := fmt.Sprintf(`{"reportId":%q,"profileId":%s,"status":"COMPLETED","startDate":%q,"endDate":%q,"generatedAt":%q,
		"configuration":{"adProduct":"SPONSORED_PRODUCTS","columns":%s}}`, id, profile, start, end, generated, asked)
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

// told is a row with further members: those of its campaign and ad group.
func told(date, asin, cost, members string) string {
	return strings.TrimSuffix(line(date, asin, "1", "1", cost, "0", "0"), "}") + "," + members + "}"
}

var idsAndNames = []string{"campaignId", "campaignName", "adGroupId", "adGroupName"}

// reported is the answer of /report in November.
func reported(t *testing.T, m *model.Account, query string) map[string]any {
	t.Helper()
	q, err := url.ParseQuery("start_date=2026-11-01&end_date=2026-11-30&figures=spend&" + query)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := m.Report(q, now)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return answer
}

func TestWhatAnExtractDoesNotSayIsOneGroupWithoutAnID(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "some", "r1", "1", "2026-11-01", "2026-11-01", "2026-11-04T00:00:00.000Z", strings.Join([]string{
		told("2026-11-01", `"A"`, "1", `"campaignId":9007199254740993,"adGroupId":"g"`), told("2026-11-01", `"A"`, "2", `"campaignId":"9007199254740993","adGroupId":"h"`),
		told("2026-11-01", `"A"`, "4", `"campaignId":null,"adGroupId":"g"`), told("2026-11-01", `"B"`, "8", `"campaignId":"","adGroupId":""`),
		told("2026-11-01", `null`, "16", `"campaignId":"10","adGroupId":"g"`), line("2026-11-01", `"A"`, "1", "1", "32", "0", "0"),
	}, ","), "campaignId", "adGroupId")
	// A report that was not asked for them says nothing, whatever its rows have.
	write(t, dir, "none", "r2", "1", "2026-11-02", "2026-11-02", "2026-11-04T00:00:00.000Z", told("2026-11-02", `"A"`, "64", `"campaignId":"10","adGroupId":"g"`))
	m := loaded(t, dir)
	for query, want := range map[string]string{
		"dimensions=campaign&sort=campaign":            `[{"campaign_id":"10","campaign_name":null,"spend":16},{"campaign_id":"9007199254740993","spend":3},{"campaign_id":null,"campaign_name":null,"spend":108}]`,
		"dimensions=campaign&sort=campaign&order=desc": `[{"campaign_id":"9007199254740993"},{"campaign_id":"10"},{"campaign_id":null}]`,
		// An ad group of several campaigns is one row.
		"dimensions=ad_group&sort=ad_group": `[{"ad_group_id":"g","ad_group_name":null,"spend":21},{"ad_group_id":"h","spend":2},{"ad_group_id":null,"spend":104}]`,
		"dimensions=ad_group,campaign&sort=campaign": `[{"campaign_id":"10","ad_group_id":"g"},{"campaign_id":"9007199254740993","ad_group_id":"g"},
			{"campaign_id":"9007199254740993","ad_group_id":"h"},{"campaign_id":null,"ad_group_id":"g"},{"campaign_id":null,"ad_group_id":null,"spend":104}]`,
		"dimensions=campaign&campaign_ids=10,9007199254740993,10&sort=campaign": `[{"campaign_id":"10"},{"campaign_id":"9007199254740993"}]`,
		"dimensions=product&ad_group_ids=g&campaign_ids=10":                     `[{"product_id":null,"spend":16}]`,
		"dimensions=product&ad_group_ids=g&product_ids=A":                       `[{"product_id":"A","spend":5}]`,
	} {
		expect(t, reported(t, m, query), `{"data":`+want+`}`)
	}
	q := url.Values{"range": {"last_30_days"}, "ad_group_ids": {"h,g"}, "campaign_ids": {"9007199254740993"}}
	for path, ask := range map[string]func(url.Values, time.Time) (map[string]any, error){"summary": m.Summary, "timeline": m.Timeline, "products": m.Products} {
		answer, err := ask(q, now)
		if err != nil {
			t.Fatal(path, err)
		}
		expect(t, answer, `{"filters":{"campaign_ids":["9007199254740993"],"ad_group_ids":["g","h"],"marketplaces":null}}`)
		if _, sent := answer["filters"].(map[string]any)["product_ids"]; sent {
			t.Errorf("%s: product_ids were not sent, got %v", path, answer["filters"])
		}
		if path == "summary" {
			expect(t, answer, `{"spend":3}`)
		} else {
			expect(t, answer, `{"data":[{"spend":3}]}`)
		}
	}
}

// names are the names of campaign 7 and of ad group 8.
func names(t *testing.T, m *model.Account) (campaign, adGroup any) {
	t.Helper()
	row := reported(t, m, "dimensions=campaign,ad_group&campaign_ids=7")["data"].([]any)[0].(map[string]any)
	return row["campaign_name"], row["ad_group_name"]
}

func named(day, campaign, adGroup string) string {
	return told(day, `"A"`, "1", fmt.Sprintf(`"campaignId":7,"campaignName":%s,"adGroupId":8,"adGroupName":%s`, campaign, adGroup))
}

func TestTheNewestKnownNameIsShown(t *testing.T) {
	t.Parallel()
	dir, step := t.TempDir(), 0
	m := loaded(t, dir)
	expectNames := func(campaign, adGroup any) {
		t.Helper()
		if c, g := names(t, m); c != campaign || g != adGroup {
			t.Errorf("step %d: want the names %v and %v, got %v and %v", step, campaign, adGroup, c, g)
		}
	}
	load := func() {
		t.Helper()
		for _, r := range m.Load(dir) {
			if r.Err != nil {
				t.Fatal(r.Err)
			}
		}
		dir = t.TempDir()
		step++
	}
	put(t, dir, "profiles.json", profiles)
	report := func(id, start, end, hour, rows string, columns ...string) {
		t.Helper()
		write(t, dir, id, id, "1", start, end, "2026-11-05T"+hour+":00:00.000Z", rows, columns...)
	}
	export := func(entity, hour, rows string) {
		t.Helper()
		put(t, dir, entity+hour+".export.json", fmt.Sprintf(`{"exportId":%q,"profileId":1,"entity":%q,"generatedAt":"2026-11-05T%s:00:00Z"}`, entity+hour, entity, hour))
		put(t, dir, entity+hour+".json", rows)
	}

	// The latest day of a file, and the last of its rows that has a name.
	report("first", "2026-11-01", "2026-11-03", "10", strings.Join([]string{
		named("2026-11-03", `"earlier row"`, `"group"`), named("2026-11-03", `"C10"`, `null`), named("2026-11-03", `""`, `""`), named("2026-11-02", `"earlier day"`, `"G2"`),
	}, ","), idsAndNames...)
	load()
	expectNames("C10", "group")

	// Of one time, the greater text; a column that was not requested gives no name.
	report("second", "2026-11-04", "2026-11-04", "10", named("2026-11-04", `"B10"`, `"h"`), idsAndNames...)
	report("third", "2026-11-04", "2026-11-04", "11", named("2026-11-04", `"D11"`, `"z"`), "campaignId", "adGroupId", "adGroupName")
	load()
	expectNames("C10", "z")

	// A report of which newer ones have all days gives its names too.
	report("b-newer", "2026-11-04", "2026-11-04", "13", "")
	load()
	report("later", "2026-11-04", "2026-11-04", "12", named("2026-11-04", `"E12"`, `"E12"`), idsAndNames...)
	load()
	expectNames("E12", "E12")
	report("half", "2026-11-04", "2026-11-05", "12", named("2026-11-04", `"F12"`, `"F12"`), idsAndNames...)
	load()
	expectNames("F12", "F12")

	// Lists, archived entries too, also where a newer list has the campaign no more.
	export("campaigns", "14", `[{"campaignId":"7","adProduct":"SPONSORED_BRANDS","name":"L14","state":"ARCHIVED"},{"campaignId":"8","adProduct":"SPONSORED_BRANDS","name":"other","state":"ENABLED"}]`)
	export("adGroups", "11", `[{"adGroupId":8,"campaignId":7,"adProduct":"SPONSORED_PRODUCTS","name":"L11","state":"ENABLED"}]`)
	load()
	expectNames("L14", "F12")
	export("campaigns", "15", `[]`)
	export("adGroups", "12", `[{"adGroupId":8,"campaignId":7,"adProduct":"SPONSORED_PRODUCTS","name":"Lo12","state":"ENABLED"}]`)
	load()
	expectNames("L14", "Lo12")

	// A clone knows them, and learns on its own.
	before := m.Clone()
	report("last", "2026-11-06", "2026-11-06", "16", named("2026-11-06", `"G16"`, `"G16"`), idsAndNames...)
	load()
	expectNames("G16", "G16")
	m = before
	expectNames("L14", "Lo12")
}

func TestASearchLooksInTheTextsOfTheDimensions(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put(t, dir, "products.csv", "product_id,title\nA,Blue \u00c4pfel\nB,Red\n")
	row := func(asin, campaign, name, group string) string {
		return told("2026-11-01", asin, "1", fmt.Sprintf(`"campaignId":%q,"campaignName":%q,"adGroupId":%q,"adGroupName":%q`, campaign, name, "77", group))
	}
	write(t, dir, "r", "r", "1", "2026-11-01", "2026-11-01", "2026-11-04T00:00:00.000Z", strings.Join([]string{
		row(`"A"`, "71", "red campaign", "all"), row(`"B"`, "72", "\u00e4PFEL", "all"), row(`null`, "73", "Green", "all"), told("2026-11-01", `"B"`, "1", `"adId":1`),
	}, ","), idsAndNames...)
	m := loaded(t, dir)
	for query, want := range map[string]string{
		"dimensions=product&search=RED":               `[{"product_id":"B","spend":2}]`,
		"dimensions=campaign&search=RED":              `[{"campaign_id":"71","spend":1}]`,
		"dimensions=product,campaign&search=red":      `[{"product_id":"A","campaign_id":"71"},{"product_id":"B","campaign_id":"72"},{"product_id":"B","campaign_id":null}]`,
		"dimensions=campaign,product&search=%C3%84pf": `[{"product_id":"A","campaign_id":"71"},{"product_id":"B","campaign_id":"72"}]`,
		"dimensions=ad_group&search=aLL":              `[{"ad_group_id":"77","ad_group_name":"all","spend":3}]`,
		"dimensions=campaign,ad_group&search=7":       `[]`, // ids of campaigns and ad groups are not looked in
	} {
		answer := reported(t, m, query)
		expect(t, answer, `{"data":`+want+`}`)
	}
	if answer, err := m.Report(url.Values{"dimensions": {"date,marketplace"}, "search": {"red"}}, now); err == nil {
		t.Errorf("want an error for a search without a column, got %v", answer)
	}
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
