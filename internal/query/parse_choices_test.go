package query

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"adlens"
	"adlens/internal/catalogue"
	"adlens/internal/query/period"
)

func TestTheGranularityIsDaysUpToNinetyTwo(t *testing.T) {
	for _, c := range []struct{ granularity, start, end, want string }{
		{"", "2026-01-01", "2026-04-02", ByDay},   // 92 days
		{"", "2026-01-01", "2026-04-03", ByMonth}, // 93
		{"auto", "2026-01-01", "2026-04-02", ByDay},
		{" Auto ", "2026-01-01", "2026-04-03", ByMonth},
		{"day", "2026-01-01", "2026-04-02", ByDay},
		{"DAY", "2026-01-01", "2026-01-01", ByDay},
		{"month", "2026-01-01", "2026-01-01", ByMonth},
		{"month", "2020-01-01", "2026-01-01", ByMonth},
		{"week", "2020-01-01", "2026-01-01", ByWeek},
		{"Week", "2026-01-01", "2026-01-01", ByWeek},
	} {
		r, faults := ParseTimeline(TimelineParams{PeriodParams: between(c.start, c.end), Granularity: c.granularity}, exampleView(), now)
		mustNotFail(t, faults)
		if r.Granularity != c.want {
			t.Errorf("%q of %d days is %q, want %q", c.granularity, r.Period.Days(), r.Granularity, c.want)
		}
	}
}

func TestRangesHaveTheGranularityOfTheirDays(t *testing.T) {
	for name, want := range map[string]string{"last_90_days": ByDay, "this_year": ByMonth, "all_time": ByMonth, "last_month": ByDay} {
		r, faults := ParseTimeline(TimelineParams{PeriodParams: ranged(name)}, exampleView(), now)
		mustNotFail(t, faults)
		if r.Granularity != want {
			t.Errorf("%s is by %s", name, r.Granularity)
		}
	}
}

func TestDaysAreRefusedBeyondNinetyTwo(t *testing.T) {
	for _, text := range []string{"day", "DAY"} {
		_, faults := ParseTimeline(TimelineParams{PeriodParams: between("2026-01-01", "2026-04-03"), Granularity: text}, exampleView(), now)
		mustRefuse(t, text, faults, refusal{"granularity", text, adlens.GranularityTooFine, "auto week month", ""})
		mustMention(t, faults[0], "92", "93", "2026-01-01", "2026-04-03")
	}
	_, faults := ParseTimeline(TimelineParams{PeriodParams: ranged("all_time"), Granularity: "day"}, exampleView(), now)
	mustRefuse(t, "all_time", faults, refusal{"granularity", "day", adlens.GranularityTooFine, "auto week month", ""})
}

// Days are refused because of a zone, too: in Kiritimati it is 3 April, the
// 93rd day of the year, when it is still the 92nd in Greenwich.
func TestTheZoneCanMakeDaysTooMany(t *testing.T) {
	noon := time.Date(2026, 4, 2, 12, 0, 0, 0, time.UTC)
	params := TimelineParams{PeriodParams: ranged("this_year"), Granularity: "day"}
	_, faults := ParseTimeline(params, exampleView(), noon)
	mustNotFail(t, faults)
	params.TimeZone = "Pacific/Kiritimati"
	_, faults = ParseTimeline(params, exampleView(), noon)
	mustRefuse(t, "Kiritimati", faults, refusal{"granularity", "day", adlens.GranularityTooFine, "auto week month", ""})
}

// A period that is too long is too long for days, too. Where it is in doubt,
// its length says nothing.
func TestGranularityIsBlamedForTheLengthOfAPeriodAlone(t *testing.T) {
	_, faults := ParseTimeline(TimelineParams{PeriodParams: between("2020-01-01", "2029-01-01"), Granularity: "day"}, exampleView(), now)
	mustRefuse(t, "too long", faults, refusal{"end_date", "2029-01-01", adlens.PeriodTooLong, "", ""},
		refusal{"granularity", "day", adlens.GranularityTooFine, "auto week month", ""})
	_, faults = ParseTimeline(TimelineParams{PeriodParams: ranged("ever"), Granularity: "hour"}, exampleView(), now)
	mustRefuse(t, "both", faults, refusal{"range", "ever", adlens.UnknownValue, allRanges, ""},
		refusal{"granularity", "hour", adlens.UnknownValue, allGranularities, ""})
	days := ranged("this_year")
	days.TimeZone = "Mars" // where it may still be the 92nd day of the year
	_, faults = ParseTimeline(TimelineParams{PeriodParams: days, Granularity: "day"}, exampleView(), time.Date(2026, 4, 3, 9, 0, 0, 0, time.UTC))
	mustRefuse(t, "zone", faults, refusal{"timezone", "Mars", adlens.UnknownValue, "", ""})
}

