package clickhouse

import (
	"context"
	"fmt"
	"testing"

	"adlens"
	"adlens/internal/manifest"
	"adlens/internal/query"
	"adlens/internal/query/period"

	"github.com/google/go-cmp/cmp"
)

// withRows is a view whose manifest promises so many rows of each month, and so
// many products, which decides who puts products in order.
func withRows(v query.View, rows uint64) query.View {
	var entries []manifest.Entry
	for _, e := range append(v.Manifest.Of(manifest.Products), v.Manifest.Of(manifest.Month)...) {
		e.Rows = rows
		entries = append(entries, e)
	}
	v.Manifest = v.Manifest.With(v.Manifest.Version+1, entries...)
	return v
}

// Three ways lead to a comparison of products: sums of both periods put in
// order by Go, by the engine in one statement, and from memory. They end at
// the same rows, at every sort, order and page.
func TestComparisonsOfProductsAreTheSameInEveryWay(t *testing.T) {
	d := openShared(t)
	v := threeMonths(t, d, t.Name())
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	few, lots := withRows(v, 0), withRows(v, 1_000_000)
	store := seen{d.DB, few}
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
			want, err := plain.Products(t.Context(), few, r)
			must(err)
			ranked, err := plain.Products(t.Context(), lots, r)
			must(err)
			label := fmt.Sprintf("%s to %s after %s to %s, by %s %s", p[0].Start, p[0].End, p[1].Start, p[1].End, r.Sort, r.Order)
			if diff := cmp.Diff(shownRows(want), shownRows(ranked)); diff != "" {
				t.Fatalf("%s (-Go +engine):\n%s", label, diff)
			}
			if diff := cmp.Diff(shownRows(want), shownRows(fromMemory(t, d, memory, few, r))); diff != "" {
				t.Fatalf("%s (-Go +memory):\n%s", label, diff)
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
		Sort: "spend", Order: query.Descending, Paging: query.Paging{Page: 1, PageSize: 100}}
	both := r
	both.Earlier = period.Period{Start: r.Period.Start, End: r.Period.End, Range: period.PreviousYear} // as many rows
	for _, n := range []int{10_000, 200_000} {
		account := fmt.Sprint(b.Name(), n)
		manyProducts(b, d, account, keys, n)
		lots := viewOf(account, keys, 1_000_000)
		for name, r := range map[string]query.Request{"alone": r, "compared": both} {
			statement := query.PlanProducts(r, lots).RankedStatement(r, 21, 20)
			b.Run(fmt.Sprint(n, " products ", name), func(b *testing.B) {
				for b.Loop() {
					if _, _, err := d.Ranked(b.Context(), statement, r.Compared()); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
