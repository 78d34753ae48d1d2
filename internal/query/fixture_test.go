package query

import (
	"fmt"
	"math/big"
	"slices"
	"sync"
	"testing"
	"time"

	"adlens"
	"adlens/internal/catalogue"
	"adlens/internal/exact"
	"adlens/internal/manifest"
	"adlens/internal/query/period"
)

// The account of the examples holds 2024-10-01 to 2026-11-19: one US profile
// and two UK ones. now is the day after its last held day.
//
//	slice        held
//	US  SP       all of it, but for 2025-08-10 to 2025-08-20
//	US  SB       all of it
//	US  SD       2025 alone
//	UK1 SP       all of it
//	UK1 SB       January and June 2025 alone: a gap of months between them
//	UK2 SP       from 2026-03-15, until 2026-11-18 (its reports are a day late)
const (
	usKey  uint16 = 1
	uk1Key uint16 = 2
	uk2Key uint16 = 3
)

var now = time.Date(2026, 11, 20, 10, 24, 0, 0, time.UTC)

func day(text string) adlens.Day {
	d, err := adlens.ParseDay(text)
	if err != nil {
		panic(err)
	}
	return d
}

func days(from, to string) period.Period {
	return period.Period{Start: day(from), End: day(to), Range: period.Custom}
}

// generationOf makes generations that say what they are: marketplace, ad
// product, year, and month, or 00 for the year. US, Sponsored Products, March
// 2026 is 112603.
func generationOf(u manifest.Unit) uint32 {
	year, month, _ := u.Start.Time().Date()
	if u.Kind == manifest.Year {
		month = 0
	}
	return uint32(u.Slice.Marketplace)*100_000 + uint32(u.Slice.AdProduct)*10_000 + uint32(year%100)*100 + uint32(month)
}

// holding makes the entries of a slice of which these spans are held, as the
// loader does: its months, and the years above them.
func holding(s manifest.Slice, spans ...[2]string) []manifest.Entry {
	months := map[adlens.Day]manifest.Days{}
	for _, span := range spans {
		for d := day(span[0]); d <= day(span[1]); d++ {
			months[d.FirstOfMonth()] |= manifest.DaysBetween(d, d)
		}
	}
	years := map[adlens.Day]bool{}
	var entries []manifest.Entry
	for start, held := range months {
		u := manifest.Unit{Kind: manifest.Month, Slice: s, Start: start}
		entries = append(entries, manifest.Entry{Unit: u, Generation: generationOf(u), Derived: derivedSince(start, 3), Sources: []manifest.Source{{ReportID: "r", Days: held}}})
		years[start.FirstOfYear()] = true
	}
	for start := range years {
		u := manifest.Unit{Kind: manifest.Year, Slice: s, Start: start}
		entries = append(entries, manifest.Entry{Unit: u, Generation: generationOf(u), Derived: derivedSince(start, 1)})
	}
	return entries
}

// derivedSince are the rollups of a unit: all of those that begin in 2026, and of
// older ones none by ad group.
func derivedSince(start adlens.Day, all int) []uint64 {
	if start.Year() < 2026 {
		all--
	}
	return make([]uint64, all)
}

// exampleManifest is made once: fuzzing asks for it thousands of times.
var exampleManifest = sync.OnceValue(func() manifest.Manifest {
	slice := func(key uint16, p adlens.AdProduct) manifest.Slice {
		return manifest.Slice{Marketplace: key, AdProduct: p}
	}
	var entries []manifest.Entry
	for _, more := range [][]manifest.Entry{
		holding(slice(usKey, adlens.SponsoredProducts), [2]string{"2024-10-01", "2025-08-09"}, [2]string{"2025-08-21", "2026-11-19"}),
		holding(slice(usKey, adlens.SponsoredBrands), [2]string{"2024-10-01", "2026-11-19"}),
		holding(slice(usKey, adlens.SponsoredDisplay), [2]string{"2025-01-01", "2025-12-31"}),
		holding(slice(uk1Key, adlens.SponsoredProducts), [2]string{"2024-10-01", "2026-11-19"}),
		holding(slice(uk1Key, adlens.SponsoredBrands), [2]string{"2025-01-01", "2025-01-31"}, [2]string{"2025-06-01", "2025-06-30"}),
		holding(slice(uk2Key, adlens.SponsoredProducts), [2]string{"2026-03-15", "2026-11-18"}),
		{{Unit: manifest.Unit{Kind: manifest.Marketplaces}, Generation: 9001}, {Unit: manifest.Unit{Kind: manifest.Titles}, Generation: 9002},
			{Unit: manifest.Unit{Kind: manifest.Products}, Generation: 9004, Rows: 9},
			{Unit: manifest.Unit{Kind: manifest.Entities}, Generation: 9006, Rows: 7}},
	} {
		entries = append(entries, more...)
	}
	return manifest.New(12, entries...)
})

func exampleView() View {
	return View{
		Account:  "acct-7",
		Manifest: exampleManifest(),
		Marketplaces: []Marketplace{
			{Key: uk1Key, ID: "2001", Country: "UK", Currency: "GBP", TimeZone: "Europe/London"},
			{Key: uk2Key, ID: "2002", Country: "UK", Currency: "GBP", TimeZone: "Europe/London"},
			{Key: usKey, ID: "1001", Country: "US", Currency: "USD", TimeZone: "America/Los_Angeles"},
		},
	}
}

// selling is a view of an account with so many products.
func selling(v View, products uint64) View {
	unit := manifest.Unit{Kind: manifest.Products}
	v.Manifest = v.Manifest.With(v.Manifest.Version, manifest.Entry{Unit: unit, Generation: 9004, Rows: products})
	return v
}

// sums are five measures: impressions, clicks, purchases, and millionths of
// spend and sales.
func sums(impressions, clicks, purchases, spend, sales int64) exact.Sums {
	return bigSums(big.NewInt(impressions), big.NewInt(clicks), big.NewInt(purchases), big.NewInt(spend), big.NewInt(sales))
}

// bigSums are sums of any size.
func bigSums(numbers ...*big.Int) (s exact.Sums) {
	for _, n := range numbers {
		sum, ok := exact.SumOf(n)
		if !ok {
			panic(fmt.Sprint(n, " is no sum"))
		}
		s = append(s, sum)
	}
	return s
}

func shown(v Value) string { return string(v.Append(nil)) }

// figure is a figure as an answer shows it.
func figure(f Figures, name string) string {
	return shown(f[slices.Index(catalogue.FigureNames, name)])
}

func text(s exact.Sums) string {
	return fmt.Sprint(sumAt(s, impressions).Big(), " ", sumAt(s, clicks).Big(), " ", sumAt(s, purchases).Big(), " ", sumAt(s, spend).Big(), " ", sumAt(s, catalogue.Sales).Big())
}

func mustNotFail(t testing.TB, faults []adlens.Fault) {
	t.Helper()
	if len(faults) > 0 {
		t.Fatalf("faults: %+v", faults)
	}
}
