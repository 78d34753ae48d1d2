package loader_test

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"adlens/integration/bank"
	"adlens/loader"
)

// bankDay is a row of the European Central Bank: what a euro is worth, "" for no rate.
type bankDay struct{ day, usd, jpy string }

// The header as the bank's history has it, with few of its columns.
func bankHistory(days ...bankDay) string {
	text := "Date,USD,JPY,CYP,\n"
	for _, d := range days {
		text += d.day
		for _, value := range []string{d.usd, d.jpy, ""} {
			if value == "" {
				value = "N/A"
			}
			text += "," + value
		}
		text += ",\n"
	}
	return text
}

// bankDaily is the daily file, which writes days and spaces of its own.
func bankDaily(d bankDay) string {
	day, _ := time.Parse(time.DateOnly, d.day)
	return fmt.Sprintf("Date, USD, JPY, \n%s, %s, %s, \n", day.Format("02 January 2006"), d.usd, d.jpy)
}

func zipped(t testing.TB, name, text string) string {
	t.Helper()
	packed, err := bank.Zip(name, text)
	if err != nil {
		t.Fatal(err)
	}
	return string(packed)
}

// bankDollars rounds a fraction half away from zero to 10 decimals.
func bankDollars(t testing.TB, dollars, units string) *big.Rat {
	t.Helper()
	return number(t, new(big.Rat).Quo(number(t, dollars), number(t, units)).FloatString(10))
}

func (o *oracle) addBank(t testing.TB, days ...bankDay) {
	t.Helper()
	newest := ""
	for _, d := range days {
		newest = max(newest, d.day)
	}
	put := func(currency, day, euros, units string) {
		if key := currency + " " + day; o.asOf[key] <= newest {
			o.fetched[key], o.asOf[key] = bankDollars(t, euros, units), newest
		}
	}
	for _, d := range days {
		put("AED", d.day, "1", "3.6725")
		put("SAR", d.day, "1", "3.75")
		if d.usd == "" {
			continue
		}
		put("EUR", d.day, d.usd, "1")
		if d.jpy != "" {
			put("JPY", d.day, d.usd, d.jpy)
		}
	}
}

const bankProfiles = `[{"profileId":11,"countryCode":"DE","currencyCode":"EUR","timezone":"Europe/Paris","accountInfo":{"type":"seller","name":"a"}},
{"profileId":12,"countryCode":"JP","currencyCode":"JPY","timezone":"Asia/Tokyo","accountInfo":{"type":"seller","name":"b"}},
{"profileId":13,"countryCode":"AE","currencyCode":"AED","timezone":"Asia/Dubai","accountInfo":{"type":"seller","name":"c"}},
{"profileId":14,"countryCode":"SA","currencyCode":"SAR","timezone":"Asia/Riyadh","accountInfo":{"type":"seller","name":"d"}}]`

// A rate that was loaded by hand goes before the bank's within its 7 days, also one
// of a later day; beyond them the bank's serves.
func TestTheBanksRateServesWhereNoneWasLoadedByHand(t *testing.T) {
	d, o := openShared(t), newOracle()
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "profiles.json"), bankProfiles)
	writeRates(t, dir, "2026-01-05,EUR,1.25", "2026-01-20,JPY,0.01")
	days := []bankDay{{"2026-01-20", "1.1712", "183.4"}, {"2026-01-13", "1.1653", "184.51"}, {"2026-01-12", "1.1701", ""}, {"2026-01-08", "1.1699", "184"}, {"2026-01-02", "1.1721", "183.99"}}
	writeFile(t, filepath.Join(dir, "eurofxref-hist.csv"), bankHistory(days...))
	for _, profile := range []string{"11", "12", "13", "14"} {
		var rows []string
		for _, day := range []string{"2026-01-02", "2026-01-05", "2026-01-12", "2026-01-13", "2026-01-20", "2026-01-26"} {
			rows = append(rows, row(day, "B0A", "1", "3.33", "4"))
		}
		r := reportFile{"r" + profile, profile, "2026-01-01", "2026-01-26", "2026-01-27T04:00:00Z", rows}
		r.write(t, dir)
		o.addReport(t, filepath.Join(dir, r.id+".report.json"), filepath.Join(dir, r.id+".json"))
	}
	mustLoad(t, d.store(), t.Name(), dir)
	o.addBase(t, dir)
	o.addBank(t, days...)
	o.equal(t, d, t.Name())
	for day, want := range map[string]string{"2026-01-12": "1.25", "2026-01-13": "1.1653"} {
		if got := o.rate(t, "EUR", day); got.Cmp(number(t, want)) != 0 {
			t.Errorf("the oracle takes %s for the euro on %s, expected %s", got.FloatString(10), day, want)
		}
	}
}

