package catalogue

import (
	"slices"
	"strings"
)

// Heading is how a column of an answer's table is shown to people.
type Heading struct {
	Label string
	Unit  Unit // of its numbers; "" where they are none
}

// Parts of the names of columns.
const (
	// TotalsPrefix begins the names of columns and facts that total all pages.
	TotalsPrefix = "totals_"

	earlierSide = "comparison_"
	changeSince = "change_"
)

// amounts are columns of money that are no figures, in the marketplace's currency.
var amounts = []string{"budget_amount", "default_bid_amount"}

// HeadingOf returns the heading of a column by its name: that of its figure, of the
// figure's earlier side or of its change, or else the words of the name.
func HeadingOf(column string) Heading {
	name, compared := strings.CutPrefix(strings.TrimPrefix(column, TotalsPrefix), earlierSide)
	name, changed := strings.CutPrefix(name, changeSince)
	heading := Heading{Label: labelOf(name)}
	if i := slices.Index(ReportFigureNames, name); i >= 0 {
		heading = Heading{ReportFigures[i].Label, ReportFigures[i].Unit}
		if compared && changed {
			heading.Unit = ReportFigures[i].changeUnit()
		}
	} else if slices.Contains(amounts, name) {
		heading.Unit = Local
	}
	switch {
	case compared && changed:
		heading.Label += " (change)"
	case compared:
		heading.Label += " (before)"
	}
	return heading
}

// changeUnit returns the unit of a figure's change: percent of the earlier value of a
// sum, points of a percentage, which are no percent, and else the figure's own.
func (f Figure) changeUnit() Unit {
	switch {
	case !f.IsRatio():
		return Percent
	case f.Unit == Percent:
		return Ratio
	default:
		return f.Unit
	}
}
