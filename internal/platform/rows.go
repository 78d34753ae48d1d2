package platform

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"adlens"
	"adlens/internal/catalogue"

	"github.com/go-json-experiment/json/jsontext"
)

// RowColumns are the platform's names of what the rows of a report count.
type RowColumns struct{ CountColumns, AmountColumns []string }

// Columns returns the columns.
func (c RowColumns) Columns() RowColumns { return c }

// Nulls is in how many rows a column was null, which is read as 0.
type Nulls struct {
	Column string
	Rows   int
}

// Row is one row of a report's download. It is valid until the next one.
type Row struct {
	Number   int // from 1
	Day      adlens.Day
	Product  string // "" where the platform names none
	Campaign string // the id; "" where the row does not say
	AdGroup  string // the id; "" where the row does not say
	Currency string // "" where the row does not say
	// The names of the campaign and the ad group then; "" where the row does not say.
	CampaignName, AdGroupName string
	Counts                    []uint64        // by the reader's CountColumns
	Amounts                   []adlens.Amount // by the reader's AmountColumns
}

// maxRowBytes bounds one row: the platform's have about 2 KB, and a row of a
// gigabyte is an attack or an accident.
const maxRowBytes = 1 << 20

// RowReader reads a download's JSON array one row at a time.
//
// There are two ways to read a row. The plain one takes what the platform
// writes in all but odd cases, and is fast; the strict one takes every row that
// is JSON, and says what is wrong with any other. A row that the plain way does
// not take for whatever reason goes the strict way from its first byte, so the
// strict one alone decides what is accepted and what is reported.
type RowReader struct {
	RowColumns

	report *Report
	fields []*field
	needed int      // of fields
	nulls  []*field // counts and amounts that are null in the row
	window window
	row    Row
	strict strictReader
	plain  plainReader
}

// field says what is done with a column's value.
type field struct {
	name   string
	number int  // in the order of asking
	needed bool // in every row
	nulls  int  // rows in which a count or an amount was null
	holds  holds
	at     int     // of Counts or Amounts
	into   *string // of the row, for an id or a text
	words  string  // what an id or a text is
}

// holds is what a column holds.
type holds uint8

const (
	holdsDate holds = iota
	holdsID
	holdsText
	holdsCount
	holdsAmount
)

// NewRowReader reads the rows of a report. The measures that must stand in every
// row are named by needed. A row must have a date and the product's column too,
// which may be null; those of legacy reports are of the report's day.
func NewRowReader(r io.Reader, report *Report, needed ...string) *RowReader {
	rr := &RowReader{report: report, window: window{r: r}}
	if !report.Type.Legacy {
		rr.addField(field{name: DateColumn, needed: true, holds: holdsDate})
	}
	rr.addField(field{name: CurrencyColumn, holds: holdsText, into: &rr.row.Currency, words: "a currency's code"})
	if report.Type.ProductColumn != "" {
		rr.addField(field{name: report.Type.ProductColumn, needed: true, holds: holdsID, into: &rr.row.Product, words: "a product's id"})
	}
	for _, f := range []field{
		{name: CampaignColumn, holds: holdsID, into: &rr.row.Campaign, words: "a campaign's id"},
		{name: AdGroupColumn, holds: holdsID, into: &rr.row.AdGroup, words: "an ad group's id"},
		{name: campaignNameColumn, holds: holdsText, into: &rr.row.CampaignName, words: "a campaign's name"},
		{name: adGroupNameColumn, holds: holdsText, into: &rr.row.AdGroupName, words: "an ad group's name"},
	} {
		if report.Has(f.name) {
			rr.addField(f)
		}
	}
	for _, m := range report.Type.Measures {
		if report.Has(m.Column) {
			rr.addMeasure(m, slices.Contains(needed, m.Column))
		}
	}
	rr.row.Counts = make([]uint64, len(rr.CountColumns))
	rr.row.Amounts = make([]adlens.Amount, len(rr.AmountColumns))
	rr.strict, rr.plain = newStrictReader(rr), newPlainReader(rr)
	return rr
}

func (r *RowReader) addField(f field) {
	f.number = len(r.fields)
	if f.needed {
		r.needed++
	}
	r.fields = append(r.fields, &f)
}

func (r *RowReader) addMeasure(m catalogue.Measure, needed bool) {
	if !m.IsAmount() {
		r.addField(field{name: m.Column, needed: needed, holds: holdsCount, at: len(r.CountColumns)})
		r.CountColumns = append(r.CountColumns, m.Column)
		return
	}
	r.addField(field{name: m.Column, needed: needed, holds: holdsAmount, at: len(r.AmountColumns)})
	r.AmountColumns = append(r.AmountColumns, m.Column)
}

