package clickhouse

import (
	"context"
	"fmt"
	"testing"

	"adlens"
	"adlens/internal/query"
	"adlens/internal/query/period"

	"github.com/google/go-cmp/cmp"
)

// Two ways lead to a comparison of products: the engine's one statement, and
// memory. They end at the same rows, at every sort, order and page.
func TestComparisonsOfProductsAreTheSameBothWays(t *testing.T) {
	d := openShared(t)
	v := threeMonths(t, d, t.Name())
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	store := seen{d.Figures, v}
	plain, memory := query.NewService(store, nil), query.NewService(store, nil)
	memory.Remember(store, 64<<20)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	go keepFilled(ctx, t, memory)
	pairs, rankings := comparedPeriods(), everyRanking()
	for first, p := range pairs {
		for i := first; i < len(rankings); i += len(pairs) { // each of them, on one pair of periods or another
			r := rankings[i]
			r.Period, r.Earlier = p[0], p[1]
			if i%2 == 0 {
				r.Filters.Marketplaces = []string{"US"}
			}
			want, err := plain.Products(t.Context(), v, r)
			must(err)
			label := fmt.Sprintf("%s to %s after %s to %s, by %s %s", p[0].Start, p[0].End, p[1].Start, p[1].End, r.Sort, r.Order)
			if diff := cmp.Diff(shownRows(want), shownRows(fromMemory(t, d, memory, v, r))); diff != "" {
				t.Fatalf("%s (-engine +memory):\n%s", label, diff)
			}
		}
	}
}

// comparedPeriods are periods and what they are compared with: years, months
// and days on either side, and a side of which nothing is held.
func comparedPeriods() [][2]period.Period {
	between := func(m1, d1, m2, d2 int) period.Period {
		return period.Period{Start: adlens.Date(2026, 1, 1).AddMonths(m1-1) + adlens.Day(d1-1), End: adlens.Date(2026, 1, 1).AddMonths(m2-1) + adlens.Day(d2-1)}
	}
	all := [][2]period.Period{
		{between(1, 1, 3, 31), between(1, 1, 2, 28)},   // a year, and two months of it
		{between(3, 1, 3, 31), between(1, 29, 2, 28)},  // a month, and a month with days
		{between(2, 20, 3, 10), between(2, 1, 2, 19)},  // days, and days of the same month
		{between(1, 5, 1, 9), between(-11, 5, -11, 9)}, // the year before is not held
		{between(5, 1, 5, 9), between(3, 1, 3, 9)},     // the period is not held, the earlier one is
	}
	for i := range all {
		all[i][0].Range, all[i][1].Range = period.Custom, period.PreviousPeriod
	}
	return all
}

// BenchmarkComparedProducts compares the engine's ways for a page of a hundred:
// one statement for a comparison, and what the two periods cost alone.
func BenchmarkComparedProducts(b *testing.B) {
	d := openShared(b)
	keys := []uint16{1, 2, 3}
	r := query.Request{Period: period.Period{Start: adlens.Date(2026, 1, 1), End: adlens.Date(2026, 1, 31)},
		Dimensions: []string{"product"}, Sort: "spend", Order: query.Descending, Paging: query.Paging{Page: 1, PageSize: 100}}
	both := r
	both.Earlier = period.Period{Start: r.Period.Start, End: r.Period.End, Range: period.PreviousYear} // as many rows
	for _, n := range []int{10_000, 200_000} {
		account := fmt.Sprint(b.Name(), n)
		manyProducts(b, d, account, keys, n)
		lots := viewOf(account, keys, 1_000_000)
		for name, r := range map[string]query.Request{"alone": r, "compared": both} {
			statement := query.PlanReport(r, lots).RankedStatement(r, query.NameGenerations{Products: 21, Titles: 20})
			b.Run(fmt.Sprint(n, " products ", name), func(b *testing.B) {
				for b.Loop() {
					if _, _, err := d.Figures.Ranked(b.Context(), statement, r.Sums(), r.Compared()); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
