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

// Workbook is a spreadsheet of rows and what is said about them.
type Workbook struct {
	Table
	About  map[string]*string
	Frozen bool // the line of names stays in sight
}

// XLSX reads a workbook of two sheets. Texts are left as they are.
func XLSX(file []byte) (w Workbook, err error) {
	archive, err := zip.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		return w, err
	}
	var styles xlsxStyles
	var data, about xlsxSheet
	for name, into := range map[string]any{"xl/styles.xml": &styles, "xl/worksheets/sheet1.xml": &data, "xl/worksheets/sheet2.xml": &about} {
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
			place, n := 0, 0
			for _, letter := range c.Place {
				if letter >= 'A' {
					place = place*26 + int(letter-'A') + 1
				} else {
					n = n*10 + int(letter-'0')
				}
			}
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
	for _, f := range styles.Formats {
		if f.ID == styles.Cells[c.Style].Format {
			text, err := xlsxTime(*c.Value, f.Code)
			return &text, err
		}
	}
	return c.Value, nil
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
