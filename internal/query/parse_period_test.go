package query

import (
	"strings"
	"testing"
	"time"

	"adlens"
	"adlens/internal/query/period"
)

func TestRangesAreResolvedAndRepeated(t *testing.T) {
	for _, c := range []struct{ text, start, end string }{
		{"", "2026-10-22", "2026-11-20"}, // last_30_days, today included
		{"today", "2026-11-20", "2026-11-20"},
		{"yesterday", "2026-11-19", "2026-11-19"},
		{"last_7_days", "2026-11-14", "2026-11-20"},
		{"this_month", "2026-11-01", "2026-11-20"},
		{"last_year", "2025-01-01", "2025-12-31"},
		{"all_time", "2024-10-01", "2026-11-20"},
		{"  ALL_Time ", "2024-10-01", "2026-11-20"},
		{"Last_7_DAYS", "2026-11-14", "2026-11-20"},
	} {
		r, faults := ParseSummary(SummaryParams{PeriodParams: ranged(c.text)}, exampleView(), now)
		mustNotFail(t, faults)
		want := days(c.start, c.end)
		want.Range = period.Name(strings.ToLower(strings.TrimSpace(c.text)))
		if c.text == "" {
			want.Range = period.Last30Days
		}
		if r.Period != want || r.TimeZone != "UTC" {
			t.Errorf("%q: %+v in %s, want %+v", c.text, r.Period, r.TimeZone, want)
		}
	}
}

// all_time begins with the account's oldest day, whatever the filters.
func TestAllTimeDoesNotDependOnFilters(t *testing.T) {
	r, faults := ParseSummary(SummaryParams{PeriodParams: ranged("all_time"), FilterParams: ukBrands}, exampleView(), now)
	mustNotFail(t, faults)
	if want := day("2024-10-01"); r.Period.Start != want {
		t.Errorf("starts on %s, want %s", r.Period.Start, want)
	}
}

func TestAllTimeOfAnAccountWithoutDaysIsToday(t *testing.T) {
	r, faults := ParseSummary(SummaryParams{PeriodParams: ranged("all_time")}, View{Account: "a"}, now)
	mustNotFail(t, faults)
	if today := day("2026-11-20"); r.Period.Start != today || r.Period.End != today {
		t.Errorf("got %+v", r.Period)
	}
}

// The instant is the same; the zone of now itself must not matter, only the
// one requested.
func TestTheZoneDecidesWhichDayTodayIs(t *testing.T) {
	late := time.Date(2026, 12, 31, 23, 30, 0, 0, time.UTC)
	for _, read := range []*time.Location{time.UTC, time.FixedZone("east", 14*3600), time.FixedZone("west", -12*3600)} {
		for zone, want := range map[string]string{
			"": "2026-12-31", "UTC": "2026-12-31", "Europe/Berlin": "2027-01-01", "America/New_York": "2026-12-31",
			"Pacific/Kiritimati": "2027-01-01", "Etc/GMT+12": "2026-12-31", "Asia/Calcutta": "2027-01-01",
		} {
			r, faults := ParseSummary(SummaryParams{PeriodParams: PeriodParams{Range: "today", TimeZone: zone}}, exampleView(), late.In(read))
			mustNotFail(t, faults)
			if r.Period.Start != day(want) || r.Period.End != day(want) {
				t.Errorf("today in %q is %s, want %s", zone, r.Period.Start, want)
			}
			if zone != "" && r.TimeZone != zone {
				t.Errorf("%q is echoed as %q", zone, r.TimeZone)
			}
		}
	}
}

