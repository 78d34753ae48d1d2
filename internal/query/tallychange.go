package query

import (
	"math/big"

	"adlens/internal/exact"
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
			words[i] = [2]big.Word{big.Word(n.Lo), big.Word(n.Hi)}
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
func (q quotient) shownChange(now, then *tally) (n exact.Uint128, negative, null, ok bool) {
	a, b := now.of(q.numerator), then.of(q.numerator)
	if q.base == whole || q.base == one {
		if b == 0 || b >= 1<<63 {
			return n, false, b == 0, b == 0
		}
		return exact.Halves(exact.Product(max(a, b)-min(a, b), 2*100*100), b), a < b, false, true
	}
	base, baseThen := now.of(q.base), then.of(q.base)
	if base == 0 || baseThen == 0 {
		return n, false, true, true
	}
	divisor, ok := exact.Product(base, baseThen).Times(uint64(q.by))
	difference, negative := exact.Product(a, baseThen).Distance(exact.Product(b, base))
	if !ok || divisor.Hi != 0 || divisor.Lo >= 1<<62 || difference.Hi >= 1<<48 {
		return n, false, false, false
	}
	difference, _ = difference.Times(200 * uint64(q.times))
	return exact.Halves(difference, divisor.Lo), negative, false, true
}
