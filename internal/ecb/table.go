package ecb

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"adlens"
	"adlens/internal/catalogue"
)

// Table is the rates of a file: by day and currency, how many units of the currency
// one euro is worth.
type Table map[adlens.Day]map[string]adlens.Amount

// rateDecimals is to how many decimals rates in US dollars are rounded.
const rateDecimals = 10

const (
	euro   = "EUR"
	dollar = "USD"
)

// maxDollars is what no currency is worth: a rate of that size is a slip.
var maxDollars = mustParse("10000")

// pegged is what one unit of each pegged currency is worth in US dollars.
var pegged = func() map[string]adlens.Amount {
	all := map[string]adlens.Amount{}
	for _, p := range catalogue.Pegs {
		all[p.Currency], _ = inDollars(adlens.One, mustParse(p.PerUSD))
	}
	return all
}()

func mustParse(text string) adlens.Amount {
	a, err := adlens.ParseAmount([]byte(text))
	if err != nil {
		panic(text + ": " + err.Error())
	}
	return a
}

// inDollars is what one unit of a currency is worth in US dollars if something is
// worth so many dollars and so many of its units. ok is false where that is nothing,
// or more than any currency is worth.
func inDollars(dollars, units adlens.Amount) (worth adlens.Amount, ok bool) {
	worth, ok = dollars.Over(units, rateDecimals)
	return worth, ok && !worth.IsZero() && worth.Less(maxDollars)
}

// Days are the table's days in order.
func (t Table) Days() []adlens.Day { return slices.Sorted(maps.Keys(t)) }

// Dollars visits, day by day in order, what one unit of each currency is worth in US
// dollars, the euro and pegged currencies among them, rounded half away from zero to
// 10 decimals. A day on which the dollar has no rate has pegged currencies alone.
func (t Table) Dollars(visit func(day adlens.Day, currency string, worth adlens.Amount)) {
	for _, day := range t.Days() {
		worth := maps.Clone(pegged)
		if dollars, ok := t[day][dollar]; ok {
			worth[euro] = dollars
			for currency, units := range t[day] {
				worth[currency], _ = inDollars(dollars, units) // Read has checked it
			}
		}
		delete(worth, dollar)
		for _, currency := range slices.Sorted(maps.Keys(worth)) {
			visit(day, currency, worth[currency])
		}
	}
}

// Put adds the rows of another table from a day on, over those of the same day.
func (t Table) Put(other Table, from adlens.Day) {
	for day, units := range other {
		if day >= from {
			t[day] = units
		}
	}
}

// Write writes the table as the bank writes its history: reading it gives the same
// table.
func (t Table) Write(w io.Writer) error {
	seen := map[string]bool{dollar: true}
	for _, units := range t {
		for currency := range units {
			seen[currency] = true
		}
	}
	currencies := slices.Sorted(maps.Keys(seen))
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "%s,%s", dateColumn, strings.Join(append(currencies, "\n"), ","))
	for _, day := range slices.Backward(t.Days()) {
		fmt.Fprintf(out, "%s,", day)
		for _, currency := range currencies {
			text := noRate
			if units, ok := t[day][currency]; ok {
				text = units.String()
			}
			out.WriteString(text + ",")
		}
		out.WriteByte('\n')
	}
	return out.Flush()
}
