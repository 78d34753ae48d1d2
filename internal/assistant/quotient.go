package assistant

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"adlens"
	"adlens/internal/catalogue"

	"github.com/go-json-experiment/json/jsontext"
)

// quotients are the units of what calls may ask for beside figures: "spend/purchases" is
// one sum divided by another, "sales_other_sku_7d%sales_7d" one in percent of another.
// What the API has no figure of is computed from its sums as they are shown.
var quotients = map[string]catalogue.Unit{"/": catalogue.Ratio, "%": catalogue.Percent}

// readQuotient returns the figure that a quotient's text names, the API's own where it
// has one: its sums have digits that are not shown, so "spend%sales" is acos, and no
// second value of it. False where the text is none of two sums.
func readQuotient(text string) (catalogue.Figure, bool) {
	for sign, unit := range quotients {
		if n, d, has := strings.Cut(text, sign); has {
			f := catalogue.Figure{Name: text, Unit: unit, Numerator: measureNamed(n), Denominator: measureNamed(d)}
			return ownFigure(f), f.Numerator >= 0 && f.Denominator >= 0
		}
	}
	return catalogue.Figure{}, false
}

// ownFigure returns the API's figure of the same measures, both in percent or neither;
// the quotient itself where there is none.
func ownFigure(quotient catalogue.Figure) catalogue.Figure {
	for _, f := range catalogue.ReportFigures {
		if f.Numerator == quotient.Numerator && f.Denominator == quotient.Denominator && (f.Unit == catalogue.Percent) == (quotient.Unit == catalogue.Percent) {
			return f
		}
	}
	return quotient
}

// measureNamed returns the place of a measure, -1 of none.
func measureNamed(name string) int {
	return slices.IndexFunc(catalogue.Measures, func(m catalogue.Measure) bool { return m.Name == name })
}

// isQuotient reports whether a figure is computed here, and not by the API.
func isQuotient(f catalogue.Figure) bool { return strings.ContainsAny(f.Name, "/%") && f.IsRatio() }

// maxQuotients bounds the quotients of a call: each is computed for each row that is read,
// which may be 100,000, in the time that a call has.
const maxQuotients = 30

func countQuotients(names []string) (n int) {
	for _, name := range names {
		if f, is := readQuotient(name); is && isQuotient(f) {
			n++
		}
	}
	return n
}

// addQuotients computes the quotients among a line's values from its sums.
func (r *report) addQuotients(values, labels []jsontext.Value) {
	for i, f := range r.figures {
		if isQuotient(f) {
			values[i] = ratioValue(f, r.ratioOf(f, values, labels))
		}
	}
}

// ratioValue writes a ratio or its change. One sum by another has four digits from the
// first that is not 0 where it is below 1: what an impression cost would be 0.00.
func ratioValue(f catalogue.Figure, n *big.Rat) jsontext.Value {
	one, ten := big.NewRat(1, 1), big.NewRat(10, 1)
	if n == nil || n.Sign() == 0 || !isQuotient(f) || f.Unit == catalogue.Percent || new(big.Rat).Abs(n).Cmp(one) >= 0 {
		return numberValue(n, f.Decimals())
	}
	decimals := 4
	for size := new(big.Rat).Abs(n); size.Mul(size, ten).Cmp(one) < 0; {
		decimals++
	}
	return jsontext.Value(n.FloatString(decimals))
}

// unreportedPart is a marketplace's ad product of which not all reports have some
// figures, as the API's answer has it.
type unreportedPart struct {
	MarketplaceID string   `json:"marketplace_id"`
	AdProduct     string   `json:"ad_product"`
	Figures       []string `json:"figures"` // none where campaigns are left out
}

// isOfSameReports reports whether the sums of a ratio on a line are surely of the same
// reports: of no part that the line may have figures of do some reports lack a measure.
// Where both are lacked, the reports that lack them may differ, unless no report of the
// ad product has either.
func (r *report) isOfSameReports(f catalogue.Figure, labels []jsontext.Value) bool {
	n, d := catalogue.Measures[f.Numerator], catalogue.Measures[f.Denominator]
	mayBe := func(column, value string) bool {
		i := slices.Index(r.dimensions, column)
		return i < 0 || len(labels) == 0 || isNull(labels[i]) || textOf(labels[i]) == value
	}
	return n.Name == d.Name || !slices.ContainsFunc(r.unreported, func(part unreportedPart) bool {
		isLacked := slices.Contains(part.Figures, n.Name) || slices.Contains(part.Figures, d.Name)
		p, known := adlens.ParseAdProduct(part.AdProduct)
		hasNeither := known && !isReportedBy(n, p) && !isReportedBy(d, p)
		return isLacked && !hasNeither && mayBe("marketplace_id", part.MarketplaceID) && mayBe("ad_product", part.AdProduct)
	})
}

// checkQuotients refuses a quotient of measures that the reports of different ad products
// have, among those that the call selects: its total would divide what only some of them
// count by what others count too.
func (c call) checkQuotients(figures []catalogue.Figure) error {
	for _, f := range figures {
		if !isQuotient(f) {
			continue
		}
		n, d := catalogue.Measures[f.Numerator], catalogue.Measures[f.Denominator]
		var both []string
		differ := false
		for _, p := range adlens.AdProducts {
			has, alsoHas := isReportedBy(n, p), isReportedBy(d, p)
			if has && alsoHas {
				both = append(both, p.String())
			}
			selected := len(c.args["ad_products"]) == 0 || slices.Contains(c.args["ad_products"], p.String())
			differ = differ || selected && has != alsoHas
		}
		if !differ {
			continue
		}
		if len(both) == 0 {
			return &argumentError{fmt.Sprintf("figures has %q, but no ad product's reports have both %s and %s", f.Name, n.Name, d.Name)}
		}
		return &argumentError{fmt.Sprintf("figures has %q, but only reports of %s have both %s and %s; send no others as ad_products",
			f.Name, strings.Join(both, ", "), n.Name, d.Name)}
	}
	return nil
}

// isReportedBy reports whether an ad product's reports have a measure, under whichever
// name.
func isReportedBy(m catalogue.Measure, p adlens.AdProduct) bool { return m.ColumnOf(p, false) != "" }
