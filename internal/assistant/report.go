package assistant

import (
	"context"
	"math/big"
	"slices"

	"adlens/internal/answer"
	"adlens/internal/catalogue"
	"adlens/internal/query"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// rowList is rows whose values are in the order of columns.
type rowList struct {
	Columns   []string           `json:"columns"`
	Rows      [][]jsontext.Value `json:"rows"`
	TotalRows int                `json:"total_rows"`
	NextPage  int                `json:"next_page,omitzero"`
}

// table is rows of figures, with what they add up to.
type table struct {
	rowList
	Others []jsontext.Value `json:"others,omitzero"` // all rows that are not shown, as one
	Total  []jsontext.Value `json:"total,omitzero"`
}

// report is an answer of /report: its rows, and what they add up to.
type report struct {
	frame
	dimensions []string           // columns before the figures
	figures    []catalogue.Figure // those that were requested, and those that they are made of
	places     map[string]int     // of figures, by name
	rows       []line
	total      line
	rowsInAll  int
	nextPage   int
	cut        cuts
	unreported []unreportedPart
	missing    []missingPart
	comparable bool    // the earlier period is covered: without that no change is known
	every      *report // all rows, where it takes them to tell rounding from figures; nil where they were not read
}

// line is the figures of a row, total or rest, by place in the report's figures.
type line struct {
	labels []jsontext.Value
	now    []jsontext.Value
	before []jsontext.Value // nil where nothing is compared
	change []jsontext.Value // in percent, or points of what is a percentage
}

// scopeNames are the names of the arguments that all tools of figures have.
var scopeNames = argumentNames(scope())

// readReport asks for a report of the call's scope.
func (c call) readReport(dimensions, figures []string, more ...answer.Parameter) (r report, err error) {
	r.setFigures(figures)
	if err := c.checkQuotients(r.figures); err != nil {
		return r, err
	}
	params := c.args.parameters(scopeNames...)
	for _, d := range dimensions {
		params = append(params, answer.Parameter{Name: "dimensions", Value: d})
	}
	for _, f := range r.figures {
		if !isQuotient(f) {
			params = append(params, answer.Parameter{Name: "figures", Value: f.Name})
		}
	}
	said, address, err := c.ask(answer.Request{Endpoint: "report", Parameters: append(params, more...)})
	if err != nil {
		return r, err
	}
	if err := r.read(c.ctx, said, address); err != nil {
		return r, err
	}
	if len(r.dimensions) == 0 {
		r.dimensions = columnsOf(dimensions)
	}
	r.AccountID = c.caller.Account.ID
	r.Requests[0] = withDates(address, r.Period)
	oldest, _, held := c.moment.HeldSpan()
	if held && string(r.HistoryCovered) == "false" {
		r.HeldFrom = oldest.String()
	}
	if r.cut, err = r.cuts(dimensions, oldest); err != nil {
		return r, err
	}
	if err := c.setNotHeld(&r.frame); err != nil {
		return r, err
	}
	if err := c.setBehind(&r.frame); err != nil {
		return r, err
	}
	r.missing = c.betweenHeld(r.missing)
	if r.Incomplete, err = withMissing(r.Incomplete, r.missing); err != nil {
		return r, err
	}
	if doubtful := r.doubtful(); len(doubtful) > 0 && r.rowsInAll <= query.MaxRows {
		every, err := c.readReport(dimensions, doubtful, append(c.args.parameters("search"), answer.Parameter{Name: "page_size", Value: "all"})...)
		if err != nil {
			return r, err
		}
		r.every = &every
	}
	return r, nil
}

// columnsOf returns the columns of dimensions, for a report without rows.
func columnsOf(dimensions []string) (all []string) {
	for _, d := range catalogue.Dimensions {
		if slices.Contains(dimensions, d.Name) {
			for _, column := range d.Columns {
				all = append(all, column.Name)
			}
		}
	}
	return all
}

// withParts returns figures by name, and those of the answer that they are made of,
// which the rest of rows is computed from.
func withParts(names []string) (all []catalogue.Figure) {
	add := func(name string) {
		i := slices.IndexFunc(catalogue.ReportFigures, func(f catalogue.Figure) bool { return f.Name == name })
		if f, is := readQuotient(name); is {
			all = append(all, f)
		} else if i < 0 {
			all = append(all, catalogue.Figure{Name: name, Denominator: catalogue.None}) // which the API refuses by name
		} else if !slices.ContainsFunc(all, func(f catalogue.Figure) bool { return f.Name == name }) {
			all = append(all, catalogue.ReportFigures[i])
		}
	}
	for _, name := range names {
		add(name)
	}
	for _, f := range slices.Clone(all) {
		if f.IsRatio() {
			add(catalogue.Measures[f.Numerator].Name)
			add(catalogue.Measures[f.Denominator].Name)
		}
	}
	return all
}

// setFigures says which figures the report has. Their places are looked up for each
// value of each row.
func (r *report) setFigures(names []string) {
	r.figures, r.places = withParts(names), map[string]int{}
	for i, f := range r.figures {
		r.places[f.Name] = i
	}
}

// read reads the answer of /report, until the call ends.
func (r *report) read(ctx context.Context, said object, address string) error {
	meta, err := readObject(said.values["meta"])
	if err != nil {
		return err
	}
	r.frame = frame{Period: said.values["period"], Currency: said.values["currency"], DataLastDate: meta.values["data_last_date"],
		HistoryCovered: meta.values["history_covered"], Cut: string(meta.values["truncated"]) == "true", Requests: []string{address}}
	if incomplete, ok := meta.values["incomplete"]; ok {
		if err := json.Unmarshal(incomplete, &r.unreported); err != nil {
			return err
		}
	}
	if r.Incomplete, r.missing, err = incompleteOf(said); err != nil {
		return err
	}
	if compared, ok := said.values["comparison"]; ok {
		earlier, err := readObject(compared)
		if err != nil {
			return err
		}
		r.ComparedWith = earlier.values["period"]
		r.ComparedHistoryCovered = earlier.values["history_covered"]
		r.comparable = string(r.ComparedHistoryCovered) == "true"
	}
	if r.total, err = r.readLine(said.values["totals"], nil); err != nil {
		return err
	}
	pages, err := readObject(said.values["pagination"])
	if err != nil {
		return err
	}
	r.rowsInAll, r.nextPage = wholeNumber(pages.values["total_rows"]), wholeNumber(pages.values["next_page"])
	all, err := readList(said.values["data"])
	if err != nil {
		return err
	}
	for _, one := range all {
		if err := ctx.Err(); err != nil {
			return err
		}
		l, err := r.readLine(one, &r.dimensions)
		if err != nil {
			return err
		}
		r.rows = append(r.rows, l)
	}
	return nil
}

func wholeNumber(v jsontext.Value) int {
	n := numberOf(v)
	if n == nil || !n.IsInt() || !n.Num().IsInt64() {
		return 0
	}
	return int(n.Num().Int64())
}

// readLine reads a row or totals. What comes before the figures are its labels.
func (r *report) readLine(text jsontext.Value, labels *[]string) (l line, err error) {
	o, err := readObject(text)
	if err != nil {
		return l, err
	}
	isFigure := func(name string) bool { return name == "comparison" || r.at(name) >= 0 }
	if labels != nil {
		*labels = slices.DeleteFunc(slices.Clone(o.names), isFigure)
		for _, name := range *labels {
			l.labels = append(l.labels, cleanMember(name, o.values[name]))
		}
	}
	valuesOf := func(o object) (all []jsontext.Value) {
		for _, f := range r.figures {
			all = append(all, o.values[f.Name])
		}
		return all
	}
	l.now = valuesOf(o)
	r.addQuotients(l.now, l.labels)
	if compared, ok := o.values["comparison"]; ok {
		earlier, err := readObject(compared)
		if err != nil {
			return l, err
		}
		for _, name := range []string{"date", "week", "month"} {
			if day, has := earlier.values[name]; has && labels != nil {
				*labels, l.labels = append(*labels, name+"_before"), append(l.labels, day)
			}
		}
		l.before = valuesOf(earlier)
		r.addQuotients(l.before, l.labels)
		if !r.comparable {
			l.before = slices.Repeat([]jsontext.Value{jsontext.Value("null")}, len(l.before))
		}
		changed, err := readObject(earlier.values["change"])
		if err != nil {
			return l, err
		}
		l.change = valuesOf(changed)
		for i, f := range r.figures {
			if isQuotient(f) {
				l.change[i] = r.changeOf(f, l)
			}
		}
	}
	return l, nil
}

// at returns the place of a figure in the report, -1 of none.
func (r *report) at(name string) int {
	if i, has := r.places[name]; has {
		return i
	}
	return -1
}

// side returns the values of a line now or before.
type side func(line) []jsontext.Value

func sideNow(l line) []jsontext.Value    { return l.now }
func sideBefore(l line) []jsontext.Value { return l.before }

// addRows adds up a figure of rows, as they are shown, and reports whether any has it.
func addRows(rows []line, values side, i int) (sum *big.Rat, isKnown bool) {
	sum = new(big.Rat)
	for _, row := range rows {
		if n := numberOf(values(row)[i]); n != nil {
			sum.Add(sum, n)
			isKnown = true
		}
	}
	return sum, isKnown
}

// sum returns all rows as one, as they are shown. What has no total, as amounts of
// several currencies, has no sum, nor has what no row has.
func (r *report) sum() line {
	return r.combine(func(values side, i int) *big.Rat {
		if isNull(values(r.total)[i]) {
			return nil
		}
		sum, isKnown := addRows(r.rows, values, i)
		if !isKnown && len(r.rows) > 0 {
			return nil
		}
		return sum
	})
}

// combine returns the line whose sums a function adds up, on each side, and whose
// ratios and changes follow from them.
func (r *report) combine(add func(values side, i int) *big.Rat) line {
	valuesOf := func(values side) (all []jsontext.Value) {
		if values(r.total) == nil {
			return nil
		}
		all = make([]jsontext.Value, len(r.figures))
		for i, f := range r.figures {
			if !f.IsRatio() {
				all[i] = numberValue(add(values, i), f.Decimals())
			}
		}
		for i, f := range r.figures {
			if f.IsRatio() {
				all[i] = ratioValue(f, r.ratioOf(f, all, nil))
			}
		}
		return all
	}
	l := line{labels: r.noLabels(), now: valuesOf(sideNow), before: valuesOf(sideBefore)}
	if l.before == nil {
		return l
	}
	for _, f := range r.figures {
		change := jsontext.Value("null")
		if r.comparable {
			change = r.changeOf(f, l)
		}
		l.change = append(l.change, change)
	}
	return l
}

// noLabels are the labels of a line that is of no single row.
func (r *report) noLabels() []jsontext.Value {
	return slices.Repeat([]jsontext.Value{jsontext.Value("null")}, len(r.dimensions))
}

// ratioOf returns a ratio of a line's sums as they are shown, not rounded; nil where its
// denominator is zero or unknown, or the sums may be of different reports.
func (r *report) ratioOf(f catalogue.Figure, values, labels []jsontext.Value) *big.Rat {
	sum := func(measure int) *big.Rat { return numberOf(values[r.at(catalogue.Measures[measure].Name)]) }
	n, d := sum(f.Numerator), sum(f.Denominator)
	if n == nil || d == nil || d.Sign() == 0 || !r.isOfSameReports(f, labels) {
		return nil
	}
	q := new(big.Rat).Quo(n, d)
	if f.Unit == catalogue.Percent {
		q.Mul(q, big.NewRat(100, 1))
	}
	return q
}

// changeOf returns how a figure of a line changed, as the API does: sums in percent,
// ratios in their own unit, from ratios that are not rounded (contract B6).
func (r *report) changeOf(f catalogue.Figure, l line) jsontext.Value {
	value := func(side []jsontext.Value) *big.Rat {
		if f.IsRatio() {
			return r.ratioOf(f, side, l.labels)
		}
		return numberOf(side[r.at(f.Name)])
	}
	now, before := value(l.now), value(l.before)
	switch {
	case now == nil || before == nil:
		return jsontext.Value("null")
	case f.IsRatio():
		return ratioValue(f, new(big.Rat).Sub(now, before))
	case before.Sign() == 0:
		return jsontext.Value("null")
	}
	q := new(big.Rat).Sub(now, before)
	q.Quo(q, before)
	return numberValue(q.Mul(q, big.NewRat(100, 1)), 2)
}

// tableOf returns the rows with the figures that were requested. share is a sum of
// which each row's part is shown in percent; "" without one.
func (r *report) tableOf(figures []string, share string) table {
	t := table{rowList: rowList{Columns: slices.Clone(r.dimensions), Rows: [][]jsontext.Value{}, TotalRows: r.rowsInAll, NextPage: r.nextPage}}
	for _, name := range figures {
		t.Columns = append(t.Columns, name)
		if r.total.before != nil {
			t.Columns = append(t.Columns, name+"_before", name+"_change_"+unitOfChange(r.figures[r.at(name)]))
		}
	}
	if share != "" {
		t.Columns = append(t.Columns, share+"_share_percent")
	}
	for _, row := range r.rows {
		t.Rows = append(t.Rows, r.writeLine(row, figures, share))
	}
	r.total.labels = r.noLabels()
	t.Total = r.writeLine(r.total, figures, share)
	if r.rowsInAll > len(r.rows) {
		t.Others = r.writeLine(r.rest(), figures, share)
	}
	return t
}

// writeLine returns the values of a line in the order of a table's columns.
func (r *report) writeLine(l line, figures []string, share string) []jsontext.Value {
	values := slices.Clone(l.labels)
	for _, name := range figures {
		i := r.at(name)
		values = append(values, l.now[i])
		if r.total.before != nil {
			values = append(values, valueAt(l.before, i), valueAt(l.change, i))
		}
	}
	if share != "" {
		values = append(values, shareOf(l.now[r.at(share)], r.total.now[r.at(share)]))
	}
	return values
}

// unitOfChange returns what a change is in: see changeOf.
func unitOfChange(f catalogue.Figure) string {
	switch {
	case !f.IsRatio():
		return "percent"
	case f.Unit == catalogue.Percent:
		return "points"
	}
	return "absolute"
}

func valueAt(values []jsontext.Value, i int) jsontext.Value {
	if values == nil {
		return jsontext.Value("null")
	}
	return values[i]
}

// shareOf returns a part in percent of the whole, null where that is zero.
func shareOf(part, whole jsontext.Value) jsontext.Value {
	return percentOf(numberOf(part), numberOf(whole))
}

func percentOf(part, whole *big.Rat) jsontext.Value {
	if part == nil || whole == nil || whole.Sign() == 0 {
		return jsontext.Value("null")
	}
	share := new(big.Rat).Quo(part, whole)
	return numberValue(share.Mul(share, big.NewRat(100, 1)), 2)
}

// sumOf returns the first figure that is a sum, of which shares are shown; "" without
// one.
func sumOf(figures []string) string {
	for _, f := range withParts(figures) {
		if !f.IsRatio() {
			return f.Name
		}
	}
	return ""
}
