package model

import (
	"cmp"
	"maps"
	"math/big"
	"slices"
)

// fact is what one ad group had of one product on one day of a marketplace and
// ad product, in dollars. Empty ids are those that the extracts do not say.
type fact struct {
	profile, adProduct, day, product string
	holder
	figures
	hasRow bool // what is named with zeros alone has none
}

// slot is a product's day, whose dollars are rounded once.
type slot struct{ profile, adProduct, day, product string }

// holder is whose a part of a product's day is.
type holder struct{ campaign, adGroup string }

// compareHolders orders by campaign id, then by ad group id, null last.
func compareHolders(x, y holder) int {
	return cmp.Or(byValue(orNull(x.campaign), orNull(y.campaign), false), byValue(orNull(x.adGroup), orNull(y.adGroup), false))
}

// own collects exact amounts in the marketplace's own currency.
type own struct {
	cost, sales                    big.Rat
	impressions, clicks, purchases big.Int
	further                        map[string]*big.Rat // of reports that have them
}

// deriveFacts recomputes every fact, and every name, from the set of held reports,
// whatever the order in which they were loaded.
func (a *Account) deriveFacts() []fact {
	if a.facts != nil {
		return a.facts
	}
	a.names = a.deriveNames(func(string) bool { return true })
	sums := map[slot]map[holder]*own{}
	for _, legacy := range []bool{false, true} {
		for _, r := range a.reports {
			for _, line := range r.rows {
				if r.legacy == legacy && a.currentReport(r, line.day) == r && (!legacy || a.countsLegacy(r, line)) {
					addRow(sums, r, line)
				}
			}
		}
	}
	a.facts = make([]fact, 0, len(sums))
	for s, parts := range sums {
		a.facts = append(a.facts, a.convertFacts(s, parts)...)
	}
	slices.SortFunc(a.facts, func(x, y fact) int { return cmp.Compare(x.day, y.day) })
	return a.facts
}

func addRow(sums map[slot]map[holder]*own, r *report, line row) {
	s := slot{r.profile, r.adProduct, line.day, line.product}
	if sums[s] == nil {
		sums[s] = map[holder]*own{}
	}
	o := sums[s][line.holder]
	if o == nil {
		o = &own{further: map[string]*big.Rat{}}
		sums[s][line.holder] = o
	}
	o.cost.Add(&o.cost, line.cost)
	o.sales.Add(&o.sales, line.sales)
	o.impressions.Add(&o.impressions, line.impressions)
	o.clicks.Add(&o.clicks, line.clicks)
	o.purchases.Add(&o.purchases, line.purchases)
	for name, n := range line.further {
		if o.further[name] == nil {
			o.further[name] = new(big.Rat)
		}
		o.further[name].Add(o.further[name], n)
	}
}

// isZero reports whether all measures are zero.
func (o *own) isZero() bool {
	for _, n := range o.further {
		if n.Sign() != 0 {
			return false
		}
	}
	return o.cost.Sign() == 0 && o.sales.Sign() == 0 && o.impressions.Sign() == 0 && o.clicks.Sign() == 0 && o.purchases.Sign() == 0
}

// convertFacts makes the facts of a product's day.
func (a *Account) convertFacts(s slot, parts map[holder]*own) []fact {
	holders := slices.SortedFunc(maps.Keys(parts), compareHolders)
	costs, sales, all := make([]*big.Rat, len(holders)), make([]*big.Rat, len(holders)), make([]*own, len(holders))
	for i, h := range holders {
		costs[i], sales[i], all[i] = &parts[h].cost, &parts[h].sales, parts[h]
	}
	further := shareFurther(all)
	rate := a.rateOn(a.profiles[s.profile].currency, s.day)
	spendShares, salesShares := shareMicros(costs, rate), shareMicros(sales, rate)
	facts := make([]fact, len(holders))
	for i, h := range holders {
		f := fact{profile: s.profile, adProduct: s.adProduct, day: s.day, product: s.product, holder: h, hasRow: !parts[h].isZero()}
		f.spend.Set(spendShares[i])
		f.sales.Set(salesShares[i])
		f.impressions.Set(&parts[h].impressions)
		f.clicks.Set(&parts[h].clicks)
		f.purchases.Set(&parts[h].purchases)
		f.ownSpend.Set(costs[i])
		f.ownSales.Set(sales[i])
		// What a report names with zeros alone has no row: that it reported a further
		// measure is not known of it.
		if !f.hasRow {
			f.further = map[string]*big.Rat{}
		} else {
			f.further = further[i]
		}
		facts[i] = f
	}
	return facts
}

// shareMicros shares the millionths of the sum of amounts x rate. Each amount gets
// its whole millionths, and the greatest cut-off parts get one more each, as many
// as there are left; of equal parts the first ones do.
func shareMicros(amounts []*big.Rat, rate *big.Rat) []*big.Int {
	sum := new(big.Rat)
	shares, rests := make([]*big.Int, len(amounts)), make([]*big.Rat, len(amounts))
	order := make([]int, len(amounts))
	whole := new(big.Int)
	for i, amount := range amounts {
		sum.Add(sum, amount)
		exact := inMicros(amount, rate)
		shares[i] = new(big.Int).Quo(exact.Num(), exact.Denom()) // amounts are never negative
		rests[i] = new(big.Rat).Sub(exact, ratOfInt(shares[i]))
		order[i] = i
		whole.Add(whole, shares[i])
	}
	left := new(big.Int).Sub(toMicros(sum, rate), whole)
	if left.Sign() < 0 || left.Cmp(big.NewInt(int64(len(amounts)))) > 0 {
		panic("model: " + left.String() + " millionths are left over")
	}
	slices.SortStableFunc(order, func(x, y int) int { return rests[y].Cmp(rests[x]) })
	for _, i := range order[:left.Int64()] {
		shares[i].Add(shares[i], big.NewInt(1))
	}
	return shares
}

// toMicros is amount x rate in millionths, half away from zero.
func toMicros(amount, rate *big.Rat) *big.Int {
	n, ok := new(big.Int).SetString(inMicros(amount, rate).FloatString(0), 10)
	if !ok {
		panic("model: FloatString(0) gave no integer")
	}
	return n
}

// inMicros is amount x rate in millionths, exactly.
func inMicros(amount, rate *big.Rat) *big.Rat {
	scaled := new(big.Rat).Mul(amount, rate)
	return scaled.Mul(scaled, ratOfInt(million))
}
