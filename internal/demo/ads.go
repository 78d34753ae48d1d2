package demo

import (
	"math"
	"math/rand/v2"
	"time"

	"adlens"
	"adlens/internal/made"
)

// An ad is one whose figures a report has: of Sponsored Products and Sponsored
// Display in a row for itself, of Sponsored Brands in that of its campaign.
type ad struct {
	appeal
	stations
	product   *product // nil for a page, and for the whole brand
	asin, sku string   // as JSON
	aim       string   // likewise, of Sponsored Display
	costType  string   // likewise, of Sponsored Brands
	views     float64  // orders that follow a view, for each that follows a click
	video     bool
	only      bool // the product has no other ad
}

// An appeal is how an ad does on an ordinary day in a market of size 1.
type appeal struct {
	category int
	reach    float64 // impressions
	shown    float64 // chance to be shown at all
	ctr      float64
	cpc      float64 // cents
	sale     float64 // orders for a click
	price    cents
}

// newAppeal draws click rates, bids and costs of sale in believable bounds;
// the orders for a click follow from them.
func newAppeal(r *rand.Rand, category int, reach, shown, views float64, price cents) appeal {
	a := appeal{category: category, reach: reach * jitterFactor(r, 0.3), shown: min(shown, 1), price: price}
	a.ctr = uniformBetween(r, 0.0035, 0.0090)
	a.cpc = clickCost(price, uniformBetween(r, 0.75, 1.25))
	acos := uniformBetween(r, 0.17, 0.36)
	const basket, credited = 1.25, 0.9 // an order is worth more than one unit; the short windows miss some
	a.sale = min(a.cpc/(acos*basket*credited*float64(price)), 0.45) / (1 + views)
	return a
}

// clickCost is what a click costs for a product of that price, in cents.
func clickCost(price cents, factor float64) float64 {
	return min(max((22+0.019*float64(price))*factor, 32), 175)
}

// zipfWeight is Zipf's law, somewhat flattened at its head.
func zipfWeight(rank int) float64 { return math.Pow(1+float64(rank)/3, -0.95) }

// newAd begins the ad of a product.
func (c *channel) newAd(p *product) *ad {
	return &ad{product: p, asin: made.Quote(p.id), sku: made.Quote("TW-" + c.market.country + "-" + p.id[6:])}
}

// addAd places an ad, with its id on the platform, in the group of a campaign.
func (c *channel) addAd(a *ad, home *campaign, group string, l listing) {
	if a.product != nil {
		l.form, l.product, l.products = "PRODUCT_AD", a.product, []string{a.product.id}
	}
	a.stations = c.addListings(home, group, l)
	c.ads = append(c.ads, a)
}

// advertiseProducts makes the Sponsored Products ads: three for the best
// sellers, one for most. They are in different campaigns, so a product may have
// several rows on a day.
func (c *channel) advertiseProducts(list []*product, ranks map[int]int) {
	choices := []struct {
		name  string
		share float64
	}{{"Exact", 1}, {"Auto", 0.55}, {"Discovery", 0.35}}
	for _, p := range list {
		rank, sold := ranks[p.place]
		if !sold {
			continue
		}
		position := float64(rank) / float64(len(ranks))
		number := 1
		if position < 0.10 {
			number = 3
		} else if position < 0.35 {
			number = 2
		}
		for k, kind := range choices[:number] {
			r := newStream(c.seed, "ad", c.market.country, c.adProductSlug(), p.id, kind.name)
			a := c.newAd(p)
			a.only = number == 1
			id := entityID(r)
			shown := min(1-1.25*position, 1) * math.Pow(0.8, float64(k))
			a.appeal = newAppeal(r, p.category, 9500*kind.share*zipfWeight(rank), max(shown, 0.08), 0, c.market.localPrice(p.dollars))
			c.addAd(a, c.categoryCampaign(p.category, kind.name), [...]string{"Core", "Range"}[rank%2], listing{id: id})
		}
	}
}

// advertiseBrand makes the Sponsored Brands ads. The platform ties their figures
// to no product, and gave the ads of the oldest campaigns no id.
func (c *channel) advertiseBrand(list []*product, ranks map[int]int) {
	choices := []struct {
		name, form string
		views      float64
	}{{"Collection", "PRODUCT_COLLECTION", 0.1}, {"Video", "VIDEO", 0.8}}
	for i, category := range categories {
		for k, kind := range choices {
			if k > 0 && c.market.size < 1 && i%2 == 0 {
				continue // the smaller markets film half of the shelf
			}
			r := newStream(c.seed, "ad", c.market.country, c.adProductSlug(), category.name, kind.name)
			home := c.categoryCampaign(i, kind.name)
			a := &ad{video: k > 0, views: kind.views, costType: made.Quote(kinds[home.kind].costType)}
			a.appeal = newAppeal(r, i, uniformBetween(r, 2500, 9000), uniformBetween(r, 0.75, 1.1), kind.views, c.market.localPrice(category.price))
			l := listing{form: kind.form, products: brandProducts(list, ranks, i)}
			if home.start >= adlens.Date(2021, time.January, 1) {
				l.id = entityID(newStream(c.seed, "brand ad", home.name, c.market.country))
			}
			c.addAd(a, home, "Brand", l)
		}
	}
}

// brandProducts picks what a category's creatives show: products that stay.
func brandProducts(list []*product, ranks map[int]int, category int) []string {
	var out []string
	for _, p := range list {
		if _, sold := ranks[p.place]; sold && p.category == category && p.place < evergreen && len(out) < 3 {
			out = append(out, p.id)
		}
	}
	return out
}

// advertiseDisplay makes the Sponsored Display ads: of the better sellers, and a few
// that lead to the brand's own pages, whose rows name no product.
func (c *channel) advertiseDisplay(list []*product, ranks map[int]int) {
	choices := []struct {
		name, aim string
		views     float64
	}{{"Audiences", `"reach"`, 1.2}, {"Contextual", `"clicks"`, 0.15}, {"Remarketing", `"conversions"`, 0.5}}
	for _, p := range list {
		rank, sold := ranks[p.place]
		if !sold || 4*rank >= len(ranks) {
			continue
		}
		kind := choices[rank%len(choices)]
		r := newStream(c.seed, "ad", c.market.country, c.adProductSlug(), p.id)
		a := c.newAd(p)
		a.aim, a.views = kind.aim, kind.views
		id := entityID(r)
		a.appeal = newAppeal(r, p.category, 6000*zipfWeight(rank), uniformBetween(r, 0.6, 1), kind.views, c.market.localPrice(p.dollars))
		c.addAd(a, c.categoryCampaign(p.category, kind.name), "Best Sellers", listing{id: id})
	}
	for k, page := range []string{"Store Home", "Seasonal Page"} {
		r := newStream(c.seed, "ad", c.market.country, c.adProductSlug(), page)
		a := &ad{aim: choices[k].aim, views: choices[k].views, asin: "null", sku: "null"}
		id := entityID(r)
		a.appeal = newAppeal(r, k, 2500, 0.85, a.views, c.market.localPrice(35))
		c.addAd(a, c.namedCampaign("SD | "+page, choices[k].name), page, listing{id: id, form: "IMAGE"})
	}
}
