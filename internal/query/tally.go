package query

import (
	"math/big"
	"math/bits"
	"sync"
)

// tally is the sums of one product in 64 bits.
type tally struct {
	impressions, clicks, purchases, spend, sales uint64
	marketplaces                                 uint64 // bits: places in the view's list
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
		sum.impressions += uint64(row.shown >> purchaseBits)
		sum.clicks += uint64(row.clicked & (1<<clickBits - 1))
		sum.purchases += uint64(row.shown & (1<<purchaseBits - 1))
		sum.spend += uint64(row.spend) * p.step
		sum.sales += uint64(row.sales) * p.step
		sum.marketplaces |= p.marketplace
	}
	for i := range p.rows {
		row := &p.rows[i]
		sum := &all[row.key]
		sum.impressions += uint64(row.impressions)
		sum.clicks += uint64(row.clicks)
		sum.purchases += uint64(row.purchases)
		sum.spend += row.spend
		sum.sales += row.sales
		sum.marketplaces |= p.marketplace
	}
}

// empty tells whether there is no figure: rows without one are in no unit.
func (t *tally) empty() bool { return t.marketplaces == 0 }

func (t *tally) measure(m measure) uint64 {
	switch m {
	case impressions:
		return t.impressions
	case clicks:
		return t.clicks
	case purchases:
		return t.purchases
	case spend:
		return t.spend
	case sales:
		return t.sales
	}
	return 1
}

// sums are the same numbers as all other sums are.
func (t *tally) sums() *Sums {
	var s Sums
	s.Impressions.SetUint64(t.impressions)
	s.Clicks.SetUint64(t.clicks)
	s.Purchases.SetUint64(t.purchases)
	s.Spend.SetUint64(t.spend)
	s.Sales.SetUint64(t.sales)
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
			words[i] = [2]big.Word{big.Word(n.lo), big.Word(n.hi)}
			figures[i].n = numbers[i].SetBits(words[i][:])
		}
	}
	return figures
}

// wide is a number of 128 bits.
type wide struct{ hi, lo uint64 }

// small tells whether shown is exact for all whose sums are no larger than
// these: twice the base has to fit into 64 bits.
func (q quotient) small(most *tally) bool {
	if q.base == whole {
		return true
	}
	hi, lo := bits.Mul64(most.measure(q.base), uint64(q.by))
	return hi == 0 && lo < 1<<63
}

// shown is the figure as of computes it, in 128 bits; null without a base.
func (q quotient) shown(t *tally) (n wide, null bool) {
	if q.base == whole {
		return wide{lo: t.measure(q.numerator)}, false
	}
	base := t.measure(q.base) * uint64(q.by)
	if base == 0 {
		return wide{}, true
	}
	hi, lo := bits.Mul64(t.measure(q.numerator), 200*uint64(q.times))
	return halfUp(hi, lo, base), false
}

// halfUp is half of hi and lo, divided by d, which is less than 2^63, and
// rounded half up.
func halfUp(hi, lo, d uint64) (n wide) {
	lo, carry := bits.Add64(lo, d, 0)
	hi += carry
	n.hi, hi = hi/(2*d), hi%(2*d)
	n.lo, _ = bits.Div64(hi, lo, 2*d)
	return n
}
