package demo

// displayAds are the Sponsored Display ads of a market: the better sellers, and
// a few that lead to the brand's own pages and name no product.
type displayAds struct {
	*setup
	ads   []*displayAd
	table columns[displayRow]
}

type displayAd struct {
	appeal
	stations
	product *product // nil for a page
	asin    quoted
	sku     quoted
	aim     quoted
	views   float64 // orders that follow a view, for each that follows a click
}

var displayKinds = []struct {
	name  string
	aim   quoted
	views float64
}{{"Audiences", `"reach"`, 1.2}, {"Contextual", `"clicks"`, 0.15}, {"Remarketing", `"conversions"`, 0.5}}

func newDisplayAds(s *setup, list []*product) *displayAds {
	d := &displayAds{setup: s, table: displayColumns(s.market)}
	rank := ranks(s.seed, s.market)
	for _, item := range list {
		if r, ok := rank[item.place]; ok && 4*r < len(rank) {
			d.advertise(item, r)
		}
	}
	for k, page := range []string{"Store Home", "Seasonal Page"} {
		d.lead(page, k)
	}
	return d
}

func (d *displayAds) advertise(item *product, rank int) {
	kind := displayKinds[rank%len(displayKinds)]
	r := stream(d.seed, "ad", d.market.country, display.slug(), item.id)
	ad := &displayAd{product: item, aim: kind.aim, views: kind.views}
	id := entityID(r)
	ad.asin, ad.sku = quote(item.id), quote("TW-"+d.market.country+"-"+item.id[6:])
	ad.appeal = newAppeal(r, item.category, 6000*tail(rank), between(r, 0.6, 1), d.market.price(item.dollars))
	ad.sale /= 1 + ad.views
	ad.stations = d.place(d.campaign(item.category, kind.name), "Best Sellers", productListing(id, item))
	d.ads = append(d.ads, ad)
}

// lead makes an ad for a page: its rows name no product.
func (d *displayAds) lead(page string, k int) {
	r := stream(d.seed, "ad", d.market.country, display.slug(), page)
	kind := displayKinds[k]
	ad := &displayAd{aim: kind.aim, views: kind.views, asin: null, sku: null}
	id := entityID(r)
	ad.appeal = newAppeal(r, k, 2500, 0.85, d.market.price(35))
	ad.sale /= 1 + ad.views
	ad.stations = d.place(d.named("SD | "+page, kind.name), page, listing{id: id, form: "IMAGE"})
	d.ads = append(d.ads, ad)
}

func (d *displayAds) columns() []string { return d.table.names() }

func (d *displayAds) tell(a *array, s *scene) {
	for _, ad := range d.ads {
		strength := 1.0
		if ad.product != nil {
			strength = ad.product.strength(s.day)
		}
		if strength == 0 || s.rng.Float64() >= ad.shown {
			continue
		}
		row := displayRow{date: s.date, ad: ad, at: ad.on(s.day), traffic: s.traffic(s.rng, &ad.appeal, strength)}
		row.response = s.respond(row.traffic, &ad.appeal, ad.views, false)
		row.reached = int64(float64(row.impressions) * between(s.rng, 0.55, 0.9))
		d.table.write(a, &row)
	}
}

// A displayRow is one line of the report sdAdvertisedProduct.
type displayRow struct {
	traffic
	response
	date    quoted
	ad      *displayAd
	at      *listing
	reached int64 // people
}

func displayColumns(m *market) columns[displayRow] {
	type row = displayRow
	c := columns[row]{
		text("date", func(r *row) quoted { return r.date }),
		count("campaignId", func(r *row) int64 { return r.at.group.campaign.id }),
		text("campaignName", func(r *row) quoted { return r.at.group.campaign.name }),
		text("campaignBudgetCurrencyCode", constant[row](m.currency)),
		count("adGroupId", func(r *row) int64 { return r.at.group.id }),
		text("adGroupName", func(r *row) quoted { return r.at.group.name }),
		count("adId", func(r *row) int64 { return r.at.id }),
		text("bidOptimization", func(r *row) quoted { return r.ad.aim }),
		text("promotedAsin", func(r *row) quoted { return r.ad.asin }),
	}
	if m.seller() {
		c = append(c, text("promotedSku", func(r *row) quoted { return r.ad.sku }))
	}
	c = append(c, responseColumns(func(r *row) (*traffic, *response) { return &r.traffic, &r.response })...)
	return append(c,
		count("purchasesPromotedClicks", func(r *row) int64 { return r.clicked.promoted }),
		money("salesPromotedClicks", func(r *row) cents { return r.clicked.promotedSales }),
		count("newToBrandDetailPageViewClicks", func(r *row) int64 { return r.newPageViewsClicks }),
		count("newToBrandDetailPageViewViews", func(r *row) int64 { return r.newPageViews - r.newPageViewsClicks }),
		count("impressionsViews", func(r *row) int64 { return r.viewable }),
		count("brandedSearchesViews", func(r *row) int64 { return r.searches - r.searchesClicks }),
		count("addToCartViews", func(r *row) int64 { return r.carts - r.cartsClicks }),
		count("cumulativeReach", func(r *row) int64 { return r.reached }),
	)
}
