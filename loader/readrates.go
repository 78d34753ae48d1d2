package loader

import (
	"fmt"
	"io"
	"regexp"

	"adlens"
	"adlens/internal/ecb"
	"adlens/internal/platform"
)

// No currency is worth ten thousand dollars. A rate of that size is a slip, and
// would make sums that fill a disk.
var (
	rateForm     = regexp.MustCompile(`^[0-9]{1,4}(\.[0-9]{1,20})?$`)
	currencyForm = regexp.MustCompile(`^[A-Z]{3}$`)
)

// readRates reads rates.csv.
func readRates(content io.Reader) (all Rates, rows int, err error) {
	rates := RateTable{}
	rows, err = readTable(content, []string{"date", "currency", "usd"}, func(row int, values []string) error {
		day, err := adlens.ParseDay(values[0])
		if err != nil || day < adlens.FirstStorableDay || day > adlens.LastStorableDay {
			return &platform.Fault{Row: row, Field: "date", Value: fmt.Sprintf("%q", values[0]), Expected: fmt.Sprintf("a day written YYYY-MM-DD that exists, from %s to %s", adlens.FirstStorableDay, adlens.LastStorableDay)}
		}
		currency := values[1]
		if !currencyForm.MatchString(currency) {
			return &platform.Fault{Row: row, Field: "currency", Value: fmt.Sprintf("%q", currency), Expected: "a currency's code of three capital letters"}
		}
		usd, err := adlens.ParseAmount([]byte(values[2]))
		if err != nil || usd.IsZero() || !rateForm.MatchString(values[2]) {
			return &platform.Fault{Row: row, Field: "usd", Value: fmt.Sprintf("%q", values[2]),
				Expected: "US dollars for one unit of the currency: a decimal above 0 and below 10000 with at most 20 decimals"}
		}
		if currency == "USD" && usd != adlens.One {
			return &platform.Fault{Row: row, Field: "usd", Value: values[2], Expected: "1 for USD"}
		}
		if i, twice := rates.findDay(currency, day); twice && rates[currency][i].USD != usd {
			return &platform.Fault{Row: row, Field: "usd", Value: values[2], Expected: fmt.Sprintf("%s, which an earlier row gives for %s on %s", rates[currency][i].USD, currency, day)}
		}
		rates.putRate(currency, Rate{Day: day, USD: usd})
		return nil
	})
	return Rates{ByHand: rates}, rows, err
}

// readBankRates reads a file of the European Central Bank.
func readBankRates(content io.Reader) (all Rates, rows int, err error) {
	table, err := ecb.Read(content)
	rates, newest := RateTable{}, adlens.Day(0)
	for day := range table {
		newest = max(newest, day)
	}
	table.Dollars(func(day adlens.Day, currency string, usd adlens.Amount) {
		rates.putRate(currency, Rate{day, usd, newest})
	})
	return Rates{Fetched: rates}, len(table), err
}
