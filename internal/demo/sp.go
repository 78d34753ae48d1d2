package demo

import (
	"math"
	"strconv"
)

// productAds are the Sponsored Products ads of a market. A product may have
// several, in different campaigns, and then has several rows on a day.
type productAds struct {
	*setup
	ads   []*productAd
	table columns[productRow]
}

type productAd struct {
	appeal
	stations
	product *product
	asin    quoted
	sku     quoted
	only    bool // the product has no other ad
}

var productKinds = []struct {
	name  string
	share float64
}{{"Exact", 1}, {"Auto", 0.55}, {"Discovery", 0.35}}

func newProductAds(s *setup, list []*product) *productAds {
	p := &productAds{setup: s, table: productColumns(s.market)}
	rank := ranks(s.seed, s.market)
	for _, item := range list {
		if r, ok := rank[item.place]; ok {
			p.advertise(item, r, len(rank))
		}
	}
	return p
}

// advertise makes a product's ads: three for the best sellers, one for most.
func (p *productAds) advertise(item *product, rank, of int) {
	position := float64(rank) / float64(of)
	number := 1
	if position < 0.10 {
		number = 3
	} else if position < 0.35 {
		number = 2
	}
	for k, kind := range productKinds[:number] {
		r := stream(p.seed, "ad", p.market.country, sponsored.slug(), item.id, kind.name)
		ad := &productAd{product: item, asin: quote(item.id), only: number == 1}
		id := entityID(r)
		ad.sku = quote("TW-" + p.market.country + "-" + item.id[6:])
		shown := min(1-1.25*position, 1) * math.Pow(0.8, float64(k))
		ad.appeal = newAppeal(r, item.category, 9500*kind.share*tail(rank), max(shown, 0.08), p.market.price(item.dollars))
		group := [...]string{"Core", "Range"}[rank%2]
		ad.stations = p.place(p.campaign(item.category, kind.name), group, productListing(id, item))
		p.ads = append(p.ads, ad)
	}
}

func (p *productAds) columns() []string { return p.table.names() }

func (p *productAds) tell(a *array, s *scene) {
	phantom := s.phantom
	for _, ad := range p.ads {
		strength := ad.product.strength(s.day)
		if strength == 0 {
			continue
		}
		if s.rng.Float64() < ad.shown {
			row := productRow{date: s.date, ad: ad, at: ad.on(s.day), traffic: s.traffic(s.rng, &ad.appeal, strength)}
			s.credit(row.clicks, &ad.appeal, 0, row.add)
			row.addToList = poisson(s.rng, float64(row.clicks)*0.02)
			p.table.write(a, &row)
		} else if phantom && ad.only {
			p.table.write(a, p.phantom(s, ad))
			phantom = false
		}
	}
}

// phantom is a row that the platform will take back. It draws from a stream of
// its own, so the rest of the day stays as in the final report.
func (p *productAds) phantom(s *scene, ad *productAd) *productRow {
	r := stream(p.seed, "phantom", p.market.country, s.day.String())
	row := &productRow{date: s.date, ad: ad, at: ad.on(s.day), traffic: s.traffic(r, &ad.appeal, 1)}
	lone := order{promoted: true, units: 1, sales: ad.price}
	if row.clicks > 0 {
		row.add(lone)
	}
	return row
}

// A productRow is one line of the report spAdvertisedProduct.
type productRow struct {
	traffic
	date      quoted
	ad        *productAd
	at        *listing
	windows   [4]window
	addToList int64
}

// A window sums the orders up to 1, 7, 14 or 30 days after the click.
type window struct {
	purchases, purchasesSame int64
	units, unitsSame         int64
	sales, salesSame         cents
}

var windowDays = [4]int{1, 7, 14, 30}

// add credits an order to its window and to all longer ones.
func (r *productRow) add(o order) {
	if o.late {
		return
	}
	for i := o.window; i < len(r.windows); i++ {
		w := &r.windows[i]
		w.purchases++
		w.units += o.units
		w.sales += o.sales
		if o.promoted {
			w.purchasesSame++
			w.unitsSame += o.units
			w.salesSame += o.sales
		}
	}
}

func productColumns(m *market) columns[productRow] {
	type row = productRow
	c := columns[row]{
		text("date", func(r *row) quoted { return r.date }),
		count("campaignId", func(r *row) int64 { return r.at.group.campaign.id }),
		text("campaignName", func(r *row) quoted { return r.at.group.campaign.name }),
		text("campaignStatus", constant[row]("ENABLED")),
		text("campaignBudgetType", constant[row]("DAILY_BUDGET")),
		money("campaignBudgetAmount", func(r *row) cents { return r.at.group.campaign.budget }),
		text("campaignBudgetCurrencyCode", constant[row](m.currency)),
		count("adGroupId", func(r *row) int64 { return r.at.group.id }),
		text("adGroupName", func(r *row) quoted { return r.at.group.name }),
		count("adId", func(r *row) int64 { return r.at.id }),
		text("advertisedAsin", func(r *row) quoted { return r.ad.asin }),
	}
	if m.seller() { // vendors have no stock keeping units
		c = append(c, text("advertisedSku", func(r *row) quoted { return r.ad.sku }))
	}
	c = append(c,
		count("impressions", func(r *row) int64 { return r.impressions }),
		count("clicks", func(r *row) int64 { return r.clicks }),
		money("cost", func(r *row) cents { return r.cost }),
		count("addToList", func(r *row) int64 { return r.addToList }),
		count("unitsSoldOtherSku7d", func(r *row) int64 { return r.windows[1].units - r.windows[1].unitsSame }),
		money("salesOtherSku7d", func(r *row) cents { return r.windows[1].sales - r.windows[1].salesSame }),
	)
	for i, days := range windowDays {
		d := strconv.Itoa(days) + "d"
		c = append(c,
			count("purchases"+d, func(r *row) int64 { return r.windows[i].purchases }),
			count("purchasesSameSku"+d, func(r *row) int64 { return r.windows[i].purchasesSame }),
			count("unitsSoldClicks"+d, func(r *row) int64 { return r.windows[i].units }),
			count("unitsSoldSameSku"+d, func(r *row) int64 { return r.windows[i].unitsSame }),
			money("sales"+d, func(r *row) cents { return r.windows[i].sales }),
			money("attributedSalesSameSku"+d, func(r *row) cents { return r.windows[i].salesSame }),
		)
	}
	return c
}

// constant is a text that all rows of a report share.
func constant[R any](s string) func(*R) quoted {
	q := quote(s)
	return func(*R) quoted { return q }
}
