package loader

import (
	"cmp"
	"slices"

	"adlens"
	"adlens/internal/exact"
)

// sharer converts and shares amounts. What it returns holds until the next ones.
type sharer struct{ shares, cut []exact.Uint128 }

// shareMicros converts the amounts of a product's day, and shares what they come to
// among them: the sum is converted and rounded once, each amount's exact product is
// cut to millionths, and those that are left over go, one each, to the amounts of
// which most was cut off, of equal ones to the first. So every breakdown has the
// same sum, and none has a share below zero (the contract, D1). ok is false where
// 128 bits do not hold the amounts.
func (s *sharer) shareMicros(amounts []adlens.Amount, rate adlens.Amount) (shares []exact.Uint128, ok bool) {
	var total adlens.Amount
	for _, a := range amounts {
		if total, ok = total.Add(a); !ok {
			return nil, false
		}
	}
	s.shares = slices.Grow(s.shares[:0], len(amounts))[:len(amounts)]
	shares = s.shares
	if total == (adlens.Amount{}) { // most days of most products have no orders
		clear(shares)
		return shares, true
	}
	all, ok := total.Times(rate)
	if len(amounts) == 1 {
		shares[0] = all
	}
	if !ok || len(amounts) == 1 {
		return shares, ok
	}
	s.cut = slices.Grow(s.cut[:0], len(amounts))[:len(amounts)]
	cut := s.cut
	var given exact.Uint128
	for i, a := range amounts {
		if shares[i], cut[i], ok = a.TimesCut(rate); !ok {
			return nil, false
		}
		given, _ = given.Add(shares[i]) // no more than all
	}
	left, _ := all.Distance(given)
	if left == (exact.Uint128{}) {
		return shares, true
	}
	order := make([]int, len(amounts))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cut[b].Compare(cut[a]) })
	for _, i := range order[:left.Lo] { // less than one of each was cut off
		shares[i], _ = shares[i].Add(exact.Uint128{Lo: 1})
	}
	return shares, true
}

// adPlace is where an ad runs: a campaign and an ad group, by their ids; "" where the
// platform names none.
type adPlace struct{ campaign, adGroup string }

// comparePlaces orders by campaign, then ad group, none last.
func comparePlaces(a, b adPlace) int {
	return cmp.Or(compareIDs(a.campaign, b.campaign), compareIDs(a.adGroup, b.adGroup))
}

func compareIDs(a, b string) int {
	if (a == "") != (b == "") {
		return -cmp.Compare(len(a), len(b))
	}
	return cmp.Compare(a, b)
}
