package catalogue

import (
	"slices"
	"strings"

	"adlens"
)

// Unit is what a number counts.
type Unit string

// The units of measures and figures.
const (
	Count   Unit = "count"
	USD     Unit = "USD"
	Local   Unit = "local currency" // that of the marketplace
	Percent Unit = "percent"
	Ratio   Unit = "ratio"
)

// Measure is an additive number that facts keep. Rates, shares and averages of
// the platform are not additive and are not kept: they follow from sums.
type Measure struct {
	Name       string             // of its columns in the store
	Unit       Unit               // Count, or the currency of an amount
	Column     string             // the platform's name of it
	AdProducts []adlens.AdProduct // whose reports have that column
	Recent     bool               // the platform may still refuse a request for the column

	// Seller and Vendor are the platform's names in reports of ad products that
	// have it under several names, by the kind of the profile.
	Seller, Vendor string
}

// IsAmount reports whether the measure is an amount of money; else it is a count.
func (m Measure) IsAmount() bool { return m.Unit != Count }

// ColumnOf returns the platform's name of the measure in reports of an ad
// product to sellers or vendors.
func (m Measure) ColumnOf(p adlens.AdProduct, vendor bool) string {
	switch {
	case slices.Contains(m.AdProducts, p):
		return m.Column
	case vendor:
		return m.Vendor
	default:
		return m.Seller
	}
}

// AdProductNames returns the names of the ad products that have the measure under one
// name.
func (m Measure) AdProductNames() string {
	names := make([]string, len(m.AdProducts))
	for i, p := range m.AdProducts {
		names[i] = p.String()
	}
	return strings.Join(names, ", ")
}

// LocalColumns returns the columns of facts that have an amount of the headline
// exactly, in the marketplace's own currency: millionths, and units of 10^-20 below
// them.
func (m Measure) LocalColumns() (micros, rest string) {
	return m.Name + "_local", m.Name + "_local_rest"
}

// ReportedBy returns the measures whose columns the reports of an ad product
// have.
func ReportedBy(p adlens.AdProduct) (reported []Measure) {
	for _, m := range Measures {
		if slices.Contains(m.AdProducts, p) {
			reported = append(reported, m)
		}
	}
	return reported
}

// The sets of ad products that report a measure.
var (
	products          = []adlens.AdProduct{adlens.SponsoredProducts}
	brands            = []adlens.AdProduct{adlens.SponsoredBrands}
	display           = []adlens.AdProduct{adlens.SponsoredDisplay}
	productsAndBrands = []adlens.AdProduct{adlens.SponsoredProducts, adlens.SponsoredBrands}
	brandsAndDisplay  = []adlens.AdProduct{adlens.SponsoredBrands, adlens.SponsoredDisplay}
	all               = adlens.AdProducts
)

// The places of measures in Headline.
const (
	Impressions = iota
	Clicks
	Purchases
	Spend
	Sales
)

// Headline are the measures that figures follow from. Sums, columns of
// statements and rows of the store have their order.
//
// Purchases and sales of Sponsored Products are those of a 7-day window for
// sellers and of a 14-day window for vendors; elsewhere they are the platform's
// fixed 14 days.
var Headline = [...]Measure{
	Impressions: {Name: "impressions", Unit: Count, Column: "impressions", AdProducts: all},
	Clicks:      {Name: "clicks", Unit: Count, Column: "clicks", AdProducts: all},
	Purchases:   {Name: "purchases", Unit: Count, Column: "purchases", AdProducts: brandsAndDisplay, Seller: "purchases7d", Vendor: "purchases14d"},
	Spend:       {Name: "spend", Unit: USD, Column: "cost", AdProducts: all},
	Sales:       {Name: "sales", Unit: USD, Column: "sales", AdProducts: brandsAndDisplay, Seller: "sales7d", Vendor: "sales14d"},
}

// Measures are all measures: the headline, and behind it the further ones.
var Measures = slices.Concat(Headline[:], Extra)

