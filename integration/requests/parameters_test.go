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

// wrong is one faulty request and what the answer must say. Parameter, value
// and mean are checked where they are set; allowed where it is not nil.
type wrong struct {
	query, code      string
	parameter, value string
	allowed          []string
	mean             string
}

var wrongEverywhere = []wrong{
	{query: "range=last_7_day", code: "unknown_value", parameter: "range", value: "last_7_day", mean: "last_7_days"},
	{query: "range=", code: "invalid_parameter", parameter: "range"},
	{query: "range=today&range=today", code: "invalid_parameter", parameter: "range"},
	{query: "range=today&range=yesterday", code: "invalid_parameter", parameter: "range"},
	{query: "start_date=2026-01-01", code: "missing_parameter", parameter: "end_date"},
	{query: "end_date=2026-01-01", code: "missing_parameter", parameter: "start_date"},
	{query: "start_date=2026-02-30&end_date=2026-03-01", code: "invalid_parameter", parameter: "start_date", value: "2026-02-30"},
	{query: "start_date=2026-02-01&end_date=2026-02-29", code: "invalid_parameter", parameter: "end_date", value: "2026-02-29"},
	{query: "start_date=2026-2-3&end_date=2026-03-01", code: "invalid_parameter", parameter: "start_date", value: "2026-2-3"},
	{query: "start_date=20260203&end_date=2026-03-01", code: "invalid_parameter", parameter: "start_date", value: "20260203"},
	{query: "start_date=03/02/2026&end_date=2026-03-01", code: "invalid_parameter", parameter: "start_date", value: "03/02/2026"},
	{query: "start_date=2026-02-03T00:00Z&end_date=2026-03-01", code: "invalid_parameter", parameter: "start_date"},
	{query: "start_date=today&end_date=2026-03-01", code: "invalid_parameter", parameter: "start_date", value: "today"},
	{query: "start_date=&end_date=2026-03-01", code: "invalid_parameter", parameter: "start_date"},
	{query: "start_date=2026-03-02&end_date=2026-03-01", code: "invalid_parameter"},
	{query: "range=today&start_date=2026-03-01&end_date=2026-03-02", code: "conflicting_parameters"},
	{query: "start_date=2020-03-01&end_date=2026-03-02", code: "period_too_long"},
	{query: "start_date=2020-02-29&end_date=2026-03-01", code: "period_too_long"},
	{query: "start_date=1000-01-01&end_date=9999-12-31", code: "period_too_long"},
	{query: "timezone=", code: "invalid_parameter", parameter: "timezone"},
	{query: "timezone=Local", code: "unknown_value", parameter: "timezone", value: "Local"},
	{query: "timezone=Factory", code: "unknown_value", parameter: "timezone", value: "Factory"},
	{query: "timezone=posix/Europe/Berlin", code: "unknown_value", parameter: "timezone", value: "posix/Europe/Berlin"},
	{query: "timezone=right/UTC", code: "unknown_value", parameter: "timezone", value: "right/UTC"},
	{query: "timezone=../../etc/passwd", code: "unknown_value", parameter: "timezone", value: "../../etc/passwd"},
	{query: "timezone=/etc/localtime", code: "unknown_value", parameter: "timezone", value: "/etc/localtime"},
	{query: "timezone=europe/berlin", code: "unknown_value", parameter: "timezone", value: "europe/berlin", mean: "Europe/Berlin"},
	{query: "timezone=%20UTC", code: "unknown_value", parameter: "timezone"},
	{query: "timezone=%2B02:00", code: "unknown_value", parameter: "timezone", value: "+02:00"},
	{query: "timezone=EST5EDT4", code: "unknown_value", parameter: "timezone", value: "EST5EDT4"},
	{query: "timezone=Europe", code: "unknown_value", parameter: "timezone", value: "Europe"},
	{query: "timezone=zone.tab", code: "unknown_value", parameter: "timezone", value: "zone.tab"},
	{query: "currency=EUR", code: "unknown_value", parameter: "currency", value: "EUR", allowed: []string{"USD", "local"}},
	{query: "currency=local", code: "invalid_parameter", parameter: "currency", value: "local"},
	{query: "marketplaces=XX", code: "unknown_value", parameter: "marketplaces", value: "XX", allowed: []string{"UK", "US"}},
	{query: "marketplaces=US,FR", code: "unknown_value", parameter: "marketplaces", value: "FR", allowed: []string{"UK", "US"}},
	{query: "marketplaces=", code: "invalid_parameter", parameter: "marketplaces"},
	{query: "marketplaces=US,,UK", code: "invalid_parameter", parameter: "marketplaces"},
	{query: "marketplaces=US,", code: "invalid_parameter", parameter: "marketplaces"},
	{query: "marketplaces=US&marketplaces=FR", code: "unknown_value", parameter: "marketplaces", value: "FR"},
	{query: "ad_products=SPONSORED_PRODUCT", code: "unknown_value", parameter: "ad_products", value: "SPONSORED_PRODUCT", allowed: house.AdProducts, mean: "SPONSORED_PRODUCTS"},
	{query: "ad_products=%20", code: "invalid_parameter", parameter: "ad_products"},
	{query: "marketplace=US", code: "unknown_parameter", parameter: "marketplace", mean: "marketplaces"},
	{query: "start_dat=2026-01-01", code: "unknown_parameter", parameter: "start_dat", mean: "start_date"},
	{query: "Range=today", code: "unknown_parameter", parameter: "Range", mean: "range"},
	{query: "api_key=secret", code: "unknown_parameter", parameter: "api_key"},
	{query: "format=pdf", code: "unknown_value", parameter: "format", value: "pdf"},
	{query: "compare=last_year", code: "unknown_value", parameter: "compare", value: "last_year"},
	{query: "range=today;timezone=UTC", code: "invalid_parameter"},
	{query: "range=%zz", code: "invalid_parameter"},
	{query: "range=today&%", code: "invalid_parameter"},
}

