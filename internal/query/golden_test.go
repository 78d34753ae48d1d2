package query

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Run with -update after a change that is meant to change statements, and
// read the difference.
var update = flag.Bool("update", false, "write the golden files again")

// nothing is what a golden file says where no statement is run.
const nothing = "-- nothing of this is held: no statement is run\n"

// goldenCase is a statement that parameters become.
type goldenCase struct {
	name      string
	statement func(*testing.T) Statement
	empty     bool
}

func daysCase(name string, params SummaryParams) goldenCase {
	var c goldenCase
	c.name = "days_" + name
	request, faults := ParseSummary(params, exampleView(), now)
	plan := PlanDays(request, exampleView())
	c.empty = plan.Empty()
	c.statement = func(t *testing.T) Statement { mustNotFail(t, faults); return plan.DayTotalsStatement(request.Local) }
	return c
}

func productsCase(name, account string, params ProductParams) goldenCase {
	var c goldenCase
	c.name = "products_" + name
	v := exampleView()
	v.Account = account
	request, faults := ParseProducts(params, v, now)
	request.Dimensions = []string{dimProduct}
	plan := PlanReport(request, v)
	c.empty = plan.Empty() && plan.earlierPlan().Empty()
	c.statement = func(t *testing.T) Statement {
		mustNotFail(t, faults)
		return plan.RankedStatement(request, NameGenerations{9004, 9002, 9006})
	}
	return c
}

// reportCase is a report of which some products are requested.
func reportCase(name string, params ReportParams) goldenCase {
	var c goldenCase
	c.name = "report_" + name
	request, faults := ParseReport(params, exampleView(), now)
	plan := PlanReport(request, exampleView())
	if params.ProductIDs != nil {
		plan.Only[2] = []uint32{7, 9}
	}
	if params.CampaignIDs != nil {
		plan.Only[0] = []uint32{8013}
	}
	if params.Search != "" {
		plan.Found = &keys{{8013, 8014}, {8015}, {}}
	}
	if plan.Earlier != nil {
		plan.Earlier.narrowing = plan.narrowing
	}
	c.statement = func(t *testing.T) Statement {
		mustNotFail(t, faults)
		return plan.RankedStatement(request, NameGenerations{9004, 9002, 9006})
	}
	return c
}

func countedCase(name string, params ReportParams) goldenCase {
	c := reportCase(name, params)
	request, faults := ParseReport(params, exampleView(), now)
	c.statement = func(t *testing.T) Statement {
		mustNotFail(t, faults)
		return PlanReport(request, exampleView()).CountStatement(request)
	}
	return c
}

func rankedCase(name string, params ProductParams) goldenCase {
	return productsCase("ranked_"+name, "acct-7", params)
}

func between(start, end string) PeriodParams { return PeriodParams{StartDate: start, EndDate: end} }

func ranged(name string) PeriodParams { return PeriodParams{Range: name} }

var (
	ukBrands   = FilterParams{Marketplaces: []string{"UK"}, AdProducts: []string{"SPONSORED_BRANDS"}}
	usProducts = FilterParams{Marketplaces: []string{"US"}, AdProducts: []string{"SPONSORED_PRODUCTS"}}
	ukProducts = FilterParams{Marketplaces: []string{"UK"}, AdProducts: []string{"SPONSORED_PRODUCTS"}}
	onlyUK     = FilterParams{Marketplaces: []string{"gb"}}
)

