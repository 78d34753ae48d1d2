package platform

import (
	"fmt"
	"io"

	"adlens"
	"adlens/internal/catalogue"

	"github.com/go-json-experiment/json/jsontext"
)

// The reader of rows as it was before it had two ways: slow, and simple enough
// to be believed, and since then with null as 0. The fuzz test compares today's with it.

// oldArrayReader reads a JSON array of objects one at a time.
type oldArrayReader struct {
	dec    *jsontext.Decoder
	source *meter
}

// The words of errors, and how a file begins and ends, are today's.
func (a *oldArrayReader) each(visit func(number int) error) error {
	today, number := arrayReader{dec: a.dec}, 0
	if err := today.openArray(); err != nil {
		return err
	}
	for a.dec.PeekKind() == '{' {
		number++
		a.source.setLimit(a.dec.InputOffset())
		if err := visit(number); err != nil {
			return err
		}
	}
	a.source.setLimit(a.dec.InputOffset())
	if kind := a.dec.PeekKind(); kind != ']' && kind != 0 {
		return &Fault{Row: number + 1, Value: kind.String(), Expected: "a row in braces, or the array's end"}
	}
	return today.readEnd(number)
}

// newOldArrayReader reads an array whose rows are bounded in size.
func newOldArrayReader(r io.Reader) oldArrayReader {
	source := &meter{r: r}
	return oldArrayReader{dec: jsontext.NewDecoder(source), source: source}
}

func (a *oldArrayReader) damaged(number int, err error) error {
	return (&arrayReader{}).damagedRow(number, err)
}

// oldRowReader reads a download's JSON array one row at a time.
type oldRowReader struct {
	CountColumns  []string
	AmountColumns []string

	report *Report
	array  oldArrayReader
	dec    *jsontext.Decoder   // of array
	fields map[string]oldField // by the name's JSON text, with its quotes
	row    Row
	seen   []bool
	buffer []byte
	nulls  map[string]int // rows in which a count or an amount was null, by column
}

// oldField says what is done with a column's value. Every known column has a
// number, to tell which ones a row lacks.
type oldField struct {
	name   string
	number int
	needed bool
	read   func(r *oldRowReader, value jsontext.Value) (expected string)
}

// newOldRowReader reads the rows of a report. Columns that must stand in every
// row are named by needed, beside date, impressions, clicks and cost; the
// product's column must be there too, and may be null.
func newOldRowReader(r io.Reader, report *Report, needed ...string) *oldRowReader {
	array := newOldArrayReader(r)
	rr := &oldRowReader{report: report, array: array, dec: array.dec, fields: map[string]oldField{}, nulls: map[string]int{}}
	rr.add(DateColumn, true, (*oldRowReader).readDate)
	rr.add(CurrencyColumn, false, (*oldRowReader).readCurrency)
	if report.Type.ProductColumn != "" {
		rr.add(report.Type.ProductColumn, true, (*oldRowReader).readProduct)
	}
	must := map[string]bool{"impressions": true, "clicks": true, "cost": true}
	for _, column := range needed {
		must[column] = true
	}
	for _, m := range report.Type.Measures {
		if report.Has(m.Column) {
			rr.addMeasure(m, must[m.Column])
		}
	}
	rr.row.Counts = make([]uint64, len(rr.CountColumns))
	rr.row.Amounts = make([]adlens.Amount, len(rr.AmountColumns))
	rr.seen = make([]bool, len(rr.fields))
	return rr
}

func (r *oldRowReader) add(name string, needed bool, read func(*oldRowReader, jsontext.Value) string) {
	r.fields[`"`+name+`"`] = oldField{name: name, number: len(r.fields), needed: needed, read: read}
}

func (r *oldRowReader) addMeasure(m catalogue.Measure, needed bool) {
	if !m.IsAmount() {
		at := len(r.CountColumns)
		r.CountColumns = append(r.CountColumns, m.Column)
		r.add(m.Column, needed, func(r *oldRowReader, v jsontext.Value) string { return r.readCount(m.Column, at, v) })
		return
	}
	at := len(r.AmountColumns)
	r.AmountColumns = append(r.AmountColumns, m.Column)
	r.add(m.Column, needed, func(r *oldRowReader, v jsontext.Value) string { return r.readAmount(m.Column, at, v) })
}

