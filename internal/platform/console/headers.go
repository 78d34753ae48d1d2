package console

import (
	"regexp"
	"strings"

	"adlens"
)

// column is what a column of the console is in a report of the platform.
type column struct {
	// The platform's names in reports of each ad product; "" where the column is
	// nothing that rows keep.
	products, brands, display string
	headers                   []string // that it may have
}

// name returns the platform's name of the column in reports of an ad product.
func (c *column) name(p adlens.AdProduct) string {
	switch p {
	case adlens.SponsoredProducts:
		return c.products
	case adlens.SponsoredBrands:
		return c.brands
	default:
		return c.display
	}
}

// all is a column that has one name in reports of all ad products.
func all(name string, headers ...string) *column {
	return &column{name, name, name, headers}
}

// The columns of the console that say what a row is of, and those of the headline.
// Headers are those of the console in English, German, Spanish, Italian, Japanese
// and Chinese, as far as a source shows them:
//
//   - English: the mappings of the console's "Sponsored Brands Campaign", "Sponsored
//     Display Campaign" and "Sponsored Display Advertised Product" reports to fields
//     of the platform's API, column by column; a fixture of a "Sponsored Products"
//     download with a line of its title and "Sep 01, 2026" for a day; the vendor's
//     own table of 14-day metrics of its Marketing Cloud (vendors' columns by ASIN).
//   - German: a table of a database, made column by column for a daily "Advertised
//     product" download (Datum ... 7-Tage, Andere SKU-Umsätze).
//   - Spanish: fixtures measured on real downloads of August 2026, CSV (semicolons,
//     decimal comma, "ago 20, 2026") and workbook; the ASIN's column from two parsers.
//   - Italian: three parsers of search term downloads, and one of products.
//   - Japanese: a parser of "Advertised product" downloads, and one of daily ones.
//   - Chinese: a fixture of an "Advertised product" download, and a parser of daily
//     ones.
//
// All were found by string search in public repositories, which the search does not
// name. In other languages (French, Korean, Portuguese) no source shows a whole
// report; their downloads are not recognized.
var (
	dateColumn     = all("date", "Date", "Datum", "Fecha", "Data", "日付", "日期")
	currencyColumn = all("campaignBudgetCurrencyCode", "Currency", "Währung", "Divisa", "货币")
	countryColumn  = all("", "Country", "País", "国家/地区")
	campaignColumn = all("campaignName", "Campaign Name", "Kampagnen-Name", "Nombre de campaña", "Nombre de la campaña", "Nome campagna", "キャンペーン名", "广告活动名称")
	adGroupColumn  = all("adGroupName", "Ad Group Name", "Anzeigengruppenname", "Nombre del grupo de anuncios", "Nome del gruppo di annunci", "広告グループ名", "广告组名称")
	asinColumn     = &column{"advertisedAsin", "", "promotedAsin",
		[]string{"Advertised ASIN", "Beworbene ASIN", "ASIN anunciado", "ASIN pubblicizzato", "宣伝 ASIN", "广告ASIN"}}
	campaignIDColumn = all("campaignId", "Campaign ID")
	adGroupIDColumn  = all("adGroupId", "Ad Group ID")

	impressionsColumn = all("impressions", "Impressions", "Impressionen", "Impresiones", "Impressioni", "インプレッション", "展示量")
	clicksColumn      = all("clicks", "Clicks", "Klicks", "Clics", "Clic", "クリック", "クリック数", "点击量")
	spendColumn       = all("cost", "Spend", "Ausgaben", "Gasto", "Spesa", "費用", "花费")
	sales7Column      = &column{"sales7d", "", "", []string{"7 Day Total Sales", "7 Tage, Umsatz gesamt", "Ventas totales de 7 días", "Vendite totali 7 giorni",
		"広告がクリックされてから7日間の総売上高", "7天总销售额"}}
	orders7Column = &column{"purchases7d", "", "", []string{"7 Day Total Orders (#)", "7 Tage, Aufträge gesamt (#)", "Pedidos totales de 7 días (#)", "Totale ordini (#) 7 giorni",
		"広告がクリックされてから7日間の合計注文数", "7天总订单数(#)"}}
	sales14Column  = &column{"sales14d", "sales", "sales", []string{"14 Day Total Sales"}}
	orders14Column = &column{"purchases14d", "purchases", "purchases", []string{"14 Day Total Orders (#)"}}

	// Those that tell the reports of one ad product from those of another.
	ofSameASIN14Column = &column{"unitsSoldSameSku14d", "", "", []string{"14 Day Advertised ASIN Units (#)"}}
	viewableColumn     = &column{"", "viewableImpressions", "impressionsViews", []string{"Viewable Impressions"}}
	salesClickColumn   = &column{"", "salesClicks", "salesClicks", []string{"14 Day Total Sales - (Click)"}}
	detailPagesColumn  = &column{"", "detailPageViews", "detailPageViews", []string{"14 Day Detail Page Views (DPV)"}}
	newOrdersShare     = all("", "14 Day % of Orders New-to-brand")
	fiveSecondsColumn  = &column{"", "video5SecondViews", "", []string{"5 Second Views"}}
	startDateColumn    = all("", "Start Date", "Startdatum", "Fecha de inicio", "Data di inizio", "開始日", "开始日期")
)

