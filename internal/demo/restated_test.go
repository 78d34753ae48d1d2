package demo

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"adlens"
	"adlens/internal/made"
)

// Earlier versions of some weeks have the final traffic, fewer sales, an older
// time, and in one case a product that was taken back.
func TestRestatedWeeks(t *testing.T) {
	t.Parallel()
	dir, _ := writeDemo(t, Options{Today: today, Years: 1})
	stem := func(name string) string { return filepath.Join(dir, reportsDir, name) }
	found, err := filepath.Glob(stem("*-earlier.report.json"))
	if err != nil || len(found) != 9*3 { // two weeks of October, one of November
		t.Fatalf("%d earlier versions, error %v", len(found), err)
	}
	vanished := 0
	for _, path := range found {
		early := readObject(t, path)
		month := stem(early.Name[:strings.Index(early.Name, early.StartDate)] + early.StartDate[:7])
		final := readObject(t, month+".report.json")
		if early.GeneratedAt >= final.GeneratedAt || early.StartDate < final.StartDate || early.EndDate >= final.EndDate {
			t.Errorf("%s: %s, then %s", early.Name, early.GeneratedAt, final.GeneratedAt)
		}
		a, b := sumWeek(readLines(t, strings.TrimSuffix(path, ".report.json")+".json.gz"), early), sumWeek(readLines(t, month+".json.gz"), early)
		if a.sales >= b.sales {
			t.Errorf("%s: sales %d, then %d", early.Name, a.sales, b.sales)
		}
		for k, impressions := range a.products {
			if b.products[k] == 0 {
				vanished++
			} else if impressions != b.products[k] {
				t.Errorf("%s: %s has %d impressions, then %d", early.Name, k, impressions, b.products[k])
			}
		}
	}
	if want := 2; vanished != want { // one in each of the two months
		t.Errorf("%d product days vanished, want %d", vanished, want)
	}
}

type weekSums struct {
	sales    int64
	products map[string]int64 // impressions by day and product
}

func sumWeek(rows []line, week made.Report) weekSums {
	s := weekSums{products: map[string]int64{}}
	for _, row := range rows {
		if d := row.text("date"); d < week.StartDate || d > week.EndDate {
			continue
		}
		if _, ok := row["sales30d"]; ok {
			s.sales += row.amount("sales30d")
		} else {
			s.sales += row.amount("sales")
		}
		s.products[row.text("date")+" "+row.text("advertisedAsin")+row.text("promotedAsin")] += row.count("impressions")
	}
	return s
}

// Right after a month's begin there is no earlier week in it yet, and no week
// is written that ends with the month's own report.
func TestEarlierWeeksEndBeforeTheirMonth(t *testing.T) {
	t.Parallel()
	c := newAccount(defaultSeed, span{adlens.Date(2026, time.January, 1), adlens.Date(2026, time.January, 31)}).findChannel(markets[0], adlens.SponsoredProducts)
	first := adlens.Date(2026, time.February, 1)
	for days, want := range map[adlens.Day]int{1: 0, 14: 0, 15: 1, 28: 1} {
		if got := len(c.earlierWeeks(span{first, first + days - 1})); got != want {
			t.Errorf("%d days: %d earlier weeks, want %d", days, got, want)
		}
	}
}

func TestGaps(t *testing.T) {
	t.Parallel()
	year := span{adlens.Date(2025, time.November, 1), adlens.Date(2026, time.November, 19)}
	a := newAccount(defaultSeed, year)
	none := map[string]int{} // days without figures
	for d := year.first; d <= year.last; d++ {
		for _, c := range a.channels {
			if lacksFigures(defaultSeed, c.market, c.adProduct, d) {
				none[c.market.country+" "+c.adProduct.String()]++
			}
		}
	}
	for _, c := range a.channels {
		name := c.market.country + " " + c.adProduct.String()
		want := 1 // the outage
		switch name {
		case "DE SPONSORED_BRANDS":
			want += 7
		case "UK SPONSORED_BRANDS":
			want += 30
		}
		if none[name] != want {
			t.Errorf("%s: %d days without figures, want %d", name, none[name], want)
		}
	}
}

func TestSomeDisplayRowsNameNoProduct(t *testing.T) {
	t.Parallel()
	s := span{adlens.Date(2026, time.October, 1), adlens.Date(2026, time.October, 7)}
	a := newAccount(defaultSeed, s)
	for _, m := range markets {
		rows := string(rowsOf(t, extract{channel: a.findChannel(m, adlens.SponsoredDisplay), span: s}))
		if !strings.Contains(rows, `"promotedAsin":null`) || !strings.Contains(rows, `"promotedAsin":"B0`) {
			t.Errorf("%s: want rows with and without a product", m.country)
		}
	}
}
