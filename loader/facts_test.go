package loader

import (
	"math/rand/v2"
	"slices"
	"testing"

	"adlens"
	"adlens/internal/catalogue"
	"adlens/internal/exact"
	"adlens/internal/manifest"
	"adlens/internal/platform"
)

// Rows of reports with other columns stand in one block, each with its own
// figures in its own columns and 0 in all others, however often the block was
// sent and cleared.
func TestABlockHoldsReportsWithOtherColumns(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var b Batch
	type want struct {
		slice   manifest.Slice
		figures map[string]uint64
	}
	var rows []want
	compare := func() {
		t.Helper()
		b.padColumns()
		if b.Rows() != len(rows) {
			t.Fatalf("%d rows, expected %d", b.Rows(), len(rows))
		}
		for row, w := range rows {
			if b.Marketplace[row] != w.slice.Marketplace || b.AdProduct[row] != w.slice.AdProduct {
				t.Fatalf("row %d is of another slice", row)
			}
			for column, name := range b.Names {
				if got := b.Values[column][row]; got != w.figures[name] {
					t.Fatalf("row %d has %d %s, expected %d", row, got, name, w.figures[name])
				}
			}
		}
	}
	for range 300 {
		kind := platform.ReportTypes[rng.IntN(len(platform.ReportTypes))]
		extra := slices.DeleteFunc(slices.Clone(catalogue.Extra), func(m catalogue.Measure) bool { return !slices.Contains(m.AdProducts, kind.AdProduct) })
		rng.Shuffle(len(extra), func(i, j int) { extra[i], extra[j] = extra[j], extra[i] })
		extra = extra[:rng.IntN(len(extra)+1)]
		at := b.ensureColumns(extra)
		slice := manifest.Slice{Marketplace: uint16(rng.IntN(4)), AdProduct: kind.AdProduct}
		for range rng.IntN(5) {
			w := want{slice, map[string]uint64{}}
			sums := make([]exact.Uint128, len(at))
			for i, column := range at {
				sums[i].Lo = rng.Uint64N(1000)
				w.figures[b.Names[column]] = sums[i].Lo
			}
			b.addFact(slice, 1, factKey{day: adlens.Day(len(rows)), product: 1}, at, sums)
			rows = append(rows, w)
		}
		if rng.IntN(20) == 0 {
			compare()
			b.clearRows()
			rows = nil
		}
	}
	compare()
	if names := slices.Sorted(slices.Values(b.Names)); len(slices.Compact(names)) != len(b.Names) {
		t.Errorf("a column stands twice in %v", b.Names)
	}
}
