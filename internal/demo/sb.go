package demo

// brandAds are the Sponsored Brands campaigns of a market. The platform ties
// their figures to no product.
type brandAds struct {
	ads   []*brandAd
	table columns[brandRow]
}

type brandAd struct {
	appeal
	campaign *campaign
	video    bool
	views    float64 // orders that follow a view, for each that follows a click
	costType quoted
}

var brandKinds = []struct {
	name     string
	video    bool
	views    float64
	costType quoted
}{{"Collection", false, 0.1, `"CPC"`}, {"Video", true, 0.8, `"VCPM"`}}

func newBrandAds(seed uint64, m *market) *brandAds {
	b := &brandAds{table: brandColumns(m)}
	s := newSetup(seed, m, brands)
	for i, c := range categories {
		for k, kind := range brandKinds {
			if k > 0 && m.size < 1 && i%2 == 0 {
				continue // the smaller markets film half of the shelf
			}
			r := stream(seed, "ad", m.country, brands.slug(), c.name, kind.name)
			ad := &brandAd{campaign: s.campaign(i, kind.name), video: kind.video, views: kind.views, costType: kind.costType}
			ad.appeal = newAppeal(r, i, between(r, 2500, 9000), between(r, 0.75, 1.1), m.price(c.price))
			ad.sale /= 1 + ad.views
			b.ads = append(b.ads, ad)
		}
	}
	return b
}

func (b *brandAds) columns() []string { return b.table.names() }

func (b *brandAds) tell(a *array, s *scene) {
	for _, ad := range b.ads {
		if s.rng.Float64() >= ad.shown {
			continue
		}
		row := brandRow{date: s.date, ad: ad, traffic: s.traffic(s.rng, &ad.appeal, 1)}
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
	topShare int64 // of the impressions at the top of a search, in hundredths of a percent
}

func brandColumns(m *market) columns[brandRow] {
	type row = brandRow
	c := columns[row]{
		text("date", func(r *row) quoted { return r.date }),
		count("campaignId", func(r *row) int64 { return r.ad.campaign.id }),
		text("campaignName", func(r *row) quoted { return r.ad.campaign.name }),
		text("campaignStatus", constant[row]("ENABLED")),
		text("campaignBudgetType", constant[row]("DAILY_BUDGET")),
		money("campaignBudgetAmount", func(r *row) cents { return r.ad.campaign.budget }),
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
