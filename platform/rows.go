package platform

import (
	"errors"
	"fmt"
	"io"

	"adlens"

	"github.com/go-json-experiment/json/jsontext"
)

// Row is one row of a report's download. It is valid until the next one.
type Row struct {
	Number   int // from 1
	Day      adlens.Day
	Product  string          // "" where the platform names none
	Currency string          // "" where the row does not say
	Counts   []uint64        // by the reader's CountColumns
	Amounts  []adlens.Amount // by the reader's AmountColumns
}

// maxRowBytes bounds one row: the platform's have about 2 KB, and a row of a
// gigabyte is an attack or an accident.
const maxRowBytes = 1 << 20

// RowReader reads a download's JSON array one row at a time.
type RowReader struct {
	CountColumns  []string
	AmountColumns []string

	report *Report
	array  arrayReader
	dec    *jsontext.Decoder // of array
	fields map[string]field  // by the name's JSON text, with its quotes
	row    Row
	seen   []bool
	buffer []byte
}

// field says what is done with a column's value. Every known column has a
// number, to tell which ones a row lacks.
type field struct {
	name   string
	number int
	needed bool
	read   func(r *RowReader, value jsontext.Value) (expected string)
}

// NewRowReader reads the rows of a report. Columns that must stand in every
// row are named by needed, beside date, impressions, clicks and cost; the
// product's column must be there too, and may be null.
func NewRowReader(r io.Reader, report *Report, needed ...string) *RowReader {
	array := newArrayReader(r)
	rr := &RowReader{report: report, array: array, dec: array.dec, fields: map[string]field{}}
	rr.add(DateColumn, true, (*RowReader).readDate)
	rr.add(CurrencyColumn, false, (*RowReader).readCurrency)
	if report.Type.ProductColumn != "" {
		rr.add(report.Type.ProductColumn, true, (*RowReader).readProduct)
	}
	must := map[string]bool{ColumnViews: true, ColumnClicks: true, ColumnSpend: true}
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

func (r *RowReader) add(name string, needed bool, read func(*RowReader, jsontext.Value) string) {
	r.fields[`"`+name+`"`] = field{name: name, number: len(r.fields), needed: needed, read: read}
}

func (r *RowReader) addMeasure(m Measure, needed bool) {
	if m.Unit == Count {
		at := len(r.CountColumns)
		r.CountColumns = append(r.CountColumns, m.Column)
		r.add(m.Column, needed, func(r *RowReader, v jsontext.Value) string { return r.readCount(at, v, needed) })
		return
	}
	at := len(r.AmountColumns)
	r.AmountColumns = append(r.AmountColumns, m.Column)
	r.add(m.Column, needed, func(r *RowReader, v jsontext.Value) string { return r.readAmount(at, v, needed) })
}

// Each calls visit for every row. It ends at the first fault of the file or
// error of visit.
func (r *RowReader) Each(visit func(*Row) error) error {
	return r.array.each(func(number int) error {
		r.row.Number = number
		if err := r.readRow(); err != nil {
			return err
		}
		return visit(&r.row)
	})
}

func (r *RowReader) readRow() error {
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

func (r *RowReader) reset() {
	clear(r.row.Counts)
	clear(r.row.Amounts)
	clear(r.seen)
	r.row.Product, r.row.Currency = "", ""
}

// field finds a column by its name as written. A name with escapes is spelled
// plainly first, so that no spelling slips past.
func (r *RowReader) field(name jsontext.Value) (field, bool) {
	if f, ok := r.fields[string(name)]; ok {
		return f, true
	}
	plain, err := jsontext.AppendUnquote(r.buffer[:0], name)
	if err != nil || len(plain)+2 == len(name) {
		return field{}, false
	}
	f, ok := r.fields[`"`+string(plain)+`"`]
	return f, ok
}

func (r *RowReader) complete() error {
	for _, f := range r.fields {
		if f.needed && !r.seen[f.number] {
			return r.firstMissing()
		}
	}
	return nil
}

// firstMissing names the missing column that was asked for first, so that
// the same file always gives the same message.
func (r *RowReader) firstMissing() error {
	first := field{number: len(r.fields)}
	for _, f := range r.fields {
		if f.needed && !r.seen[f.number] && f.number < first.number {
			first = f
		}
	}
	return &Fault{Row: r.row.Number, Field: first.name, Value: "missing", Expected: "a value in every row"}
}

func (r *RowReader) readDate(v jsontext.Value) string {
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

func (r *RowReader) readProduct(v jsontext.Value) string {
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

func (r *RowReader) readCurrency(v jsontext.Value) string {
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

func unquoteValue(v jsontext.Value) (string, error) {
	if v.Kind() != '"' {
		return "", errors.New("no text")
	}
	return unquote(v)
}

func (r *RowReader) readCount(at int, v jsontext.Value, needed bool) string {
	if v.Kind() == 'n' && !needed {
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

func (r *RowReader) readAmount(at int, v jsontext.Value, needed bool) string {
	if v.Kind() == 'n' && !needed {
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
