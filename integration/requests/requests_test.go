package requests_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"adlens/integration/harness"
	"adlens/integration/house"
)

// request is one that a client may well send, by what is odd about it. Without
// lines of its own it has the key.
type request struct {
	name, path string
	lines      []string
}

func oddRequests() []request {
	on := func(endpoint, name, query string) request {
		return request{name: name, path: "/api/v1/" + endpoint + "?" + query}
	}
	summary := func(name, query string) request { return on("summary", name, query) }
	products := func(name, query string) request { return on("reports/products", name, query) }
	report := func(name, query string) request { return on("report", name, query) }
	key := "Authorization: Bearer KEY"
	return []request{
		{"no key", "/api/v1/summary", []string{"Accept: */*"}},
		{"another scheme", "/api/v1/summary", []string{"Authorization: Basic dXNlcjpwYXNz"}},
		{"an empty key", "/api/v1/summary", []string{"Authorization: Bearer "}},
		{"a key with a typing error", "/api/v1/summary", []string{key + "x"}},
		{"two keys", "/api/v1/summary", []string{key, key}},
		{"the key in the address alone", "/api/v1/summary?api_key=KEY", []string{"Accept: */*"}},
		{"the key in the address as well", "/api/v1/summary?api_key=KEY", []string{key}},
		{"the key in the path", "/api/v1/KEY/summary", []string{key}},
		{"a key of ten kilobytes", "/api/v1/summary", []string{"Authorization: Bearer key_live_" + strings.Repeat("a", 10_000)}},
		summary("a day that does not exist", "start_date=2026-02-30&end_date=2026-03-01"),
		summary("a day without leading zeros", "start_date=2026-2-3&end_date=2026-03-01"),
		summary("a day without dashes", "start_date=20260203&end_date=2026-03-01"),
		summary("a day of another country", "start_date=03/02/2026&end_date=2026-03-01"),
		summary("a day with a time", "start_date=2026-02-03T00:00Z&end_date=2026-03-01"),
		summary("a day in the year zero", "start_date=0000-01-01&end_date=0000-01-02"),
		summary("a day in the year ten thousand", "start_date=2026-01-01&end_date=10000-01-01"),
		summary("a day with a sign", "start_date=-026-01-01&end_date=2026-01-01"),
		summary("a day in Arabic digits", "start_date=%D9%A2%D9%A0%D9%A2%D9%A6-01-01&end_date=2026-01-01"),
		summary("a day with a space", "start_date=2026-01-01%20&end_date=2026-01-02"),
		summary("days reversed", "start_date=2026-03-02&end_date=2026-03-01"),
		summary("one day alone", "start_date=2026-03-02"),
		summary("the other day alone", "end_date=2026-03-02"),
		summary("more than six years", "start_date=2020-03-01&end_date=2026-03-02"),
		summary("a named range with days", "range=today&start_date=2026-03-01&end_date=2026-03-02"),
		summary("an unknown range", "range=last_7_day"),
		summary("a range of another length", "range=last_31_days"),
		summary("days far in the future", "start_date=2031-01-01&end_date=2031-01-31"),
		summary("days before everything", "start_date=0001-01-01&end_date=0001-01-31"),
		summary("an empty zone", "timezone="),
		summary("the machine's own zone", "timezone=Local"),
		summary("a way out of the zones' folder", "timezone=../../etc/passwd"),
		summary("a zone with a NUL", "timezone=UTC%00"),
		summary("a zone in small letters", "timezone=america/new_york"),
		summary("a zone by its rule", "timezone=EST5EDT4"),
		summary("a zone by its distance", "timezone=%2B02:00"),
		summary("a plus sign that is a space", "timezone=Etc/GMT+5"),
		summary("a zone with leap seconds", "timezone=right/UTC"),
		summary("a zone of a long name", "timezone="+strings.Repeat("A/", 200)),
		summary("a day of 23 hours", "start_date=2026-03-08&end_date=2026-03-08&timezone=America/New_York"),
		products("a semicolon", "sort=spend;DROP%20TABLE%20facts"),
		products("a statement in the sorting", "sort=spend)%20UNION%20SELECT%201"),
		products("a statement in the order", "order=asc,(SELECT%201)"),
		products("a column that cannot be sorted by", "sort=title"),
		products("a page of zero", "page=0"),
		products("a page below zero", "page=-1"),
		products("a page as a float", "page=1e3"),
		products("a page and a half", "page=1.5"),
		products("a page with leading zeros", "page=0001"),
		products("a page with a plus", "page=%2B1"),
		products("a page beyond 64 bits", "page=99999999999999999999"),
		products("a page in Arabic digits", "page=%D9%A3"),
		products("a page in wide digits", "page=%EF%BC%91"),
		products("a page far past the end", "page=1000000000"),
		products("a page of too many rows", "page_size=1001"),
		report("an unknown dimension", "dimensions=product,asin"),
		report("campaigns of an account that has none", "dimensions=campaign"),
		report("two dimensions of time", "dimensions=week,product,date"),
		report("six dimensions", "dimensions=date,marketplace,ad_product,campaign,ad_group,produkt"),
		report("five dimensions, one of them twice", "dimensions=date,marketplace,ad_product,campaign,product,Date"),
		report("an unknown figure", "figures=spend,cpc"),
		report("a misspelt further figure", "figures=units_sold_click_7d"),
		report("a figure that no ad product has", "figures=video_unmutes,spend&ad_products=SPONSORED_PRODUCTS"),
		report("a further amount in dollars of a marketplace in pounds", "figures=sales_7d"),
		report("rows by an amount of several currencies", "figures=spend,sales_7d&currency=local&dimensions=marketplace&sort=sales_7d"),
		report("amounts of several currencies", "currency=local&dimensions=month"),
		summary("amounts of several currencies in all", "currency=local"),
		summary("a currency by its code", "currency=GBP"),
		report("a figure that is not of the answer", "figures=spend&sort=sales"),
		report("a dimension that is not of the answer", "dimensions=date&sort=product"),
		report("a search without a column", "search=lamp"),
		report("a search for one letter", "dimensions=product&search=l"),
		report("a product that is not there", "product_ids=B0NOWHERE"),
		report("a campaign that is not there", "campaign_ids=12345"),
		report("an ad group that is not there, beside a product", "ad_group_ids=6,7&product_ids=B0NOWHERE"),
		summary("a campaign that is not there", "campaign_ids=12345"),
		report("too many products", "product_ids=B0NOWHERE,"+strings.Join(numbers(201), ",")),
		report("too many figures", "figures=x,"+strings.Join(numbers(201), ",")),
		report("one wrong figure, often", "figures="+strings.Repeat("x,", 8_000)+"x"),
		report("too many rows of JSON", "dimensions=product&page_size=1001"),
		report("too many rows of CSV", "dimensions=product&page_size=100001&format=csv"),
		products("rows by another name", "limit=10"),
		products("an offset", "offset=100"),
		products("a cursor", "cursor=abc"),
		summary("a country that is not connected", "marketplaces=FR"),
		summary("a country that there is not", "marketplaces=XX"),
		summary("an empty country", "marketplaces=US,,UK"),
		summary("a country as a name", "marketplaces=Germany"),
		summary("ten thousand countries", "marketplaces=US"+strings.Repeat(",US", 1_500)),
		on("campaigns", "no marketplace", ""),
		on("campaigns", "a marketplace that is not here", "marketplace_id=999"),
		on("campaigns", "a marketplace as a country", "marketplace_id=US"),
		on("campaigns", "a marketplace below zero", "marketplace_id=-1"),
		on("campaigns", "a marketplace beyond 64 bits", "marketplace_id=18446744073709551616"),
		on("campaigns", "a marketplace behind a space", "marketplace_id=%20101"),
		on("campaigns", "a marketplace with a NUL", "marketplace_id=101%00"),
		on("campaigns", "archived campaigns", "marketplace_id=101&states=ARCHIVED"),
		on("campaigns", "a search for one letter", "marketplace_id=101&search=x"),
		on("rules", "a search without a column", "search=rule"),
		on("ad-groups", "an ad group's campaign before any list", "marketplace_id=101&campaign_id=5"),
		{name: "a rule that there is not", path: "/api/v1/rules/none/runs"},
		{name: "a rule with an escaped slash", path: "/api/v1/rules/..%2f..%2faccount/runs"},
		on("activity", "a tool that there is not", "tool=rules"),
		summary("a parameter given twice", "range=today&range=yesterday"),
		summary("a list given twice", "range=today&marketplaces=US&marketplaces=XX"),
		summary("a parameter with brackets", "marketplaces[]=US"),
		summary("a parameter in capitals", "RANGE=today"),
		summary("a misspelt parameter", "marketplace=US"),
		summary("a parameter of another endpoint", "granularity=day"),
		summary("a parameter without a value", "range"),
		summary("a name that is empty", "=today"),
		summary("a lone percent sign", "range=%"),
		summary("a percent sign and no digits", "range=%zz"),
		summary("bytes that are no text", "range=%ff%fe"),
		summary("a NUL", "range=to%00day"),
		summary("a line break", "range=today%0d%0aSet-Cookie:%20a=b"),
		summary("a script", "range=%3Cscript%3Ealert(1)%3C/script%3E"),
		summary("a format that is not there", "format=pdf"),
		summary("a comparison that is not there", "compare=last_year"),
		summary("a comparison with days before the calendar", "compare=previous_year&start_date=0001-06-01&end_date=0002-05-31"),
		on("timeline", "days over too long a time", "granularity=day&start_date=2026-01-01&end_date=2026-04-03"),
		on("account", "a parameter where there is none", "range=today"),
		summary("an address of twenty kilobytes", "x="+strings.Repeat("a", 20_000)),
		summary("four thousand parameters", strings.Repeat("a&", 4_000)),
		summary("a hundred and one parameters", strings.Repeat("range=today&", 101)),
		{name: "a path that there is not", path: "/api/v1/sumary"},
		{name: "a slash behind", path: "/api/v1/summary/"},
		{name: "two slashes", path: "//api/v1/summary"},
		{name: "a way up", path: "/api/v1/../v1/summary"},
		{name: "a way up in disguise", path: "/api/v1/%2e%2e/v1/summary"},
		{name: "another version", path: "/api/v2/summary"},
		{"a format that fits nothing", "/api/v1/summary?range=today&timezone=Etc/UTC&marketplaces=US,UK&start_date=1", []string{key, "Accept: text/xml"}},
		{"a tag that is none", "/api/v1/summary?range=no", []string{key, `If-None-Match: """,,*x`, "Idempotency-Key: 1", "If-Modified-Since: yesterday"}},
		{"another client's address", "/api/v1/summary?range=no", []string{key, "X-Forwarded-For: 6.6.6.6", "Forwarded: for=6.6.6.6"}},
	}
}