func TestSortAndOrderAreTakenFromClosedSets(t *testing.T) {
	for _, c := range []struct{ sort, order, wantSort, wantOrder string }{
		{"", "", "spend", Descending},
		{"product_id", "asc", SortProduct, Ascending},
		{" ACOS ", " Desc", "acos", Descending},
		{"Conversion_Rate", "ASC", "conversion_rate", Ascending},
	} {
		r, faults := ParseProducts(ProductParams{Sort: c.sort, Order: c.order}, exampleView(), now)
		mustNotFail(t, faults)
		if r.Sort != c.wantSort || r.Order != c.wantOrder {
			t.Errorf("%q %q: by %s %s", c.sort, c.order, r.Sort, r.Order)
		}
	}
	for _, f := range catalogue.Figures {
		if r, faults := ParseProducts(ProductParams{Sort: f.Name}, exampleView(), now); len(faults) > 0 || r.Sort != f.Name {
			t.Errorf("%s: %+v", f.Name, faults)
		}
	}
}

func TestChoicesThatAreNoneAreRefused(t *testing.T) {
	const unknown = adlens.UnknownValue
	for value, c := range map[string]struct {
		params ProductParams
		want   refusal
	}{
		"spent":      {ProductParams{Sort: "spent"}, refusal{"sort", "spent", unknown, allSorts, "spend"}},
		"title":      {ProductParams{Sort: "title"}, refusal{"sort", "title", unknown, allSorts, ""}},
		"descending": {ProductParams{Order: "descending"}, refusal{"order", "descending", unknown, "asc desc", ""}},
		"des":        {ProductParams{Order: "des"}, refusal{"order", "des", unknown, "asc desc", "desc"}},
		"jsn":        {ProductParams{FormatParams: FormatParams{Format: "jsn"}}, refusal{"format", "jsn", unknown, "json csv xlsx parquet ndjson", "json"}},
		"non":        {ProductParams{Compare: "non"}, refusal{"compare", "non", unknown, "none previous_period previous_year", "none"}},
		"spend,acos": {ProductParams{Sort: "spend,acos"}, refusal{"sort", "spend,acos", unknown, allSorts, ""}},
	} {
		_, faults := ParseProducts(c.params, exampleView(), now)
		mustRefuse(t, value, faults, c.want)
	}
}

// A list's maximum is of its values once each, and hides none of its faults.
func TestTheMaximumOfAListIsOfDistinctValues(t *testing.T) {
	most := func(parameter, values string) refusal {
		return refusal{parameter: parameter, value: values, code: adlens.InvalidParameter}
	}
	unknown := func(parameter, value, mean string) refusal {
		p, _ := catalogue.Report.Parameter(parameter)
		return refusal{parameter, value, adlens.UnknownValue, strings.Join(p.Values, " "), mean}
	}
	list := func(texts string) []string { return strings.Split(texts, ",") }
	ids := list(strings.TrimRight(strings.Repeat("P1,", 200), ",") + ",P2,")
	for _, c := range []struct {
		params ReportParams
		want   []refusal
	}{
		{ReportParams{Dimensions: list("date,marketplace,ad_product,campaign,ad_group,Date, DATE ")}, nil},
		{ReportParams{Dimensions: list("date,marketplace,ad_product,campaign,ad_group,produkt")},
			[]refusal{most("dimensions", "date,marketplace,ad_product,campaign,ad_group,produkt"), unknown("dimensions", "produkt", "product")}},
		{ReportParams{Dimensions: list("produkt,produkt,produkt,produkt,produkt,produkt")}, []refusal{unknown("dimensions", "produkt", "product")}},
		{ReportParams{Figures: list(strings.Repeat("Spend,spend,", 150) + "spent")}, []refusal{unknown("figures", "spent", "spend")}},
		{ReportParams{FilterParams: FilterParams{ProductIDs: ids[:201]}}, nil},
		{ReportParams{FilterParams: FilterParams{ProductIDs: ids}}, []refusal{most("product_ids", "")}},
	} {
		_, faults := ParseReport(c.params, exampleView(), now)
		if got, want := fmt.Sprintf("%+q", refusals(faults)), fmt.Sprintf("%+q", c.want); got != want {
			t.Errorf("%+v:\n got %s\nwant %s", c.params, got, want)
		}
	}
}

