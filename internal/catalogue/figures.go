package catalogue

import (
	"fmt"
	"slices"
	"strings"
)

// Better says which way a figure should move.
type Better int

// The directions of figures.
const (
	Less    Better = -1
	Depends Better = 0
	More    Better = 1
)

// None is the denominator of a figure that is a sum.
const None = -1

// Figure is one of the figures that every total, element, point and row has.
type Figure struct {
	Name                   string
	Label                  string // in headings
	Unit                   Unit
	Better                 Better
	Numerator, Denominator int    // places in Measures
	Words                  string // what it is, in the API's document
}

// Figures are the figures of every answer, in its order. A ratio is made of
// exact sums, rounded last, and null if its denominator is zero.
var Figures = []Figure{
	{"spend", "Spend", USD, Depends, Spend, None, "What the advertising cost, in US dollars, or as `currency` says."},
	{"sales", "Sales", USD, More, Sales, None, "What was sold because of it, in US dollars, or as `currency` says. Sales are credited to the day of the click, and those of a day can change, up or down, for about 60 days, most within 14."},
	{"acos", "ACOS", Percent, Less, Spend, Sales, "Advertising cost of sales, in percent; 28.22 means 28.22 %. Null when there is no sale."},
	{"roas", "ROAS", Ratio, More, Sales, Spend, "Return on advertising spend, a ratio. Null when nothing was spent."},
	{"impressions", "Impressions", Count, More, Impressions, None, "How often the advertising was shown."},
	{"clicks", "Clicks", Count, More, Clicks, None, "How often it was clicked."},
	{"ctr", "CTR", Percent, More, Clicks, Impressions, "Click-through rate, in percent. Null when there is no impression."},
	{"average_cpc", "Average CPC", USD, Less, Spend, Clicks, "The average cost of a click, in US dollars, or as `currency` says. Null when there is no click."},
	{"purchases", "Orders", Count, More, Purchases, None, "Orders because of the advertising; orders, not units."},
	{"conversion_rate", "Conversion", Percent, More, Purchases, Clicks, "Orders for each hundred clicks, in percent. Null when there is no click."},
}

// ReportFigures are the figures that a report can have: those of every
// answer, and each further measure that is kept, under its stored name.
var ReportFigures = func() []Figure {
	all := slices.Clone(Figures)
	for i, m := range Extra {
		all = append(all, Figure{Name: m.Name, Label: labelOf(m.Name), Unit: m.Unit, Better: Depends, Numerator: len(Headline) + i, Denominator: None,
			Words: fmt.Sprintf("The platform's `%s`, in reports of %s. Null where no report has it.", m.Column, m.AdProductNames())})
	}
	return all
}()

// labelOf writes a stored name as a heading.
func labelOf(name string) string {
	label := strings.ReplaceAll(name, "_", " ")
	return strings.ToUpper(label[:1]) + label[1:]
}

// Names of figures, in their order.
var (
	FigureNames       = figureNames(Figures)
	ReportFigureNames = figureNames(ReportFigures)
)

func figureNames(figures []Figure) (names []string) {
	for _, f := range figures {
		names = append(names, f.Name)
	}
	return names
}

// IsAmount reports whether the figure is money, or a ratio that money is part of.
func (f Figure) IsAmount() bool {
	return Measures[f.Numerator].IsAmount() || f.IsRatio() && Measures[f.Denominator].IsAmount()
}

// IsRatio reports whether the figure is a ratio of sums; else it is a sum.
func (f Figure) IsRatio() bool { return f.Denominator != None }

// Decimals is how many decimals the figure is shown with.
func (f Figure) Decimals() int {
	if f.Unit == Count {
		return 0
	}
	return 2
}

// Formula returns how a ratio follows from sums, as text, or "" for a sum.
func (f Figure) Formula() string {
	if !f.IsRatio() {
		return ""
	}
	formula := Measures[f.Numerator].Name + " / " + Measures[f.Denominator].Name
	if f.Unit == Percent {
		formula += " x 100"
	}
	return formula
}
