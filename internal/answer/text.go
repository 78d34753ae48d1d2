package answer

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"strings"
	"unicode"

	"adlens/internal/catalogue"
	"adlens/internal/formats"
	"adlens/internal/query"

	"golang.org/x/text/width"
)

// Table is the name of the format that Text writes. No request can name it: it is
// for people at a terminal, and may change.
const Table = "table"

// Text returns the answer as a table for a person to read: numbers aligned, with
// thousands and units, the totals of all pages last, and above the rows what they
// are of. It is made of the same description as every other format. Columns have the
// names that the headers of the request choose.
func (q *Question) Text(ctx context.Context) (*Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	describe, err := q.compute(ctx)
	if err != nil {
		return nil, err
	}
	w := &writer{}
	body, err := formats.Table(func(out *formats.Writer) {
		w.Writer = out
		describe(w)
	}, func(c formats.Column) formats.Column {
		if q.request != nil && q.request.Written().Headers == query.Labels {
			c.Heading = catalogue.HeadingOf(c.Name).Label
		}
		return c
	}, newText)
	return &Answer{Head: Head{Pages: w.pages}, Format: Table, Body: body}, err
}

// maxCell is how many columns of a terminal a cell of text takes at most.
const maxCell = 48

// text makes a table of rows. It keeps them until all widths are known.
type text struct {
	columns []formats.Column
	units   []catalogue.Unit // "" for a column of text, or of a plain number
	rows    [][]string
}

func newText(columns []formats.Column) formats.TableWriter {
	t := &text{columns: columns, units: make([]catalogue.Unit, len(columns))}
	for i, c := range columns {
		t.units[i] = catalogue.HeadingOf(c.Name).Unit
	}
	return t
}

// Row keeps a row.
func (t *text) Row(cells []formats.Cell) { t.rows = append(t.rows, t.shownCells(cells)) }

func (t *text) shownCells(cells []formats.Cell) []string {
	row := make([]string, len(cells))
	for i, cell := range cells {
		row[i] = t.shownCell(i, cell)
	}
	return row
}

// shownCell returns a cell as a person reads it; "-" is null.
func (t *text) shownCell(i int, cell formats.Cell) string {
	switch {
	case cell.Null:
		return "-"
	case t.units[i] == catalogue.Percent:
		return groupThousands(string(cell.Text)) + "%"
	case t.units[i] != "":
		return groupThousands(string(cell.Text))
	case t.isNumber(i):
		return string(cell.Text)
	}
	return cmp.Or(clipText(strings.Join(strings.Fields(string(cell.Text)), " ")), "-")
}

func (t *text) isNumber(i int) bool {
	return t.columns[i].Kind == formats.Whole || t.columns[i].Kind == formats.Decimal
}

// groupThousands puts commas between each three digits of a decimal number.
func groupThousands(number string) string {
	whole, fraction, hasFraction := strings.Cut(number, ".")
	digits, negative := strings.CutPrefix(whole, "-")
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	if negative {
		digits = "-" + digits
	}
	if hasFraction {
		digits += "." + fraction
	}
	return digits
}

// clipText shortens a text that is wider than a cell.
func clipText(s string) string {
	if columnsOf(s) <= maxCell {
		return s
	}
	end := 0
	for i, r := range s {
		if columnsOf(s[:i])+columnsOf(string(r)) >= maxCell {
			break
		}
		end = i + len(string(r))
	}
	return s[:end] + "…"
}

// columnsOf is how many columns of a terminal a text takes.
func columnsOf(s string) (n int) {
	for _, r := range s {
		switch kind := width.LookupRune(r).Kind(); {
		case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		case kind == width.EastAsianWide || kind == width.EastAsianFullwidth:
			n += 2
		default:
			n++
		}
	}
	return n
}

// Close returns the table, with a line above it of what it is of.
func (t *text) Close(facts []formats.Fact) ([]byte, error) {
	known := map[string]formats.Cell{}
	for _, f := range facts {
		known[f.Name] = f.Cell
	}
	var b bytes.Buffer
	writeSubject(&b, known)
	rows := append([][]string{t.headings(string(known["currency"].Text))}, t.rows...)
	if total := t.totalsRow(known); total != nil {
		rows = append(rows, total)
	}
	widths := make([]int, len(t.columns))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], columnsOf(cell))
		}
	}
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			space := strings.Repeat(" ", widths[i]-columnsOf(cell))
			if t.isNumber(i) {
				cell, space = space+cell, ""
			}
			line.WriteString(cell + space + "  ")
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	return b.Bytes(), nil
}

// writeSubject says which days and whose currency the rows are of, and up to which
// day there are figures.
func writeSubject(b *bytes.Buffer, known map[string]formats.Cell) {
	if _, ok := known["period_start_date"]; !ok {
		return
	}
	of := func(name string) string { return cmp.Or(string(known[name].Text), "-") }
	fmt.Fprintf(b, "%s to %s (%s, %s)", of("period_start_date"), of("period_end_date"), of("period_range"), of("period_timezone"))
	if _, compared := known["comparison_period_start_date"]; compared {
		fmt.Fprintf(b, ", compared with %s to %s", of("comparison_period_start_date"), of("comparison_period_end_date"))
	}
	fmt.Fprintf(b, "; figures up to %s\n", of("meta_data_last_date"))
	if of("meta_history_covered") == "false" {
		b.WriteString("The period begins before the first day that is held.\n")
	}
	if incomplete, ok := known["meta_incomplete"]; ok && !incomplete.Null {
		b.WriteString("Some figures are incomplete: meta.incomplete of the format json says which.\n")
	}
	if missing, ok := known["meta_not_held"]; ok && !missing.Null {
		b.WriteString("Some days of some marketplaces or ad products are not held: meta.not_held of the format json says which.\n")
	}
	b.WriteString("\n")
}

// headings are the names of the columns; amounts have their currency, where it is one.
func (t *text) headings(currency string) []string {
	row := make([]string, len(t.columns))
	for i, c := range t.columns {
		row[i] = cmp.Or(c.Heading, strings.ToUpper(strings.ReplaceAll(c.Name, "_", " ")))
		if unit := t.units[i]; currency != "" && unit == catalogue.USD {
			row[i] += " " + currency
		}
	}
	return row
}

// totalsRow returns the totals of all pages, nil where the answer has none.
func (t *text) totalsRow(known map[string]formats.Cell) []string {
	cells, found := make([]formats.Cell, len(t.columns)), false
	for i, c := range t.columns {
		total, has := known[catalogue.TotalsPrefix+c.Name]
		found = found || has
		cells[i] = total
	}
	if !found {
		return nil
	}
	row := t.shownCells(cells)
	for i, c := range t.columns {
		if _, has := known[catalogue.TotalsPrefix+c.Name]; !has {
			row[i] = ""
		}
	}
	if row[0] == "" {
		row[0] = "total"
	}
	return row
}
