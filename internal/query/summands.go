package query

import (
	"fmt"
	"slices"
	"strings"

	"adlens/internal/catalogue"
)

// localDecimals and storedDecimals are the decimals of amounts as they are summed:
// exact ones in the marketplaces' own currencies, and all others.
const (
	localDecimals  = 20
	storedDecimals = 6
)

// summand is what a statement sums for each row of an answer. The sum of one that is
// called n is the column n_sum.
type summand struct {
	name     string
	columns  []summedColumn
	sum      func(prefix string) string // of the columns, whose names begin with the prefix
	isFigure bool                       // rows in which no such sum has a figure are left out
}

// summedColumn is a column of a report's tables: what it is of a stored fact, and of
// a row of the other period.
type summedColumn struct{ name, term, zero string }

// headlineSummands are what every request sums, in the order of the headline.
var headlineSummands = func() (all []summand) {
	for _, m := range catalogue.Headline {
		all = append(all, summand{name: m.Name, isFigure: true,
			columns: []summedColumn{{m.Name, WideTerm(m, m.Name), WideTerm(m, "0")}},
			sum:     func(prefix string) string { return WholeTerm(m, "sum("+prefix+m.Name+")") }})
	}
	return all
}()

func wholeColumn(name, term string) summedColumn {
	return summedColumn{name, "toUInt128(" + term + ")", "toUInt128(0)"}
}

// storedWhole is a stored number as a whole one: a count, or millionths.
func storedWhole(m catalogue.Measure, name string) string {
	if m.IsAmount() {
		return "reinterpret(" + name + ", 'UInt64')"
	}
	return name
}

// furtherSummand sums a measure that is not of the headline.
func furtherSummand(m catalogue.Measure) summand {
	return summand{name: m.Name, columns: []summedColumn{wholeColumn(m.Name, storedWhole(m, m.Name))}, isFigure: true,
		sum: func(prefix string) string { return "sum(" + prefix + m.Name + ")" }}
}

// localSummand sums an amount of the headline in the marketplaces' own currencies, in
// units of its 20th decimal.
func localSummand(m catalogue.Measure) summand {
	micros, rest := m.LocalColumns()
	return summand{name: micros, isFigure: true, sum: func(prefix string) string { return LocalSum(m, prefix) },
		columns: []summedColumn{{micros, WideTerm(m, micros), WideTerm(m, "0")}, wholeColumn(rest, rest)}}
}

// LocalSum returns the exact sum of an amount of the headline in the marketplaces' own
// currencies, in units of its 20th decimal. Its columns are wide, or facts', and begin
// with the prefix.
func LocalSum(m catalogue.Measure, prefix string) string {
	micros, rest := m.LocalColumns()
	return fmt.Sprintf("toUInt256(%s) * 100000000000000 + sum(toUInt256(%s))", WholeTerm(m, "sum("+WideTerm(m, prefix+micros)+")"), prefix+rest)
}

// EachLocal returns a term of SQL for each column of amounts in the marketplaces' own
// currencies, in the order of rollups. wide is the column in a type that no sum of it
// overflows.
func EachLocal(term func(column, wide string) string) (terms []string) {
	var rests []string
	for _, m := range catalogue.Headline {
		if m.IsAmount() {
			micros, rest := m.LocalColumns()
			terms = append(terms, term(micros, WideTerm(m, micros)))
			rests = append(rests, term(rest, "toUInt128("+rest+")"))
		}
	}
	return append(terms, rests...)
}

// reportedSummand counts the facts whose report had the column of a further measure.
func reportedSummand(m catalogue.Measure) summand {
	name := "reported_" + m.Name
	return summand{name: name, columns: []summedColumn{wholeColumn(name, fmt.Sprintf(
		"generation NOT IN {unreported_%[1]s:Array(UInt32)} AND toUInt64(generation) * 65536 + toUInt16(day) NOT IN {unreported_days_%[1]s:Array(UInt64)}", m.Name))},
		sum: func(prefix string) string { return "sum(" + prefix + name + ")" }}
}

// sumsMore reports whether the request needs more sums than those of the headline.
func (r Request) sumsMore() bool { return r.Local || r.sumsFurther() }