// numbers writes the numbers from 1 on.
func numbers(n int) (texts []string) {
	for i := range n {
		texts = append(texts, fmt.Sprint(i+1))
	}
	return texts
}

func TestOddRequestsHaveTheirClearAnswer(t *testing.T) {
	t.Parallel()
	_, one := house.ShopWithData(t)
	var all house.Table
	for _, r := range oddRequests() {
		if r.lines == nil {
			r.lines = []string{"Authorization: Bearer KEY"}
		}
		sent := strings.ReplaceAll(house.RawRequest(r.path, append(slices.Clone(r.lines), "Connection: close")...), "KEY", one.Ask.Key)
		answers, _, err := one.Ask.Exchange(sent)
		house.Need(t, err)
		if len(answers) != 1 {
			t.Fatalf("%s: %d answers", r.name, len(answers))
		}
		shown := "GET " + r.path
		if !slices.Equal(r.lines, []string{"Authorization: Bearer KEY"}) {
			shown += "\n" + strings.Join(r.lines, "\n")
		}
		all.Row(r.name, house.Clipped(shown, 300), saidTo(t, one.Ask.Key, answers[0]))
	}
	all.Check(t, "requests.md", "Odd requests and their answers")
}

// saidTo is an answer as a reader sees it who has to act on it.
func saidTo(t *testing.T, key string, a harness.Answer) string {
	t.Helper()
	if a.Status == 200 {
		return "200"
	}
	var p house.Problem
	house.Need(t, json.Unmarshal(a.Body, &p))
	house.ProblemOf(t, a, a.Status, p.Code)
	text := fmt.Sprintf("%d %s: %s", a.Status, p.Code, p.Detail)
	for _, e := range p.Errors {
		text += fmt.Sprintf("\n%s=%v: %s", e.Parameter, e.Value, e.Code)
		if e.Detail != p.Detail {
			text += ": " + e.Detail
		}
		if e.DidYouMean != "" {
			text += "; did you mean " + e.DidYouMean + "?"
		}
		if len(e.Allowed) > 0 {
			text += "; allowed: " + strings.Join(e.Allowed, ", ")
		}
	}
	return strings.ReplaceAll(house.Clipped(text, 1000), key[:13], "key_live_1234")
}
