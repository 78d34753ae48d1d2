package demo

import (
	"strconv"
	"strings"

	"adlens"
	"adlens/internal/made"
)

// A row is one line of a report.
type row struct {
	traffic
	date string // as JSON
	ad   *ad
	at   *listing

	// Sponsored Products
	windows   [4]orders // up to 1, 7, 14 or 30 days after the click
	addToList int64

	// the others
	all, clicked                     orders // clicked is the part of all that followed a click
	viewable                         int64
	pageViews, pageViewsClicks       int64
	newPageViews, newPageViewsClicks int64
	searches, searchesClicks         int64
	carts, cartsClicks               int64
	quarters                         [4]int64 // films seen to a quarter, half, three quarters, the end
	fiveSeconds, unmutes             int64
	topShare                         int64 // of the impressions at the top of a search, in hundredths of a percent
	reached                          int64 // people
}

// orders sums up orders; same are those of the advertised product itself.
type orders struct {
	purchases, same, newBuyers int64
	units, sameUnits, newUnits int64
	sales, sameSales, newSales cents
}

func (t *orders) addOrder(o order) {
	t.purchases++
	t.units += o.units
	t.sales += o.sales
	if o.promoted {
		t.same++
		t.sameUnits += o.units
		t.sameSales += o.sales
	}
	if o.newBuyer {
		t.newBuyers++
		t.newUnits += o.units
		t.newSales += o.sales
	}
}

// creditWindows credits an order to its window and to all longer ones.
func (r *row) creditWindows(o order) {
	if o.late {
		return
	}
	for i := o.window; i < len(r.windows); i++ {
		r.windows[i].addOrder(o)
	}
}

// writeRow adds the row to a report of its ad product.
func (r *row) writeRow(w *made.Rows) {
	money := func(name string, c cents) { w.Decimal(name, int64(c), 2) }
	group := r.at.group
	c := group.campaign
	w.Begin()
	w.JSON("date", r.date)
	w.Count("campaignId", c.id)
	w.JSON("campaignName", c.name)
	if c.adProduct != adlens.SponsoredDisplay {
		w.JSON("campaignStatus", `"ENABLED"`)
		budget := `"DAILY_BUDGET"`
		if c.lifetime {
			budget = `"LIFETIME_BUDGET"`
		}
		w.JSON("campaignBudgetType", budget)
		money("campaignBudgetAmount", c.budget)
	}
	w.JSON("campaignBudgetCurrencyCode", `"`+c.market.currency+`"`)
	if c.adProduct == adlens.SponsoredBrands {
		w.JSON("costType", r.ad.costType)
	} else {
		w.Count("adGroupId", group.id)
		w.JSON("adGroupName", group.name)
		w.Count("adId", r.at.id)
		if c.adProduct == adlens.SponsoredDisplay {
			w.JSON("bidOptimization", r.ad.aim)
		}
		asin := made.ReportTypeOf(c.adProduct).ProductColumn
		w.JSON(asin, r.ad.asin)
		if c.market.isSeller() { // vendors have no stock keeping units
			w.JSON(strings.TrimSuffix(asin, "Asin")+"Sku", r.ad.sku)
		}
	}
	w.Count("impressions", r.impressions)
	w.Count("clicks", r.clicks)
	money("cost", r.cost)
	if c.adProduct == adlens.SponsoredProducts {
		r.writeWindows(w, money)
	} else {
		r.writeResponse(w, money)
	}
	w.End()
}

func (r *row) writeWindows(w *made.Rows, money func(string, cents)) {
	w.Count("addToList", r.addToList)
	week := &r.windows[1]
	w.Count("unitsSoldOtherSku7d", week.units-week.sameUnits)
	money("salesOtherSku7d", week.sales-week.sameSales)
	for i, days := range [...]int{1, 7, 14, 30} {
		d, x := strconv.Itoa(days)+"d", &r.windows[i]
		w.Count("purchases"+d, x.purchases)
		w.Count("purchasesSameSku"+d, x.same)
		w.Count("unitsSoldClicks"+d, x.units)
		w.Count("unitsSoldSameSku"+d, x.sameUnits)
		money("sales"+d, x.sales)
		money("attributedSalesSameSku"+d, x.sameSales)
	}
}

func (r *row) writeResponse(w *made.Rows, money func(string, cents)) {
	w.Count("purchases", r.all.purchases)
	w.Count("purchasesClicks", r.clicked.purchases)
	w.Count("unitsSold", r.all.units)
	w.Count("unitsSoldClicks", r.clicked.units)
	money("sales", r.all.sales)
	money("salesClicks", r.clicked.sales)
	w.Count("newToBrandPurchases", r.all.newBuyers)
	w.Count("newToBrandPurchasesClicks", r.clicked.newBuyers)
	w.Count("newToBrandUnitsSold", r.all.newUnits)
	w.Count("newToBrandUnitsSoldClicks", r.clicked.newUnits)
	money("newToBrandSales", r.all.newSales)
	money("newToBrandSalesClicks", r.clicked.newSales)
	w.Count("detailPageViews", r.pageViews)
	w.Count("detailPageViewsClicks", r.pageViewsClicks)
	w.Count("newToBrandDetailPageViews", r.newPageViews)
	w.Count("brandedSearches", r.searches)
	w.Count("brandedSearchesClicks", r.searchesClicks)
	w.Count("addToCart", r.carts)
	w.Count("addToCartClicks", r.cartsClicks)
	for i, name := range [...]string{"FirstQuartile", "Midpoint", "ThirdQuartile", "Complete"} {
		w.Count("video"+name+"Views", r.quarters[i])
	}
	w.Count("videoUnmutes", r.unmutes)
	w.Decimal("viewabilityRate", r.viewable*10_000/max(r.impressions, 1), 4)
	if r.at.group.campaign.adProduct == adlens.SponsoredBrands {
		w.Count("purchasesPromoted", r.all.same)
		money("salesPromoted", r.all.sameSales)
		w.Count("newToBrandDetailPageViewsClicks", r.newPageViewsClicks)
		w.Count("viewableImpressions", r.viewable)
		w.Count("video5SecondViews", r.fiveSeconds)
		w.Decimal("topOfSearchImpressionShare", r.topShare, 2)
		return
	}
	w.Count("purchasesPromotedClicks", r.clicked.same)
	money("salesPromotedClicks", r.clicked.sameSales)
	w.Count("newToBrandDetailPageViewClicks", r.newPageViewsClicks)
	w.Count("newToBrandDetailPageViewViews", r.newPageViews-r.newPageViewsClicks)
	w.Count("impressionsViews", r.viewable)
	w.Count("brandedSearchesViews", r.searches-r.searchesClicks)
	w.Count("addToCartViews", r.carts-r.cartsClicks)
	w.Count("cumulativeReach", r.reached)
}
