package query

import (
	"math/big"
	"slices"
	"strconv"
)

// Unit says what a figure counts.
type Unit string

// The units of figures.
const (
	USD     Unit = "USD"
	Percent Unit = "percent"
	Ratio   Unit = "ratio"
	Number  Unit = "count"
)

// Figure is one of the figures that every total, element, point and row has.
type Figure struct {
	Name    string
	Unit    Unit
	Formula string // how it follows from sums; "" for the sums themselves
	quotient
}

// Catalogue is the one table of figures, in the order of every answer.
// Ratios are made of exact sums, and rounded last.
var Catalogue = []Figure{
	{"spend", USD, "", quotient{spend, one, 1, microsPerDollar}},
	{"sales", USD, "", quotient{sales, one, 1, microsPerDollar}},
	{"acos", Percent, "spend / sales x 100", quotient{spend, sales, 100, 1}},
	{"roas", Ratio, "sales / spend", quotient{sales, spend, 1, 1}},
	{"impressions", Number, "", quotient{impressions, whole, 0, 0}},
	{"clicks", Number, "", quotient{clicks, whole, 0, 0}},
	{"ctr", Percent, "clicks / impressions x 100", quotient{clicks, impressions, 100, 1}},
	{"average_cpc", USD, "spend / clicks", quotient{spend, clicks, 1, microsPerDollar}},
	{"purchases", Number, "", quotient{purchases, whole, 0, 0}},
	{"conversion_rate", Percent, "purchases / clicks x 100", quotient{purchases, clicks, 100, 1}},
}

// Figures are the values of the catalogue's figures, in its order.
type Figures []Value

// FiguresOf computes the figures of some sums.
func FiguresOf(s *Sums) Figures {
	figures := make(Figures, len(Catalogue))
	for i, f := range Catalogue {
		figures[i] = f.of(s)
	}
	return figures
}

// figureNames are the catalogue's names.
func figureNames() []string {
	names := make([]string, len(Catalogue))
	for i, f := range Catalogue {
		names[i] = f.Name
	}
	return names
}

func figureIndex(name string) int { return slices.Index(figureNames(), name) }

// Value is a figure as it is shown: a whole number, or one of hundredths, or
// null where the base of a ratio is missing.
type Value struct {
	n          *big.Int // nil: null
	hundredths bool
}

// Null tells whether the figure's base is missing.
func (v Value) Null() bool { return v.n == nil }

// Compare orders two values of one figure that are not null, as shown.
func (v Value) Compare(w Value) int { return v.n.Cmp(w.n) }

// Append writes the value as a JSON number, or null.
func (v Value) Append(to []byte) []byte {
	switch {
	case v.n == nil:
		return append(to, "null"...)
	case !v.hundredths:
		return v.digits(to)
	}
	from := len(to)
	to = v.digits(to)
	if v.n.Sign() < 0 {
		from++ // behind the sign
	}
	for len(to)-from < 3 {
		to = slices.Insert(to, from, '0')
	}
	return slices.Insert(to, len(to)-2, '.')
}

// digits writes the number without its point. Nearly all fit into 64 bits,
// and those need no memory of their own.
func (v Value) digits(to []byte) []byte {
	if v.n.IsInt64() {
		return strconv.AppendInt(to, v.n.Int64(), 10)
	}
	return v.n.Append(to, 10)
}

// Hundredths tells whether the figure has two decimals, also where it is null;
// else it is a whole number.
func (v Value) Hundredths() bool { return v.hundredths }

// NoChange says of no figure that it changed: all are null, with two decimals.
var NoChange = slices.Repeat(Figures{{hundredths: true}}, len(Catalogue))

// NoFigures are figures that are all null.
var NoFigures = func() Figures {
	none := make(Figures, len(Catalogue))
	for i, f := range Catalogue {
		none[i] = Value{hundredths: f.base != whole}
	}
	return none
}()