func TestAListThatIsTooLongHasABoundedNumberOfFaults(t *testing.T) {
	var figures, ids []string
	for i := range 4_000 {
		figures, ids = append(figures, fmt.Sprint("x", i)), append(ids, fmt.Sprint(i))
	}
	_, faults := ParseReport(ReportParams{Figures: figures, FilterParams: FilterParams{ProductIDs: append(ids, "")}}, exampleView(), now)
	counts := map[string]int{}
	for _, f := range faults {
		counts[f.Parameter]++
	}
	if counts["figures"] != 201 || counts["product_ids"] != 2 {
		t.Errorf("the faults are %v", counts)
	}
	for _, f := range faults[:3] {
		if len(f.Value) > 1_500 || f.Code == adlens.InvalidParameter && f.Value != "" && !strings.Contains(f.Detail, "has 400") {
			t.Errorf("got %+v", f)
		}
	}
}

func TestPagingIsReadAsPlainDecimalNumbers(t *testing.T) {
	for _, c := range []struct {
		page, size         string
		wantPage, wantSize int
		all                bool
	}{
		{"", "", 1, 100, false},
		{"1", "1", 1, 1, false},
		{"7", "1000", 7, 1000, false},
		{"1000000000", "", catalogue.MaxPage, 100, false},
		{"007", "0100", 7, 100, false}, // leading zeros are harmless: no octal
		{"", "all", 1, MaxRows, true},
		{"2", " ALL ", 2, MaxRows, true},
	} {
		r, faults := ParseProducts(ProductParams{PagingParams: PagingParams{Page: c.page, PageSize: c.size}}, exampleView(), now)
		mustNotFail(t, faults)
		if r.Page != c.wantPage || r.PageSize != c.wantSize || r.All != c.all {
			t.Errorf("%q %q: page %d of %d, all: %v", c.page, c.size, r.Page, r.PageSize, r.All)
		}
	}
}

// Each of these is a number to some parser; a bad one must not become a
// default.
func TestOddNumbersAreRefused(t *testing.T) {
	odd := []string{"0", "-1", "+1", "1e3", "1.5", "1.0", "99999999999999999999", "4294967297", "٣", "１", "1 ", " 1", "1_000", "0x10", "1,000", "one", "∞", "-0"}
	for _, value := range append(odd, "1000000001", "all") {
		_, faults := ParseProducts(ProductParams{PagingParams: PagingParams{Page: value}}, exampleView(), now)
		mustRefuse(t, "page", faults, refusal{parameter: "page", value: value, code: adlens.InvalidParameter})
	}
	for _, value := range append(odd, "1001", "al", "all,1") {
		_, faults := ParseProducts(ProductParams{PagingParams: PagingParams{PageSize: value}}, exampleView(), now)
		mustRefuse(t, "page_size", faults, refusal{parameter: "page_size", value: value, code: adlens.InvalidParameter})
		mustMention(t, faults[0], "1 to 1000 or all")
	}
}

func TestNothingSentGivesTheDefaults(t *testing.T) {
	r, faults := ParseProducts(ProductParams{}, exampleView(), now)
	mustNotFail(t, faults)
	if r.Period.Range != period.Default || r.TimeZone != "UTC" || r.Filters.Marketplaces != nil || r.Filters.AdProducts != nil {
		t.Errorf("got %+v", r)
	}
}
