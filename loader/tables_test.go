package loader

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"adlens"
)

var tableSeeds = []string{
	"", "\n", "date,currency,usd\n", "date,currency,usd\n2026-11-02,EUR,1.1\n", "date,currency,usd\r\n2026-11-02,EUR,1.1\r\n2026-11-02,EUR,1.1", "\"date\",currency,usd\n2026-11-02,\"EUR\",\"1.10\"",
	"date,currency,usd\n2026-11-02,EUR,NaN\n", "date,currency,usd\n2026-11-02,EUR,0x1p-2\n", "date,currency,usd\n2026-11-02,EUR,9999.99999999999999999999\n", "date,currency,usd\n2026-02-30,USD,1\n",
	"product_id,title\nA,One\n", "product_id,title\nA,\"a \"\"b\"\"\nc\"\n", "product_id,title\nA,\"open\n", "product_id,title\nA,\x00\n", "product_id,title\nA,\xff\n", "product_id;title\nA;One\n", "product_id,title\rA,One\r",
}

var plainRate = regexp.MustCompile(`^[0-9]{1,4}(\.[0-9]+)?$`)

func FuzzRates(f *testing.F) {
	for _, seed := range tableSeeds {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		rates, rows, err := readRates(bytes.NewReader(text))
		if err != nil {
			return
		}
		held := 0
		for currency, of := range rates.ByHand {
			for _, rate := range of {
				held++
				if len(currency) != 3 || rate.Day < adlens.FirstStorableDay || rate.Day > adlens.LastStorableDay || rate.USD.IsZero() || !plainRate.MatchString(rate.USD.String()) {
					t.Fatalf("accepted: %s on %s is %s", currency, rate.Day, rate.USD)
				}
			}
		}
		if held > rows || rows > 0 && held == 0 {
			t.Fatalf("%d rates of %d rows", held, rows)
		}
	})
}

func FuzzTitles(f *testing.F) {
	for _, seed := range tableSeeds {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		visited := 0
		rows, err := readTable(bytes.NewReader(text), []string{"product_id", "title"}, func(row int, values []string) error {
			visited++
			if len(values) != 2 || row < 2 || row < visited+1 {
				t.Fatalf("row %d: %q", row, values)
			}
			for _, value := range values {
				if !utf8.ValidString(value) || strings.ContainsRune(value, 0) {
					t.Fatalf("row %d: %q", row, values)
				}
			}
			return nil
		})
		if err == nil && rows != visited {
			t.Fatalf("%d rows, %d of them visited", rows, visited)
		}
		if err != nil && len(err.Error()) > 2_000 {
			t.Fatalf("a long error: %.300q", err)
		}
	})
}

func TestARowOfATableIsBoundedHoweverLongItsFileIs(t *testing.T) {
	visit := func(int, []string) error { return nil }
	long := "product_id,title\nA,\"" + strings.Repeat("a\n", maxRecord) + "\"\n"
	if _, err := readTable(strings.NewReader(long), []string{"product_id", "title"}, visit); err == nil || !strings.Contains(err.Error(), "row 2: a row of more than 1048576 bytes") {
		t.Errorf("got %v", err)
	}
	many := "product_id,title\n" + strings.Repeat("A,"+strings.Repeat("a", 1000)+"\n", 5_000)
	if rows, err := readTable(strings.NewReader(many), []string{"product_id", "title"}, visit); err != nil || rows != 5_000 {
		t.Errorf("got %d rows, %v", rows, err)
	}
	kept := boundedFile(strings.NewReader(long)).(*bounded)
	kept.read = maxKept + 1
	if _, err := kept.Read(make([]byte, 1)); err == nil || !strings.Contains(err.Error(), "a file, unpacked, of more than 1073741824 bytes") {
		t.Errorf("got %v", err)
	}
}

// The commonest slip is a rate the other way round: lira for a dollar.
func TestARateThatIsFarFromOthersIsNoticed(t *testing.T) {
	const header = "date,currency,usd\n"
	own := map[string]bool{"TRY": true, "EUR": true, "JPY": true, "GBP": true, "USD": true}
	for _, c := range []struct{ name, held, bank, added, says string }{
		{"as usual", "2026-11-02,TRY,0.024\n", "", "2026-11-03,TRY,0.0241\n2026-11-03,EUR,1.1\n2026-11-03,USD,1\n", ""},
		{"the other way round", "2026-11-02,TRY,0.024\n", "", "2026-11-03,TRY,41.5\n", "1 TRY is 41.5 US dollars on 2026-11-03, and 0.024 by another rate near it; a rate is"},
		{"below a fifth", "2026-11-02,EUR,1.1\n", "", "2026-11-03,EUR,0.2\n", "1 EUR is 0.2 US dollars"},
		{"five times, but not more", "2026-11-02,EUR,0.2\n", "", "2026-11-03,EUR,1\n", ""},
		{"the rate before is too old", "2026-10-02,EUR,0.1\n", "", "2026-11-03,EUR,1\n", ""},
		{"beside the bank's of the day", "", "2026-11-03,EUR,1.1\n", "2026-11-03,EUR,0.11\n", "and 1.1 by another rate near it"},
		{"the bank's goes before", "2026-11-02,EUR,0.1\n", "2026-11-03,EUR,1.1\n", "2026-11-03,EUR,1.2\n", ""},
		{"none to compare with", "", "", "2026-11-03,JPY,151.5\n2026-11-04,JPY,151.5\n2026-11-05,JPY,151\n", "1 JPY is 151.5 US dollars on 2026-11-03 (of 3 such days); a rate is"},
		{"two currencies", "", "", "2026-11-03,JPY,151.5\n2026-11-03,TRY,41.5\n", "on 2026-11-03; 1 TRY is 41.5"},
		{"a currency of no marketplace", "", "", "2026-11-03,KWD,3.25\n", ""},
		{"none to compare with, and below", "", "", "2026-11-03,GBP,2.5\n", ""},
		{"a slip among new rates", "", "", "2026-11-03,EUR,1.1\n2026-11-04,EUR,0.11\n", "1 EUR is 0.11 US dollars on 2026-11-04, and 1.1 by"},
		{"what was odd is corrected", "2026-11-03,TRY,41.5\n2026-11-04,TRY,41.5\n", "", "2026-11-03,TRY,0.0241\n2026-11-04,TRY,0.0241\n", ""},
		{"told of before", "2026-11-03,TRY,41.5\n", "", "2026-11-03,TRY,41.5\n", ""},
		{"what was there before", "2026-11-02,TRY,41.5\n2026-11-04,TRY,0.02\n", "", "2026-11-07,TRY,0.021\n", ""},
	} {
		table := func(rows string) RateTable {
			rates, _, err := readRates(strings.NewReader(header + rows))
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			return rates.ByHand
		}
		got := Rates{table(c.held), table(c.bank)}.describeOdd(table(c.added), own)
		if !strings.Contains(got, c.says) || (c.says == "") != (got == "") {
			t.Errorf("%s: %q, expected %q", c.name, got, c.says)
		}
	}
}