// Extra are the further measures that are kept. The platform's documents call
// royaltyQualifiedBorrows a count, but it is money.
var Extra = []Measure{
	{Name: "purchases_1d", Unit: Count, Column: "purchases1d", AdProducts: products},
	{Name: "purchases_7d", Unit: Count, Column: "purchases7d", AdProducts: products},
	{Name: "purchases_14d", Unit: Count, Column: "purchases14d", AdProducts: products},
	{Name: "purchases_30d", Unit: Count, Column: "purchases30d", AdProducts: products},
	{Name: "purchases_same_sku_1d", Unit: Count, Column: "purchasesSameSku1d", AdProducts: products},
	{Name: "purchases_same_sku_7d", Unit: Count, Column: "purchasesSameSku7d", AdProducts: products},
	{Name: "purchases_same_sku_14d", Unit: Count, Column: "purchasesSameSku14d", AdProducts: products},
	{Name: "purchases_same_sku_30d", Unit: Count, Column: "purchasesSameSku30d", AdProducts: products},
	{Name: "units_sold_clicks_1d", Unit: Count, Column: "unitsSoldClicks1d", AdProducts: products},
	{Name: "units_sold_clicks_7d", Unit: Count, Column: "unitsSoldClicks7d", AdProducts: products},
	{Name: "units_sold_clicks_14d", Unit: Count, Column: "unitsSoldClicks14d", AdProducts: products},
	{Name: "units_sold_clicks_30d", Unit: Count, Column: "unitsSoldClicks30d", AdProducts: products},
	{Name: "units_sold_same_sku_1d", Unit: Count, Column: "unitsSoldSameSku1d", AdProducts: products},
	{Name: "units_sold_same_sku_7d", Unit: Count, Column: "unitsSoldSameSku7d", AdProducts: products},
	{Name: "units_sold_same_sku_14d", Unit: Count, Column: "unitsSoldSameSku14d", AdProducts: products},
	{Name: "units_sold_same_sku_30d", Unit: Count, Column: "unitsSoldSameSku30d", AdProducts: products},
	{Name: "units_sold_other_sku_7d", Unit: Count, Column: "unitsSoldOtherSku7d", AdProducts: products},
	{Name: "add_to_list", Unit: Count, Column: "addToList", AdProducts: all},
	{Name: "qualified_borrows", Unit: Count, Column: "qualifiedBorrows", AdProducts: all},
	{Name: "kindle_edition_normalized_pages_read_14d", Unit: Count, Column: "kindleEditionNormalizedPagesRead14d", AdProducts: productsAndBrands},
	{Name: "sales_1d", Unit: Local, Column: "sales1d", AdProducts: products},
	{Name: "sales_7d", Unit: Local, Column: "sales7d", AdProducts: products},
	{Name: "sales_14d", Unit: Local, Column: "sales14d", AdProducts: products},
	{Name: "sales_30d", Unit: Local, Column: "sales30d", AdProducts: products},
	{Name: "attributed_sales_same_sku_1d", Unit: Local, Column: "attributedSalesSameSku1d", AdProducts: products},
	{Name: "attributed_sales_same_sku_7d", Unit: Local, Column: "attributedSalesSameSku7d", AdProducts: products},
	{Name: "attributed_sales_same_sku_14d", Unit: Local, Column: "attributedSalesSameSku14d", AdProducts: products},
	{Name: "attributed_sales_same_sku_30d", Unit: Local, Column: "attributedSalesSameSku30d", AdProducts: products},
	{Name: "sales_other_sku_7d", Unit: Local, Column: "salesOtherSku7d", AdProducts: products},
	{Name: "royalty_qualified_borrows", Unit: Local, Column: "royaltyQualifiedBorrows", AdProducts: all},
	{Name: "kindle_edition_normalized_pages_royalties_14d", Unit: Local, Column: "kindleEditionNormalizedPagesRoyalties14d", AdProducts: productsAndBrands},
	{Name: "viewable_impressions", Unit: Count, Column: "viewableImpressions", AdProducts: brands},
	{Name: "purchases_clicks", Unit: Count, Column: "purchasesClicks", AdProducts: brandsAndDisplay},
	{Name: "purchases_promoted", Unit: Count, Column: "purchasesPromoted", AdProducts: brands},
	{Name: "units_sold", Unit: Count, Column: "unitsSold", AdProducts: brandsAndDisplay},
	{Name: "units_sold_clicks", Unit: Count, Column: "unitsSoldClicks", AdProducts: brandsAndDisplay},
	{Name: "detail_page_views", Unit: Count, Column: "detailPageViews", AdProducts: brandsAndDisplay},
	{Name: "detail_page_views_clicks", Unit: Count, Column: "detailPageViewsClicks", AdProducts: brandsAndDisplay},
	{Name: "branded_searches", Unit: Count, Column: "brandedSearches", AdProducts: brandsAndDisplay},
	{Name: "branded_searches_clicks", Unit: Count, Column: "brandedSearchesClicks", AdProducts: brandsAndDisplay},
	{Name: "add_to_cart", Unit: Count, Column: "addToCart", AdProducts: brandsAndDisplay},
	{Name: "add_to_cart_clicks", Unit: Count, Column: "addToCartClicks", AdProducts: brandsAndDisplay},
	{Name: "add_to_list_from_clicks", Unit: Count, Column: "addToListFromClicks", AdProducts: brandsAndDisplay},
	{Name: "new_to_brand_purchases", Unit: Count, Column: "newToBrandPurchases", AdProducts: brandsAndDisplay},
	{Name: "new_to_brand_purchases_clicks", Unit: Count, Column: "newToBrandPurchasesClicks", AdProducts: brandsAndDisplay},
	{Name: "new_to_brand_units_sold", Unit: Count, Column: "newToBrandUnitsSold", AdProducts: brandsAndDisplay},
	{Name: "new_to_brand_units_sold_clicks", Unit: Count, Column: "newToBrandUnitsSoldClicks", AdProducts: brandsAndDisplay},
	{Name: "new_to_brand_detail_page_views", Unit: Count, Column: "newToBrandDetailPageViews", AdProducts: brandsAndDisplay},
	{Name: "new_to_brand_detail_page_views_clicks", Unit: Count, Column: "newToBrandDetailPageViewsClicks", AdProducts: brands},
	{Name: "qualified_borrows_from_clicks", Unit: Count, Column: "qualifiedBorrowsFromClicks", AdProducts: brandsAndDisplay},
	{Name: "brand_store_page_view", Unit: Count, Column: "brandStorePageView", AdProducts: brands, Recent: true},
	{Name: "video_5_second_views", Unit: Count, Column: "video5SecondViews", AdProducts: brands},
	{Name: "video_complete_views", Unit: Count, Column: "videoCompleteViews", AdProducts: brandsAndDisplay},
	{Name: "video_first_quartile_views", Unit: Count, Column: "videoFirstQuartileViews", AdProducts: brandsAndDisplay},
	{Name: "video_midpoint_views", Unit: Count, Column: "videoMidpointViews", AdProducts: brandsAndDisplay},
	{Name: "video_third_quartile_views", Unit: Count, Column: "videoThirdQuartileViews", AdProducts: brandsAndDisplay},
	{Name: "video_unmutes", Unit: Count, Column: "videoUnmutes", AdProducts: brandsAndDisplay},
	{Name: "sales_clicks", Unit: Local, Column: "salesClicks", AdProducts: brandsAndDisplay},
	{Name: "sales_promoted", Unit: Local, Column: "salesPromoted", AdProducts: brands},
	{Name: "new_to_brand_sales", Unit: Local, Column: "newToBrandSales", AdProducts: brandsAndDisplay},
	{Name: "new_to_brand_sales_clicks", Unit: Local, Column: "newToBrandSalesClicks", AdProducts: brandsAndDisplay},
	{Name: "royalty_qualified_borrows_from_clicks", Unit: Local, Column: "royaltyQualifiedBorrowsFromClicks", AdProducts: brandsAndDisplay},
	{Name: "impressions_views", Unit: Count, Column: "impressionsViews", AdProducts: display},
	{Name: "purchases_promoted_clicks", Unit: Count, Column: "purchasesPromotedClicks", AdProducts: display},
	{Name: "branded_searches_views", Unit: Count, Column: "brandedSearchesViews", AdProducts: display},
	{Name: "add_to_cart_views", Unit: Count, Column: "addToCartViews", AdProducts: display},
	{Name: "add_to_list_from_views", Unit: Count, Column: "addToListFromViews", AdProducts: display},
	{Name: "new_to_brand_detail_page_view_clicks", Unit: Count, Column: "newToBrandDetailPageViewClicks", AdProducts: display},
	{Name: "new_to_brand_detail_page_view_views", Unit: Count, Column: "newToBrandDetailPageViewViews", AdProducts: display},
	{Name: "qualified_borrows_from_views", Unit: Count, Column: "qualifiedBorrowsFromViews", AdProducts: display},
	{Name: "kindle_edition_normalized_pages_read", Unit: Count, Column: "kindleEditionNormalizedPagesRead", AdProducts: display, Recent: true},
	{Name: "kindle_edition_normalized_pages_read_from_clicks", Unit: Count, Column: "kindleEditionNormalizedPagesReadFromClicks", AdProducts: display, Recent: true},
	{Name: "kindle_edition_normalized_pages_read_from_views", Unit: Count, Column: "kindleEditionNormalizedPagesReadFromViews", AdProducts: display, Recent: true},
	{Name: "lead_form_opens", Unit: Count, Column: "leadFormOpens", AdProducts: display, Recent: true},
	{Name: "leads", Unit: Count, Column: "leads", AdProducts: display, Recent: true},
	{Name: "link_outs", Unit: Count, Column: "linkOuts", AdProducts: display, Recent: true},
	{Name: "sales_promoted_clicks", Unit: Local, Column: "salesPromotedClicks", AdProducts: display},
	{Name: "royalty_qualified_borrows_from_views", Unit: Local, Column: "royaltyQualifiedBorrowsFromViews", AdProducts: display},
	{Name: "kindle_edition_normalized_pages_royalties", Unit: Local, Column: "kindleEditionNormalizedPagesRoyalties", AdProducts: display, Recent: true},
	{Name: "kindle_edition_normalized_pages_royalties_from_clicks", Unit: Local, Column: "kindleEditionNormalizedPagesRoyaltiesFromClicks", AdProducts: display, Recent: true},
	{Name: "kindle_edition_normalized_pages_royalties_from_views", Unit: Local, Column: "kindleEditionNormalizedPagesRoyaltiesFromViews", AdProducts: display, Recent: true},
}
