package query

import (
	"fmt"

	"adlens/internal/catalogue"
	"adlens/internal/exact"
)

const microsPerDollar = 1_000_000

// quotient says how a figure follows from sums: numerator x times / (base x by),
// rounded half away from zero to hundredths, null without a base. Go and the
// engine compute it alike, in whole numbers of any size.
type quotient struct {
	numerator, base measure
	times, by       uint64
}

// quotients are how the catalogue's figures follow from sums, in its order.
var quotients = func() []quotient {
	all := make([]quotient, len(catalogue.Figures))
	for i, f := range catalogue.Figures {
		all[i] = quotientOf(f)
	}
	return all
}()

// quotientNamed has each of them by the figure's name.
var quotientNamed = func() map[string]quotient {
	all := map[string]quotient{}
	for i, f := range catalogue.Figures {
		all[f.Name] = quotients[i]
	}
	return all
}()

func quotientOf(f catalogue.Figure) quotient {
	q := quotient{numerator: measure(f.Numerator), base: measure(f.Denominator), times: 1, by: 1}
	amount := catalogue.Headline[f.Numerator].IsAmount()
	switch {
	case f.IsRatio():
		if f.Unit == catalogue.Percent {
			q.times = 100
		}
		switch baseIsAmount := catalogue.Headline[f.Denominator].IsAmount(); {
		case amount && !baseIsAmount:
			q.by = microsPerDollar
		case !amount && baseIsAmount:
			q.times *= microsPerDollar
		}
	case amount:
		q.base, q.by = one, microsPerDollar
	default:
		q.base = whole
	}
	return q
}

// sumAt returns the sum of a measure, or 1.
func sumAt(s exact.Sums, m measure) exact.Sum {
	if m == one {
		return exact.Whole(1)
	}
	return s.At(int(m))
}

// computeValue computes the figure of some sums.
func (q quotient) computeValue(s exact.Sums) Value {
	if q.base == whole {
		return Value{number: sumAt(s, q.numerator).Number(), defined: true}
	}
	n, ok := exact.Ratio(sumAt(s, q.numerator), sumAt(s, q.base), 100*q.times, q.by)
	return Value{n, ok, true}
}

// computeRank computes what orders sums of 64 bits as the figure does: the figure
// as it is shown, which is never negative or beyond 128 bits here.
func (q quotient) computeRank(c *counts) (rank exact.Uint128, defined bool) {
	switch q.base {
	case whole:
		return exact.Uint128{Lo: c[q.numerator]}, true
	case one:
		return exact.RatioOf64(c[q.numerator], 1, 100*q.times, q.by)
	}
	return exact.RatioOf64(c[q.numerator], c[q.base], 100*q.times, q.by)
}

// computeChange computes how the figure differs from the earlier one: sums in percent
// of the earlier one, ratios in their own unit, which is points for those in
// percent. It is null if either figure is, or if there is nothing to take percent
// of.
func (q quotient) computeChange(s *sides) Value {
	now, then := sumAt(s[current], q.numerator), sumAt(s[earlier], q.numerator)
	if q.base == whole || q.base == one {
		n, ok := exact.Difference(now, then, exact.Whole(1), exact.Whole(1), 100*100, 1)
		return Value{n, ok, true}
	}
	n, ok := exact.Difference(now, sumAt(s[current], q.base), then, sumAt(s[earlier], q.base), 100*q.times, q.by)
	return Value{n, ok, true}
}

// sqlTerm is the term of the same figure as it is shown, of columns that are
// called like the measure with _sum. It is null without a base, and counts
// hundredths where the figure has them.
func (q quotient) sqlTerm() string {
	switch q.base {
	case whole:
		return catalogue.Headline[q.numerator].Name + "_sum"
	case one:
		return fmt.Sprintf("intDiv(toUInt256(%s_sum) * %d + %d, %d)", catalogue.Headline[q.numerator].Name, 200*q.times, q.by, 2*q.by)
	}
	return fmt.Sprintf("if(%[2]s_sum = 0, NULL, intDiv(toUInt256(%[1]s_sum) * %[3]d + toUInt256(%[2]s_sum) * %[4]d, toUInt256(%[2]s_sum) * %[5]d))",
		catalogue.Headline[q.numerator].Name, catalogue.Headline[q.base].Name, 200*q.times, q.by, 2*q.by)
}
