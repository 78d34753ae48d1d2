package query

import (
	"testing"

	"adlens"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// near draws numbers up to a bound, often its neighbours.
func near(t *rapid.T, bits int) uint64 {
	edge := uint64(1) << rapid.IntRange(0, bits).Draw(t, "bits")
	return rapid.SampledFrom([]uint64{0, 1, edge - 1, edge, edge + 1}).Draw(t, "number")
}

// Whatever is packed and whatever is not, no row and no millionth is lost.
func TestPackedRowsAreTheRowsThatWereAdded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		scale := rapid.SampledFrom([]uint64{1, cent}).Draw(t, "scale")
		var added []UnitRow
		u := &unit{marketplace: usKey}
		for day := range rapid.IntRange(0, 4).Draw(t, "days") {
			for range rapid.IntRange(1, 5).Draw(t, "rows") {
				row := UnitRow{Day: adlens.Day(2 * day), Key: uint32(near(t, 16)), Measures: [5]uint64{near(t, 34), near(t, 34), near(t, 34), near(t, 34) * scale, near(t, 34) * scale}}
				added = append(added, row)
				u.addRow(&row)
			}
		}
		room := u.packRows()
		for i := range room[:cap(room)] {
			room[:cap(room)][i] = unitRow{key: 9, money: [2]uint64{9}} // used again for another unit
		}
		from, to := adlens.Day(rapid.IntRange(-1, 9).Draw(t, "from")), adlens.Day(rapid.IntRange(-1, 9).Draw(t, "to"))
		want := map[uint32]counts{}
		for _, row := range added {
			if from <= row.Day && row.Day <= to {
				sum := want[row.Key]
				for i := range sum {
					sum[i] += row.Measures[i]
				}
				want[row.Key] = sum
			}
		}
		tallied := talliesOf([]part{u.partBetween(from, max(from-1, to))}, u.last)
		got := map[uint32]counts{}
		for key, s := range tallied.of {
			if sum := s.counts; sum != (counts{}) {
				got[uint32(key)] = sum
			}
		}
		for key, sum := range want {
			if sum == (counts{}) {
				delete(want, key)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("(-added +packed):\n%s", diff)
		}
	})
}

// What most accounts have is packed, or memory would hold half as much.
func TestOrdinaryRowsArePacked(t *testing.T) {
	u := &unit{}
	for _, row := range []UnitRow{
		{Key: 1<<16 - 1, Measures: [5]uint64{4_000_000, 65_000, 1_000, 42_000_000_00 * cent, 42_000_000_00 * cent}},
		{Key: 1 << 16, Measures: [5]uint64{1, 0, 0, 0, 0}},
		{Key: 1, Measures: [5]uint64{1 << 22, 0, 0, 0, 0}},
	} {
		u.addRow(&row)
	}
	if u.packRows(); len(u.packed) != 1 || len(u.rows) != 2 || u.memoryBytes() != unitBytes+packedRowBytes+2*unitRowBytes+24*cap(u.days) {
		t.Errorf("%d rows are packed, %d are not; %d bytes", len(u.packed), len(u.rows), u.memoryBytes())
	}
}
