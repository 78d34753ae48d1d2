package query

import (
	"slices"

	"adlens/internal/exact"
)

// Figures are the values of the catalogue's figures, in its order.
type Figures []Value

// FiguresOf computes the figures of some sums.
func FiguresOf(s exact.Sums) Figures {
	figures := make(Figures, len(quotients))
	for i, q := range quotients {
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

// Hundredths reports whether the figure has two decimals, also where it is null;
// else it is a whole number.
func (v Value) Hundredths() bool { return v.hundredths }

// NoChange says of no figure that it changed: all are null, with two decimals.
var NoChange = slices.Repeat(Figures{{hundredths: true}}, len(quotients))

// NoFigures are figures that are all null.
var NoFigures = func() Figures {
	none := make(Figures, len(quotients))
	for i, q := range quotients {
		none[i] = Value{hundredths: q.base != whole}
	}
	return none
}()
