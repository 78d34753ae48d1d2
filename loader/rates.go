package loader

import (
	"slices"

	"adlens"
)

// RateReach is for how many days after its own a rate may serve: weekends and
// holidays have no rates of their own.
const RateReach = 7

// Rates holds, by currency, the US dollars for one unit on days in order.
type Rates map[string][]Rate

// Rate is the rate of one day.
type Rate struct {
	Day adlens.Day
	USD adlens.Amount
}

// countRates returns how many rates there are.
func (r Rates) countRates() (n int) {
	for _, days := range r {
		n += len(days)
	}
	return n
}

// At returns the rate for a day: its own, else the nearest earlier one within
// RateReach days. US dollars need no rate.
func (r Rates) At(currency string, day adlens.Day) (adlens.Amount, bool) {
	if currency == "USD" {
		return adlens.One, true
	}
	rates := r[currency]
	i, exact := slices.BinarySearchFunc(rates, day, func(rate Rate, day adlens.Day) int { return int(rate.Day) - int(day) })
	if exact {
		return rates[i].USD, true
	}
	if i == 0 || rates[i-1].Day < day-RateReach {
		return adlens.Amount{}, false
	}
	return rates[i-1].USD, true
}

// With returns the rates with others put in or over them, and whether that
// changed anything.
func (r Rates) With(added Rates) (Rates, bool) {
	next, changed := Rates{}, false
	for currency, rates := range r {
		next[currency] = slices.Clone(rates)
	}
	for currency, rates := range added {
		for _, rate := range rates {
			changed = next.putRate(currency, rate) || changed
		}
	}
	return next, changed
}

func (r Rates) putRate(currency string, rate Rate) (changed bool) {
	rates := r[currency]
	i, exact := slices.BinarySearchFunc(rates, rate.Day, func(have Rate, day adlens.Day) int { return int(have.Day) - int(day) })
	if exact {
		changed = rates[i].USD != rate.USD
		rates[i] = rate
		return changed
	}
	r[currency] = slices.Insert(rates, i, rate)
	return true
}
