package loader

import (
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"

	"adlens"
)

// RateReach is for how many days after its own a rate may serve: weekends and
// holidays have no rates of their own.
const RateReach = 7

// Rates are the account's rates of exchange by where they come from.
type Rates struct {
	ByHand  RateTable // of rates.csv
	Fetched RateTable // of files of the European Central Bank, loaded by a person or not
}

// RateTable holds, by currency, the US dollars for one unit on days in order.
type RateTable map[string][]Rate

// Rate is the rate of one day.
type Rate struct {
	Day  adlens.Day
	USD  adlens.Amount
	AsOf adlens.Day // the newest day of the bank's file that it is from; 0 for others
}

// RateSpan is the first and the last day of the rates of a currency that are held
// from one source.
type RateSpan struct {
	Currency    string
	Fetched     bool
	First, Last adlens.Day
}

// NewRates returns rates without any.
func NewRates() Rates { return Rates{RateTable{}, RateTable{}} }

// Table returns the table of rates that were fetched, or of the others.
func (r Rates) Table(fetched bool) RateTable {
	if fetched {
		return r.Fetched
	}
	return r.ByHand
}

// At returns the rate for a day: the nearest within RateReach days that was loaded by
// hand, else the nearest that was fetched. US dollars need no rate.
func (r Rates) At(currency string, day adlens.Day) (adlens.Amount, bool) {
	if currency == "USD" {
		return adlens.One, true
	}
	if usd, ok := r.ByHand.At(currency, day); ok {
		return usd, true
	}
	return r.Fetched.At(currency, day)
}

// With returns the rates with others put in or over them, and whether that
// changed anything.
func (r Rates) With(added Rates) (Rates, bool) {
	byHand, changed := r.ByHand.With(added.ByHand)
	fetched, also := r.Fetched.With(added.Fetched)
	return Rates{byHand, fetched}, changed || also
}

// dateFetched takes the bank's rates that were loaded before AsOf was kept as from a file that
// ends at the newest day that is held of the bank: the newest of those files did. Else any file
// would go before them, also one that lacks the bank's corrections.
func (r Rates) dateFetched() {
	newest := adlens.Day(0)
	for _, rates := range r.Fetched {
		for _, rate := range rates {
			newest = max(newest, rate.Day)
		}
	}
	for _, rates := range r.Fetched {
		for i := range rates {
			if rates[i].AsOf == 0 {
				rates[i].AsOf = newest
			}
		}
	}
}

// mostDollars is more than a unit of any currency that marketplaces have was worth for
// decades: a pound was 2.1 at most.
var mostDollars, _ = adlens.ParseAmount([]byte("2.5"))

// describeOdd tells of rates by hand that look like units of the currency for one dollar:
// they are worth much more than any, or far from the bank's rate or the one before, of
// these rates and of those that are put in. What is held already is told of once.
func (r Rates) describeOdd(added RateTable, currencies map[string]bool) string {
	all, _ := r.ByHand.With(added)
	var odd []string
	for _, currency := range slices.Sorted(maps.Keys(added)) {
		first, count := "", 0
		for _, rate := range added[currency] {
			if i, held := r.ByHand.findDay(currency, rate.Day); !currencies[currency] || held && r.ByHand[currency][i].USD == rate.USD {
				continue
			}
			near, found := r.Fetched.At(currency, rate.Day)
			if !found {
				near, found = r.ByHand.At(currency, rate.Day)
			}
			if !found {
				near, found = all.At(currency, rate.Day-1)
			}
			found = found && !mostDollars.Less(near) // which is odd itself
			if !mostDollars.Less(rate.USD) && (!found || !areFarApart(rate.USD, near)) {
				continue
			}
			if count++; count == 1 {
				first = fmt.Sprintf("1 %s is %s US dollars on %s", currency, rate.USD, rate.Day)
				if found && areFarApart(rate.USD, near) {
					first += fmt.Sprintf(", and %s by another rate near it", near)
				}
			}
		}
		if count > 1 {
			first += fmt.Sprintf(" (of %d such days)", count)
		}
		if count > 0 {
			odd = append(odd, first)
		}
	}
	if odd == nil {
		return ""
	}
	return strings.Join(odd, "; ") + "; a rate is US dollars for one unit of the currency, not the other way round"
}

// areFarApart reports whether one rate is more than five times the other, which no
// currency does within RateReach days.
func areFarApart(a, b adlens.Amount) bool {
	five := big.NewInt(5)
	return new(big.Int).Mul(a.Big(), five).Cmp(b.Big()) < 0 || new(big.Int).Mul(b.Big(), five).Cmp(a.Big()) < 0
}

// countRates returns how many rates there are.
func (r Rates) countRates() (n int) {
	for _, table := range []RateTable{r.ByHand, r.Fetched} {
		for _, days := range table {
			n += len(days)
		}
	}
	return n
}

// At returns the table's rate for a day: its own, else the nearest earlier one within
// RateReach days.
func (r RateTable) At(currency string, day adlens.Day) (adlens.Amount, bool) {
	rates := r[currency]
	i, exact := r.findDay(currency, day)
	if exact {
		return rates[i].USD, true
	}
	if i == 0 || rates[i-1].Day < day-RateReach {
		return adlens.Amount{}, false
	}
	return rates[i-1].USD, true
}

// findDay returns the index of the currency's first rate that is not of an earlier
// day, and whether it is of this one.
func (r RateTable) findDay(currency string, day adlens.Day) (int, bool) {
	return slices.BinarySearchFunc(r[currency], day, func(rate Rate, day adlens.Day) int { return int(rate.Day) - int(day) })
}

// With returns the table with the rates of another put in or over its own, and
// whether that changed anything. What a later file of the bank gives stays. Currencies that stay as they are share their rates.
func (r RateTable) With(added RateTable) (RateTable, bool) {
	next, changed := RateTable{}, false
	for currency, rates := range r {
		next[currency] = rates
	}
	for currency, rates := range added {
		next[currency] = slices.Clone(next[currency])
		for _, rate := range rates {
			changed = next.putRate(currency, rate) || changed
		}
	}
	return next, changed
}

func (r RateTable) putRate(currency string, rate Rate) (changed bool) {
	rates := r[currency]
	i, exact := r.findDay(currency, rate.Day)
	if exact {
		held := rates[i]
		if rate.AsOf < held.AsOf {
			return false
		}
		rates[i] = rate
		return held != rate
	}
	r[currency] = slices.Insert(rates, i, rate)
	return true
}
