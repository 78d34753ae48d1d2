package query

import (
	"strings"

	"adlens/internal/catalogue"
)

// measure is the place of a measure in the catalogue's headline, or one.
type measure int

const (
	impressions measure = catalogue.Impressions
	clicks      measure = catalogue.Clicks
	purchases   measure = catalogue.Purchases
	spend       measure = catalogue.Spend // the first amount, in millionths of a US dollar
	measures            = len(catalogue.Headline)

	one measure = -1 // 1 in place of a sum: a base that is never missing
)

// WideTerm returns a term of SQL for a measure in a type that no sum of it overflows.
func WideTerm(m catalogue.Measure, term string) string {
	if m.IsAmount() {
		return "toDecimal128(" + term + ", 6)"
	}
	return "toUInt128(" + term + ")"
}

// WholeTerm returns a wide term as a whole number: a count, or millionths of a dollar.
func WholeTerm(m catalogue.Measure, term string) string {
	if m.IsAmount() {
		return "reinterpret(" + term + ", 'UInt128')"
	}
	return term
}

// EachMeasure returns a term of SQL for each headline measure, with separators between.
func EachMeasure(separator string, term func(catalogue.Measure) string) string {
	terms := make([]string, measures)
	for i, m := range catalogue.Headline {
		terms[i] = term(m)
	}
	return strings.Join(terms, separator)
}
