package query

import (
	"math/big"
	"sync"

	"adlens/internal/exact"
)

// tally is the sums of one product in 64 bits.
type tally struct {
	counts
	marketplaces uint64 // bits: places in the view's list
}

// part is rows of a unit that a plan reads, and the bit of their marketplace.
type part struct {
	packed      []packedRow
	rows        []unitRow
	step        uint64
	marketplace uint64
}

func (p *part) empty() bool { return len(p.packed)+len(p.rows) == 0 }

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
		t.add(p)
	}
	return t
}

func (t *tallies) add(p part) {
	all := t.of
	for i := range p.packed {
		row := &p.packed[i]
		sum := &all[row.clicked>>clickBits]
		sum.counts[impressions] += uint64(row.shown >> purchaseBits)
		sum.counts[clicks] += uint64(row.clicked & (1<<clickBits - 1))
		sum.counts[purchases] += uint64(row.shown & (1<<purchaseBits - 1))
		sum.counts[spend] += uint64(row.spend) * p.step
		sum.counts[sales] += uint64(row.sales) * p.step
		sum.marketplaces |= p.marketplace
	}
	for i := range p.rows {
		row := &p.rows[i]
		sum := &all[row.key]
		sum.counts[impressions] += uint64(row.impressions)
		sum.counts[clicks] += uint64(row.clicks)
		sum.counts[purchases] += uint64(row.purchases)
		sum.counts[spend] += row.spend
		sum.counts[sales] += row.sales
		sum.marketplaces |= p.marketplace
	}
}

// empty tells whether there is no figure: rows without one are in no unit.
func (t *tally) empty() bool { return t.marketplaces == 0 }

// of is one of the sums, or 1.
func (c *counts) of(m measure) uint64 {
	if m == one {
		return 1
	}
	return c[m]
}

// sums are the same numbers as all other sums are.
func (c *counts) sums() *Sums {
	var s Sums
	for m, n := range c {
		s[m].Add(exact.Uint128{Lo: n})
	}
	return &s
}

// figures are those of FiguresOf. A page has thousands of them, so they lie
// together instead of each for itself.
func (t *tally) figures() Figures {
	figures := make(Figures, len(Catalogue))
	numbers := make([]big.Int, len(Catalogue))
	words := make([][2]big.Word, len(Catalogue)) // of 64 bits on all platforms of the engine
	for i, f := range Catalogue {
		if !f.small(t) {
			return FiguresOf(t.sums())
		}
		n, null := f.shown(t)
		figures[i].hundredths = f.base != whole
		if !null {
			words[i] = [2]big.Word{big.Word(n.Lo), big.Word(n.Hi)}
			figures[i].n = numbers[i].SetBits(words[i][:])
		}
	}
	return figures
}

// small tells whether shown is exact for all whose sums are no larger than
// these: twice the base has to fit into 64 bits.
func (q quotient) small(most *tally) bool {
	if q.base == whole {
		return true
	}
	base := exact.Product(most.of(q.base), uint64(q.by))
	return base.Hi == 0 && base.Lo < 1<<63
}

// shown is the figure as of computes it, in 128 bits; null without a base.
func (q quotient) shown(t *tally) (n exact.Uint128, null bool) {
	if q.base == whole {
		return exact.Uint128{Lo: t.of(q.numerator)}, false
	}
	base := t.of(q.base) * uint64(q.by)
	if base == 0 {
		return exact.Uint128{}, true
	}
	return exact.Halves(exact.Product(t.of(q.numerator), 200*uint64(q.times)), base), false
}
