package query

import (
	"slices"

	"adlens/internal/exact"
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
	Label   string // in headings
	Unit    Unit
	Better  int    // 1 where more is good, -1 where less is, 0 where it depends
	Formula string // how it follows from sums; "" for the sums themselves
	Words   string // what it is, in the document of the API
	quotient
}

// Catalogue is the one table of figures, in the order of every answer.
// Ratios are made of exact sums, and rounded last. What documents and the page
// say of figures is written from it (documents_test.go).
var Catalogue = []Figure{
	{"spend", "Spend", USD, 0, "", "What the advertising cost, in US dollars.",
		quotient{spend, one, 1, microsPerDollar}},
	{"sales", "Sales", USD, 1, "", "What was sold because of it, in US dollars. Sales are credited to the day of the click, up to two weeks later, so the last days still grow.",
		quotient{sales, one, 1, microsPerDollar}},
	{"acos", "ACOS", Percent, -1, "spend / sales x 100", "Advertising cost of sales, in percent; 28.22 means 28.22 %. Null when there is no sale.",
		quotient{spend, sales, 100, 1}},
	{"roas", "ROAS", Ratio, 1, "sales / spend", "Return on advertising spend, a ratio. Null when nothing was spent.",
		quotient{sales, spend, 1, 1}},
	{"impressions", "Impressions", Number, 1, "", "How often the advertising was shown.",
		quotient{impressions, whole, 0, 0}},
	{"clicks", "Clicks", Number, 1, "", "How often it was clicked.",
		quotient{clicks, whole, 0, 0}},
	{"ctr", "CTR", Percent, 1, "clicks / impressions x 100", "Click-through rate, in percent. Null when there is no impression.",
		quotient{clicks, impressions, 100, 1}},
	{"average_cpc", "Average CPC", USD, -1, "spend / clicks", "The average cost of a click, in US dollars. Null when there is no click.",
		quotient{spend, clicks, 1, microsPerDollar}},
	{"purchases", "Orders", Number, 1, "", "Orders because of the advertising; orders, not units.",
		quotient{purchases, whole, 0, 0}},
	{"conversion_rate", "Conversion", Percent, 1, "purchases / clicks x 100", "Orders for each hundred clicks, in percent. Null when there is no click.",
		quotient{purchases, clicks, 100, 1}},
}

// Figures are the values of the catalogue's figures, in its order.
type Figures []Value

// FiguresOf computes the figures of some sums.
func FiguresOf(s exact.Sums) Figures {
	figures := make(Figures, len(Catalogue))
	for i, f := range Catalogue {
		figures[i] = f.value(s)
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
