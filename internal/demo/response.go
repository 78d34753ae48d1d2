package demo

import "math/rand/v2"

// A response is what Sponsored Brands and Sponsored Display report beside the
// traffic: orders after clicks and after views, what people looked at, and the
// films they watched.
type response struct {
	all, clicked orders // clicked is the part of all that followed a click

	viewable                         int64
	pageViews, pageViewsClicks       int64
	newPageViews, newPageViewsClicks int64
	searches, searchesClicks         int64
	carts, cartsClicks               int64
	quarters                         [4]int64 // films seen to a quarter, half, three quarters, the end
	fiveSeconds, unmutes             int64
}

type orders struct {
	purchases, promoted, newBuyers int64
	units, newUnits                int64
	sales, promotedSales, newSales cents
}

func (t *orders) add(o order) {
	t.purchases++
	t.units += o.units
	t.sales += o.sales
	if o.promoted {
		t.promoted++
		t.promotedSales += o.sales
	}
	if o.newBuyer {
		t.newBuyers++
		t.newUnits += o.units
		t.newSales += o.sales
	}
}

func (r *response) add(o order) {
	if o.late {
		return
	}
	r.all.add(o)
	if !o.viewed {
		r.clicked.add(o)
	}
}

// respond draws a response. Views is how many orders follow a view for each
// that follows a click.
func (s *scene) respond(t traffic, a *appeal, views float64, video bool) response {
	var r response
	s.credit(t.clicks, a, views, r.add)
	part := func(of int64, low, high float64) int64 { return int64(float64(of) * between(s.rng, low, high)) }
	r.viewable = max(part(t.impressions, 0.55, 0.85), t.clicks)
	r.pageViewsClicks = part(t.clicks, 0.6, 0.95)
	r.pageViews = r.pageViewsClicks + part(r.viewable, 0, 0.004*(1+views))
	r.newPageViews = part(r.pageViews, 0.5, 0.9)
	r.newPageViewsClicks = min(part(r.pageViewsClicks, 0.5, 0.9), r.newPageViews)
	r.searchesClicks = poisson(s.rng, float64(t.clicks)*0.03)
	r.searches = r.searchesClicks + poisson(s.rng, float64(r.viewable)*0.0002)
	r.cartsClicks = r.clicked.purchases + part(t.clicks, 0.02, 0.15)
	r.carts = r.cartsClicks + r.all.purchases - r.clicked.purchases + part(r.viewable, 0, 0.0006*(1+views))
	if video {
		r.watch(s.rng)
	}
	return r
}

func (r *response) watch(rng *rand.Rand) {
	watching := float64(r.viewable) * between(rng, 0.35, 0.6)
	r.fiveSeconds = int64(watching)
	for i := range r.quarters {
		watching *= between(rng, 0.55, 0.85)
		r.quarters[i] = int64(watching)
	}
	r.unmutes = r.quarters[1] / 20
}

// responseColumns are the measures that both reports have under one name.
func responseColumns[R any](of func(*R) (*traffic, *response)) columns[R] {
	n := func(name string, get func(*response) int64) column[R] {
		return count(name, func(r *R) int64 { _, x := of(r); return get(x) })
	}
	amount := func(name string, get func(*response) cents) column[R] {
		return money(name, func(r *R) cents { _, x := of(r); return get(x) })
	}
	return columns[R]{
		count("impressions", func(r *R) int64 { t, _ := of(r); return t.impressions }),
		count("clicks", func(r *R) int64 { t, _ := of(r); return t.clicks }),
		money("cost", func(r *R) cents { t, _ := of(r); return t.cost }),
		n("purchases", func(x *response) int64 { return x.all.purchases }),
		n("purchasesClicks", func(x *response) int64 { return x.clicked.purchases }),
		n("unitsSold", func(x *response) int64 { return x.all.units }),
		n("unitsSoldClicks", func(x *response) int64 { return x.clicked.units }),
		amount("sales", func(x *response) cents { return x.all.sales }),
		amount("salesClicks", func(x *response) cents { return x.clicked.sales }),
		n("newToBrandPurchases", func(x *response) int64 { return x.all.newBuyers }),
		n("newToBrandPurchasesClicks", func(x *response) int64 { return x.clicked.newBuyers }),
		n("newToBrandUnitsSold", func(x *response) int64 { return x.all.newUnits }),
		n("newToBrandUnitsSoldClicks", func(x *response) int64 { return x.clicked.newUnits }),
		amount("newToBrandSales", func(x *response) cents { return x.all.newSales }),
		amount("newToBrandSalesClicks", func(x *response) cents { return x.clicked.newSales }),
		n("detailPageViews", func(x *response) int64 { return x.pageViews }),
		n("detailPageViewsClicks", func(x *response) int64 { return x.pageViewsClicks }),
		n("newToBrandDetailPageViews", func(x *response) int64 { return x.newPageViews }),
		n("brandedSearches", func(x *response) int64 { return x.searches }),
		n("brandedSearchesClicks", func(x *response) int64 { return x.searchesClicks }),
		n("addToCart", func(x *response) int64 { return x.carts }),
		n("addToCartClicks", func(x *response) int64 { return x.cartsClicks }),
		n("videoFirstQuartileViews", func(x *response) int64 { return x.quarters[0] }),
		n("videoMidpointViews", func(x *response) int64 { return x.quarters[1] }),
		n("videoThirdQuartileViews", func(x *response) int64 { return x.quarters[2] }),
		n("videoCompleteViews", func(x *response) int64 { return x.quarters[3] }),
		n("videoUnmutes", func(x *response) int64 { return x.unmutes }),
		ratio("viewabilityRate", func(r *R) (int64, int64) { t, x := of(r); return x.viewable, t.impressions }),
	}
}
