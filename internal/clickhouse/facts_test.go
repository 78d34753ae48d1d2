package clickhouse

import (
	"math/rand/v2"
	"slices"
	"testing"

	"adlens"
	"adlens/internal/catalogue"
	"adlens/internal/exact"
	"adlens/internal/manifest"
	"adlens/loader"
)

// Values of every size that a column holds come back as they were given, and the
// engine sums them as the amounts that they are.
func TestFactsAreStoredAsTheyAreGiven(t *testing.T) {
	d := openShared(t)
	const rows = 500
	names, units := loader.FactColumns()
	month, err := adlens.ParseDay("2026-02-01")
	if err != nil {
		t.Fatal(err)
	}
	b := &loader.Batch{Columns: units, Names: names, Values: make([][]uint64, len(names))}
	for row := range rows {
		b.Generation, b.Day = append(b.Generation, 7), append(b.Day, month)
		b.Product, b.Marketplace = append(b.Product, uint32(row)), append(b.Marketplace, 3)
		b.AdProduct, b.Campaign, b.AdGroup = append(b.AdProduct, 1), append(b.Campaign, uint32(row+1)), append(b.AdGroup, uint32(row+2))
		for i, unit := range units {
			most := uint64(1<<63 - 1)
			if unit != catalogue.Count {
				most = 1_000_000_000_000_000_000 - 1
			}
			b.Values[i] = append(b.Values[i], []uint64{0, 1, most, rand.Uint64N(most), rand.Uint64N(1000)}[rand.IntN(5)])
		}
	}
	account := t.Name()
	if err := d.Loads.InsertFacts(t.Context(), account, b); err != nil {
		t.Fatal(err)
	}
	unit := manifest.Unit{Kind: manifest.Month, Slice: manifest.Slice{Marketplace: 3, AdProduct: 1}, Start: month}
	row := 0
	err = d.Loads.Facts(t.Context(), account, unit, 7, manifest.DaysBetween(month, month), func(f *loader.StoredFact) error {
		for i, values := range b.Values {
			if f.Day != month || f.Product != uint32(row) || f.Campaign != uint32(row+1) || f.AdGroup != uint32(row+2) || f.Values[i] != values[row] {
				t.Errorf("row %d, %s: %d, expected %d", row, names[i], f.Values[i], values[row])
			}
		}
		row++
		return nil
	})
	if err != nil || row != rows {
		t.Fatalf("%d rows came back, expected %d: %v", row, rows, err)
	}
	sums, err := d.Loads.Sums(t.Context(), account, []manifest.Entry{{Unit: unit, Generation: 7}}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	var figures, source exact.Sums
	for row := range rows {
		value := func(name string) exact.Uint128 { return exact.Uint128{Lo: b.Values[slices.Index(names, name)][row]} }
		own := func(name string) exact.Uint128 {
			amount, _ := adlens.FromMicros(value(name+"_local"), value(name+"_local_rest").Lo)
			return amount.Units()
		}
		figures.Add([]exact.Uint128{value("impressions"), value("clicks"), value("purchases"), value("spend"), value("sales")})
		source.Add([]exact.Uint128{value("impressions"), value("clicks"), value("purchases"), own("spend"), own("sales")})
	}
	if got := sums[loader.Level{Table: "facts", Generation: 7}]; !got.Figures.Equal(figures) || !got.Source.Equal(source) || got.Rows != uint64(rows) {
		t.Errorf("the sums of all are %s, expected %v and %v", got, figures, source)
	}
	if got := sums[loader.Level{Table: "day_totals", Generation: 7}]; !got.Figures.IsZero() || !got.Source.IsZero() {
		t.Errorf("days that were not derived have sums %s", got)
	}
}
