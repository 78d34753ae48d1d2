package query

import (
	"math/big"
	"math/bits"
)

// talliedComparison is the comparison that Answer.comparison would make of the
// same sums. A page has thousands of them, as of figures.
func (a *Answer) talliedComparison(now, then *tally) *Comparison {
	c := &Comparison{then.figures(), make(Figures, len(Catalogue))}
	if !a.Meta.EarlierCovered {
		return c
	}
	numbers := make([]big.Int, len(Catalogue))
	words := make([][2]big.Word, len(Catalogue))
	var large *sides // made for the changes that 128 bits do not hold
	for i, f := range Catalogue {
		n, negative, null, ok := f.shownChange(now, then)
		if !ok {
			if large == nil {
				large = &sides{*now.sums(), *then.sums()}
			}
			c.Change[i] = f.change(large)
			continue
		}
		c.Change[i].hundredths = true
		if !null {
			words[i] = [2]big.Word{big.Word(n.lo), big.Word(n.hi)}
			c.Change[i].n = numbers[i].SetBits(words[i][:])
			if negative {
				numbers[i].Neg(&numbers[i])
			}
		}
	}
	return c
}

// shownChange is the change as change computes it, in 128 bits; ok is false
// where they may be too few.
func (q quotient) shownChange(now, then *tally) (n wide, negative, null, ok bool) {
	a, b := now.measure(q.numerator), then.measure(q.numerator)
	if q.base == whole || q.base == one {
		if b == 0 || b >= 1<<63 {
			return wide{}, false, b == 0, b == 0
		}
		hi, lo := bits.Mul64(max(a, b)-min(a, b), 2*100*100)
		return halfUp(hi, lo, b), a < b, false, true
	}
	base, baseThen := now.measure(q.base), then.measure(q.base)
	if base == 0 || baseThen == 0 {
		return wide{}, false, true, true
	}
	over, common := bits.Mul64(base, baseThen)
	more, divisor := bits.Mul64(common, uint64(q.by))
	difference, negative := difference(product(a, baseThen), product(b, base))
	hi, lo := bits.Mul64(difference.lo, 200*uint64(q.times))
	if over|more != 0 || divisor >= 1<<62 || difference.hi >= 1<<48 {
		return wide{}, false, false, false
	}
	return halfUp(hi+difference.hi*200*uint64(q.times), lo, divisor), negative, false, true
}

func product(a, b uint64) (w wide) {
	w.hi, w.lo = bits.Mul64(a, b)
	return w
}

// difference is how far two numbers lie apart, and whether the first is less.
func difference(a, b wide) (d wide, negative bool) {
	if a.compare(b) < 0 {
		a, b, negative = b, a, true
	}
	var borrow uint64
	d.lo, borrow = bits.Sub64(a.lo, b.lo, 0)
	d.hi, _ = bits.Sub64(a.hi, b.hi, borrow)
	return d, negative
}
