package console

import (
	"fmt"
	"strings"

	"adlens"
	"adlens/internal/platform"
)

// Reader reads the rows of a file as those of the platform's own report.
type Reader struct {
	platform.RowColumns
	file  *File
	row   platform.Row
	at    []int // of Counts or Amounts, by column of the file
	nulls []int // rows in which the value was empty, likewise
}

// Rows returns a reader of the file's rows. What source holds is what Open read.
func (f *File) Rows() *Reader {
	r := &Reader{file: f, at: make([]int, len(f.fields)), nulls: make([]int, len(f.fields))}
	for i, field := range f.fields {
		switch {
		case field == nil:
		case field.count:
			r.at[i] = len(r.CountColumns)
			r.CountColumns = append(r.CountColumns, field.name)
		case field.amount:
			r.at[i] = len(r.AmountColumns)
			r.AmountColumns = append(r.AmountColumns, field.name)
		}
	}
	r.row.Counts, r.row.Amounts = make([]uint64, len(r.CountColumns)), make([]adlens.Amount, len(r.AmountColumns))
	return r
}

// Nulls lists the counts and amounts that were empty in rows so far, in the order
// of the file's columns.
func (r *Reader) Nulls() (all []platform.Nulls) {
	for i, n := range r.nulls {
		if n > 0 {
			all = append(all, platform.Nulls{Column: r.file.fields[i].header, Rows: n})
		}
	}
	return all
}

// Each calls visit for every row, whose number is that of its line or row in the
// file. It ends at the first fault of the file or error of visit.
func (r *Reader) Each(visit func(*platform.Row) error) error {
	return r.file.eachRow(func(cells []cell, number int) error {
		row := platform.Row{Number: number, Counts: r.row.Counts, Amounts: r.row.Amounts}
		clear(row.Counts)
		clear(row.Amounts)
		r.row = row
		for i, field := range r.file.fields {
			if field == nil || field.name == "" {
				continue
			}
			c := cellOf(cells, i)
			if expected := r.setValue(i, field, c); expected != "" {
				return fault(number, field, c, expected)
			}
		}
		return visit(&r.row)
	})
}

// What a text may be long: far more than the console lets people type.
const (
	maxID   = 64
	maxName = 10_000
)

// setValue takes over a cell. Where it is wrong, it says what was expected.
func (r *Reader) setValue(i int, f *field, c cell) (expected string) {
	text := strings.TrimSpace(c.text)
	switch {
	case f.column == dateColumn:
		day, ok := c.day()
		if r.row.Day = day; !ok {
			return aDay
		}
	case f.column == currencyColumn:
		r.row.Currency = text
	case f.column == asinColumn && !c.isEmpty():
		if c.bad || c.number && (len(text) != 10 || strings.Trim(text, "0123456789") != "") {
			return "a product's id as text: as a number it has lost the zeros that it begins with; the CSV file has them"
		}
		return setText(&r.row.Product, text, "a product's id", maxID)
	case f.column == campaignColumn:
		return setText(&r.row.CampaignName, c.text, "a campaign's name", maxName)
	case f.column == adGroupColumn:
		return setText(&r.row.AdGroupName, c.text, "an ad group's name", maxName)
	case f.column == campaignIDColumn:
		return c.setID(&r.row.Campaign)
	case f.column == adGroupIDColumn:
		return c.setID(&r.row.AdGroup)
	case f.count || f.amount:
		return r.setNumber(i, f, c)
	}
	return ""
}

func setText(into *string, text, what string, most int) string {
	if len(text) > most {
		return fmt.Sprintf("%s of at most %d bytes", what, most)
	}
	*into = text
	return ""
}

// setID takes over an id. A workbook holds whole numbers exactly up to 2^53 alone.
func (c cell) setID(into *string) string {
	text := strings.TrimSpace(c.text)
	if c.isEmpty() {
		return ""
	}
	if strings.Trim(text, "0123456789") != "" || c.number && len(text) > floatDigits {
		return "an id in digits, which a workbook keeps exactly as text or with 15 digits at most; the CSV file has it"
	}
	return setText(into, text, "an id", maxID)
}

// expectedNumber is what a value of a count or an amount has to be.
func (f *field) expectedNumber() string {
	if f.count {
		return "a whole number from 0 to 9223372036854775807"
	}
	return "an amount from 0 to below 1000000000000 with at most 20 decimals, alone or with the mark of a currency such as € or USD"
}

func (r *Reader) setNumber(i int, f *field, c cell) (expected string) {
	if c.isEmpty() {
		r.nulls[i]++
		return ""
	}
	text, ok := c.numberText(r.file.notation, f.amount)
	if f.count {
		n, err := adlens.ParseCount([]byte(text))
		if !ok || err != nil {
			return f.expectedNumber()
		}
		r.row.Counts[r.at[i]] = n
		return ""
	}
	a, err := adlens.ParseAmount([]byte(text))
	if !ok || err != nil {
		return f.expectedNumber()
	}
	r.row.Amounts[r.at[i]] = a
	return ""
}
