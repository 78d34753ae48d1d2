// Package bank stands in for the web server of the European Central Bank: its daily
// file and its history, as zip archives in one directory, written from the files as
// they were recorded (internal/ecb says where). It is independent of the program.
package bank

import (
	"archive/zip"
	"bytes"
	"fmt"
	"math/big"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"time"
)

// Paths of the files.
const (
	Daily   = "/stats/eurofxref/eurofxref.zip"
	History = "/stats/eurofxref/eurofxref-hist.zip"
)

// Day is what one euro is worth on a day, by currency, as text.
type Day struct {
	Date  time.Time
	Euros map[string]string
}

// Bank is a running stand-in.
type Bank struct {
	server *httptest.Server

	mu      sync.Mutex
	days    []Day // the newest first
	calls   map[string]int
	instead http.HandlerFunc
}

// Currencies that the stand-in has rates of. Each other column is N/A.
var columns = []string{"USD", "JPY", "BGN", "CYP", "GBP", "PLN", "SEK", "TRY"}

// New starts a stand-in that has the rates of a year of working days up to now.
func New(now time.Time) *Bank {
	b := &Bank{calls: map[string]int{}, days: workingDays(now, 365)}
	b.server = httptest.NewServer(http.HandlerFunc(b.answer))
	return b
}

// workingDays are the weekdays of which rates are published by now: those of today
// after 16:00 in Frankfurt.
func workingDays(now time.Time, count int) (days []Day) {
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		panic(err)
	}
	there := now.In(zone)
	for back := range count {
		date := time.Date(there.Year(), there.Month(), there.Day()-back, 0, 0, 0, 0, time.UTC)
		if weekday := date.Weekday(); weekday == time.Saturday || weekday == time.Sunday || back == 0 && there.Hour() < 16 {
			continue
		}
		n := date.YearDay()
		days = append(days, Day{date, map[string]string{"USD": fmt.Sprintf("1.%04d", 1000+n*13%900), "JPY": fmt.Sprintf("%d.%02d", 150+n%30, n%100), "BGN": "1.9558",
			"GBP": fmt.Sprintf("0.8%04d", n*7%10_000), "PLN": fmt.Sprintf("4.%04d", 2000+n), "SEK": fmt.Sprintf("11.%04d", n*11%10_000), "TRY": fmt.Sprintf("4%d.%04d", n%9, n*17%10_000)}})
	}
	return days
}

// URL is the address of the daily file.
func (b *Bank) URL() string { return b.server.URL + Daily }

// Newest is the newest day that has rates.
func (b *Bank) Newest() time.Time { return b.days[0].Date }

// Close stops it.
func (b *Bank) Close() { b.server.Close() }

// Instead has another handler answer, until it is nil again.
func (b *Bank) Instead(h http.HandlerFunc) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.instead = h
}

// Calls is how often a file was requested.
func (b *Bank) Calls(path string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.calls[path]
}

// Dollars is the rate of a currency on a day, or the nearest of the seven days before
// it: dollars by units for one euro, rounded half away from zero to 10 decimals.
func (b *Bank) Dollars(currency string, date time.Time) *big.Rat {
	i := slices.IndexFunc(b.days, func(d Day) bool { return !d.Date.After(date) })
	if i < 0 || date.Sub(b.days[i].Date) > 7*24*time.Hour {
		return nil
	}
	dollars, units := parse(b.days[i].Euros["USD"]), big.NewRat(1, 1)
	switch currency {
	case "EUR":
	case "AED":
		dollars, units = big.NewRat(1, 1), parse("3.6725")
	case "SAR":
		dollars, units = big.NewRat(1, 1), parse("3.75")
	default:
		units = parse(b.days[i].Euros[currency])
	}
	return parse(new(big.Rat).Quo(dollars, units).FloatString(10))
}

func parse(text string) *big.Rat {
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		panic(text)
	}
	return r
}

func (b *Bank) answer(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	b.calls[r.URL.Path]++
	instead := b.instead
	b.mu.Unlock()
	switch {
	case instead != nil:
		instead(w, r)
	case r.URL.Path == Daily:
		b.send(w, "eurofxref.csv", b.dailyText())
	case r.URL.Path == History:
		b.send(w, "eurofxref-hist.csv", b.historyText())
	default:
		http.NotFound(w, r)
	}
}

func (b *Bank) dailyText() string {
	head, row := "Date, ", b.days[0].Date.Format("02 January 2006, ")
	for _, column := range columns {
		if value := b.days[0].Euros[column]; value != "" {
			head, row = head+column+", ", row+value+", "
		}
	}
	return head + "\n" + row
}

func (b *Bank) historyText() string {
	text := "Date," + strings.Join(columns, ",") + ",\n"
	for _, day := range b.days {
		text += day.Date.Format(time.DateOnly)
		for _, column := range columns {
			value := day.Euros[column]
			if value == "" {
				value = "N/A"
			}
			text += "," + value
		}
		text += ",\n"
	}
	return text
}

func (b *Bank) send(w http.ResponseWriter, name, text string) {
	packed, err := Zip(name, text)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/zip")
	w.Write(packed)
}

// Zip is an archive of one file.
func Zip(name, text string) ([]byte, error) {
	var out bytes.Buffer
	archive := zip.NewWriter(&out)
	file, err := archive.Create(name)
	if err == nil {
		_, err = file.Write([]byte(text))
	}
	if err == nil {
		err = archive.Close()
	}
	return out.Bytes(), err
}