// Each calls visit for every row. It ends at the first fault of the file or
// error of visit.
func (r *RowReader) Each(visit func(*Row) error) error {
	if err := r.strict.openArray(); err != nil {
		return err
	}
	for {
		r.resetRow()
		if !r.readPlain() {
			r.resetRow()
			if more, err := r.strict.readRow(); err != nil || !more {
				return err
			}
		}
		for _, f := range r.nulls {
			f.nulls++
		}
		if err := visit(&r.row); err != nil {
			return err
		}
	}
}

// Nulls lists the counts and amounts that were null in rows so far, in the
// order of the report type's columns.
func (r *RowReader) Nulls() (all []Nulls) {
	for _, f := range r.fields {
		if f.nulls > 0 {
			all = append(all, Nulls{Column: f.name, Rows: f.nulls})
		}
	}
	return all
}

// readPlain reads the next row the plain way, if that can be done.
func (r *RowReader) readPlain() bool {
	for {
		n, ok := r.plain.parseRow(r.window.terminatedText())
		if ok {
			r.window.skipBytes(n)
			r.row.Number++
			return true
		}
		// A row that the window does not hold whole is tried again with more.
		if !r.plain.short || !r.window.readMore() {
			return false
		}
		r.resetRow()
	}
}

func (r *RowReader) resetRow() {
	clear(r.row.Counts)
	clear(r.row.Amounts)
	r.nulls = r.nulls[:0]
	if r.report.Type.Legacy {
		r.row.Day = r.report.Start
	}
	r.row.Product, r.row.Campaign, r.row.AdGroup = "", "", ""
	r.row.Currency, r.row.CampaignName, r.row.AdGroupName = "", "", ""
}

// setValue takes over the value of a column. Where it is wrong, it says what was
// expected.
func (r *RowReader) setValue(f *field, v jsontext.Value) (expected string) {
	if v.Kind() == 'n' && f.isNullable() {
		r.setNull(f)
		return ""
	}
	switch f.holds {
	case holdsDate:
		return r.setDate(v)
	case holdsID:
		return f.setID(v)
	case holdsText:
		return f.setText(v)
	case holdsCount:
		return r.setCount(f, v)
	default:
		return r.setAmount(f, v)
	}
}

// isNullable reports whether null is a value of the column.
func (f *field) isNullable() bool { return f.holds != holdsDate }

// setNull leaves the column of the row as it is without a value: no id, no
// text, or a measure of 0.
func (r *RowReader) setNull(f *field) {
	if f.into == nil {
		r.nulls = append(r.nulls, f)
	}
}

func (r *RowReader) setDate(v jsontext.Value) string {
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

func (f *field) setID(v jsontext.Value) string {
	text, err := idText(v)
	if err != nil || len(text) > maxValue {
		return fmt.Sprintf("%s of at most %d characters, or null", f.words, maxValue)
	}
	*f.into = text
	return ""
}

func (f *field) setText(v jsontext.Value) string {
	text, err := unquoteValue(v)
	switch {
	case err != nil:
		return f.words
	case len(text) > maxName:
		return fmt.Sprintf("%s of at most %d bytes", f.words, maxName)
	}
	*f.into = text
	return ""
}

func unquoteValue(v jsontext.Value) (string, error) {
	if v.Kind() != '"' {
		return "", errors.New("no text")
	}
	return unquoteText(v)
}

func (r *RowReader) setCount(f *field, v jsontext.Value) string {
	if v.Kind() != '0' {
		return "a whole number"
	}
	n, err := adlens.ParseCount(v)
	if err != nil {
		return "a whole number from 0 to 9223372036854775807"
	}
	r.row.Counts[f.at] = n
	return ""
}

func (r *RowReader) setAmount(f *field, v jsontext.Value) string {
	if v.Kind() != '0' {
		return "a number"
	}
	a, err := adlens.ParseAmount(v)
	if err != nil {
		return "an amount from 0 to below 1000000000000 with at most 20 decimals"
	}
	r.row.Amounts[f.at] = a
	return ""
}

// firstMissing names the missing column that was requested first, so that
// the same file always gives the same message.
func (r *RowReader) firstMissing(seen []bool) error {
	for _, f := range r.fields {
		if f.needed && !seen[f.number] {
			return &Fault{Row: r.row.Number, Field: f.name, Value: "missing", Expected: "a value in every row"}
		}
	}
	return nil
}
