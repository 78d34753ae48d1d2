package model

import (
	"archive/zip"
	"encoding/csv"
	"io"
	"math/big"
	"os"
	"strings"
	"time"
)

// pegs are units of currencies for one US dollar.
var pegs = map[string]string{"AED": "3.6725", "SAR": "3.75"}

// takeBankRates reads a file of the European Central Bank: a dollar's worth of each
// currency follows from what one euro is worth in both.
func (a *Account) takeBankRates(file string) (*report, string, error) {
	content, err := openBankFile(file)
	if err != nil {
		return nil, "", err
	}
	defer content.Close()
	lines := csv.NewReader(content)
	lines.TrimLeadingSpace = true
	all, err := lines.ReadAll()
	if err != nil {
		return nil, "", err
	}
	newest := ""
	for i, line := range all[1:] {
		day, err := time.Parse("02 January 2006", line[0])
		if err != nil {
			day, err = time.Parse(time.DateOnly, line[0])
		}
		if err != nil {
			return nil, "", err
		}
		line[0] = day.Format(time.DateOnly)
		newest, all[1+i] = max(newest, line[0]), line
	}
	for _, line := range all[1:] {
		euros := map[string]*big.Rat{"EUR": big.NewRat(1, 1)}
		for i, name := range all[0][1:] {
			if units, ok := new(big.Rat).SetString(line[i+1]); ok { // else it is N/A, or the end of the line
				euros[strings.TrimSpace(name)] = units
			}
		}
		for currency, units := range euros {
			if dollars := euros["USD"]; dollars != nil && currency != "USD" {
				a.putBankRate(currency, line[0], newest, dollars, units)
			}
		}
		for currency, units := range pegs {
			a.putBankRate(currency, line[0], newest, big.NewRat(1, 1), parseDecimal(units))
		}
	}
	return nil, Loaded, nil
}

// putBankRate keeps dollars by units, rounded half away from zero to ten decimals, unless
// a file that ends later has given the day's.
func (a *Account) putBankRate(currency, day, newest string, dollars, units *big.Rat) {
	if a.fetched[currency] == nil {
		a.fetched[currency] = map[string]*big.Rat{}
	}
	if a.fetchedBy[currency+day] > newest {
		return
	}
	a.fetchedBy[currency+day] = newest
	a.fetched[currency][day] = parseDecimal(new(big.Rat).Quo(dollars, units).FloatString(10))
}

// openBankFile opens a file, or the one in its archive.
func openBankFile(file string) (io.ReadCloser, error) {
	if !strings.HasSuffix(file, ".zip") {
		return os.Open(file)
	}
	archive, err := zip.OpenReader(file)
	if err != nil {
		return nil, err
	}
	return archive.File[0].Open()
}