// Each calls visit for every row. It ends at the first fault of the file or
// error of visit.
func (r *oldRowReader) Each(visit func(*Row) error) error {
	return r.array.each(func(number int) error {
		r.row.Number = number
		if err := r.readRow(); err != nil {
			return err
		}
		return visit(&r.row)
	})
}

func (r *oldRowReader) readRow() error {
	if _, err := r.dec.ReadToken(); err != nil {
		return r.array.damaged(r.row.Number, err)
	}
	r.reset()
	for r.dec.PeekKind() != '}' {
		name, err := r.dec.ReadValue()
		if err != nil {
			return r.array.damaged(r.row.Number, err)
		}
		f, known := r.field(name)
		value, err := r.dec.ReadValue()
		if err != nil {
			return r.array.damaged(r.row.Number, err)
		}
		if !known {
			continue
		}
		r.seen[f.number] = true
		if expected := f.read(r, value); expected != "" {
			return &Fault{Row: r.row.Number, Field: f.name, Value: string(value), Expected: expected}
		}
	}
	if _, err := r.dec.ReadToken(); err != nil {
		return r.array.damaged(r.row.Number, err)
	}
	return r.complete()
}

func (r *oldRowReader) reset() {
	clear(r.row.Counts)
	clear(r.row.Amounts)
	clear(r.seen)
	r.row.Product, r.row.Currency = "", ""
}

// field finds a column by its name as written. A name with escapes is spelled
// plainly first, so that no spelling slips past.
func (r *oldRowReader) field(name jsontext.Value) (oldField, bool) {
	if f, ok := r.fields[string(name)]; ok {
		return f, true
	}
	plain, err := jsontext.AppendUnquote(r.buffer[:0], name)
	if err != nil || len(plain)+2 == len(name) {
		return oldField{}, false
	}
	f, ok := r.fields[`"`+string(plain)+`"`]
	return f, ok
}

func (r *oldRowReader) complete() error {
	for _, f := range r.fields {
		if f.needed && !r.seen[f.number] {
			return r.firstMissing()
		}
	}
	return nil
}

// firstMissing names the missing column that was requested first, so that
// the same file always gives the same message.
func (r *oldRowReader) firstMissing() error {
	first := oldField{number: len(r.fields)}
	for _, f := range r.fields {
		if f.needed && !r.seen[f.number] && f.number < first.number {
			first = f
		}
	}
	return &Fault{Row: r.row.Number, Field: first.name, Value: "missing", Expected: "a value in every row"}
}

func (r *oldRowReader) readDate(v jsontext.Value) string {
	text, err := unquoteValue(v)
	if err != nil {
		return "a day written \"YYYY-MM-DD\""
	}
	day, err := adlens.ParseDay(text)
	if err != nil {
		return "a day written \"YYYY-MM-DD\" that exists"
	}
	if day < r.report.Start || day > r.report.End {
		return fmt.Sprintf("a day of the report's range %s to %s", r.report.Start, r.report.End)
	}
	r.row.Day = day
	return ""
}

func (r *oldRowReader) readProduct(v jsontext.Value) string {
	if v.Kind() == 'n' {
		return ""
	}
	text, err := idText(v)
	if err != nil || len(text) > maxValue {
		return fmt.Sprintf("a product's id of at most %d characters, or null", maxValue)
	}
	r.row.Product = text
	return ""
}

func (r *oldRowReader) readCurrency(v jsontext.Value) string {
	if v.Kind() == 'n' {
		return ""
	}
	text, err := unquoteValue(v)
	if err != nil {
		return "a currency's code"
	}
	r.row.Currency = text
	return ""
}

func (r *oldRowReader) readCount(name string, at int, v jsontext.Value) string {
	if v.Kind() == 'n' {
		r.nulls[name]++
		return ""
	}
	if v.Kind() != '0' {
		return "a whole number"
	}
	n, err := adlens.ParseCount(v)
	if err != nil {
		return "a whole number from 0 to 9223372036854775807"
	}
	r.row.Counts[at] = n
	return ""
}

func (r *oldRowReader) readAmount(name string, at int, v jsontext.Value) string {
	if v.Kind() == 'n' {
		r.nulls[name]++
		return ""
	}
	if v.Kind() != '0' {
		return "a number"
	}
	a, err := adlens.ParseAmount(v)
	if err != nil {
		return "an amount from 0 to below 1000000000000 with at most 20 decimals"
	}
	r.row.Amounts[at] = a
	return ""
}
