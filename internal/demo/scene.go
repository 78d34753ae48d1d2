package demo

import (
	"math"
	"math/rand/v2"

	"adlens"
	"adlens/internal/made"
)

// A scene is what all ads of a channel share on one day.
type scene struct {
	date     string // as JSON
	day      adlens.Day
	rng      *rand.Rand
	demand   [len(categories)]float64
	discount float64 // factor on prices
	eager    float64 // factor on orders per click
	bids     float64 // factor on the cost of a click

	// What an earlier version of a report shows otherwise than the final one:
	late    float64 // chance that an order is not credited yet
	phantom bool    // a product has a row that will be taken back
}

// newScene sets the day of a channel. Every day has its own stream: a week and
// the month around it tell the same story, and tomorrow's file only adds to it.
func newScene(c *channel, d adlens.Day) *scene {
	m := c.market
	s := &scene{day: d, date: made.Quote(d.String()), discount: 1}
	s.rng = newStream(c.seed, "day", m.country, c.adProductSlug(), d.String())
	s.bids = 1 + 0.2*(seasonFactor(d)-1)
	s.eager = s.bids * moodFactor(d, m.middle) * jitterFactor(s.rng, 0.06)
	if isSale(d) {
		s.discount, s.eager = 0.85, s.eager*1.15
	}
	all := m.size * growthFactor(d, m.middle) * seasonFactor(d) * weekdays[d.Time().Weekday()] * jitterFactor(s.rng, 0.06)
	for i, c := range categories {
		s.demand[i] = all * (1 + c.summer*summerWave(d))
	}
	return s
}

// writeDay adds the rows of a day.
func (c *channel) writeDay(rows *made.Rows, s *scene) {
	phantom := s.phantom
	for _, a := range c.ads {
		strength := 1.0
		if a.product != nil {
			strength = a.product.reachShare(s.day)
		}
		if strength == 0 {
			continue
		}
		r := row{date: s.date, ad: a, at: a.listingOn(s.day)}
		if s.rng.Float64() < a.shown {
			r.traffic = s.drawTraffic(s.rng, &a.appeal, strength)
			s.drawResponse(&r, c.adProduct)
			r.writeRow(rows)
		} else if phantom && a.only {
			// The platform will take this row back. It draws from a stream of its
			// own, so the rest of the day stays as in the final report.
			own := newStream(c.seed, "phantom", c.market.country, s.day.String())
			if r.traffic = s.drawTraffic(own, &a.appeal, 1); r.clicks > 0 {
				r.creditWindows(order{promoted: true, units: 1, sales: a.price})
			}
			r.writeRow(rows)
			phantom = false
		}
	}
}

// traffic is what an ad did on a day before any purchase.
type traffic struct {
	impressions, clicks int64
	cost                cents
}

// drawTraffic draws an ad's day; strength is the share of its reach that it has.
// An ad that is seldom shown is shown to more people then.
func (s *scene) drawTraffic(r *rand.Rand, a *appeal, strength float64) traffic {
	mean := a.reach * strength * s.demand[a.category] / math.Max(a.shown, 0.2)
	t := traffic{impressions: max(1, int64(mean*jitterFactor(r, 0.35)))}
	t.clicks = min(drawPoisson(r, float64(t.impressions)*a.ctr*jitterFactor(r, 0.12)), t.impressions)
	t.cost = cents(math.Round(float64(t.clicks) * a.cpc * s.bids * jitterFactor(r, 0.08)))
	return t
}

// An order is one purchase that the platform credits to an ad.
type order struct {
	window   int  // the shortest attribution window that has it, 0 to 3
	promoted bool // the advertised product itself was bought
	viewed   bool // after a view, without a click
	newBuyer bool // new to the brand
	late     bool // not credited yet when an earlier report was made
	units    int64
	sales    cents
}

