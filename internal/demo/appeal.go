package demo

import (
	"math"
	"math/rand/v2"
)

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
func newAppeal(r *rand.Rand, category int, reach, shown float64, price cents) appeal {
	a := appeal{category: category, reach: reach * jitter(r, 0.3), shown: min(shown, 1), price: price}
	a.ctr = between(r, 0.0035, 0.0090)
	a.cpc = clickCost(price, between(r, 0.75, 1.25))
	acos := between(r, 0.17, 0.36)
	const basket, credited = 1.25, 0.9 // an order is worth more than one unit; the short windows miss some
	a.sale = min(a.cpc/(acos*basket*credited*float64(price)), 0.45)
	return a
}

// clickCost is what a click costs for a product of that price, in cents.
func clickCost(price cents, factor float64) float64 {
	return min(max((22+0.019*float64(price))*factor, 32), 175)
}

// tail is Zipf's law, somewhat flattened at its head.
func tail(rank int) float64 { return math.Pow(1+float64(rank)/3, -0.95) }
