package query

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"adlens"
	"adlens/internal/catalogue"
)

// documented lists the parameters of an endpoint by its struct.
func documented(params any) []string {
	var names []string
	for _, f := range ParamFields(reflect.TypeOf(params)) {
		names = append(names, f.Tag.Get("query"))
	}
	return names
}

// mustBeSound is what holds of any parsing, whatever was sent.
func mustBeSound(t *testing.T, params any, r Request, faults []adlens.Fault) {
	t.Helper()
	for _, f := range faults {
		if !slices.Contains(documented(params), f.Parameter) || f.Code == "" || f.Detail == "" {
			t.Fatalf("%+v: a fault of no parameter, or without words: %+v", params, f)
		}
	}
	if len(faults) > 0 {
		return
	}
	if r.Period.Start > r.Period.End || r.Period.Range == "" || r.TimeZone == "" {
		t.Fatalf("%+v: %+v", params, r)
	}
	if slices.ContainsFunc(r.Filters.Marketplaces, func(c string) bool { return c != "UK" && c != "US" }) {
		t.Fatalf("%+v: a country that is not connected: %+v", params, r)
	}
	if again := PlanDays(r, exampleView()); again.From < day("2024-10-01") && !again.Empty() {
		t.Fatalf("%+v: a plan beyond what is held: %+v", params, again)
	}
}

// list cuts as the decoder of query strings does; nothing sent is no list.
func list(text string) []string {
	if text == "" {
		return nil
	}
	elements := strings.Split(text, ",")
	for i := range elements {
		elements[i] = strings.Trim(elements[i], " ")
	}
	return elements
}

var fuzzSeeds = [][7]string{
	{"", "", "", "", "", "", ""},
	{"all_time", "", "", "Europe/London", "US,gb", "SPONSORED_PRODUCTS", "month"},
	{"", "2020-02-29", "2026-03-01", "utc", "DE", ",", "day"},
	{"all_time", "", "", "local", "spend,units_sold_clicks_7d,sales_7d", "marketplace", "sales_7d"},
	{"today", "2026-01-01", "", "\x00", "uſ,US", "SPONSORED_PRODUCTS,TV", "acos"},
	{"ALL_TIME ", "0001-01-01", "9999-12-31", "../..", "\xff", "日本", "99999999999999999999"},
}

func seed(f *testing.F) {
	for _, s := range fuzzSeeds {
		f.Add(s[0], s[1], s[2], s[3], s[4], s[5], s[6], int64(1_795_170_240))
	}
}

// instant keeps a random number of seconds inside the years that days are
// written with.
func instant(seconds int64) time.Time {
	return time.Unix(seconds%(1<<37), 0)
}

func fuzzPeriod(name, start, end, zone string) PeriodParams {
	return PeriodParams{Range: name, StartDate: start, EndDate: end, TimeZone: zone}
}

func FuzzParseSummary(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, name, start, end, zone, marketplaces, products, other string, seconds int64) {
		params := SummaryParams{fuzzPeriod(name, start, end, zone), FilterParams{list(marketplaces), list(products), nil, nil, nil}, zone, FormatParams{other, other, other, other}, other}
		r, faults := ParseSummary(params, exampleView(), instant(seconds))
		mustBeSound(t, params, r, faults)
	})
}

func FuzzParseTimeline(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, name, start, end, zone, marketplaces, products, other string, seconds int64) {
		params := TimelineParams{fuzzPeriod(name, start, end, zone), FilterParams{list(marketplaces), list(products), nil, nil, nil}, name, other, FormatParams{}, ""}
		r, faults := ParseTimeline(params, exampleView(), instant(seconds))
		mustBeSound(t, params, r, faults)
		if len(faults) == 0 && r.Granularity != ByMonth && r.Granularity != ByWeek && (r.Granularity != ByDay || r.Period.Days() > maxDailyPoints) {
			t.Fatalf("%d days by %q", r.Period.Days(), r.Granularity)
		}
	})
}

func FuzzParseProducts(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, name, start, end, zone, marketplaces, products, other string, seconds int64) {
		params := ProductParams{fuzzPeriod(name, start, end, zone), FilterParams{list(marketplaces), list(products), nil, nil, nil},
			zone, other, "", PagingParams{Page: other, PageSize: start}, FormatParams{}, ""}
		if utf8.RuneCountInString(other)%2 == 0 {
			params.Page, params.PageSize, params.Order = "", other, other
		}
		r, faults := ParseProducts(params, exampleView(), instant(seconds))
		mustBeSound(t, params, r, faults)
		if r.Page < 1 || r.Page > catalogue.MaxPage || r.PageSize < 1 || r.PageSize > MaxRows || !slices.Contains(catalogue.FigureNames, r.Sort) && r.Sort != SortProduct {
			if len(faults) == 0 {
				t.Fatalf("%+v became %+v", params, r)
			}
		}
	})
}

func FuzzParseReport(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, name, start, end, zone, marketplaces, products, other string, seconds int64) {
		params := ReportParams{Dimensions: list(products), Figures: list(marketplaces), PeriodParams: fuzzPeriod(name, start, end, zone),
			FilterParams: FilterParams{ProductIDs: list(other)}, Currency: zone, Search: other, Sort: products, Order: marketplaces, PagingParams: PagingParams{PageSize: other}}
		if utf8.RuneCountInString(other)%2 == 0 {
			params.Dimensions, params.Figures, params.Sort, params.Order = list(name), list(zone), name, other
		}
		r, faults := ParseReport(params, exampleView(), instant(seconds))
		mustBeSound(t, params, r, faults)
		if known := slices.Concat(r.FigureNames(), r.Dimensions); len(faults) == 0 && !slices.Contains(known, r.Sort) {
			t.Fatalf("%+v became %+v", params, r)
		}
	})
}
