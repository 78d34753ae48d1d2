package query

import (
	"fmt"
	"slices"

	"adlens"
	"adlens/internal/catalogue"
	"adlens/internal/exact"
	"adlens/internal/query/period"
)

// NoComparison is what compare says where nothing is compared.
const NoComparison = "none"

// firstDay is the first one that can be written YYYY-MM-DD.
var firstDay = adlens.Date(1, 1, 1)

// Compared reports whether the period is compared with an earlier one.
func (r Request) Compared() bool { return r.Earlier.Range != "" }

// RowWeight is about how many times as much memory a row takes as one of ten figures
// that are not compared.
func (r Request) RowWeight() int {
	weight := (len(r.ListFigures()) + 9) / 10
	if r.Compared() {
		weight *= 2
	}
	return weight
}

// EarlierRequest asks the same of the earlier period alone.
func (r Request) EarlierRequest() Request {
	r.Period, r.Earlier = r.Earlier, period.Period{}
	return r
}

// parseComparison finds the earlier period. Both stop at yesterday: today is not over,
// and would be compared with a whole day. Where faults leave open what is compared, the
// period stays cut: none of its days is in doubt then.
func (p *parser) parseComparison(text string) {
	way, _ := canonicalValue(text, catalogue.Comparisons)
	isRead := p.isUnrefused("compare")
	if isRead && (way == "" || way == NoComparison) {
		return
	}
	yesterday := p.earliestToday() - 1
	asked := p.request.Period
	cut, ok := asked.Until(yesterday)
	if !isRead || slices.ContainsFunc(p.faults, isOfPeriod) {
		p.request.Period = cut
		return
	}
	if !ok {
		p.addFault("compare", adlens.Fault{Value: text, Code: adlens.InvalidParameter,
			Detail: fmt.Sprintf("compare %q stops both periods at yesterday, which is %s in %s, and nothing is left of %s to %s; expected a period that starts on %s or earlier",
				text, yesterday, p.request.TimeZone, asked.Start, asked.End, yesterday)})
		return
	}
	p.request.Period, p.request.Earlier = cut, cut.Earlier(period.Name(way))
	if p.request.Earlier.Start < firstDay {
		p.addFault("compare", adlens.Fault{Value: text, Code: adlens.InvalidParameter,
			Detail: fmt.Sprintf("compare %q of %s to %s would start before %s, the first day of the calendar; expected a later period",
				text, cut.Start, cut.End, firstDay)})
	}
}

// ComparesLater reports whether a text names a range that has days to compare on a
// later day, if it has none now: on the first day of a month this_month has none.
// today never has any.
func ComparesLater(text string) bool {
	name, ok := canonicalValue(text, catalogue.Ranges)
	return ok && period.Name(name) != period.Today
}

func isOfPeriod(f adlens.Fault) bool {
	return slices.Contains([]string{"range", "start_date", "end_date", "timezone"}, f.Parameter)
}

// sides are the sums of a period and of the earlier one that it is compared
// with, which are zero where it is not.
type sides [2]exact.Sums

const (
	current = iota
	earlier
)

// isEmpty reports whether there is no figure on either side.
func (s *sides) isEmpty(summands []summand) bool {
	for i, summand := range summands {
		if summand.isFigure && (s[current].At(i) != exact.Sum{} || s[earlier].At(i) != exact.Sum{}) {
			return false
		}
	}
	return true
}

// Comparison is the figures of the earlier period, and how they changed since.
type Comparison struct {
	Figures Figures
	Change  Figures // in the same order
}

// comparisonOf is nil where nothing is compared. Nothing is shown as changed
// since days of which some are from before the history held.
func (a *Answer) comparisonOf(s *sides) *Comparison {
	if !a.Request.Compared() {
		return nil
	}
	c := &Comparison{a.figuresOf(s[earlier]), make(Figures, len(a.quotients))}
	if a.Meta.EarlierCovered {
		for i, q := range a.quotients {
			c.Change[i] = q.computeChange(s)
		}
	}
	return c
}