// columns are all that are known.
var columns = []*column{
	dateColumn, currencyColumn, countryColumn, campaignColumn, adGroupColumn, asinColumn, campaignIDColumn, adGroupIDColumn,
	impressionsColumn, clicksColumn, spendColumn, sales7Column, orders7Column, sales14Column, orders14Column,
	ofSameASIN14Column, viewableColumn, salesClickColumn, detailPagesColumn, newOrdersShare, fiveSecondsColumn, startDateColumn,

	{"unitsSoldClicks7d", "", "", []string{"7 Day Total Units (#)", "7 Tage, Einheiten gesamt (#)", "Unidades totales de 7 días (#)", "広告がクリックされてから7日間の合計販売数", "7天总销售量(#)"}},
	{"unitsSoldSameSku7d", "", "", []string{"7 Day Advertised SKU Units (#)", "7 Tage, Beworbene SKU-Einheiten (#)", "Unidades SKU anunciadas 7 días (#)", "7天内广告SKU销售量(#)"}},
	{"unitsSoldOtherSku7d", "", "", []string{"7 Day Other SKU Units (#)", "7-Tage, Andere SKU-Einheiten (#)", "Otras unidades SKU de 7 días (#)", "7天内其他SKU销售量(#)"}},
	{"attributedSalesSameSku7d", "", "", []string{"7 Day Advertised SKU Sales", "7 Tage, Beworbene SKU-Umsätze", "Ventas SKU anunciadas 7 días", "7天内广告SKU销售额"}},
	{"salesOtherSku7d", "", "", []string{"7 Day Other SKU Sales", "7-Tage, Andere SKU-Umsätze", "Otras ventas SKU de 7 días", "7天内其他SKU销售额"}},
	{"unitsSoldClicks14d", "unitsSold", "unitsSold", []string{"14 Day Total Units (#)"}},
	{"attributedSalesSameSku14d", "", "", []string{"14 Day Advertised ASIN Sales"}},

	{"", "purchasesClicks", "purchasesClicks", []string{"14 Day Total Orders (#) - (Click)"}},
	{"", "unitsSoldClicks", "unitsSoldClicks", []string{"14 Day Total Units (#) - (Click)"}},
	{"", "newToBrandPurchases", "newToBrandPurchases", []string{"14 Day New-to-brand Orders (#)"}},
	{"", "newToBrandSales", "newToBrandSales", []string{"14 Day New-to-brand Sales"}},
	{"", "newToBrandUnitsSold", "newToBrandUnitsSold", []string{"14 Day New-to-brand Units (#)"}},
	{"", "", "newToBrandPurchasesClicks", []string{"14 Day New-to-brand Orders (#) - (Click)"}},
	{"", "", "newToBrandSalesClicks", []string{"14 Day New-to-brand Sales - (Click)"}},
	{"", "", "newToBrandUnitsSoldClicks", []string{"14 Day New-to-brand Units (#) - (Click)"}},
	{"", "newToBrandDetailPageViews", "", []string{"New-to-brand detail page views"}},
	{"", "newToBrandDetailPageViewsClicks", "", []string{"New-to-brand detail page view click-through conversions"}},
	{"", "brandStorePageView", "", []string{"Brand Store page views"}},
	{"", "brandedSearches", "", []string{"14 Day Branded Searches"}},
	{"", "brandedSearchesClicks", "", []string{"Branded Searches click-through conversions"}},
	{"", "addToCart", "", []string{"14 Day ATC"}},
	{"", "addToCartClicks", "", []string{"14 Day ATC Clicks"}},
	{"", "videoFirstQuartileViews", "", []string{"Video First Quartile Views"}},
	{"", "videoMidpointViews", "", []string{"Video Midpoint Views"}},
	{"", "videoThirdQuartileViews", "", []string{"Video Third Quartile Views"}},
	{"", "videoCompleteViews", "", []string{"Video Complete Views"}},
	{"", "videoUnmutes", "", []string{"Video Unmutes"}},
}

// columnOf finds a column by its normal header.
var columnOf = func() map[string]*column {
	found := map[string]*column{}
	for _, c := range columns {
		for _, header := range c.headers {
			found[normalHeader(header)] = c
		}
	}
	return found
}()

// otherReports are columns of reports that figures do not come from: they would
// count twice, or are of a part.
var otherReports = func() map[string]bool {
	found := map[string]bool{}
	for _, header := range []string{
		"Customer Search Term", "Targeting", "Match Type", "Placement", "Purchased ASIN", "Budget Amount", "Start Time",
		"Keyword- oder Produkt-Targeting", "Segmentación", "Tipo de coincidencia", "Término de búsqueda de cliente",
		"Termine ricerca cliente", "Tipo di corrispondenza", "ターゲティング", "カスタマーの検索キーワード", "投放", "匹配类型", "客户搜索词",
	} {
		found[normalHeader(header)] = true
	}
	return found
}()

// inBrackets are a currency's sign or code in brackets, which headers of amounts
// have in some languages: "7 Tage, Umsatz gesamt (€)", "14 Day Total Sales (₹)".
var inBrackets = regexp.MustCompile(`\((?:\p{Sc}|[A-Z]{3}|[A-Z]{1,2}\p{Sc}|kr|zł|TL)\)`)

// normalHeader is a header as it is compared: some end in a space, and the case,
// the width of brackets and the currency change.
func normalHeader(header string) string {
	header = strings.NewReplacer("（", "(", "）", ")", "\u00a0", " ").Replace(header)
	return strings.ToLower(strings.Join(strings.Fields(inBrackets.ReplaceAllString(header, " ")), " "))
}
