package demo

import "time"

// brandAds are the Sponsored Brands campaigns of a market. The platform ties
// their figures to no product.
type brandAds struct {
	*setup
	ads   []*brandAd
	table columns[brandRow]
}

type brandAd struct {
	appeal
	stations
	video    bool
	views    float64 // orders that follow a view, for each that follows a click
	costType quoted
}

var brandKinds = []struct {
	name  string
	form  string
	views float64
}{{"Collection", "PRODUCT_COLLECTION", 0.1}, {"Video", "VIDEO", 0.8}}

func newBrandAds(s *setup, list []*product) *brandAds {
	b := &brandAds{setup: s, table: brandColumns(s.market)}
	rank := ranks(s.seed, s.market)
	for i, c := range categories {
		for k, kind := range brandKinds {
			if k > 0 && s.market.size < 1 && i%2 == 0 {
				continue // the smaller markets film half of the shelf
			}
			r := stream(s.seed, "ad", s.market.country, brands.slug(), c.name, kind.name)
			ad := &brandAd{video: kind.form == "VIDEO", views: kind.views, costType: quote(kinds[kind.name].costType)}
			ad.appeal = newAppeal(r, i, between(r, 2500, 9000), between(r, 0.75, 1.1), s.market.price(c.price))
			ad.sale /= 1 + ad.views
			ad.stations = b.present(i, kind.name, kind.form, brandProducts(list, rank, i))
			b.ads = append(b.ads, ad)
		}
	}
	return b
}

// present lists a brand's ad. The platform gave none an id in the oldest
// campaigns.
func (b *brandAds) present(category int, kind, form string, products []string) stations {
	c := b.campaign(category, kind)
	ad := listing{form: form, products: products}
	if c.start >= civil(2021, time.January, 1) {
		ad.id = entityID(stream(b.seed, "brand ad", string(c.name), b.market.country))
	}
	return b.place(c, "Brand", ad)
}

// brandProducts picks what a category's creatives show: products that stay.
func brandProducts(list []*product, rank map[int]int, category int) []string {
	var out []string
	for _, p := range list {
		if _, sold := rank[p.place]; sold && p.category == category && p.place < evergreen && len(out) < 3 {
			out = append(out, p.id)
		}
	}
	return out
}

func (b *brandAds) columns() []string { return b.table.names() }

func (b *brandAds) tell(a *array, s *scene) {
	for _, ad := range b.ads {
		if s.rng.Float64() >= ad.shown {
			continue
		}
		row := brandRow{date: s.date, ad: ad, at: ad.on(s.day), traffic: s.traffic(s.rng, &ad.appeal, 1)}
		row.response = s.respond(row.traffic, &ad.appeal, ad.views, ad.video)
		row.topShare = int64(between(s.rng, 200, 6500))
		b.table.write(a, &row)
	}
}

// A brandRow is one line of the report sbCampaigns.
type brandRow struct {
	traffic
	response
	date     quoted
	ad       *brandAd
	at       *listing
	topShare int64 // of the impressions at the top of a search, in hundredths of a percent
}

func brandColumns(m *market) columns[brandRow] {
	type row = brandRow
	c := columns[row]{
		text("date", func(r *row) quoted { return r.date }),
		count("campaignId", func(r *row) int64 { return r.at.group.campaign.id }),
		text("campaignName", func(r *row) quoted { return r.at.group.campaign.name }),
		text("campaignStatus", constant[row]("ENABLED")),
		text("campaignBudgetType", func(r *row) quoted { return budgetType(r.at.group.campaign) }),
		money("campaignBudgetAmount", func(r *row) cents { return r.at.group.campaign.budget }),
		text("campaignBudgetCurrencyCode", constant[row](m.currency)),
		text("costType", func(r *row) quoted { return r.ad.costType }),
	}
	c = append(c, responseColumns(func(r *row) (*traffic, *response) { return &r.traffic, &r.response })...)
	return append(c,
		count("purchasesPromoted", func(r *row) int64 { return r.all.promoted }),
		money("salesPromoted", func(r *row) cents { return r.all.promotedSales }),
		count("newToBrandDetailPageViewsClicks", func(r *row) int64 { return r.newPageViewsClicks }),
		count("viewableImpressions", func(r *row) int64 { return r.viewable }),
		count("video5SecondViews", func(r *row) int64 { return r.fiveSeconds }),
		col("topOfSearchImpressionShare", func(b []byte, r *row) []byte { return appendDecimal(b, r.topShare, 2) }),
	)
}

func budgetType(c *campaign) quoted {
	if c.lifetime {
		return `"LIFETIME_BUDGET"`
	}
	return `"DAILY_BUDGET"`
}
