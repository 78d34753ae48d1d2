package standin_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"adlens/integration/standin"
)

func fact(day, asin string, clicks int64) standin.Fact {
	return standin.Fact{
		Profile: 1, AdProduct: standin.SponsoredProducts, Day: day, Product: asin,
		CampaignID: 144158449488730278, AdGroupID: 2, AdID: 3, SKU: "S1",
		Impressions: 100, Clicks: clicks, Cost: "14.50", Purchases7d: 1, Purchases14d: 2, Sales7d: "10", Sales14d: "20.10",
	}
}

func TestReportHoldsAskedColumnsAndDaysOnly(t *testing.T) {
	c := reporting(t, standin.Config{Facts: []standin.Fact{
		fact("2026-11-01", "B01", 3), fact("2026-11-11", "B01", 4), {Profile: 2, AdProduct: standin.SponsoredProducts, Day: "2026-11-01", Clicks: 9},
	}})
	rows := c.rows(c.report(order()))
	if got := fmt.Sprint(rows); got != "[map[advertisedAsin:B01 clicks:3 date:2026-11-01]]" {
		t.Errorf("got %s", got)
	}
}

func TestRowCarriesExactNumbersAndBothWindows(t *testing.T) {
	c := reporting(t, standin.Config{Facts: []standin.Fact{fact("2026-11-01", "B01", 3)}})
	row := c.rows(c.report(order(`"clicks"`, `"campaignId","cost","sales7d","sales14d","purchases7d","purchases14d","campaignBudgetCurrencyCode","advertisedSku","addToList"`)))[0]
	for column, want := range map[string]any{
		"campaignId": json.Number("144158449488730278"), "cost": json.Number("14.5"), "sales7d": json.Number("10"), "sales14d": json.Number("20.1"),
		"purchases7d": json.Number("1"), "purchases14d": json.Number("2"), "campaignBudgetCurrencyCode": "USD", "advertisedSku": "S1", "addToList": json.Number("0"),
	} {
		if row[column] != want {
			t.Errorf("%s: got %v, want %v", column, row[column], want)
		}
	}
}

func TestRestatementShowsInReportsCompletedAfterwards(t *testing.T) {
	c := reporting(t, standin.Config{Facts: []standin.Fact{fact("2026-11-01", "B01", 3), fact("2026-11-02", "B01", 1)}})
	old := c.report(order())
	c.p.Restate(fact("2026-11-01", "B01", 5), fact("2026-11-03", "B02", 7))
	c.p.Withdraw(func(f standin.Fact) bool { return f.Day == "2026-11-02" })
	if got := fmt.Sprint(c.rows(c.report(order()))); got != "[map[advertisedAsin:B01 clicks:5 date:2026-11-01] map[advertisedAsin:B02 clicks:7 date:2026-11-03]]" {
		t.Errorf("new: %s", got)
	}
	if got := fmt.Sprint(c.rows(old)); got != "[map[advertisedAsin:B01 clicks:3 date:2026-11-01] map[advertisedAsin:B01 clicks:1 date:2026-11-02]]" {
		t.Errorf("old: %s", got)
	}
	if got := len(c.p.Facts()); got != 2 {
		t.Errorf("%d facts", got)
	}
}

func TestIdleFactsAreInNoReport(t *testing.T) {
	c := reporting(t, standin.Config{Facts: []standin.Fact{{Profile: 1, AdProduct: standin.SponsoredProducts, Day: "2026-11-01", Product: "B01", Cost: "0.00"}}})
	report := c.report(order())
	if got := c.rows(report); len(got) != 0 || got == nil {
		t.Errorf("got %v", got)
	}
}

func TestBrandsAreSummedPerCampaignWithoutLegacyOnes(t *testing.T) {
	brands := func(campaign, ad uint64, cost string) standin.Fact {
		return standin.Fact{Profile: 1, AdProduct: standin.SponsoredBrands, Day: "2026-11-01", CampaignID: campaign, AdID: ad, Cost: cost, Purchases14d: 1, Sales14d: "1.10"}
	}
	c := reporting(t, standin.Config{
		Facts:    []standin.Fact{brands(1, 1, "0.1"), brands(1, 2, "0.2"), brands(2, 3, "5")},
		Entities: standin.Entities{Campaigns: []standin.Campaign{{Profile: 1, AdProduct: standin.SponsoredBrands, ID: "2", Legacy: true}}},
	})
	rows := c.rows(c.report(order("SPONSORED_PRODUCTS", "SPONSORED_BRANDS", "spAdvertisedProduct", "sbCampaigns", `"advertiser"`, `"campaign"`,
		`"advertisedAsin","clicks"`, `"campaignId","cost","purchases","sales"`)))
	if got := fmt.Sprint(rows); got != "[map[campaignId:1 cost:0.3 date:2026-11-01 purchases:2 sales:2.2]]" {
		t.Errorf("got %s", got)
	}
}

func TestDisplayIsPerPromotedProduct(t *testing.T) {
	c := reporting(t, standin.Config{Facts: []standin.Fact{
		{Profile: 1, AdProduct: standin.SponsoredDisplay, Day: "2026-11-01", Product: "B09", Clicks: 1},
		{Profile: 1, AdProduct: standin.SponsoredDisplay, Day: "2026-11-01", Clicks: 2},
	}})
	rows := c.rows(c.report(order("SPONSORED_PRODUCTS", "SPONSORED_DISPLAY", "spAdvertisedProduct", "sdAdvertisedProduct", `"advertisedAsin"`, `"promotedAsin"`)))
	if got := fmt.Sprint(rows); got != "[map[clicks:1 date:2026-11-01 promotedAsin:B09] map[clicks:2 date:2026-11-01 promotedAsin:<nil>]]" {
		t.Errorf("got %s", got)
	}
}

func TestSummaryAddsDaysUp(t *testing.T) {
	c := reporting(t, standin.Config{Facts: []standin.Fact{fact("2026-11-01", "B01", 3), fact("2026-11-02", "B01", 4)}})
	rows := c.rows(c.report(order(`"DAILY"`, `"SUMMARY"`, `"date"`, `"startDate","endDate"`)))
	if got := fmt.Sprint(rows); got != "[map[advertisedAsin:B01 clicks:7 endDate:2026-11-10 startDate:2026-11-01]]" {
		t.Errorf("got %s", got)
	}
}

func TestExtraReplacesOrRemovesColumns(t *testing.T) {
	bad := fact("2026-11-01", "B01", 3)
	bad.Extra = map[string]any{"clicks": "many", "advertisedAsin": standin.Absent, "cost": 1}
	c := reporting(t, standin.Config{Facts: []standin.Fact{bad}})
	if got := fmt.Sprint(c.rows(c.report(order()))); got != "[map[clicks:many date:2026-11-01]]" {
		t.Errorf("got %s", got)
	}
}

func TestEmptyTextsAreNullOrLeftOut(t *testing.T) {
	noProduct := []standin.Fact{fact("2026-11-01", "", 3)}
	c := reporting(t, standin.Config{Facts: noProduct})
	if got := fmt.Sprint(c.rows(c.report(order()))); got != "[map[advertisedAsin:<nil> clicks:3 date:2026-11-01]]" {
		t.Errorf("null: %s", got)
	}
	c = reporting(t, standin.Config{Facts: noProduct, Rules: standin.ReportRules{OmitEmpty: true}})
	if got := fmt.Sprint(c.rows(c.report(order()))); got != "[map[clicks:3 date:2026-11-01]]" {
		t.Errorf("left out: %s", got)
	}
}