func TestZonesAreTakenInTheirExactSpellingAlone(t *testing.T) {
	for value, meant := range map[string]string{
		"europe/london": "Europe/London", "Europe/Londn": "Europe/London", "EUROPE/LONDON": "Europe/London",
		" UTC": "UTC", "utc": "UTC", "America/New York": "America/New_York",
	} {
		_, faults := ParseProducts(ofPeriod(PeriodParams{TimeZone: value}), exampleView(), now)
		mustRefuse(t, value, faults, refusal{"timezone", value, adlens.UnknownValue, "", meant})
	}
	for _, value := range []string{"Local", "Factory", "posix/UTC", "right/UTC", "../etc/passwd", "+02:00", "Mars/Olympus_Mons_And_Far_Away"} {
		_, faults := ParseProducts(ofPeriod(PeriodParams{TimeZone: value}), exampleView(), now)
		if len(faults) != 1 || faults[0].Parameter != "timezone" || faults[0].Code != adlens.UnknownValue || faults[0].Allowed != nil {
			t.Errorf("%q: %+v", value, faults)
		}
	}
}

func TestDatesAreAPeriodOfTheirOwn(t *testing.T) {
	for _, c := range [][2]string{
		{"2026-01-01", "2026-01-31"},
		{"2026-02-28", "2026-02-28"},
		{"2020-01-01", "2026-01-01"}, // six years to the day
		{"2020-02-29", "2026-02-28"}, // 29 February becomes the 28th
		{"2018-02-28", "2024-02-28"},
		{"2030-01-01", "2035-12-31"}, // the future
		{"0001-01-01", "0002-01-01"},
		{"9995-01-01", "9999-12-31"},
	} {
		r, faults := ParseSummary(SummaryParams{PeriodParams: between(c[0], c[1])}, exampleView(), now)
		mustNotFail(t, faults)
		if r.Period != days(c[0], c[1]) {
			t.Errorf("%v: %+v", c, r.Period)
		}
	}
}

func TestPeriodsThatCannotBeAnsweredAreRefused(t *testing.T) {
	const missing, conflicting, bad, long = adlens.MissingParameter, adlens.ConflictingParameters, adlens.InvalidParameter, adlens.PeriodTooLong
	for name, c := range map[string]struct {
		params PeriodParams
		want   []refusal
	}{
		"no such range":      {ranged("last_30_day"), []refusal{{"range", "last_30_day", adlens.UnknownValue, allRanges, "last_30_days"}}},
		"custom":             {ranged("custom"), []refusal{{"range", "custom", adlens.UnknownValue, allRanges, ""}}},
		"reversed":           {between("2026-02-02", "2026-02-01"), []refusal{{parameter: "start_date", value: "2026-02-02", code: bad}}},
		"six years and one":  {between("2020-01-01", "2026-01-02"), []refusal{{parameter: "end_date", value: "2026-01-02", code: long}}},
		"leap day plus one":  {between("2020-02-29", "2026-03-01"), []refusal{{parameter: "end_date", value: "2026-03-01", code: long}}},
		"start alone":        {between("2026-01-01", ""), []refusal{{parameter: "end_date", code: missing}}},
		"end alone":          {between("", "2026-01-01"), []refusal{{parameter: "start_date", code: missing}}},
		"no such start":      {between("2026-02-30", "2026-03-01"), []refusal{{parameter: "start_date", value: "2026-02-30", code: bad}}},
		"two bad dates":      {between("tomorrow", "01/02/2026"), []refusal{{parameter: "start_date", value: "tomorrow", code: bad}, {parameter: "end_date", value: "01/02/2026", code: bad}}},
		"a space":            {between(" 2026-01-01", "2026-01-01"), []refusal{{parameter: "start_date", value: " 2026-01-01", code: bad}}},
		"Arabic digits":      {between("٢٠٢٦-٠١-٠١", "2026-01-01"), []refusal{{parameter: "start_date", value: "٢٠٢٦-٠١-٠١", code: bad}}},
		"one bad date alone": {between("2026-13-01", ""), []refusal{{parameter: "start_date", value: "2026-13-01", code: bad}, {parameter: "end_date", code: missing}}},
		"range and dates": {PeriodParams{Range: "today", StartDate: "2026-01-01", EndDate: "2026-01-02"},
			[]refusal{{parameter: "range", value: "today", code: conflicting}}},
		"range and one date": {PeriodParams{Range: "today", StartDate: "2026-01-01"},
			[]refusal{{parameter: "range", value: "today", code: conflicting}, {parameter: "end_date", code: missing}}},
	} {
		_, faults := ParseProducts(ofPeriod(c.params), exampleView(), now)
		mustRefuse(t, name, faults, c.want...)
	}
}

