package loader_test

import (
	"compress/gzip"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// oracle computes facts from the files that were given to it: from all of
// them again, with exact fractions, in the plainest way. integration/model
// does the same for whole answers, but shows no facts.
type oracle struct {
	profiles map[string]oracleProfile
	rates    map[string]*big.Rat // "EUR 2026-01-05"
	fetched  map[string]*big.Rat // likewise, of files of the European Central Bank
	asOf     map[string]string   // the newest day of the file that such a rate is from
	reports  map[string]oracleReport
}

type oracleProfile struct {
	ProfileID    json.Number
	CurrencyCode string
	AccountInfo  struct{ Type string }
}

type oracleReport struct {
	ReportID, StartDate, EndDate string
	ProfileID                    any
	GeneratedAt                  time.Time
	Configuration                struct{ AdProduct string }
	rows                         []map[string]any
}

func (r oracleReport) beats(o oracleReport) bool {
	return r.GeneratedAt.After(o.GeneratedAt) || r.GeneratedAt.Equal(o.GeneratedAt) && r.ReportID > o.ReportID
}

func newOracle() *oracle {
	return &oracle{map[string]oracleProfile{}, map[string]*big.Rat{}, map[string]*big.Rat{}, map[string]string{}, map[string]oracleReport{}}
}

func content(t testing.TB, path string) io.Reader {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	if !strings.HasSuffix(path, ".gz") {
		return f
	}
	unpacked, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	return unpacked
}

func readJSON(t testing.TB, path string, into any) {
	t.Helper()
	decoder := json.NewDecoder(content(t, path))
	decoder.UseNumber()
	if err := decoder.Decode(into); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

func (o *oracle) addBase(t testing.TB, dir string) {
	t.Helper()
	var list []struct {
		oracleProfile
		ProfileID any
	}
	readJSON(t, filepath.Join(dir, "profiles.json"), &list)
	for _, p := range list {
		o.profiles[fmt.Sprint(p.ProfileID)] = p.oracleProfile
	}
	o.addRates(t, dir)
}

func (o *oracle) addRates(t testing.TB, dir string) {
	t.Helper()
	lines, err := csv.NewReader(content(t, filepath.Join(dir, "rates.csv"))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range lines[1:] {
		o.rates[line[1]+" "+line[0]] = number(t, line[2])
	}
}

func (o *oracle) addReport(t testing.TB, object, download string) {
	t.Helper()
	var r oracleReport
	readJSON(t, object, &r)
	readJSON(t, download, &r.rows)
	o.reports[fmt.Sprint(r.ReportID, r.ProfileID, r.GeneratedAt)] = r
}

func (o *oracle) rate(t testing.TB, currency, day string) *big.Rat {
	t.Helper()
	if currency == "USD" {
		return big.NewRat(1, 1)
	}
	date, err := time.Parse(time.DateOnly, day)
	if err != nil {
		t.Fatal(err)
	}
	for _, rates := range []map[string]*big.Rat{o.rates, o.fetched} {
		for back := range 8 {
			if r := rates[currency+" "+date.AddDate(0, 0, -back).Format(time.DateOnly)]; r != nil {
				return r
			}
		}
	}
	t.Fatalf("no rate for %s on %s", currency, day)
	return nil
}

// speaks reports whether no other report of the slice beats this one on a day.
func (o *oracle) speaks(r oracleReport, day string) bool {
	for _, other := range o.reports {
		same := fmt.Sprint(other.ProfileID) == fmt.Sprint(r.ProfileID) && other.Configuration.AdProduct == r.Configuration.AdProduct
		if same && other.StartDate <= day && day <= other.EndDate && other.beats(r) {
			return false
		}
	}
	return true
}

var adProductNumbers = map[string]string{"SPONSORED_PRODUCTS": "1", "SPONSORED_BRANDS": "2", "SPONSORED_DISPLAY": "3"}

// facts are the five exact sums of every day and product that has a figure,
// in the marketplace's own currency.
func (o *oracle) facts(t testing.TB) map[string]five {
	t.Helper()
	sums := map[string]five{}
	for _, r := range o.reports {
		purchases, sales, product := "purchases", "sales", "promotedAsin"
		if r.Configuration.AdProduct == "SPONSORED_PRODUCTS" {
			product, purchases, sales = "advertisedAsin", "purchases7d", "sales7d"
			if o.profiles[fmt.Sprint(r.ProfileID)].AccountInfo.Type == "vendor" {
				purchases, sales = "purchases14d", "sales14d"
			}
		}
		for _, row := range r.rows {
			day := row["date"].(string)
			if !o.speaks(r, day) {
				continue
			}
			asin, _ := row[product].(string)
			key := fmt.Sprint(r.ProfileID, " ", adProductNumbers[r.Configuration.AdProduct], " ", day, " ", asin)
			if _, ok := sums[key]; !ok {
				sums[key] = five{new(big.Rat), new(big.Rat), new(big.Rat), new(big.Rat), new(big.Rat)}
			}
			for i, column := range []string{"impressions", "clicks", purchases, "cost", sales} {
				sums[key][i].Add(sums[key][i], number(t, fmt.Sprint(row[column])))
			}
		}
	}
	return sums
}

// dollars rounds half away from zero to six decimals, as FloatString does.
func (o *oracle) dollars(t testing.TB, key string, amount *big.Rat) string {
	t.Helper()
	parts := strings.SplitN(key, " ", 4)
	return new(big.Rat).Mul(amount, o.rate(t, o.profiles[parts[0]].CurrencyCode, parts[2])).FloatString(6)
}

// equal holds an account's live facts against the oracle's.
func (o *oracle) equal(t testing.TB, d *database, account string) {
	t.Helper()
	s, ids := d.stateOf(t, account), map[string]string{}
	for _, cells := range s.query(t, "SELECT marketplace_key, marketplace_id FROM marketplaces WHERE account_id = {account:String} AND generation IN "+live) {
		ids[cells[0]] = cells[1]
	}
	want := o.facts(t)
	facts := s.facts(t)
	for _, f := range facts {
		key := ids[f.marketplace] + " " + f.adProduct + " " + f.day + " " + f.product
		w, ok := want[key]
		delete(want, key)
		if !ok {
			t.Errorf("%s is held with %s, and no file has it", key, f.sums)
			continue
		}
		for i := range 3 {
			if f.sums[i].Cmp(w[i]) != 0 {
				t.Errorf("%s: sum %d is %s, expected %s", key, i, f.sums[i].RatString(), w[i].RatString())
			}
		}
		for i, amount := range w[3:] {
			if f.local[i].Cmp(amount) != 0 {
				t.Errorf("%s: amount %d is %s in its own currency, expected %s", key, i, f.local[i].FloatString(20), amount.FloatString(20))
			}
			if got, expected := f.sums[3+i].FloatString(6), o.dollars(t, key, amount); got != expected {
				t.Errorf("%s: amount %d is %s dollars, expected %s", key, i, got, expected)
			}
		}
	}
	for key, sums := range want {
		if !sums.isZero() {
			t.Errorf("%s is not held", key)
		}
	}
	s.rollupsEqualFacts(t, facts)
}