func goldenCases() []goldenCase {
	const account, awkward = "acct-7", "o'neil\\co\t\"7\"\n"
	products := func(p PeriodParams, f FilterParams) ProductParams {
		return ProductParams{PeriodParams: p, FilterParams: f}
	}
	return []goldenCase{
		daysCase("all_time", SummaryParams{PeriodParams: ranged("all_time")}),
		daysCase("filtered", SummaryParams{PeriodParams: ranged("last_30_days"), FilterParams: ukProducts}),
		daysCase("one_month", SummaryParams{PeriodParams: between("2025-07-01", "2025-07-31")}),
		daysCase("default_period", SummaryParams{}),
		daysCase("before_the_first_held_day", SummaryParams{PeriodParams: between("2024-09-01", "2024-09-30")}),
		daysCase("in_a_gap_of_days", SummaryParams{PeriodParams: between("2025-08-12", "2025-08-15"), FilterParams: usProducts}),

		daysCase("of_a_country", SummaryParams{PeriodParams: ranged("this_year"), FilterParams: onlyUK}),
		daysCase("local", SummaryParams{PeriodParams: ranged("all_time"), FilterParams: onlyUK, Currency: "local"}),
		daysCase("nothing_held", SummaryParams{PeriodParams: between("2027-01-01", "2027-01-31")}),

		productsCase("all_time", account, products(ranged("all_time"), FilterParams{})),
		productsCase("whole_year", account, products(ranged("last_year"), usProducts)),
		productsCase("year_and_month", account, products(between("2024-12-01", "2025-12-31"), usProducts)),
		productsCase("unaligned", account, products(between("2025-06-15", "2026-02-10"), usProducts)),
		productsCase("year_and_unaligned", account, products(between("2025-01-01", "2026-02-10"), usProducts)),
		productsCase("year_and_edge", account, products(between("2025-01-01", "2026-01-10"), usProducts)),
		productsCase("last_30_days", account, products(ranged("last_30_days"), FilterParams{})),
		productsCase("one_day", account, products(between("2026-05-05", "2026-05-05"), FilterParams{})),
		productsCase("beyond_what_is_held_both_ways", account, products(between("2023-01-01", "2028-12-31"), ukProducts)),
		productsCase("in_a_gap_of_months", account, products(between("2025-03-01", "2025-04-30"), ukBrands)),
		productsCase("in_a_gap_of_days", account, products(between("2025-08-12", "2025-08-15"), usProducts)),
		productsCase("month_around_a_gap", account, products(between("2025-08-01", "2025-08-31"), usProducts)),
		productsCase("running_month", account, products(ranged("this_month"), FilterParams{})),
		rankedCase("by_spend", products(ranged("last_year"), FilterParams{})),
		rankedCase("by_acos", ProductParams{PeriodParams: ranged("all_time"), Sort: "acos", Order: "asc", PagingParams: PagingParams{Page: "3", PageSize: "50"}}),
		rankedCase("by_product", ProductParams{PeriodParams: between("2025-01-01", "2026-02-10"), Sort: "product_id", PagingParams: PagingParams{PageSize: "all"}}),
		rankedCase("compared", ProductParams{PeriodParams: between("2026-01-10", "2026-05-31"), Sort: "roas", Compare: "previous_year"}),
		rankedCase("compared_with_all_three_tables", ProductParams{PeriodParams: between("2025-11-15", "2026-11-19"), Compare: "previous_period", PagingParams: PagingParams{Page: "2"}}),
		rankedCase("compared_with_nothing", ProductParams{PeriodParams: ranged("all_time"), Compare: "previous_period"}),
		rankedCase("compared_nothing_with", ProductParams{PeriodParams: between("2025-08-12", "2025-08-15"), FilterParams: usProducts, Compare: "previous_period", Sort: "product_id"}),
		reportCase("by_day_and_product", ReportParams{Dimensions: []string{"date", "product"}, PeriodParams: ranged("last_30_days"), PagingParams: PagingParams{Page: "2"}}),
		reportCase("by_month_and_product_compared", ReportParams{Dimensions: []string{"month", "marketplace", "product"}, Figures: []string{"acos"}, PeriodParams: between("2026-01-10", "2026-05-31"), Compare: "previous_year"}),
		reportCase("some_products_by_week", ReportParams{Dimensions: []string{"ad_product", "week"}, FilterParams: FilterParams{ProductIDs: []string{"A", "B"}}, PeriodParams: ranged("last_year"), Sort: "ad_product", Order: "desc"}),
		countedCase("counted_by_month", ReportParams{Dimensions: []string{"product", "month", "marketplace"}, PeriodParams: between("2026-01-10", "2026-05-31")}),
		reportCase("campaigns_and_ad_groups_of_a_search", ReportParams{Dimensions: []string{"campaign", "marketplace", "ad_group"}, Search: "lamp", PeriodParams: ranged("all_time")}),
		reportCase("one_campaign_by_month_and_product", ReportParams{Dimensions: []string{"month", "product"}, FilterParams: FilterParams{CampaignIDs: []string{"C1"}}, PeriodParams: between("2025-11-10", "2026-05-31"), Compare: "previous_year", Sort: "product"}),
		reportCase("by_campaign_in_order", ReportParams{Dimensions: []string{"ad_product", "campaign"}, PeriodParams: ranged("last_30_days"), Sort: "campaign", Order: "desc"}),
		reportCase("some_products_in_all", ReportParams{FilterParams: FilterParams{ProductIDs: []string{"A"}}, PeriodParams: ranged("all_time")}),
		rankedCase("local", ProductParams{PeriodParams: ranged("all_time"), FilterParams: onlyUK, Currency: "local", Sort: "average_cpc"}),
		reportCase("of_several_currencies_compared", ReportParams{Dimensions: []string{"marketplace", "campaign"}, Currency: "local", PeriodParams: between("2026-01-10", "2026-05-31"), Compare: "previous_year"}),
		reportCase("of_further_measures", ReportParams{Dimensions: []string{"month"}, Figures: []string{"units_sold_clicks_7d", "spend", "purchases_clicks"}, FilterParams: FilterParams{ProductIDs: []string{"A"}}, PeriodParams: ranged("last_30_days"), Sort: "purchases_clicks", Compare: "previous_period"}),
		reportCase("of_a_further_amount_in_all", ReportParams{Figures: []string{"sales_7d"}, FilterParams: usProducts, PeriodParams: ranged("last_year")}),
		productsCase("awkward_account", awkward, products(ranged("this_month"), usProducts)),
	}
}

func (c goldenCase) file() string { return filepath.Join("testdata", c.name+".golden") }

func (c goldenCase) text(t *testing.T) string {
	if c.empty {
		return nothing
	}
	return c.statement(t).String()
}

func TestParametersBecomeTheGoldenStatements(t *testing.T) {
	for _, c := range goldenCases() {
		t.Run(c.name, func(t *testing.T) {
			got := c.text(t)
			if *update {
				if err := os.WriteFile(c.file(), []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(c.file())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("the statement changed (-golden +got):\n%s", diff)
			}
		})
	}
}

// A file that no case writes would look like a promise that is not kept.
func TestEveryGoldenFileHasItsCase(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "*.golden"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range goldenCases() {
		files = slices.DeleteFunc(files, func(f string) bool { return f == c.file() })
	}
	if len(files) > 0 {
		t.Errorf("no case writes %s", strings.Join(files, ", "))
	}
}