// sumsFurther reports whether it needs measures that facts alone have.
func (r Request) sumsFurther() bool { return len(r.furtherMeasures()) > 0 }

// furtherMeasures are the measures beside the headline that figures were asked of.
func (r Request) furtherMeasures() (further []catalogue.Measure) {
	for _, i := range r.Figures {
		if m := catalogue.ReportFigures[i].Numerator; m >= measures {
			further = append(further, catalogue.Measures[m])
		}
	}
	return further
}

// summands are what the request's statements sum: the headline, its amounts in the
// currency of the answer; those of several currencies in US dollars too, by which
// rows are sorted; what else there are figures of, and whether that is known.
func (r Request) summands() []summand {
	if !r.sumsMore() {
		return headlineSummands
	}
	all := slices.Clone(headlineSummands)
	for i, m := range catalogue.Headline {
		if r.Local && m.IsAmount() {
			all[i] = localSummand(m)
		}
	}
	for i, m := range catalogue.Headline {
		if r.Mixed && m.IsAmount() {
			all = append(all, headlineSummands[i])
		}
	}
	further := r.furtherMeasures()
	for _, m := range further {
		all = append(all, furtherSummand(m))
	}
	for _, m := range further {
		all = append(all, reportedSummand(m))
	}
	return all
}

// Sums is how many sums each row of the request's statements has.
func (r Request) Sums() int { return len(r.summands()) }

// placeOf is where the request's sums have a summand.
func (r Request) placeOf(name string) measure {
	return measure(slices.IndexFunc(r.summands(), func(s summand) bool { return s.name == name }))
}

// eachColumn returns a term of SQL for each column of summands, with separators between.
func eachColumn(all []summand, separator string, term func(summedColumn) string) string {
	var terms []string
	for _, s := range all {
		for _, c := range s.columns {
			terms = append(terms, term(c))
		}
	}
	return strings.Join(terms, separator)
}

// summandSlots are the terms of templates that follow from what is summed.
func summandSlots(all []summand) []string {
	return []string{
		"/*measures*/", eachColumn(all, ", ", func(c summedColumn) string { return c.name }),
		"/*wide*/", eachColumn(all, ", ", func(c summedColumn) string { return c.term + " AS " + c.name }),
		"/*zeros*/", eachColumn(all, ", ", func(c summedColumn) string { return c.zero + " AS " + c.name }),
		"/*earlier zeros*/", eachColumn(all, ", ", func(c summedColumn) string { return c.zero + " AS " + prefixEarlier + c.name }),
		"/*earlier measures*/", eachColumn(all, ", ", func(c summedColumn) string { return "before." + c.name + " AS " + prefixEarlier + c.name }),
		"/*figures*/", anyFigure(all),
	}
}

// fillTemplate fills a template with what the request sums.
func (r Request) fillTemplate(name string, slots ...string) string {
	if r.sumsMore() {
		slots = append(slots, summandSlots(r.summands())...)
	}
	return fillTemplate(name, slots...)
}

// anyFigure is a term that is true where a column that figures follow from is not zero.
func anyFigure(all []summand) string {
	figures := slices.DeleteFunc(slices.Clone(all), func(s summand) bool { return !s.isFigure })
	return eachColumn(figures, " OR ", func(c summedColumn) string { return c.name + " > 0" })
}

// sumSlots are the terms of the sums, for each period by the prefix of its names.
func sumSlots(summands []summand, prefixes ...string) []string {
	all := func(separator string, of []summand, term func(s summand, prefix string) string) string {
		var terms []string
		for _, prefix := range prefixes {
			for _, s := range of {
				terms = append(terms, term(s, prefix))
			}
		}
		return strings.Join(terms, separator)
	}
	figures := slices.DeleteFunc(slices.Clone(summands), func(s summand) bool { return !s.isFigure })
	return []string{
		"/*sums*/", all(", ", summands, func(s summand, prefix string) string { return s.sum(prefix) + " AS " + prefix + s.name + "_sum" }),
		"/*page sums*/", all(", ", summands, func(s summand, prefix string) string { return "page." + prefix + s.name + "_sum" }),
		"/*any sum*/", all(" OR ", figures, func(s summand, prefix string) string { return prefix + s.name + "_sum > 0" }),
	}
}
