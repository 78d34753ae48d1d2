package main

import (
	"math/rand/v2"
	"slices"
	"strings"

	"adlens"
	"adlens/internal/catalogue"
	"adlens/internal/made"
	"adlens/internal/platform"
)

// slice is what a report is of.
type slice struct {
	account *account
	market  int // index into the account's markets
	kind    *kind
}

// kind is a report type with the columns that the generator fills: 18 measures
// that the platform has for it, in the order of row.values.
type kind struct {
	*platform.ReportType
	measures []string
	money    [measures]bool
	// headline are the places of impressions, clicks, purchases, spend and sales.
	headline [5]int
}

const measures = 18

// row is one row of a report. Amounts are cents.
type row struct {
	product *product // nil where the platform names none
	values  [measures]int64
	// leftover adds a digit far behind the point to the cost, as the
	// platform's sums of binary numbers do.
	leftover bool
}

var kinds = []*kind{
	newKind(adlens.SponsoredProducts, `impressions clicks cost purchases1d purchases7d purchases14d purchases30d
		unitsSoldClicks1d unitsSoldClicks7d unitsSoldClicks14d unitsSoldClicks30d
		sales1d sales7d sales14d sales30d purchasesSameSku7d unitsSoldSameSku7d attributedSalesSameSku7d`),
	newKind(adlens.SponsoredBrands, `impressions clicks cost purchases purchasesClicks unitsSold unitsSoldClicks
		sales salesClicks detailPageViews detailPageViewsClicks addToCart addToCartClicks
		newToBrandPurchases newToBrandUnitsSold newToBrandSales viewableImpressions videoCompleteViews`),
	newKind(adlens.SponsoredDisplay, `impressions clicks cost purchases purchasesClicks unitsSold unitsSoldClicks
		sales salesClicks detailPageViews detailPageViewsClicks addToCart addToCartClicks
		newToBrandPurchases newToBrandUnitsSold newToBrandSales impressionsViews videoCompleteViews`),
}

func newKind(p adlens.AdProduct, columns string) *kind {
	k := &kind{ReportType: made.ReportTypeOf(p), measures: strings.Fields(columns)}
	for i, name := range k.measures {
		k.money[i] = slices.ContainsFunc(k.Measures, func(m catalogue.Measure) bool { return m.Column == name && m.IsAmount() })
	}
	for i, name := range k.Headline(false) {
		k.headline[i] = slices.Index(k.measures, name)
	}
	return k
}

// drawRows visits the rows of a slice's day. version tells a restatement from the
// first report: other values, other products.
func (s Shape) drawRows(of slice, day adlens.Day, version int, visit func(*row)) {
	if from, to, ok := s.emptyYear(); ok && from <= day && day <= to {
		return
	}
	key := of.account.number<<16 | uint64(of.market)<<8 | uint64(of.kind.AdProduct)
	source := rand.NewPCG(s.Seed^key<<20, uint64(day)<<20|uint64(version))
	rng := rand.New(source)
	if of.kind.ProductColumn == "" {
		s.drawBrands(rng, of, visit)
		return
	}
	var r row
	for rank := range of.account.products {
		p := &of.account.products[rank]
		if uint32(source.Uint64()>>32) > p.shown {
			continue
		}
		r.product = p
		clicks := int64(p.clicks * rng.ExpFloat64())
		s.drawMeasures(rng, of, &r, clicks, rank == 0)
		visit(&r)
	}
}

// drawBrands makes the campaigns of Sponsored Brands, which name no product.
func (s Shape) drawBrands(rng *rand.Rand, of slice, visit func(*row)) {
	r := row{}
	for range 3 {
		s.drawMeasures(rng, of, &r, 50+rng.Int64N(400), false)
		visit(&r)
	}
}

// drawMeasures draws the measures of a row with so many clicks.
func (s Shape) drawMeasures(rng *rand.Rand, of slice, r *row, clicks int64, best bool) {
	if s.OneProduct && !best {
		clicks = 0
	}
	price := int64(2500)
	if r.product != nil {
		price = r.product.price
	}
	dollar := of.account.markets[of.market].dollar
	price = int64(float64(price) * dollar)
	orders := (clicks*rng.Int64N(25) + rng.Int64N(90)) / 100
	if clicks == 0 {
		orders = 0
	}
	impressions := 1 + clicks*(60+rng.Int64N(120)) + rng.Int64N(50)
	cost := clicks * int64(float64(15+rng.Int64N(150))*dollar)
	r.leftover = cost%100 > 9 && rng.Uint64N(64) == 0
	units := orders + orders*rng.Int64N(3)/4
	part := func(n int64) int64 { return n - n*rng.Int64N(40)/100 }
	if of.kind.AdProduct == adlens.SponsoredProducts {
		p14 := part(orders)
		p7 := part(p14)
		p1 := part(p7)
		same := part(p7)
		r.values = [measures]int64{impressions, clicks, cost, p1, p7, p14, orders, p1, p7, part(units), units,
			p1 * price, p7 * price, p14 * price, orders * price, same, same, same * price}
		return
	}
	byClick, fresh, views, cart := part(orders), orders/2, 2*clicks, part(clicks)
	r.values = [measures]int64{impressions, clicks, cost, orders, byClick, units, min(units, byClick),
		orders * price, byClick * price, views, part(views), cart, part(cart),
		fresh, fresh, fresh * price, part(impressions), impressions / 20}
}