var wrongTimeline = []wrong{
	{query: "granularity=days", code: "unknown_value", parameter: "granularity", value: "days", allowed: []string{"auto", "day", "week", "month"}, mean: "day"},
	{query: "granularity=", code: "invalid_parameter", parameter: "granularity"},
	{query: "granularity=day&start_date=2026-01-01&end_date=2026-04-03", code: "granularity_too_fine", parameter: "granularity"},
	{query: "sort=spend", code: "unknown_parameter", parameter: "sort"},
}

var wrongProducts = []wrong{
	{query: "sort=spent", code: "unknown_value", parameter: "sort", value: "spent", mean: "spend"},
	{query: "sort=spend)%20UNION%20SELECT%201", code: "unknown_value", parameter: "sort", value: "spend) UNION SELECT 1"},
	{query: "sort=title", code: "unknown_value", parameter: "sort", value: "title"},
	{query: "order=down", code: "unknown_value", parameter: "order", value: "down", allowed: []string{"asc", "desc"}},
	{query: "order=asc,desc", code: "unknown_value", parameter: "order", value: "asc,desc"},
	{query: "page=0", code: "invalid_parameter", parameter: "page", value: "0"},
	{query: "page=-1", code: "invalid_parameter", parameter: "page", value: "-1"},
	{query: "page=1.5", code: "invalid_parameter", parameter: "page", value: "1.5"},
	{query: "page=1e3", code: "invalid_parameter", parameter: "page", value: "1e3"},
	{query: "page=%D9%A3", code: "invalid_parameter", parameter: "page"},
	{query: "page=99999999999999999999", code: "invalid_parameter", parameter: "page"},
	{query: "page_size=0", code: "invalid_parameter", parameter: "page_size", value: "0"},
	{query: "page_size=1001", code: "invalid_parameter", parameter: "page_size", value: "1001"},
	{query: "page_size=some", code: "invalid_parameter", parameter: "page_size", value: "some"},
	{query: "granularity=day", code: "unknown_parameter", parameter: "granularity"},
}

