package query

import "strings"

// measure is the place of a measure in Measures, or what stands in the place of
// one in a quotient.
type measure int

const (
	impressions measure = iota
	clicks
	purchases
	spend // millionths of a US dollar
	sales // likewise
	measures

	one   measure = -1 // a base that is never missing
	whole measure = -2 // as a base: no ratio, the sum itself
)

// Measure is one of the sums that all figures follow from.
type Measure struct {
	Name  string // of its columns
	Money bool   // US dollars with six decimals; else a count
}

// Measures are all of them. Sums, columns of statements and rows of the store
// have their order.
var Measures = [measures]Measure{
	impressions: {Name: "impressions"},
	clicks:      {Name: "clicks"},
	purchases:   {Name: "purchases"},
	spend:       {Name: "spend", Money: true},
	sales:       {Name: "sales", Money: true},
}

// Wide is a term of SQL in a type that no sum of it overflows.
func (m Measure) Wide(term string) string {
	if m.Money {
		return "toDecimal128(" + term + ", 6)"
	}
	return "toUInt128(" + term + ")"
}

// Whole is a wide term as a whole number: a count, or millionths of a dollar.
func (m Measure) Whole(term string) string {
	if m.Money {
		return "reinterpret(" + term + ", 'UInt128')"
	}
	return term
}

// EachMeasure is a term of SQL for each measure, with separators between.
func EachMeasure(separator string, term func(Measure) string) string {
	terms := make([]string, len(Measures))
	for i, m := range Measures {
		terms[i] = term(m)
	}
	return strings.Join(terms, separator)
}