// Figures are a function of the set of files: rates by hand, the bank's history and
// its zip, its daily file, and reports, in any order and in pieces, end alike and
// are right after each piece. Reports that lack rates are tried again at the end.
func TestFiguresOfTheBanksRatesDoNotDependOnTheOrderOfLoading(t *testing.T) {
	d := openShared(t)
	for seed := range uint64(6) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			random, o := rand.New(rand.NewPCG(seed, 7)), newOracle()
			base := t.TempDir()
			writeFile(t, filepath.Join(base, "profiles.json"), bankProfiles)
			var pieces []func() string // each writes a file and returns its path
			first := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
			day := func(n int) string { return first.AddDate(0, 0, n).Format(time.DateOnly) }
			file := func(name, content string) string {
				path := filepath.Join(t.TempDir(), name)
				writeFile(t, path, content)
				return path
			}
			var days []bankDay
			for n := 44; n >= 0; n -= 1 + random.IntN(3) {
				days = append(days, bankDay{day(n), fmt.Sprintf("1.%04d", random.IntN(10_000)), fmt.Sprintf("%d.%02d", 150+random.IntN(50), random.IntN(100))})
			}
			days = append(days, bankDay{day(-3), "1.1", "160"}, bankDay{day(-5), "", "161"})
			half := len(days) / 2
			// The bank corrects old days in a later history.
			corrected := append([]bankDay{{day(47), "1.2345", "155.5"}}, days...)
			for i := range corrected {
				if random.IntN(3) == 0 {
					corrected[i].usd = fmt.Sprintf("1.%04d", random.IntN(10_000))
				}
			}
			pieces = append(pieces,
				func() string { o.addBank(t, days...); return file("eurofxref-hist.csv", bankHistory(days...)) },
				func() string {
					o.addBank(t, days[half:]...)
					return file("eurofxref-hist.zip", zipped(t, "eurofxref-hist.csv", bankHistory(days[half:]...)))
				},
				func() string { o.addBank(t, days[0]); return file("eurofxref.csv", bankDaily(days[0])) },
				func() string {
					o.addBank(t, corrected...)
					return file("eurofxref-hist.csv", bankHistory(corrected...))
				},
				func() string {
					var lines []string
					for n := 0; n < 45; n += 4 + random.IntN(12) {
						lines = append(lines, fmt.Sprintf("%s,%s,1.%06d", day(n), []string{"EUR", "JPY", "AED"}[random.IntN(3)], random.IntN(1_000_000)))
					}
					dir := t.TempDir()
					path := writeRates(t, dir, lines...)
					o.addRates(t, dir)
					return path
				})
			reports := map[string]func(){}
			for i := range 8 {
				start := random.IntN(30)
				r := reportFile{fmt.Sprint("r", i), []string{"11", "12", "13", "14"}[i%4], day(start), day(start + 14), fmt.Sprintf("2026-03-0%dT04:00:00Z", 1+random.IntN(9)), nil}
				for n := range 15 {
					if random.IntN(3) > 0 {
						r.rows = append(r.rows, row(day(start+n), fmt.Sprint("B0", random.IntN(3)), "1", fmt.Sprintf("%d.%02d", random.IntN(100), random.IntN(100)), "4"))
					}
				}
				dir := t.TempDir()
				path := r.write(t, dir)
				reports[path] = func() { o.addReport(t, path, filepath.Join(dir, r.id+".json")) }
				pieces = append(pieces, func() string { return path })
			}
			mustLoad(t, d.store(), t.Name(), base)
			readJSONProfiles(t, o, base)
			random.Shuffle(len(pieces), func(i, j int) { pieces[i], pieces[j] = pieces[j], pieces[i] })
			var waiting []string
			try := func(paths ...string) {
				for _, f := range load(t, d.store(), t.Name(), paths...).Files {
					take := reports[f.File]
					switch {
					case f.Status == loader.Refused && f.MissingRates != nil:
						waiting = append(waiting, f.File)
					case f.Status == loader.Refused:
						t.Fatalf("%s: %s", f.File, *f.Error)
					case take != nil:
						take()
					}
				}
				o.equal(t, d, t.Name())
			}
			for _, piece := range pieces {
				try(piece())
			}
			again := waiting
			waiting = nil
			try(again...)
			if len(waiting) > 0 {
				t.Errorf("%v still lack rates", waiting)
			}
		})
	}
}

func readJSONProfiles(t testing.TB, o *oracle, dir string) {
	t.Helper()
	writeRates(t, dir)
	o.addBase(t, dir)
	os.Remove(filepath.Join(dir, "rates.csv"))
}

// A bad file of the bank changes nothing, and is named with what is wrong in it.
func TestABadFileOfTheBankIsRefused(t *testing.T) {
	d, o := openShared(t), newOracle()
	base, dir := writeBase(t, "2026-01-05,EUR,1.25"), t.TempDir()
	mustLoad(t, d.store(), t.Name(), base)
	o.addBase(t, base)
	whole := zipped(t, "eurofxref-hist.csv", bankHistory(bankDay{"2026-01-06", "1.2", "150"}))
	for name, c := range map[string]struct{ file, content, want string }{
		"empty":     {"eurofxref.csv", "", `row 1: is "", expected Date and the codes`},
		"a rate":    {"eurofxref.csv", "Date,USD,JPY,\n2026-01-06,1.2,-150,\n", `row 2: JPY is "-150", expected units`},
		"cut short": {"eurofxref.zip", whole[:len(whole)/2], "damaged zip archive"},
		"damaged":   {"eurofxref-hist.zip", whole[:60] + "\x00\x00\x00" + whole[63:], ""},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(dir, c.file)
			writeFile(t, path, c.content)
			f := load(t, d.store(), strings.Split(t.Name(), "/")[0], path).Files[0]
			if f.Status != loader.Refused || !strings.Contains(*f.Error, c.want) {
				t.Errorf("%s is %s: %v, expected %q", f.File, f.Status, f.Error, c.want)
			}
		})
	}
	o.equal(t, d, t.Name())
}
