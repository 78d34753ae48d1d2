package model

import (
	"encoding/json"
	"math/big"
)

// FigureNames are the members of a figures object, in the contract's order.
var FigureNames = []string{
	"spend", "sales", "acos", "roas", "impressions", "clicks", "ctr",
	"average_cpc", "purchases", "conversion_rate",
}

// figures are exact sums. Amounts are millionths of a dollar: conversion has
// already rounded each fact to six decimals, so nothing is lost.
type figures struct {
	spend, sales, impressions, clicks, purchases big.Int
}

func (f *figures) add(g *figures) {
	f.spend.Add(&f.spend, &g.spend)
	f.sales.Add(&f.sales, &g.sales)
	f.impressions.Add(&f.impressions, &g.impressions)
	f.clicks.Add(&f.clicks, &g.clicks)
	f.purchases.Add(&f.purchases, &g.purchases)
}

// none tells whether the five measures are all zero, which is no figure.
func (f *figures) none() bool {
	return f.spend.Sign() == 0 && f.sales.Sign() == 0 && f.impressions.Sign() == 0 &&
		f.clicks.Sign() == 0 && f.purchases.Sign() == 0
}

// put writes the ten members into an answer's object.
func (f *figures) put(object map[string]any) map[string]any {
	object["spend"] = amount(&f.spend)
	object["sales"] = amount(&f.sales)
	object["acos"] = ratio(&f.spend, &f.sales, 100)
	object["roas"] = ratio(&f.sales, &f.spend, 1)
	object["impressions"] = json.Number(f.impressions.String())
	object["clicks"] = json.Number(f.clicks.String())
	object["ctr"] = ratio(&f.clicks, &f.impressions, 100)
	object["average_cpc"] = perClick(f)
	object["purchases"] = json.Number(f.purchases.String())
	object["conversion_rate"] = ratio(&f.purchases, &f.clicks, 100)
	return object
}

var million = big.NewInt(1_000_000)

func dollars(micros *big.Int) *big.Rat { return new(big.Rat).SetFrac(micros, million) }

// twoDecimals rounds half away from zero, which is what FloatString promises.
func twoDecimals(r *big.Rat) json.Number { return json.Number(r.FloatString(2)) }

func amount(micros *big.Int) json.Number { return twoDecimals(dollars(micros)) }

// ratio is null where its base is missing, never zero.
func ratio(part, base *big.Int, factor int64) any {
	if base.Sign() == 0 {
		return nil
	}
	r := new(big.Rat).SetFrac(part, base)
	return twoDecimals(r.Mul(r, big.NewRat(factor, 1)))
}

func perClick(f *figures) any {
	if f.clicks.Sign() == 0 {
		return nil
	}
	return twoDecimals(new(big.Rat).Quo(dollars(&f.spend), new(big.Rat).SetInt(&f.clicks)))
}