func TestFaultyParametersAreRefusedByNameAndValue(t *testing.T) {
	t.Parallel()
	_, one := house.ShopWithData(t)
	for _, c := range []struct {
		path  string
		table []wrong
	}{
		{"/summary", wrongEverywhere}, {"/timeline", append(wrongTimeline, wrongEverywhere...)},
		{"/reports/products", append(wrongProducts, wrongEverywhere...)},
		{"/account", []wrong{{query: "range=today", code: "unknown_parameter", parameter: "range"}}},
		{"/marketplaces", slices.Concat(wrongMarketplaces, wrongLists)},
		{"/campaigns", slices.Concat(wrongEntities, ofMarketplace(wrongCampaigns, wrongPages, wrongLists))},
		{"/ad-groups", slices.Concat(wrongEntities, ofMarketplace(wrongAdGroups, wrongPages, wrongLists))},
		{"/rules", slices.Concat(wrongRules, wrongPages, wrongLists)},
		{"/rules/none/runs", slices.Concat(wrongRuns, wrongLists)},
		{"/activity", slices.Concat(wrongActivity, wrongPages, wrongLists)},
	} {
		for _, w := range c.table {
			t.Run(c.path+"?"+w.query, func(t *testing.T) { checkWrong(t, one.Ask, c.path, w) })
		}
	}
}

