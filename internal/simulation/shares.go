package simulation

import (
	"cmp"
	"fmt"
	"slices"

	"adlens"
)

// cent is a cent as rows have amounts.
const cent = 100_000

// addParts adds parts of a cent to a row's amounts: such that dollars of the v3 reports
// of Sponsored Brands change with what of legacy ones counts beside them.
func (row *reportRow) addParts() {
	row.spend += (row.impressions*7001 + row.spend/cent) % cent
	row.sales += (row.impressions*7003 + row.sales/cent) % cent
}

// amountText is an amount as files have it: with two decimals where they suffice.
func amountText(amount uint64) string {
	if amount%cent == 0 {
		return fmt.Sprintf("%d.%02d", amount/cent/100, amount/cent%100)
	}
	return fmt.Sprintf("%d.%07d", amount/cent/100, amount%(100*cent))
}

// placeRow is what all rows of one campaign and ad group add up to, on the day of a
// product. Its amounts are in ten-millionths of its own currency.
type placeRow struct {
	campaign, adGroup              string // "" for none
	impressions, clicks, purchases uint64
	spend, sales                   uint64
}

// placesOfDays adds up the rows that count, by product and day.
func placesOfDays(reports []*report) map[figureKey][]placeRow {
	days := map[figureKey][]placeRow{}
	for _, r := range reports {
		for _, row := range r.rows {
			if !r.speaksOn(row.day, reports) || r.legacy && !row.countsBeside(reports, r.profile) {
				continue
			}
			day := figureKey{profile: r.profile, product: r.product, start: row.day, asin: row.asin}
			at := slices.IndexFunc(days[day], func(p placeRow) bool { return p.campaign == row.campaign && p.adGroup == row.adGroup })
			if at < 0 {
				at = len(days[day])
				days[day] = append(days[day], placeRow{campaign: row.campaign, adGroup: row.adGroup})
			}
			p := &days[day][at]
			p.impressions, p.clicks, p.purchases = p.impressions+row.impressions, p.clicks+row.clicks, p.purchases+row.purchases
			p.spend, p.sales = p.spend+row.spend, p.sales+row.sales
		}
	}
	return days
}

// addDay adds the figures of a product's day on every level.
func (a *answers) addDay(day figureKey, places []placeRow, rate uint64) {
	slices.SortFunc(places, func(x, y placeRow) int {
		return cmp.Or(compareNoneLast(x.campaign, y.campaign), compareNoneLast(x.adGroup, y.adGroup))
	})
	spend := sharedDollars(places, rate, func(p placeRow) uint64 { return p.spend })
	sales := sharedDollars(places, rate, func(p placeRow) uint64 { return p.sales })
	for i, p := range places {
		// A rest is in units of the twentieth decimal.
		sums := [summed]uint64{p.impressions, p.clicks, p.purchases, spend[i], sales[i], p.spend / 10, p.sales / 10, p.spend % 10 * 1e13, p.sales % 10 * 1e13}
		for _, level := range []struct {
			table         string
			start         adlens.Day
			asin, divided bool
		}{{"facts", day.start, true, true}, {"day_totals", day.start, false, false},
			{"month_products", day.start.FirstOfMonth(), true, false}, {"month_ad_groups", day.start.FirstOfMonth(), true, true},
			{"year_products", day.start.FirstOfYear(), true, false}, {"year_ad_groups", day.start.FirstOfYear(), true, true}} {
			key := figureKey{level: level.table, profile: day.profile, product: day.product, start: level.start}
			if level.asin {
				key.asin = day.asin
			}
			if level.divided {
				key.campaign, key.adGroup = p.campaign, p.adGroup
			}
			a.add(key, sums)
		}
	}
}

func compareNoneLast(a, b string) int {
	switch {
	case a == b:
		return 0
	case a == "":
		return 1
	case b == "":
		return -1
	}
	return cmp.Compare(a, b)
}

// sharedDollars are the millionths of a dollar of each place (the contract, C3 and D1): the sum
// is rounded half up, each place's own dollars are cut, and what is left over goes to those
// of which most was cut off, of equal ones to the first. The rate is in ten-thousandths, so
// exact dollars have eleven decimals.
func sharedDollars(places []placeRow, rate uint64, amount func(placeRow) uint64) []uint64 {
	const millionth = 100_000
	shares, order := make([]uint64, len(places)), make([]int, len(places))
	sum, given := uint64(0), uint64(0)
	for i, p := range places {
		order[i] = i
		shares[i] = amount(p) * rate / millionth
		sum, given = sum+amount(p)*rate, given+shares[i]
	}
	slices.SortStableFunc(order, func(i, j int) int {
		return cmp.Compare(amount(places[j])*rate%millionth, amount(places[i])*rate%millionth)
	})
	for _, i := range order[:(sum+millionth/2)/millionth-given] {
		shares[i]++
	}
	return shares
}
