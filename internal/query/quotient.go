package query

import (
	"fmt"
	"math/big"
)

// measure is one of the five sums, or what stands in its place in a quotient.
type measure string

const (
	impressions measure = "impressions"
	clicks      measure = "clicks"
	purchases   measure = "purchases"
	spend       measure = "spend" // millionths of a US dollar
	sales       measure = "sales" // likewise

	one   measure = "1" // a base that is never missing
	whole measure = ""  // as a base: no ratio, the sum itself
)

const microsPerDollar = 1_000_000

// quotient says how a figure follows from sums: numerator x times / (base x by),
// rounded half away from zero to hundredths, null without a base. Go and the
// engine compute it alike, in whole numbers of any size.
type quotient struct {
	numerator, base measure
	times, by       int64
}

// of computes the figure of some sums.
func (q quotient) of(s *Sums) Value {
	if q.base == whole {
		return Value{n: s.measure(q.numerator)}
	}
	base := s.measure(q.base)
	if base.Sign() == 0 {
		return Value{hundredths: true}
	}
	n := new(big.Int).Mul(s.measure(q.numerator), big.NewInt(100*q.times))
	return rounded(n, new(big.Int).Mul(base, big.NewInt(q.by)))
}

// change is how the figure differs from the earlier one: of sums, in percent
// of the earlier one; of ratios, in their own unit, which is points for those
// in percent. It is null where either is, or where there is nothing to take
// percent of.
func (q quotient) change(s *sides) Value {
	now, then := s[current].measure(q.numerator), s[earlier].measure(q.numerator)
	if q.base == whole || q.base == one {
		if then.Sign() == 0 {
			return Value{hundredths: true}
		}
		n := new(big.Int).Sub(now, then)
		return rounded(n.Mul(n, big.NewInt(100*100)), new(big.Int).Set(then))
	}
	base, baseThen := s[current].measure(q.base), s[earlier].measure(q.base)
	if base.Sign() == 0 || baseThen.Sign() == 0 {
		return Value{hundredths: true}
	}
	n := new(big.Int).Mul(now, baseThen)
	n.Sub(n, new(big.Int).Mul(then, base))
	d := new(big.Int).Mul(base, baseThen)
	return rounded(n.Mul(n, big.NewInt(100*q.times)), d.Mul(d, big.NewInt(q.by)))
}

// rounded is n / d as a value of whole hundredths, rounded half away from
// zero. d is positive; both are used up.
func rounded(n, d *big.Int) Value {
	n.Lsh(n, 1)
	if n.Sign() < 0 {
		n.Sub(n, d)
	} else {
		n.Add(n, d)
	}
	return Value{n: n.Quo(n, d.Lsh(d, 1)), hundredths: true}
}

// sql is the term of the same figure as it is shown, of columns that are
// called like the measure with _sum. It is null without a base, and counts
// hundredths where the figure has them.
func (q quotient) sql() string {
	switch q.base {
	case whole:
		return string(q.numerator) + "_sum"
	case one:
		return fmt.Sprintf("intDiv(toUInt256(%s_sum) * %d + %d, %d)", q.numerator, 200*q.times, q.by, 2*q.by)
	}
	return fmt.Sprintf("if(%[2]s_sum = 0, NULL, intDiv(toUInt256(%[1]s_sum) * %[3]d + toUInt256(%[2]s_sum) * %[4]d, toUInt256(%[2]s_sum) * %[5]d))",
		q.numerator, q.base, 200*q.times, q.by, 2*q.by)
}

var bigOne = big.NewInt(1)

// measure is one of the sums by its name.
func (s *Sums) measure(m measure) *big.Int {
	switch m {
	case impressions:
		return &s.Impressions
	case clicks:
		return &s.Clicks
	case purchases:
		return &s.Purchases
	case spend:
		return &s.Spend
	case sales:
		return &s.Sales
	}
	return bigOne
}
