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
	exact func(*figures) *big.Rat
}{
	{"spend", money, func(f *figures) *big.Rat { return microsToDollars(&f.spend) }},
	{"sales", money, func(f *figures) *big.Rat { return microsToDollars(&f.sales) }},
	{"acos", quotient, func(f *figures) *big.Rat {
		return scaledRatio(microsToDollars(&f.spend), microsToDollars(&f.sales), 100)
	}},
	{"roas", quotient, func(f *figures) *big.Rat { return scaledRatio(microsToDollars(&f.sales), microsToDollars(&f.spend), 1) }},
	{"impressions", counted, func(f *figures) *big.Rat { return ratOfInt(&f.impressions) }},
	{"clicks", counted, func(f *figures) *big.Rat { return ratOfInt(&f.clicks) }},
	{"ctr", quotient, func(f *figures) *big.Rat { return scaledRatio(ratOfInt(&f.clicks), ratOfInt(&f.impressions), 100) }},
	{"average_cpc", quotient, func(f *figures) *big.Rat { return scaledRatio(microsToDollars(&f.spend), ratOfInt(&f.clicks), 1) }},
	{"purchases", counted, func(f *figures) *big.Rat { return ratOfInt(&f.purchases) }},
	{"conversion_rate", quotient, func(f *figures) *big.Rat { return scaledRatio(ratOfInt(&f.purchases), ratOfInt(&f.clicks), 100) }},
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
	return d.exact(&figures{spend: *spend, sales: *sales, impressions: *impressions, clicks: *clicks, purchases: *purchases}), decimals
}

func ratOfInt(n *big.Int) *big.Rat { return new(big.Rat).SetInt(n) }

func scaledRatio(x, y *big.Rat, times int64) *big.Rat {
	if y.Sign() == 0 {
		return nil
	}
	return new(big.Rat).Mul(new(big.Rat).Quo(x, y), big.NewRat(times, 1))
}

// figures are exact sums. Amounts are millionths of a dollar: conversion has
// already rounded each fact to six decimals, so nothing is lost.
type figures struct {
	spend, sales, impressions, clicks, purchases big.Int
}

func (f *figures) addFigures(g *figures) {
	f.spend.Add(&f.spend, &g.spend)
	f.sales.Add(&f.sales, &g.sales)
	f.impressions.Add(&f.impressions, &g.impressions)
	f.clicks.Add(&f.clicks, &g.clicks)
	f.purchases.Add(&f.purchases, &g.purchases)
}

// isZero reports whether all measures are zero. Such rows are not listed.
func (f *figures) isZero() bool {
	return f.spend.Sign() == 0 && f.sales.Sign() == 0 && f.impressions.Sign() == 0 &&
		f.clicks.Sign() == 0 && f.purchases.Sign() == 0
}

// putFigures writes the figures into an answer's object.
func (f *figures) putFigures(object map[string]any) map[string]any {
	for _, d := range definitions {
		exact := d.exact(f)
		switch {
		case exact == nil:
			object[d.name] = nil // never zero
		case d.kind == counted:
			object[d.name] = json.Number(exact.Num().String())
		default:
			object[d.name] = twoDecimals(exact)
		}
	}
	return object
}

var million = big.NewInt(1_000_000)

func microsToDollars(micros *big.Int) *big.Rat { return new(big.Rat).SetFrac(micros, million) }

// twoDecimals rounds half away from zero, which is what FloatString promises.
func twoDecimals(r *big.Rat) json.Number { return json.Number(r.FloatString(2)) }

func formatDollars(micros *big.Int) json.Number { return twoDecimals(microsToDollars(micros)) }
