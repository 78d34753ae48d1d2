package standin

import "strings"

// columnSet tells the columns of a report type; numbers and texts apart, since
// one that does not apply is 0 in the first case and null in the second.
type columnSet map[string]columnType

type columnType int

const (
	textColumn columnType = iota
	numberColumn
)

// parseColumns reads lists in the notation of platform.md: sales{1d,7d}.
func parseColumns(texts, numbers string) columnSet {
	set := columnSet{}
	for _, name := range expandBraces(texts) {
		set[name] = textColumn
	}
	for _, name := range expandBraces(numbers) {
		set[name] = numberColumn
	}
	return set
}

func (s columnSet) withColumns(others ...columnSet) columnSet {
	sum := columnSet{}
	for _, set := range append([]columnSet{s}, others...) {
		for name, kind := range set {
			sum[name] = kind
		}
	}
	return sum
}

func (s columnSet) withoutColumns(names string) columnSet {
	rest := s.withColumns()
	for _, name := range expandBraces(names) {
		delete(rest, name)
	}
	return rest
}

func expandBraces(list string) []string {
	var names []string
	for _, word := range strings.Fields(list) {
		stem, braces, found := strings.Cut(word, "{")
		if !found {
			names = append(names, word)
			continue
		}
		for _, end := range strings.Split(strings.TrimSuffix(braces, "}"), ",") {
			names = append(names, stem+end)
		}
	}
	return names
}

var spMeasures = parseColumns("date startDate endDate",
	`impressions clicks purchases{1d,7d,14d,30d} purchasesSameSku{1d,7d,14d,30d} unitsSoldClicks{1d,7d,14d,30d}
	unitsSoldSameSku{1d,7d,14d,30d} addToList qualifiedBorrows royaltyQualifiedBorrows kindleEditionNormalizedPagesRead14d
	cost spend costPerClick clickThroughRate sales{1d,7d,14d,30d} attributedSalesSameSku{1d,7d,14d,30d}
	kindleEditionNormalizedPagesRoyalties14d`)

var spCampaignColumns = parseColumns(
	"campaignName campaignStatus campaignBudgetType campaignBudgetCurrencyCode campaignApplicableBudgetRuleId campaignApplicableBudgetRuleName",
	"campaignId campaignBudgetAmount campaignRuleBasedBudgetAmount topOfSearchImpressionShare")

var spAdvertisedProductColumns = spMeasures.withColumns(parseColumns(
	"campaignName adGroupName campaignBudgetCurrencyCode campaignBudgetType campaignStatus advertisedAsin advertisedSku",
	"campaignId adGroupId adId portfolioId unitsSoldOtherSku7d campaignBudgetAmount salesOtherSku7d acosClicks{7d,14d} roasClicks{7d,14d}"))

var sbCampaignColumns = parseColumns(
	"date startDate endDate campaignName campaignStatus campaignBudgetType campaignBudgetCurrencyCode costType",
	`campaignId impressions viewableImpressions clicks purchases purchasesClicks purchasesPromoted unitsSold unitsSoldClicks
	detailPageViews detailPageViewsClicks brandedSearches brandedSearchesClicks addToCart addToCartClicks addToList addToListFromClicks
	newToBrandPurchases newToBrandPurchasesClicks newToBrandUnitsSold newToBrandUnitsSoldClicks newToBrandDetailPageViews
	newToBrandDetailPageViewsClicks qualifiedBorrows qualifiedBorrowsFromClicks royaltyQualifiedBorrows royaltyQualifiedBorrowsFromClicks
	kindleEditionNormalizedPagesRead14d video5SecondViews videoCompleteViews videoFirstQuartileViews videoMidpointViews
	videoThirdQuartileViews videoUnmutes brandStorePageView cost campaignBudgetAmount sales salesClicks salesPromoted newToBrandSales
	newToBrandSalesClicks newToBrandSalesPercentage newToBrandPurchasesPercentage newToBrandPurchasesRate newToBrandUnitsSoldPercentage
	newToBrandDetailPageViewRate newToBrandECPDetailPageView addToCartRate eCPAddToCart topOfSearchImpressionShare viewabilityRate
	viewClickThroughRate video5SecondViewRate kindleEditionNormalizedPagesRoyalties14d longTermSales longTermROAS`)

// What the pages of sbAds and sbAdGroup leave out of the campaign's columns.
const notBelowSBCampaign = "topOfSearchImpressionShare viewClickThroughRate longTermSales longTermROAS brandStorePageView"

var sbAdColumns = sbCampaignColumns.withoutColumns(notBelowSBCampaign).withColumns(parseColumns("adGroupName", "adGroupId adId"))

var sbAdGroupColumns = sbCampaignColumns.withoutColumns(notBelowSBCampaign + " viewableImpressions").withColumns(parseColumns("adGroupName adStatus", "adGroupId"))

var sdMeasures = parseColumns("date startDate endDate campaignName campaignBudgetCurrencyCode",
	`campaignId impressions impressionsViews clicks purchases purchasesClicks purchasesPromotedClicks unitsSold unitsSoldClicks
	detailPageViews detailPageViewsClicks brandedSearches brandedSearchesClicks brandedSearchesViews addToCart addToCartClicks
	addToCartViews addToList addToListFromClicks addToListFromViews newToBrandPurchases newToBrandPurchasesClicks newToBrandUnitsSold
	newToBrandUnitsSoldClicks qualifiedBorrows{,FromClicks,FromViews} royaltyQualifiedBorrows{,FromClicks,FromViews}
	videoCompleteViews videoFirstQuartileViews videoMidpointViews videoThirdQuartileViews videoUnmutes cost sales salesClicks
	salesPromotedClicks newToBrandSalesClicks addToCartRate eCPAddToCart brandedSearchRate eCPBrandSearch viewabilityRate
	viewClickThroughRate kindleEditionNormalizedPagesRead{,FromClicks,FromViews} kindleEditionNormalizedPagesRoyalties{,FromClicks,FromViews}
	leadFormOpens leads linkOuts`)

// These belong to Display campaigns and advertised products alike.
var sdReach = parseColumns("", `cumulativeReach impressionsFrequencyAverage newToBrandSales newToBrandDetailPageViewRate
	newToBrandDetailPageViews newToBrandDetailPageViewClicks newToBrandDetailPageViewViews newToBrandECPDetailPageView`)

var sdCampaignColumns = sdReach.withColumns(parseColumns("campaignStatus costType", "campaignBudgetAmount longTermSales longTermROAS"))

var sdAdvertisedProductColumns = sdMeasures.withColumns(sdReach,
	parseColumns("adGroupName bidOptimization promotedAsin promotedSku", "adGroupId adId")).withoutColumns("leadFormOpens leads linkOuts")
