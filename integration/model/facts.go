package model

import (
	"cmp"
	"math/big"
	"slices"
)

// fact is one marketplace, day, ad product and product, in dollars.
type fact struct {
	profile, adProduct, day, product string
	figures
}

type slot struct{ profile, adProduct, day, product string }

// own collects a slot's exact amounts in the marketplace's own currency.
type own struct {
	cost, sales                    big.Rat
	impressions, clicks, purchases big.Int
}

// deriveFacts recomputes every fact from the set of held reports, whatever the
// order in which they were loaded.
func (a *Account) deriveFacts() []fact {
	if a.facts != nil {
		return a.facts
	}
	sums := map[slot]*own{}
	for _, r := range a.reports {
		for _, line := range r.rows {
			if a.currentReport(r, line.day) == r {
				addRow(sums, r, line)
			}
		}
	}
	a.facts = make([]fact, 0, len(sums))
	for s, o := range sums {
		a.facts = append(a.facts, a.convertFact(s, o))
	}
	slices.SortFunc(a.facts, func(x, y fact) int { return cmp.Compare(x.day, y.day) })
	return a.facts
}

func addRow(sums map[slot]*own, r *report, line row) {
	s := slot{r.profile, r.adProduct, line.day, line.product}
	o := sums[s]
	if o == nil {
		o = &own{}
		sums[s] = o
	}
	o.cost.Add(&o.cost, line.cost)
	o.sales.Add(&o.sales, line.sales)
	o.impressions.Add(&o.impressions, line.impressions)
	o.clicks.Add(&o.clicks, line.clicks)
	o.purchases.Add(&o.purchases, line.purchases)
}

func (a *Account) convertFact(s slot, o *own) fact {
	f := fact{profile: s.profile, adProduct: s.adProduct, day: s.day, product: s.product}
	rate := a.rateOn(a.profiles[s.profile].currency, s.day)
	f.spend.Set(toMicros(&o.cost, rate))
	f.sales.Set(toMicros(&o.sales, rate))
	f.impressions.Set(&o.impressions)
	f.clicks.Set(&o.clicks)
	f.purchases.Set(&o.purchases)
	return f
}

// toMicros is amount x rate in millionths, half away from zero.
func toMicros(amount, rate *big.Rat) *big.Int {
	scaled := new(big.Rat).Mul(amount, rate)
	scaled.Mul(scaled, new(big.Rat).SetInt(million))
	n, ok := new(big.Int).SetString(scaled.FloatString(0), 10)
	if !ok {
		panic("model: FloatString(0) gave no integer")
	}
	return n
}
