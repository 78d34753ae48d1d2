package readers

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"time"
)

type xlsxCell struct {
	Place string  `xml:"r,attr"`
	Type  string  `xml:"t,attr"`
	Style int     `xml:"s,attr"`
	Value *string `xml:"v"`
	Text  *string `xml:"is>t"`
}

type xlsxSheet struct {
	Pane struct {
		State string `xml:"state,attr"`
		Split int    `xml:"ySplit,attr"`
	} `xml:"sheetViews>sheetView>pane"`
	Rows []struct {
		Cells []xlsxCell `xml:"c"`
	} `xml:"sheetData>row"`
	Filter struct {
		Places string `xml:"ref,attr"`
	} `xml:"autoFilter"`
}

type xlsxBook struct {
	Names []struct {
		Name  string `xml:"name,attr"`
		Cells string `xml:",chardata"`
	} `xml:"definedNames>definedName"`
}

type xlsxStyles struct {
	Formats []struct {
		ID   int    `xml:"numFmtId,attr"`
		Code string `xml:"formatCode,attr"`
	} `xml:"numFmts>numFmt"`
	Cells []struct {
		Format int `xml:"numFmtId,attr"`
	} `xml:"cellXfs>xf"`
}

// Workbook is a spreadsheet of rows and what the file says about them.
type Workbook struct {
	Table
	About  map[string]*string
	Frozen bool // the line of names stays in sight
	// Formats are how the numbers of each column are shown; "" of a column that has
	// none, or no format of its own.
	Formats []string
	Filter  string // the cells that the line of names filters, itself included
}

// XLSX reads a workbook of two sheets. Texts are left as they are.
func XLSX(file []byte) (w Workbook, err error) {
	archive, err := zip.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		return w, err
	}
	var styles xlsxStyles
	var data, about xlsxSheet
	var book xlsxBook
	for name, into := range map[string]any{"xl/workbook.xml": &book, "xl/styles.xml": &styles, "xl/worksheets/sheet1.xml": &data, "xl/worksheets/sheet2.xml": &about} {
		part, err := archive.Open(name)
		if err != nil {
			return w, err
		}
		content, err := io.ReadAll(part)
		if err != nil {
			return w, err
		}
		if err := xml.Unmarshal(content, into); err != nil {
			return w, fmt.Errorf("%s: %w", name, err)
		}
	}
	w.About, w.Frozen = map[string]*string{}, data.Pane.State == "frozen" && data.Pane.Split == 1
	if len(data.Rows) == 0 {
		return w, errors.New("no line of names")
	}
	rows, err := xlsxRows(data, len(data.Rows[0].Cells), styles)
	if err != nil {
		return w, err
	}
	for _, name := range rows[0] {
		w.Columns = append(w.Columns, *name)
	}
	w.Rows = rows[1:]
	if w.Filter = data.Filter.Places; len(book.Names) != 1 || book.Names[0].Name != "_xlnm._FilterDatabase" || strings.ReplaceAll(book.Names[0].Cells, "$", "") != "Data!"+w.Filter {
		return w, fmt.Errorf("the filter is over %s, and the workbook says %v", w.Filter, book.Names)
	}
	if w.Formats, err = numberFormats(data, len(w.Columns), styles); err != nil {
		return w, err
	}
	facts, err := xlsxRows(about, 2, styles)
	for _, fact := range facts {
		w.About[*fact[0]] = fact[1]
	}
	return w, err
}

func xlsxRows(s xlsxSheet, width int, styles xlsxStyles) ([][]*string, error) {
	var rows [][]*string
	for i, row := range s.Rows {
		values := make([]*string, width)
		for _, c := range row.Cells {
			place, n := c.place()
			if n != i+1 || place > width {
				return nil, fmt.Errorf("%s is in row %d of %d columns", c.Place, i+1, width)
			}
			value, err := c.text(styles)
			if err != nil {
				return nil, err
			}
			values[place-1] = value
		}
		rows = append(rows, values)
	}
	return rows, nil
}

func (c xlsxCell) text(styles xlsxStyles) (*string, error) {
	switch {
	case c.Type == "inlineStr" && c.Text != nil:
		text := unescaped(*c.Text)
		return &text, nil
	case c.Value == nil:
		return nil, nil
	case c.Type == "b":
		text := strconv.FormatBool(*c.Value == "1")
		return &text, nil
	}
	if code := styles.code(c); strings.Contains(code, "yyyy") {
		text, err := xlsxTime(*c.Value, code)
		return &text, err
	}
	return c.Value, nil
}

// code is the format of a cell where it is one of the workbook's own.
func (s xlsxStyles) code(c xlsxCell) string {
	for _, f := range s.Formats {
		if f.ID == s.Cells[c.Style].Format {
			return f.Code
		}
	}
	return ""
}

// numberFormats are those of columns, which have one each.
func numberFormats(s xlsxSheet, columns int, styles xlsxStyles) ([]string, error) {
	formats := make([]string, columns)
	for _, row := range s.Rows[1:] {
		for _, c := range row.Cells {
			if code := styles.code(c); c.Value != nil && c.Type == "" {
				column, _ := c.place()
				if before := formats[column-1]; before != "" && before != code {
					return nil, fmt.Errorf("%s is shown as %s, and others of its column as %s", c.Place, code, before)
				}
				formats[column-1] = code
			}
		}
	}
	return formats, nil
}

// place is the column and row of a cell, from 1.
func (c xlsxCell) place() (column, row int) {
	for _, letter := range c.Place {
		if letter >= 'A' {
			column = column*26 + int(letter-'A') + 1
		} else {
			row = row*10 + int(letter-'0')
		}
	}
	return column, row
}

// xlsxTime is the time of a number of days since 1899-12-30; the formats of
// the workbook's own are those of days and times.
func xlsxTime(serial, code string) (string, error) {
	days, ok := new(big.Rat).SetString(serial)
	if !ok {
		return "", fmt.Errorf("%q is no number", serial)
	}
	ms := new(big.Rat).Mul(days, big.NewRat(86_400_000, 1))
	rounded, _ := strconv.ParseInt(ms.FloatString(0), 10, 64)
	at := time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC).Add(time.Duration(rounded) * time.Millisecond)
	if regexp.MustCompile(`h`).MatchString(code) {
		return at.Format("2006-01-02T15:04:05.000Z"), nil
	}
	return at.Format(time.DateOnly), nil
}

var escape = regexp.MustCompile(`_x([0-9A-Fa-f]{4})_`)

// unescaped is a text whose control characters were written as _xHHHH_.
func unescaped(text string) string {
	return escape.ReplaceAllStringFunc(text, func(found string) string {
		n, _ := strconv.ParseUint(found[2:6], 16, 32)
		return string(rune(n))
	})
}
