package query

import (
	"fmt"
	"slices"

	"adlens/internal/catalogue"
	"adlens/internal/exact"
)

// quotient says how a figure follows from sums: numerator x times / (base x by),
// rounded half away from zero to a whole number, or to one of hundredths, and null
// without a base. Go and the engine compute it alike, in whole numbers of any size.
type quotient struct {
	numerator, base measure
	times, by       uint64
	known           measure // null where this sum is 0
	hundredths      bool    // of the result; else it is a whole number
}

// ListFigures returns the figures of the answer, in their order.
func (r Request) ListFigures() []catalogue.Figure {
	if r.Figures == nil {
		return catalogue.Figures
	}
	all := make([]catalogue.Figure, len(r.Figures))
	for i, place := range r.Figures {
		all[i] = catalogue.ReportFigures[place]
	}
	return all
}

// quotients are how the figures of the answer follow from its sums.
func (r Request) quotients() (all []quotient) {
	for _, f := range r.ListFigures() {
		all = append(all, r.quotientOf(f))
	}
	return all
}

// sortQuotient is that of the figure that rows are sorted by. Amounts of several
// currencies are compared in US dollars.
func (r Request) sortQuotient() quotient {
	f := catalogue.ReportFigures[slices.Index(catalogue.ReportFigureNames, r.Sort)]
	if !r.Mixed || f.Unit != catalogue.USD {
		return r.quotientOf(f)
	}
	q := Request{}.quotientOf(f)
	q.numerator = r.placeOf(catalogue.Measures[f.Numerator].Name)
	return q
}

func (r Request) quotientOf(f catalogue.Figure) quotient {
	numerator, decimals := r.summed(f.Numerator)
	q := quotient{numerator: numerator, base: one, times: 100, by: 1, known: one, hundredths: true}
	if f.Numerator >= measures {
		q.known = r.placeOf(reportedSummand(catalogue.Measures[f.Numerator]).name)
	}
	switch {
	case f.IsRatio():
		var below int
		q.base, below = r.summed(f.Denominator)
		if f.Unit == catalogue.Percent {
			q.times *= 100
		}
		decimals -= below
	case decimals == 0:
		q.times, q.hundredths = 1, false
	}
	if decimals == localDecimals { // what exceeds 64 bits is cut from both sides
		q.times, decimals = q.times/100, decimals-2
	}
	for range decimals {
		q.by *= 10
	}
	return q
}

// summed returns where the request's sums have a measure, and the decimals of its
// whole numbers.
func (r Request) summed(place int) (measure, int) {
	m := catalogue.Measures[place]
	switch {
	case place >= measures && m.IsAmount():
		return r.placeOf(m.Name), storedDecimals
	case place >= measures:
		return r.placeOf(m.Name), 0
	case m.IsAmount() && r.Local:
		return measure(place), localDecimals
	case m.IsAmount():
		return measure(place), storedDecimals
	}
	return measure(place), 0
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
	n, ok := exact.Ratio(sumAt(s, q.numerator), sumAt(s, q.base), q.times, q.by)
	return Value{n, ok && q.isKnown(s), q.hundredths}
}

func (q quotient) isKnown(s exact.Sums) bool {
	return q.known == one || sumAt(s, q.known) != exact.Sum{}
}

// computeRank is computeValue of sums of 64 bits that are all known: what orders them
// as the figure does, which is never negative or beyond 128 bits here.
func (q quotient) computeRank(c *counts) (rank exact.Uint128, defined bool) {
	base := uint64(1)
	if q.base != one {
		base = c[q.base]
	}
	return exact.RatioOf64(c[q.numerator], base, q.times, q.by)
}

// computeChange computes how the figure differs from the earlier one: sums in percent
// of the earlier one, ratios in their own unit, which is points for those in
// percent. It is null if either figure is, or if there is nothing to take percent
// of.
func (q quotient) computeChange(s *sides) Value {
	now, then := sumAt(s[current], q.numerator), sumAt(s[earlier], q.numerator)
	known := q.isKnown(s[current]) && q.isKnown(s[earlier])
	if q.base == one {
		n, ok := exact.Difference(now, then, exact.Whole(1), exact.Whole(1), 100*100, 1)
		return Value{n, ok && known, true}
	}
	n, ok := exact.Difference(now, sumAt(s[current], q.base), then, sumAt(s[earlier], q.base), q.times, q.by)
	return Value{n, ok && known, true}
}

// sqlTerm is the term of the same figure as it is shown, of the sums of summands. It
// is null without a base, and counts hundredths where the figure has them.
func (q quotient) sqlTerm(all []summand) string {
	sum := func(m measure) string { return all[m].name + "_sum" }
	term := ""
	switch {
	case !q.hundredths:
		term = sum(q.numerator)
	case q.base == one:
		term = fmt.Sprintf("intDiv(toUInt256(%s) * %d + %d, %d)", sum(q.numerator), 2*q.times, q.by, 2*q.by)
	default:
		term = fmt.Sprintf("if(%[2]s = 0, NULL, intDiv(toUInt256(%[1]s) * %[3]d + toUInt256(%[2]s) * %[4]d, toUInt256(%[2]s) * %[5]d))",
			sum(q.numerator), sum(q.base), 2*q.times, q.by, 2*q.by)
	}
	if q.known != one {
		return fmt.Sprintf("if(%s = 0, NULL, %s)", sum(q.known), term)
	}
	return term
}
