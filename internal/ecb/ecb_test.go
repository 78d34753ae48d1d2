package ecb

import (
	"archive/zip"
	"bytes"
	"fmt"
	"math/big"
	"reflect"
	"slices"
	"strings"
	"testing"

	"adlens"

	"pgregory.net/rapid"
)

// As recorded (see the package), but for the end of the second row of the history.
const (
	history = "Date,USD,JPY,BGN,CYP,CZK,DKK,EEK,GBP,HUF,LTL,LVL,MTL,PLN,ROL,RON,SEK,SIT,SKK,CHF,ISK,NOK,HRK,RUB,TRL,TRY,AUD,BRL,CAD,CNY,HKD,IDR,INR,KRW,MXN,MYR,NZD,PHP,SGD,THB,ZAR,ILS,\n" +
		"2016-05-06,1.1427,122.23,1.9558,N/A,27.021,7.439,N/A,0.7885,313.68,N/A,N/A,N/A,4.4198,N/A,4.5005,9.2753,N/A,N/A,1.107,N/A,9.3513,7.502,75.9135,N/A,3.3363,1.5501,4.065,1.4717,7.43,8.8678,15276.76,76.141,1339.64,20.5185,4.5845,1.6702,53.884,1.5526,40.189,17.0959,4.3191,\n" +
		"2016-05-05,1.1439,122.51,1.9558,N/A,27.028,7.4401,N/A,0.7886,312.84,N/A,N/A,N/A,4.4234,N/A,4.5035,9.2575,N/A,N/A,1.1018,N/A,9.2985,7.515,75.0559,N/A,3.3166,1.5266,4.0282,1.4665,7.441,8.88,15300,76.1,1339,20.5,4.58,1.67,53.8,1.55,40.1,17.1,4.32,\n"
	daily = "Date, USD, JPY, BGN, CZK, DKK, GBP, ZAR, \n03 June 2021, 1.2187, 133.81, 1.9558, 25.448, 7.4365, 0.85955, 16.5218, "
)

