package query

import (
	"fmt"
	"math/big"

	"adlens/internal/exact"
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
		return Value{n: s.of(q.numerator)}
	}
	base := s.of(q.base)
	if base.Sign() == 0 {
		return Value{hundredths: true}
	}
	n := s.of(q.numerator)
	return rounded(n.Mul(n, big.NewInt(100*q.times)), base.Mul(base, big.NewInt(q.by)))
}

// change is how the figure differs from the earlier one: of sums, in percent
// of the earlier one; of ratios, in their own unit, which is points for those
// in percent. It is null where either is, or where there is nothing to take
// percent of.
func (q quotient) change(s *sides) Value {
	now, then := s[current].of(q.numerator), s[earlier].of(q.numerator)
	if q.base == whole || q.base == one {
		if then.Sign() == 0 {
			return Value{hundredths: true}
		}
		now.Sub(now, then)
		return rounded(now.Mul(now, big.NewInt(100*100)), then)
	}
	base, baseThen := s[current].of(q.base), s[earlier].of(q.base)
	if base.Sign() == 0 || baseThen.Sign() == 0 {
		return Value{hundredths: true}
	}
	n := now.Mul(now, baseThen)
	n.Sub(n, then.Mul(then, base))
	d := base.Mul(base, baseThen)
	return rounded(n.Mul(n, big.NewInt(100*q.times)), d.Mul(d, big.NewInt(q.by)))
}

func rounded(n, d *big.Int) Value { return Value{n: exact.Round(n, d), hundredths: true} }

// sql is the term of the same figure as it is shown, of columns that are
// called like the measure with _sum. It is null without a base, and counts
// hundredths where the figure has them.
func (q quotient) sql() string {
	switch q.base {
	case whole:
		return Measures[q.numerator].Name + "_sum"
	case one:
		return fmt.Sprintf("intDiv(toUInt256(%s_sum) * %d + %d, %d)", Measures[q.numerator].Name, 200*q.times, q.by, 2*q.by)
	}
	return fmt.Sprintf("if(%[2]s_sum = 0, NULL, intDiv(toUInt256(%[1]s_sum) * %[3]d + toUInt256(%[2]s_sum) * %[4]d, toUInt256(%[2]s_sum) * %[5]d))",
		Measures[q.numerator].Name, Measures[q.base].Name, 200*q.times, q.by, 2*q.by)
}
