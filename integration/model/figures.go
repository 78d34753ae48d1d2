package model

import (
	"encoding/json"
	"math/big"
	"slices"
)

// kind says how a figure is shown, and how it changes.
type kind int

const (
	counted  kind = iota // whole; changes in percent
	money                // two decimals; changes in percent
	quotient             // two decimals; changes in its own unit
)

// definitions are the figures of the contract in its order, each without any
// rounding and nil where its base is missing.
var definitions = []struct {
	name  string
	kind  kind
	exact func(sums) *big.Rat
}{
	{"spend", money, func(s sums) *big.Rat { return s.spend }},
	{"sales", money, func(s sums) *big.Rat { return s.sales }},
	{"acos", quotient, func(s sums) *big.Rat { return scaledRatio(s.spend, s.sales, 100) }},
	{"roas", quotient, func(s sums) *big.Rat { return scaledRatio(s.sales, s.spend, 1) }},
	{"impressions", counted, func(s sums) *big.Rat { return s.impressions }},
	{"clicks", counted, func(s sums) *big.Rat { return s.clicks }},
	{"ctr", quotient, func(s sums) *big.Rat { return scaledRatio(s.clicks, s.impressions, 100) }},
	{"average_cpc", quotient, func(s sums) *big.Rat { return scaledRatio(s.spend, s.clicks, 1) }},
	{"purchases", counted, func(s sums) *big.Rat { return s.purchases }},
	{"conversion_rate", quotient, func(s sums) *big.Rat { return scaledRatio(s.purchases, s.clicks, 100) }},
}

// ofMoney are the figures that amounts are part of.
var ofMoney = []string{"spend", "sales", "acos", "roas", "average_cpc"}

// sums are exact sums of which figures are made.
type sums struct{ spend, sales, impressions, clicks, purchases *big.Rat }

// sumsIn are the sums in US dollars, or in the marketplaces' own currencies.
func (f *figures) sumsIn(local bool) sums {
	s := sums{microsToDollars(&f.spend), microsToDollars(&f.sales), ratOfInt(&f.impressions), ratOfInt(&f.clicks), ratOfInt(&f.purchases)}
	if local {
		s.spend, s.sales = &f.ownSpend, &f.ownSales
	}
	return s
}

// FigureNames are the members of a figures object, in the contract's order.
var FigureNames = func() (names []string) {
	for _, d := range definitions {
		names = append(names, d.name)
	}
	return names
}()

// Figure is a figure of sums without any rounding, and how many decimals it is
// shown with; nil where its base is missing. Amounts are millionths of a dollar.
func Figure(name string, impressions, clicks, purchases, spend, sales *big.Int) (exact *big.Rat, decimals int) {
	d := definitions[slices.Index(FigureNames, name)]
	if d.kind != counted {
		decimals = 2
	}
	return d.exact((&figures{spend: *spend, sales: *sales, impressions: *impressions, clicks: *clicks, purchases: *purchases}).sumsIn(false)), decimals
}

func ratOfInt(n *big.Int) *big.Rat { return new(big.Rat).SetInt(n) }

func scaledRatio(x, y *big.Rat, times int64) *big.Rat {
	if y.Sign() == 0 {
		return nil
	}
	return new(big.Rat).Mul(new(big.Rat).Quo(x, y), big.NewRat(times, 1))
}

// figures are exact sums. Amounts are millionths of a dollar: conversion has
// already rounded each fact to six decimals, so nothing is lost. further are other
// measures by their names, of those that a report had.
type figures struct {
	spend, sales, impressions, clicks, purchases big.Int
	ownSpend, ownSales                           big.Rat
	further                                      map[string]*big.Rat
}

func (f *figures) addFigures(g *figures) {
	f.spend.Add(&f.spend, &g.spend)
	f.sales.Add(&f.sales, &g.sales)
	f.impressions.Add(&f.impressions, &g.impressions)
	f.clicks.Add(&f.clicks, &g.clicks)
	f.purchases.Add(&f.purchases, &g.purchases)
	f.ownSpend.Add(&f.ownSpend, &g.ownSpend)
	f.ownSales.Add(&f.ownSales, &g.ownSales)
	for name, n := range g.further {
		if f.further == nil {
			f.further = map[string]*big.Rat{}
		}
		if f.further[name] == nil {
			f.further[name] = new(big.Rat)
		}
		f.further[name].Add(f.further[name], n)
	}
}

// isZero reports whether all measures of a request are zero. Such rows are not listed.
func (f *figures) isZero(r request) bool {
	for _, name := range r.further {
		if n := f.further[name]; n != nil && n.Sign() != 0 {
			return false
		}
	}
	return f.spend.Sign() == 0 && f.sales.Sign() == 0 && f.impressions.Sign() == 0 &&
		f.clicks.Sign() == 0 && f.purchases.Sign() == 0 && (!r.local || f.ownSpend.Sign() == 0 && f.ownSales.Sign() == 0)
}

// exactFigure is one that a request asks for, nil where it is not known.
type exactFigure struct {
	name  string
	kind  kind
	exact *big.Rat
}

func (f *figures) exactFigures(r request) (all []exactFigure) {
	s := f.sumsIn(r.local)
	for _, d := range definitions {
		all = append(all, exactFigure{d.name, d.kind, d.exact(s)})
	}
	for _, name := range r.further {
		all = append(all, exactFigure{name, FurtherMeasures[name].kind, f.further[name]})
	}
	return all
}

// putFigures writes the figures into an answer's object.
func (f *figures) putFigures(r request, object map[string]any) map[string]any {
	for _, one := range f.exactFigures(r) {
		switch {
		case one.exact == nil:
			object[one.name] = nil // never zero
		case one.kind == counted:
			object[one.name] = json.Number(one.exact.Num().String())
		default:
			object[one.name] = twoDecimals(one.exact)
		}
	}
	return object
}

var million = big.NewInt(1_000_000)

func microsToDollars(micros *big.Int) *big.Rat { return new(big.Rat).SetFrac(micros, million) }

// twoDecimals rounds half away from zero, which is what FloatString promises.
func twoDecimals(r *big.Rat) json.Number { return json.Number(r.FloatString(2)) }