func packed(t testing.TB, texts ...string) []byte {
	t.Helper()
	var out bytes.Buffer
	archive := zip.NewWriter(&out)
	for i, text := range texts {
		w, err := archive.Create(fmt.Sprint(i, ".csv"))
		if err == nil {
			_, err = w.Write([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func dollarsOf(table Table) map[string]string {
	all := map[string]string{}
	table.Dollars(func(day adlens.Day, currency string, worth adlens.Amount) {
		all[day.String()+" "+currency] = worth.String()
	})
	return all
}

func TestTheBanksFilesAreReadAsTheyAre(t *testing.T) {
	for name, c := range map[string]struct {
		content []byte
		rates   int
		want    map[string]string
	}{
		"the history": {[]byte(history), 2 * 33, map[string]string{"2016-05-06 EUR": "1.1427", "2016-05-06 GBP": "1.4492073557", "2016-05-05 JPY": "0.0093371970",
			"2016-05-06 AED": "0.2722940776", "2016-05-06 SAR": "0.2666666667", "2016-05-06 CYP": "", "2016-05-06 USD": ""}},
		"its archive":        {packed(t, history), 2 * 33, nil},
		"the daily file":     {[]byte(daily), 9, map[string]string{"2021-06-03 EUR": "1.2187", "2021-06-03 ZAR": "0.0737631493", "2021-06-03 GBP": "1.4178349136"}},
		"with a mark":        {[]byte("\xef\xbb\xbf" + daily), 9, nil},
		"without last comma": {[]byte("Date,USD,JPY\r\n2026-01-02,1.25,125\r\n"), 4, map[string]string{"2026-01-02 JPY": "0.01"}},
		"no dollar":          {[]byte("Date,USD,JPY,\n2026-01-02,N/A,125,\n"), 2, map[string]string{"2026-01-02 JPY": "", "2026-01-02 AED": "0.2722940776"}},
	} {
		t.Run(name, func(t *testing.T) {
			table, err := Read(bytes.NewReader(c.content))
			if err != nil {
				t.Fatal(err)
			}
			got := dollarsOf(table)
			if len(got) != c.rates {
				t.Errorf("%d rates, expected %d: %v", len(got), c.rates, got)
			}
			for of, worth := range c.want {
				if got[of] != strings.TrimRight(worth, "0") {
					t.Errorf("%s is %q, expected %q", of, got[of], worth)
				}
			}
		})
	}
}

func TestWhatIsWrongInAFileIsNamed(t *testing.T) {
	for name, c := range map[string]struct {
		content string
		want    string
	}{
		"nothing":              {"", `row 1: is "", expected Date and the codes`},
		"a page":               {"<html>\n", `row 1: is "<html>", expected Date`},
		"no dollar column":     {"Date,JPY,\n2026-01-02,1,\n", "USD among them"},
		"a currency twice":     {"Date,USD,USD,\n2026-01-02,1,1,\n", "different currencies"},
		"a comma in the head":  {"Date,,USD,\n2026-01-02,1,1,\n", "different currencies"},
		"no rows":              {"Date,USD,\n", "the file has no rates"},
		"a day that is none":   {"Date,USD,\n2026-02-30,1,\n", `row 2: Date is "2026-02-30", expected a day that exists`},
		"a day before 1970":    {"Date,USD,\n1969-12-31,1,\n", `Date is "1969-12-31"`},
		"a day twice":          {"Date,USD,\n2026-01-02,1,\n02 January 2026,1,\n", `row 3: Date is "02 January 2026", expected a day that no earlier row has`},
		"zero":                 {"Date,USD,JPY,\n2026-01-02,1,0.0,\n", `row 2: JPY is "0.0", expected units of the currency`},
		"an exponent":          {"Date,USD,JPY,\n2026-01-02,1,1e3,\n", `row 2: JPY is "1e3"`},
		"an empty rate":        {"Date,USD,JPY,\n2026-01-02,1,,\n", `row 2: JPY is ""`},
		"a rate at the end":    {"Date,USD,\n2026-01-02,1,2\n", `row 2: is "2", expected nothing after`},
		"worth nothing":        {"Date,USD,JPY,\n2026-01-02,0.0001,999999999,\n", `row 2: JPY is "999999999", expected units for one euro of a currency that is worth something`},
		"worth too much":       {"Date,USD,JPY,\n2026-01-02,1.5,0.0001,\n", `row 2: JPY is "0.0001"`},
		"dollars too many":     {"Date,USD,\n2026-01-02,10000,\n", `row 2: USD is "10000"`},
		"a row too short":      {"Date,USD,JPY,\n2026-01-02,1.5,12", `row 2: is "2026-01-02,1.5,12", expected 4 values, one for each column, and not 3`},
		"a row too long":       {"Date,USD,\n2026-01-02,1.5,,7\n", `row 2: is "2026-01-02,1.5,,7", expected 3 values, one for each column, and not 4`},
		"a quote in the head":  {"Date,\"USD,\n", "row 1: expected quotes around the whole of a value"},
		"an open quote":        {"Date,USD,\n2026-01-02,1.5,\n2026-01-01,\"1.5,\n2025-12-31,1.5,\n", "row 3: expected quotes around the whole of a value"},
		"an archive of two":    {string(packed(t, daily, daily)), "a zip archive of 2 files; expected one"},
		"half an archive":      {string(packed(t, history)[:200]), "damaged zip archive"},
		"an archive of a page": {string(packed(t, "<html>")), `is "<html>"`},
		"a huge archive":       {string(packed(t, "Date,USD,\n"+strings.Repeat("0", MaxFile))), "more than 16777216 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := Read(strings.NewReader(c.content)); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("the error is %v, expected %s", err, c.want)
			}
		})
	}
}

// Each rate is the fraction, rounded half away from zero to 10 decimals by an
// arithmetic of its own.
func TestRatesAreTheFractionsOfTheBanks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		units := rapid.Custom(func(t *rapid.T) string {
			return fmt.Sprintf("%d.%0*d", rapid.IntRange(0, 99_999).Draw(t, "whole"), 4, rapid.IntRange(1, 9999).Draw(t, "fraction"))
		})
		usd, jpy := units.Draw(t, "usd"), units.Draw(t, "jpy")
		table, err := Read(strings.NewReader("Date,USD,JPY,\n2026-01-02," + usd + "," + jpy + ",\n"))
		dollars, _ := new(big.Rat).SetString(usd)
		of, _ := new(big.Rat).SetString(jpy)
		exact := new(big.Rat).Quo(dollars, of)
		scaled := new(big.Rat).Mul(exact, big.NewRat(10_000_000_000, 1))
		scaled.Add(scaled, big.NewRat(1, 2))
		want := new(big.Int).Quo(scaled.Num(), scaled.Denom())
		tooLarge := func(r *big.Rat) bool { return r.Cmp(big.NewRat(10_000, 1)) >= 0 }
		rounded := new(big.Rat).SetFrac(want, big.NewInt(10_000_000_000))
		if refused := want.Sign() == 0 || tooLarge(rounded) || tooLarge(dollars); refused != (err != nil) {
			t.Fatalf("%s by %s: %v", usd, jpy, err)
		}
		if err != nil {
			return
		}
		got, _ := new(big.Rat).SetString(dollarsOf(table)["2026-01-02 JPY"])
		if got.Cmp(rounded) != 0 {
			t.Fatalf("%s by %s is %s, expected %s", usd, jpy, got.FloatString(20), rounded.FloatString(20))
		}
	})
}

// What is written is read again as it was, and adding tables keeps the newest of each
// day.
func TestAWrittenTableIsReadAsItWas(t *testing.T) {
	first, err := Read(strings.NewReader(history))
	if err != nil {
		t.Fatal(err)
	}
	second, err := Read(strings.NewReader(daily))
	if err != nil {
		t.Fatal(err)
	}
	days := first.Days()
	first.Put(second, days[1])
	first.Put(Table{days[0] - 1: nil}, days[0])
	if got := first.Days(); !slices.Equal(got, append(days, second.Days()...)) {
		t.Errorf("the days are %v", got)
	}
	var out bytes.Buffer
	if err := first.Write(&out); err != nil {
		t.Fatal(err)
	}
	again, err := Read(&out)
	if err != nil || !reflect.DeepEqual(again, first) {
		t.Errorf("read again it is %v (%v), expected %v", again, err, first)
	}
}

func FuzzRead(f *testing.F) {
	for _, seed := range []string{history, daily, "Date,USD\n2026-01-02,N/A\n", string(packed(f, daily))} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		table, err := Read(bytes.NewReader(content))
		if err != nil {
			return
		}
		if len(table) == 0 {
			t.Fatal("accepted without a day")
		}
		table.Dollars(func(day adlens.Day, currency string, worth adlens.Amount) {
			if day < adlens.FirstStorableDay || len(currency) != 3 || worth.IsZero() || !worth.Less(maxDollars) {
				t.Fatalf("%s on %s is %s", currency, day, worth)
			}
		})
		var out bytes.Buffer
		if err := table.Write(&out); err != nil {
			t.Fatal(err)
		}
		if again, err := Read(&out); err != nil || !reflect.DeepEqual(dollarsOf(again), dollarsOf(table)) {
			t.Fatalf("written and read again: %v", err)
		}
	})
}