// creditOrders draws the orders of an ad's day and hands each to the caller. Late
// ones are handed over too, marked: an earlier version of a report draws
// exactly what the later one does, and leaves them out.
func (s *scene) creditOrders(clicks int64, a *appeal, views float64, take func(order)) {
	r := s.rng
	n := min(drawPoisson(r, float64(clicks)*a.sale*s.eager), clicks)
	if views > 0 {
		n += drawPoisson(r, float64(clicks)*a.sale*views)
	}
	for range n {
		take(s.drawOrder(a.price, views))
	}
}

func (s *scene) drawOrder(price cents, views float64) order {
	r := s.rng
	o := order{window: attributionWindow(r.Float64()), units: 1}
	o.promoted = r.Float64() < 0.72
	o.viewed = r.Float64() < views/(1+views)
	o.newBuyer = r.Float64() < 0.58
	o.late = r.Float64() < s.late
	if many := r.Float64(); many < 0.04 {
		o.units = 3
	} else if many < 0.16 {
		o.units = 2
	}
	other := r.Float64()
	if !o.promoted {
		price = cents((0.5+1.2*other)*float64(price))/100*100 + 99
	}
	o.sales = cents(math.Round(float64(price)*s.discount)) * cents(o.units)
	return o
}

// attributionWindow returns the shortest window that still sees an order: most
// people buy on the day of the click.
func attributionWindow(u float64) int {
	for i, upTo := range []float64{0.70, 0.88, 0.95} {
		if u < upTo {
			return i
		}
	}
	return 3
}

// drawResponse draws what followed the traffic of a row. Sponsored Products reports
// orders by window; the others report those after clicks and after views, what
// people looked at, and the films they watched.
func (s *scene) drawResponse(r *row, p adlens.AdProduct) {
	switch p {
	case adlens.SponsoredProducts:
		s.creditOrders(r.clicks, &r.ad.appeal, 0, r.creditWindows)
		r.addToList = drawPoisson(s.rng, float64(r.clicks)*0.02)
	case adlens.SponsoredBrands:
		s.respondToBrand(r)
		r.topShare = int64(uniformBetween(s.rng, 200, 6500))
	default:
		s.respondToBrand(r)
		r.reached = int64(float64(r.impressions) * uniformBetween(s.rng, 0.55, 0.9))
	}
}

func (s *scene) respondToBrand(r *row) {
	views := r.ad.views
	s.creditOrders(r.clicks, &r.ad.appeal, views, func(o order) {
		if o.late {
			return
		}
		r.all.addOrder(o)
		if !o.viewed {
			r.clicked.addOrder(o)
		}
	})
	part := func(of int64, low, high float64) int64 { return int64(float64(of) * uniformBetween(s.rng, low, high)) }
	r.viewable = max(part(r.impressions, 0.55, 0.85), r.clicks)
	r.pageViewsClicks = part(r.clicks, 0.6, 0.95)
	r.pageViews = r.pageViewsClicks + part(r.viewable, 0, 0.004*(1+views))
	r.newPageViews = part(r.pageViews, 0.5, 0.9)
	r.newPageViewsClicks = min(part(r.pageViewsClicks, 0.5, 0.9), r.newPageViews)
	r.searchesClicks = drawPoisson(s.rng, float64(r.clicks)*0.03)
	r.searches = r.searchesClicks + drawPoisson(s.rng, float64(r.viewable)*0.0002)
	r.cartsClicks = r.clicked.purchases + part(r.clicks, 0.02, 0.15)
	r.carts = r.cartsClicks + r.all.purchases - r.clicked.purchases + part(r.viewable, 0, 0.0006*(1+views))
	if !r.ad.video {
		return
	}
	watching := float64(r.viewable) * uniformBetween(s.rng, 0.35, 0.6)
	r.fiveSeconds = int64(watching)
	for i := range r.quarters {
		watching *= uniformBetween(s.rng, 0.55, 0.85)
		r.quarters[i] = int64(watching)
	}
	r.unmutes = r.quarters[1] / 20
}