func TestFaultsOfAPeriodSayWhatWouldBeRight(t *testing.T) {
	_, faults := ParseProducts(ofPeriod(between("2020-02-29", "2026-03-01")), exampleView(), now)
	mustMention(t, faults[0], "2020-02-29", "2026-03-01", "6 years", "2026-02-28")
	_, faults = ParseProducts(ofPeriod(between("2026-02-02", "2026-02-01")), exampleView(), now)
	mustMention(t, faults[0], "2026-02-02", "2026-02-01")
	_, faults = ParseProducts(ofPeriod(between("2026-02-02", "")), exampleView(), now)
	mustMention(t, faults[0], "start_date", "2026-02-02", "end_date")
}

// Everything that is wrong is reported at once.
func TestFaultsOfAllParametersAreFoundTogether(t *testing.T) {
	params := ProductParams{PeriodParams: PeriodParams{Range: "ever", TimeZone: "Nowhere/Land"}, FilterParams: FilterParams{Marketplaces: []string{"XX"}, AdProducts: []string{"TV"}},
		Sort: "price", Order: "up", PagingParams: PagingParams{Page: "0", PageSize: "0"}, FormatParams: FormatParams{"pdf", "pipe", "dot", ""}, Compare: "twin"}
	_, faults := ParseProducts(params, exampleView(), now)
	found := map[string]bool{}
	for _, f := range faults {
		found[f.Parameter] = true
	}
	for _, name := range strings.Fields("range timezone marketplaces ad_products sort order page page_size format separator decimal compare") {
		if !found[name] {
			t.Errorf("nothing was reported about %s", name)
		}
	}
	if len(faults) != len(found) {
		t.Errorf("%d faults of %d parameters", len(faults), len(found))
	}
}

// What another parameter has to do with a value that was misspelt is no fault of it.
func TestAMisspeltValueIsTheOnlyFault(t *testing.T) {
	view := exampleView()
	view.Marketplaces = []Marketplace{{Key: 1, ID: "101", Country: "US", Currency: "USD", TimeZone: "America/Los_Angeles"}, {Key: 2, ID: "102", Country: "DE", Currency: "EUR", TimeZone: "Europe/Berlin"}}
	ofMarketplaces := FilterParams{Marketplaces: []string{"DD"}}
	for want, params := range map[string]ReportParams{
		"marketplaces": {Dimensions: []string{"product"}, FilterParams: ofMarketplaces, Currency: "local"},
		"dimensions":   {Dimensions: []string{"campain"}, Search: "lamp"},
		"figures":      {Dimensions: []string{"product"}, Figures: []string{"spnd", "clicks"}, Sort: "spend"},
		"format":       {Dimensions: []string{"product"}, FormatParams: FormatParams{Format: "cvs"}, PagingParams: PagingParams{PageSize: "5000"}},
		"currency":     {Dimensions: []string{"product"}, Figures: []string{"sales_7d"}, Currency: "lcal"},
	} {
		if _, faults := ParseReport(params, view, now); len(faults) != 1 || faults[0].Parameter != want {
			t.Errorf("%s: %v", want, faults)
		}
	}
	_, faults := ParseReport(ReportParams{Dimensions: []string{"product"}, Figures: []string{"spnd"}, Sort: "bar"}, view, now)
	if len(faults) != 2 || faults[0].Parameter != "figures" || faults[1].Parameter != "sort" {
		t.Errorf("a figure and an order that no report has: %v", faults)
	}
	_, faults = ParseReport(ReportParams{Dimensions: []string{"marketplace"}, Search: "a"}, view, now)
	if len(faults) != 2 || faults[0].Parameter != "search" || faults[1].Parameter != "search" {
		t.Errorf("a short search without a column: %v", faults)
	}
}
