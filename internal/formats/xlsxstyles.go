package formats

import (
	"bytes"
	"fmt"
	"slices"
)

// The styles of cells, by their places in xlsxStyles. Those of numbers follow.
const (
	plainStyle = iota
	headStyle
	dayStyle
	instantStyle
	textStyle
	firstNumberStyle
)

// firstNumberFormat is the id of the first format of numbers that is not one of all
// workbooks, or of days and instants.
const firstNumberFormat = 166

// styleOf returns the style of a column's cells. A format of numbers that is new is
// added.
func (w *xlsxWriter) styleOf(c Column) int {
	switch c.Kind {
	case Bool:
		return plainStyle
	case Day:
		return dayStyle
	case Instant:
		return instantStyle
	case Whole, Decimal:
		format := numberFormat(c)
		i := slices.Index(w.numbers, format)
		if i < 0 {
			i = len(w.numbers)
			w.numbers = append(w.numbers, format)
		}
		return firstNumberStyle + i
	default:
		return textStyle
	}
}

// numberFormat returns how a spreadsheet shows the numbers of a column: with
// separators of thousands, and their unit. A percent sign is literal, as values are
// percent already.
func numberFormat(c Column) string {
	format := "#,##0"
	switch {
	case c.Kind == Decimal && c.Scale == 2:
		format += ".00"
	case c.Kind == Decimal: // of more decimals where there are some, as of a bid
		format += ".00##"
	}
	switch c.Unit {
	case "":
		return format
	case "%":
		return format + `"%"`
	default:
		return `[$` + c.Unit + `]\ ` + format
	}
}

// xlsxStyles returns the formats of cells, in the order of the styles.
func xlsxStyles(numbers []string) []byte {
	b := fmt.Appendf(nil, `%s<styleSheet %s><numFmts count="%d">`, xlsxHead, xlsxMain, 2+len(numbers))
	b = append(b, `<numFmt numFmtId="164" formatCode="yyyy\-mm\-dd"/><numFmt numFmtId="165" formatCode="yyyy\-mm\-dd\ hh:mm:ss.000"/>`...)
	for i, format := range numbers {
		code := bytes.ReplaceAll(appendXML(nil, []byte(format)), []byte(`"`), []byte("&quot;"))
		b = fmt.Appendf(b, `<numFmt numFmtId="%d" formatCode="%s"/>`, firstNumberFormat+i, code)
	}
	b = append(b, `</numFmts><fonts count="2"><font><sz val="11"/><name val="Calibri"/></font><font><b/><sz val="11"/><name val="Calibri"/></font></fonts>`...)
	b = append(b, `<fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills>`...)
	b = append(b, `<borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>`...)
	b = append(b, `<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>`...)
	b = fmt.Appendf(b, `<cellXfs count="%d">`, firstNumberStyle+len(numbers))
	for style, format := range []int{plainStyle: 0, headStyle: 49, dayStyle: 164, instantStyle: 165, textStyle: 49} {
		font := 0
		if style == headStyle {
			font = 1
		}
		b = appendStyle(b, format, font)
	}
	for i := range numbers {
		b = appendStyle(b, firstNumberFormat+i, 0)
	}
	return append(b, `</cellXfs><cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>`...)
}

func appendStyle(b []byte, format, font int) []byte {
	return fmt.Appendf(b, `<xf numFmtId="%d" fontId="%d" fillId="0" borderId="0" xfId="0" applyFont="1" applyNumberFormat="1"/>`, format, font)
}
