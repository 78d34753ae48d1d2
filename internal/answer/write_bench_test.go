package answer

import (
	"fmt"
	"slices"
	"testing"

	"adlens"
	"adlens/internal/catalogue"
	"adlens/internal/query"
	"adlens/internal/query/period"
)

// manyProducts is a product report of so many rows.
func manyProducts(rows int) *query.Report {
	p := &query.Report{TotalRows: rows, Answer: query.Answer{Request: query.Request{
		Period: period.Period{Start: adlens.Date(2026, 3, 1), End: adlens.Date(2026, 3, 31), Range: "last_month"}, TimeZone: "UTC",
		Sort: "spend", Order: query.Descending, Paging: query.Paging{Page: 1, PageSize: query.MaxRows, All: true}}}}
	var all []query.Row
	for i := range rows {
		n := uint64(i)
		s := sums(1000+77*n, 10+n, n%40, 5_005_000+1_234_567*n, n%3*20_000_000)
		all = append(all, query.Row{ID: fmt.Sprintf("B0%08d", i), Title: fmt.Sprintf("Lamp %d, blue, with \"Nº 1\" switch", i),
			Marketplaces: []string{"DE", "US"}, Figures: query.FiguresOf(s)})
	}
	p.Rows = slices.Values(all)
	return p
}

func BenchmarkFormats(b *testing.B) {
	a := manyProducts(100_000)
	for _, name := range catalogue.Formats {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				body, _, err := writeAs(query.Format{Name: name, Separator: query.Comma}, "USD", "", func(w *writer) { w.writeProducts(a) })
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(len(body)), "bytes")
			}
		})
	}
}

func BenchmarkProducts(b *testing.B) {
	for _, rows := range []int{100, 1_000, 100_000} {
		a := manyProducts(rows)
		b.Run(fmt.Sprintf("%d", rows), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				writeAs(query.Format{Name: query.JSON}, "USD", "", func(w *writer) { w.writeProducts(a) })
			}
		})
	}
}
