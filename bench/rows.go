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
	adPlace
	values [measures]int64
	// leftover adds a digit far behind the point to the cost, as the
	// platform's sums of binary numbers do.
	leftover bool
}

// adPlace is what a row is of. A day's rows of the same one become one fact.
type adPlace struct {
	product           *product // nil where the platform names none
	campaign, adGroup int64
}

// runsByRank is in how many campaigns a product runs, by its rank in turn; meanRuns
// is their mean.
var runsByRank = [...]int{3, 4, 2, 5, 1}

const (
	meanRuns      = 3
	brandsRows    = 3 // of Sponsored Brands, a day and marketplace
	adGroups      = 4 // of a campaign
	firstCampaign = 144158449488700000
	firstAdGroup  = 7232088286150
)

// runs is in how many campaigns of a slice the product of a rank runs.
func (a *account) runs(rank int) int {
	if a.campaigns == 0 {
		return 1
	}
	return runsByRank[rank%len(runsByRank)]
}

// campaignNumber numbers the campaigns of an account: n is that of its slice, modulo
// how many the slice has. A campaign is of one marketplace and ad product.
func (of slice) campaignNumber(n int) int64 {
	if of.account.campaigns == 0 {
		return int64(of.market)
	}
	number := (n%of.account.campaigns*len(of.account.markets)+of.market)*len(kinds) + slices.Index(kinds, of.kind)
	return int64(number)
}

// placeOf is where the product of a rank runs for the nth time.
func (of slice) placeOf(rank, n int) adPlace {
	place := adPlace{&of.account.products[rank], firstCampaign, firstAdGroup}
	number := of.campaignNumber(rank + n)
	place.campaign += number
	if campaigns := of.account.campaigns; campaigns > 0 {
		place.adGroup += number*adGroups + int64(rank/campaigns%adGroups)
	}
	return place
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
		s.drawBrands(rng, of, day, visit)
		return
	}
	var r row
	for rank := range of.account.products {
		p := &of.account.products[rank]
		if uint32(source.Uint64()>>32) > p.shown {
			continue
		}
		runs := of.account.runs(rank)
		for n := range runs {
			r.adPlace = of.placeOf(rank, n)
			clicks := int64(p.clicks / float64(runs) * rng.ExpFloat64())
			s.drawMeasures(rng, of, &r, clicks, rank == 0)
			visit(&r)
		}
	}
}

// drawBrands makes the campaigns of Sponsored Brands, which name no product.
func (s Shape) drawBrands(rng *rand.Rand, of slice, day adlens.Day, visit func(*row)) {
	r := row{}
	for n := range brandsRows {
		r.campaign = firstCampaign + of.campaignNumber(int(day)*brandsRows+n)
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
