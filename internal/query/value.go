package query

import (
	"slices"

	"adlens/internal/exact"
)

// Figures are the values of the figures of an answer, in its order; nil are null.
type Figures []Value

// At returns the figure at a place.
func (f Figures) At(place int) Value {
	if place < len(f) {
		return f[place]
	}
	return Value{}
}

// FiguresOf computes the figures of every answer from sums of the headline.
func FiguresOf(s exact.Sums) Figures { return computeFigures(Request{}.quotients(), s) }

func computeFigures(all []quotient, s exact.Sums) Figures {
	figures := make(Figures, len(all))
	for i, q := range all {
		figures[i] = q.computeValue(s)
	}
	return figures
}

// Value is a figure as it is shown: a whole number, or one of hundredths. The
// zero value is null, as a ratio without a base is.
type Value struct {
	number     exact.Number
	defined    bool
	hundredths bool
}

// Null reports whether the figure's base is missing.
func (v Value) Null() bool { return !v.defined }

// Compare orders two values of one figure that are not null, as shown.
func (v Value) Compare(w Value) int { return v.number.Compare(w.number) }

// Append writes the value as a JSON number, or null.
func (v Value) Append(to []byte) []byte {
	switch {
	case !v.defined:
		return append(to, "null"...)
	case !v.hundredths:
		return v.number.Append(to)
	}
	from := len(to)
	to = v.number.Append(to)
	if v.number.Negative() {
		from++ // behind the sign
	}
	for len(to)-from < 3 {
		to = slices.Insert(to, from, '0')
	}
	return slices.Insert(to, len(to)-2, '.')
}
