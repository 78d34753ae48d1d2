package demo

import (
	"math"
	"math/rand/v2"
)

// traffic is what an ad did on a day before anybody bought.
type traffic struct {
	impressions, clicks int64
	cost                cents
}

// traffic draws an ad's day; strength is the share of its reach that it has.
// An ad that is seldom shown is shown to more people then.
func (s *scene) traffic(r *rand.Rand, a *appeal, strength float64) traffic {
	mean := a.reach * strength * s.demand[a.category] / math.Max(a.shown, 0.2)
	t := traffic{impressions: max(1, int64(mean*jitter(r, 0.35)))}
	t.clicks = min(poisson(r, float64(t.impressions)*a.ctr*jitter(r, 0.12)), t.impressions)
	t.cost = cents(math.Round(float64(t.clicks) * a.cpc * s.bids * jitter(r, 0.08)))
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

// credit draws the orders of an ad's day and hands each to the caller. Late
// ones are handed over too, marked: an earlier version of a report draws
// exactly what the later one does, and leaves them out.
func (s *scene) credit(clicks int64, a *appeal, views float64, take func(order)) {
	r := s.rng
	n := min(poisson(r, float64(clicks)*a.sale*s.eager), clicks)
	if views > 0 {
		n += poisson(r, float64(clicks)*a.sale*views)
	}
	for range n {
		take(s.order(a.price, views))
	}
}

func (s *scene) order(price cents, views float64) order {
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

// attributionWindow tells the shortest window that still sees an order: most
// people buy on the day of the click.
func attributionWindow(u float64) int {
	for i, upTo := range []float64{0.70, 0.88, 0.95} {
		if u < upTo {
			return i
		}
	}
	return 3
}