func checkWrong(t *testing.T, c harness.Client, path string, w wrong) {
	t.Helper()
	a, err := c.Raw("GET /api/v1" + path + "?" + w.query + " HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + c.Key + "\r\nConnection: close\r\n\r\n")
	house.Need(t, err)
	p := house.ProblemOf(t, a, 400, w.code)
	for _, e := range p.Errors {
		if e.Code == w.code && (w.parameter == "" || e.Parameter == w.parameter) {
			checkFault(t, e, w)
			return
		}
	}
	t.Errorf("want a fault %q of %q in errors[], got %s", w.code, w.parameter, a.Body)
}

func problemCode(a harness.Answer) string {
	var p house.Problem
	// A body that does not parse has no code, and fails where that is checked.
	_ = json.Unmarshal(a.Body, &p)
	return p.Code
}

func checkFault(t *testing.T, e house.ParameterFault, w wrong) {
	t.Helper()
	if w.value != "" && fmt.Sprint(e.Value) != w.value {
		t.Errorf("want value %q, got %q", w.value, e.Value)
	}
	if w.value != "" && !strings.Contains(e.Detail, w.value) {
		t.Errorf("want detail to name %q, got %q", w.value, e.Detail)
	}
	if w.mean != "" && e.DidYouMean != w.mean {
		t.Errorf("want did_you_mean %q, got %q", w.mean, e.DidYouMean)
	}
	if w.allowed != nil && !slices.Equal(slices.Sorted(slices.Values(e.Allowed)), slices.Sorted(slices.Values(w.allowed))) {
		t.Errorf("want allowed %v, got %v", w.allowed, e.Allowed)
	}
	if w.parameter == "marketplaces" && w.allowed != nil && !(strings.Contains(e.Detail, "US") && strings.Contains(e.Detail, "UK")) {
		t.Errorf("want detail to list the connected countries, got %q", e.Detail)
	}
}

func TestValuesThatAreNoTextAreRefused(t *testing.T) {
	t.Parallel()
	_, one := house.ShopWithData(t)
	for _, query := range []string{"marketplaces=%ff", "marketplaces=US%00", "timezone=UTC%00", "range=%00", "%ff=1", "range=today%0a", "start_date=2026-01-01%00&end_date=2026-01-02"} {
		a := house.Get(t, one.Ask, "/api/v1/summary?"+query)
		// Syntax, or no member of its set: the contract allows both readings.
		code := problemCode(a)
		if !slices.Contains([]string{"invalid_parameter", "unknown_value", "unknown_parameter"}, code) {
			t.Errorf("%s: code %q", query, code)
		}
		house.ProblemOf(t, a, 400, code)
	}
}

func TestPeriodsAtTheEdgeAreAnswered(t *testing.T) {
	t.Parallel()
	_, one := house.ShopWithData(t)
	for _, query := range []string{
		"start_date=2020-03-01&end_date=2026-03-01", "start_date=2020-02-29&end_date=2026-02-28", "start_date=2018-03-01&end_date=2024-02-29",
		"start_date=2026-03-01&end_date=2026-03-01", "start_date=2031-01-01&end_date=2032-02-29",
		"range=Last_30_Days&timezone=GB", "timezone=Etc/GMT-14", "timezone=America/Argentina/ComodRivadavia", "marketplaces=%20gb%20,us", "",
	} {
		a := house.Get(t, one.Ask, "/api/v1/summary?"+query)
		if a.Status != 200 {
			t.Errorf("%s: %s", query, a)
		}
	}
	for _, query := range []string{"granularity=day&start_date=2026-01-01&end_date=2026-04-02", "granularity=%20DAY%20&range=last_90_days"} {
		if a := house.Get(t, one.Ask, "/api/v1/timeline?"+query); a.Status != 200 {
			t.Errorf("%s: %s", query, a)
		}
	}
	for _, query := range []string{"page_size=1", "page_size=1000", "page_size=all", "page=1000000", "sort=PRODUCT_ID&order=ASC"} {
		if a := house.Get(t, one.Ask, "/api/v1/reports/products?"+query); a.Status != 200 {
			t.Errorf("%s: %s", query, a)
		}
	}
}

func TestAllFaultsOfARequestAreSaidInTheOrderOfTheParameters(t *testing.T) {
	t.Parallel()
	_, one := house.ShopWithData(t)
	// Sent backwards, so that the order of the query is not the order of the answer.
	a := house.Get(t, one.Ask, "/api/v1/reports/products?page=0&order=up&sort=best&ad_products=TV&marketplaces=XX,US,YY&timezone=Mars&range=ever")
	p := house.ProblemOf(t, a, 400, "unknown_value")
	var got []string
	for _, e := range p.Errors {
		got = append(got, fmt.Sprintf("%s=%v", e.Parameter, e.Value))
	}
	want := []string{"range=ever", "timezone=Mars", "marketplaces=XX", "marketplaces=YY", "ad_products=TV", "sort=best", "order=up", "page=0"}
	if !slices.Equal(got, want) {
		t.Errorf("want faults %v, got %v", want, got)
	}
}

// What another parameter has to do with a value that cannot be read is no fault of the
// other. The shop's marketplaces have two currencies.
func TestNoOtherParameterIsBlamedForAValueThatCannotBeRead(t *testing.T) {
	t.Parallel()
	_, one := house.ShopWithData(t)
	days := func(from, to int) string {
		return "&start_date=" + house.DaysAgo(from) + "&end_date=" + house.DaysAgo(to)
	}
	for request, want := range map[string]string{
		"summary?format=&separator=semicolon":                                                        "format invalid_parameter",
		"summary?marketplaces=&currency=local":                                                       "marketplaces invalid_parameter",
		"report?figures=sales_7d&marketplaces=US%zz":                                                 "marketplaces invalid_parameter",
		"summary?timezone=%zz&start_date=2026-03-01&end_date=2026-03-02&compare=previous_period":     "timezone invalid_parameter",
		"summary?timezone=%zz&start_date=2036-03-01&end_date=2036-03-02&compare=previous_period":     "timezone invalid_parameter",
		"summary?range=today&start_date=%zz&end_date=%zz":                                            "range conflicting_parameters, start_date invalid_parameter, end_date invalid_parameter",
		"timeline?range=this_year&range=all_time&granularity=day&start_date=2026-03-01&end_date=%zz": "range invalid_parameter, range conflicting_parameters, end_date invalid_parameter",
		"timeline?granularity=day&compare=previous_perod" + days(92, 0):                              "compare unknown_value",
		"timeline?granularity=day&compare=" + days(92, 0):                                            "compare invalid_parameter",
		"timeline?granularity=day&compare=previous_period&timezone=Mars" + days(93, 0):               "timezone unknown_value",
		"timeline?granularity=day&compare=previous_period&range=today" + days(92, 0):                 "range conflicting_parameters",
		"timeline?granularity=day&compare=previous_perod&timezone=Mars" + days(400, 100):             "timezone unknown_value, granularity granularity_too_fine, compare unknown_value",
		"timeline?granularity=day&compare=none&compare=previous_year" + days(92, 0):                  "compare invalid_parameter",
		"timeline?granularity=day&compare=none&timezone=Mars" + days(92, 0):                          "timezone unknown_value, granularity granularity_too_fine",
		"ad-groups?marketplace_id=%zz&campaign_id=none":                                              "marketplace_id invalid_parameter",
	} {
		a, err := one.Ask.Raw("GET /api/v1/" + request + " HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + one.Ask.Key + "\r\nConnection: close\r\n\r\n")
		house.Need(t, err)
		var p house.Problem
		house.Need(t, json.Unmarshal(a.Body, &p))
		var faults []string
		for _, e := range p.Errors {
			faults = append(faults, e.Parameter+" "+e.Code)
		}
		if got := strings.Join(faults, ", "); got != want {
			t.Errorf("%s: %s, want %s", request, got, want)
		}
	}
}
