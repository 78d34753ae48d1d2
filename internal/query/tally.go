package query

import (
	"sync"

	"adlens/internal/exact"
	"adlens/internal/manifest"
)

// tally is the sums of one product in 64 bits.
type tally struct {
	counts
	marketplaces uint64 // bits: places in the view's list
}

// part is rows of a unit that a plan reads, and the bit of their marketplace. Those of
// a report that is divided by time are of one day, week or month.
type part struct {
	bucket      int // its distance from the first one of the period
	slice       manifest.Slice
	packed      []packedRow
	rows        []unitRow
	step        uint64
	marketplace uint64
}

func (p *part) isEmpty() bool { return len(p.packed)+len(p.rows) == 0 }

// tallies are those of all products by key. They are used again: most
// accounts have thousands.
type tallies struct{ of []tally }

var tallyPool = sync.Pool{New: func() any { return new(tallies) }}

// talliesOf adds parts up. Their sums were found to fit before. The caller
// gives them back to the pool.
func talliesOf(parts []part, last uint32) *tallies {
	t := tallyPool.Get().(*tallies)
	if n := int(last) + 1; cap(t.of) < n {
		t.of = make([]tally, n)
	} else {
		t.of = t.of[:n]
		clear(t.of)
	}
	for _, p := range parts {
		t.addPart(p)
	}
	return t
}

func (t *tallies) addPart(p part) {
	all := t.of
	for i := range p.packed {
		row := &p.packed[i]
		sum := &all[row.clicked>>clickBits]
		sum.counts[impressions] += uint64(row.shown >> purchaseBits)
		sum.counts[clicks] += uint64(row.clicked & (1<<clickBits - 1))
		sum.counts[purchases] += uint64(row.shown & (1<<purchaseBits - 1))
		// A loop over the first two amounts would take a fifth of the time.
		sum.counts[counted] += uint64(row.money[0]) * p.step
		sum.counts[counted+1] += uint64(row.money[1]) * p.step
		for m := 2; m < len(row.money); m++ {
			sum.counts[int(counted)+m] += uint64(row.money[m]) * p.step
		}
		sum.marketplaces |= p.marketplace
	}
	for i := range p.rows {
		row := &p.rows[i]
		sum := &all[row.key]
		for m, n := range row.counts {
			sum.counts[m] += uint64(n)
		}
		for m, n := range row.money {
			sum.counts[int(counted)+m] += n
		}
		sum.marketplaces |= p.marketplace
	}
}

// isEmpty reports whether there is no figure: rows without one are in no unit.
func (t *tally) isEmpty() bool { return t.marketplaces == 0 }

func (c *counts) exactSums() exact.Sums {
	s := make(exact.Sums, measures)
	for m, n := range c {
		s[m] = exact.Whole(n)
	}
	return s
}
