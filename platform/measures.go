package platform

import (
	"strings"
	"unicode"

	"adlens"
)

// Unit says what a measure counts.
type Unit uint8

// A measure counts things, or it is an amount of the profile's currency.
const (
	Count Unit = iota
	Money
)

// Measure is one additive column of a report. Rates, shares and averages of
// the platform are not additive and are not kept: they follow from sums.
type Measure struct {
	Column string // the platform's name
	Unit   Unit
}

// FactColumn returns the name under which the measure is stored: the
// platform's own in snake case, purchasesSameSku14d as purchases_same_sku_14d.
func (m Measure) FactColumn() string {
	var b strings.Builder
	var last rune
	for _, r := range m.Column {
		boundary := unicode.IsUpper(r) || unicode.IsDigit(r) && !unicode.IsDigit(last)
		if boundary && last != 0 {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
		last = r
	}
	return b.String()
}

// ReportType is a kind of report that figures come from. There is exactly one
// per ad product, because two would count the same money twice.
type ReportType struct {
	ID            string
	AdProduct     adlens.AdProduct
	GroupBy       string
	ProductColumn string // the advertised product of a row; "" where rows have none
	Measures      []Measure
}

// The columns that every report has beside its measures.
const (
	DateColumn     = "date"
	CurrencyColumn = "campaignBudgetCurrencyCode"
	ColumnSpend    = "cost"
	ColumnViews    = "impressions"
	ColumnClicks   = "clicks"
)

// Headline names the two columns that answer as purchases and sales: for
// Sponsored Products the 7-day window of sellers and the 14-day window of
// vendors, elsewhere the platform's fixed 14 days.
func (t *ReportType) Headline(vendor bool) (purchases, sales string) {
	switch {
	case t.AdProduct != adlens.SponsoredProducts:
		return "purchases", "sales"
	case vendor:
		return "purchases14d", "sales14d"
	default:
		return "purchases7d", "sales7d"
	}
}

// ReportTypes are the report types that figures come from. The platform's
// documents call royaltyQualifiedBorrows a count, but it is money.
var ReportTypes = []*ReportType{
	{
		ID: "spAdvertisedProduct", AdProduct: adlens.SponsoredProducts, GroupBy: "advertiser", ProductColumn: "advertisedAsin",
		Measures: measures(
			`impressions clicks
			purchases1d purchases7d purchases14d purchases30d
			purchasesSameSku1d purchasesSameSku7d purchasesSameSku14d purchasesSameSku30d
			unitsSoldClicks1d unitsSoldClicks7d unitsSoldClicks14d unitsSoldClicks30d
			unitsSoldSameSku1d unitsSoldSameSku7d unitsSoldSameSku14d unitsSoldSameSku30d unitsSoldOtherSku7d
			addToList qualifiedBorrows kindleEditionNormalizedPagesRead14d`,
			`cost sales1d sales7d sales14d sales30d
			attributedSalesSameSku1d attributedSalesSameSku7d attributedSalesSameSku14d attributedSalesSameSku30d salesOtherSku7d
			royaltyQualifiedBorrows kindleEditionNormalizedPagesRoyalties14d`),
	},
	{
		ID: "sbCampaigns", AdProduct: adlens.SponsoredBrands, GroupBy: "campaign",
		Measures: measures(
			`impressions viewableImpressions clicks
			purchases purchasesClicks purchasesPromoted unitsSold unitsSoldClicks
			detailPageViews detailPageViewsClicks brandedSearches brandedSearchesClicks
			addToCart addToCartClicks addToList addToListFromClicks
			newToBrandPurchases newToBrandPurchasesClicks newToBrandUnitsSold newToBrandUnitsSoldClicks
			newToBrandDetailPageViews newToBrandDetailPageViewsClicks
			qualifiedBorrows qualifiedBorrowsFromClicks kindleEditionNormalizedPagesRead14d brandStorePageView
			video5SecondViews videoCompleteViews videoFirstQuartileViews videoMidpointViews videoThirdQuartileViews videoUnmutes`,
			`cost sales salesClicks salesPromoted newToBrandSales newToBrandSalesClicks
			royaltyQualifiedBorrows royaltyQualifiedBorrowsFromClicks kindleEditionNormalizedPagesRoyalties14d`),
	},
	{
		ID: "sdAdvertisedProduct", AdProduct: adlens.SponsoredDisplay, GroupBy: "advertiser", ProductColumn: "promotedAsin",
		Measures: measures(
			`impressions impressionsViews clicks
			purchases purchasesClicks purchasesPromotedClicks unitsSold unitsSoldClicks
			detailPageViews detailPageViewsClicks brandedSearches brandedSearchesClicks brandedSearchesViews
			addToCart addToCartClicks addToCartViews addToList addToListFromClicks addToListFromViews
			newToBrandPurchases newToBrandPurchasesClicks newToBrandUnitsSold newToBrandUnitsSoldClicks
			newToBrandDetailPageViews newToBrandDetailPageViewClicks newToBrandDetailPageViewViews
			qualifiedBorrows qualifiedBorrowsFromClicks qualifiedBorrowsFromViews
			kindleEditionNormalizedPagesRead kindleEditionNormalizedPagesReadFromClicks kindleEditionNormalizedPagesReadFromViews
			leadFormOpens leads linkOuts
			videoCompleteViews videoFirstQuartileViews videoMidpointViews videoThirdQuartileViews videoUnmutes`,
			`cost sales salesClicks salesPromotedClicks newToBrandSales newToBrandSalesClicks
			royaltyQualifiedBorrows royaltyQualifiedBorrowsFromClicks royaltyQualifiedBorrowsFromViews
			kindleEditionNormalizedPagesRoyalties kindleEditionNormalizedPagesRoyaltiesFromClicks kindleEditionNormalizedPagesRoyaltiesFromViews`),
	},
}

func measures(counts, amounts string) []Measure {
	var all []Measure
	for _, column := range strings.Fields(counts) {
		all = append(all, Measure{column, Count})
	}
	for _, column := range strings.Fields(amounts) {
		all = append(all, Measure{column, Money})
	}
	return all
}

// FindReportType returns the report type of an id that figures come from.
func FindReportType(id string) (*ReportType, bool) {
	for _, t := range ReportTypes {
		if t.ID == id {
			return t, true
		}
	}
	return nil, false
}

// RequestColumns are the columns to ask the platform for: all that are kept,
// but those that it added lately and may still refuse, because one column that
// it does not know refuses the whole report.
func (t *ReportType) RequestColumns() []string {
	columns := []string{DateColumn, CurrencyColumn, "campaignId"}
	if t.ProductColumn != "" {
		columns = append(columns, "adGroupId", "adId", t.ProductColumn)
	}
	for _, m := range t.Measures {
		if !recent[m.Column] {
			columns = append(columns, m.Column)
		}
	}
	return columns
}

var recent = map[string]bool{
	"brandStorePageView": true, "leadFormOpens": true, "leads": true, "linkOuts": true,
	"kindleEditionNormalizedPagesRead": true, "kindleEditionNormalizedPagesReadFromClicks": true, "kindleEditionNormalizedPagesReadFromViews": true,
	"kindleEditionNormalizedPagesRoyalties": true, "kindleEditionNormalizedPagesRoyaltiesFromClicks": true, "kindleEditionNormalizedPagesRoyaltiesFromViews": true,
}
