package formats

import (
	"archive/zip"
	"bytes"
	"cmp"
	"fmt"
	"io"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/klauspost/compress/flate"
)

// Bounds of a spreadsheet. A text beyond its bound is cut where everybody sees
// it.
const (
	maxCellText = 32_767   // UTF-16 units
	maxWidth    = 60       // letters
	measured    = 200      // rows that decide about widths
	flushed     = 64 << 10 // bytes that are written to the archive at once
)

// cutNote ends a text that was too long for a cell.
const cutNote = " [cut: a cell holds 32767 characters; the other formats have all]"

// xlsxWriter writes a workbook: a sheet of the rows and one about them.
type xlsxWriter struct {
	file    bytes.Buffer
	zip     *zip.Writer
	columns []Column
	numbers []string // formats of numbers, in the order of their styles
	styles  []int    // of columns
	rows    *sheet
	err     error // the first one
}

// NewXLSX returns a writer of a workbook. Numbers and days are numbers and
// days, shown with their units, all else is text; what looks like a formula is none.
// The first row stays in sight, and filters the others.
func NewXLSX(columns []Column) TableWriter {
	w := &xlsxWriter{columns: columns, rows: newSheet(len(columns), true)}
	w.zip = zip.NewWriter(&w.file)
	w.zip.RegisterCompressor(zip.Deflate, func(out io.Writer) (io.WriteCloser, error) { return flate.NewWriter(out, flate.BestSpeed) })
	for _, part := range xlsxParts {
		w.keepError(io.WriteString(w.createPart(part.name), part.content))
	}
	w.rows.beginRow()
	for _, c := range columns {
		w.styles = append(w.styles, w.styleOf(c))
		w.rows.writeText(headStyle, c.heading())
	}
	w.rows.endRow()
	return w
}

func (w *xlsxWriter) Row(cells []Cell) {
	w.rows.beginRow()
	for i, cell := range cells {
		w.rows.writeCell(w.columns[i], w.styles[i], cell)
	}
	w.rows.endRow()
	if w.rows.row >= measured && len(w.rows.b) >= flushed {
		w.flushSheet(w.rows, rowsPart)
	}
}

func (w *xlsxWriter) Close(facts []Fact) ([]byte, error) {
	all := fmt.Sprintf("A1:%s%d", columnName(max(0, len(w.columns)-1)), w.rows.row)
	w.rows.b = fmt.Appendf(w.rows.b, `</sheetData><autoFilter ref="%s"/></worksheet>`, all)
	w.flushSheet(w.rows, rowsPart)
	about := newSheet(2, false)
	for _, f := range facts {
		about.beginRow()
		about.writeText(headStyle, []byte(f.Name))
		about.writeCell(f.Column, w.styleOf(f.Column), f.Cell)
		about.endRow()
	}
	about.b = append(about.b, `</sheetData></worksheet>`...)
	w.flushSheet(about, aboutPart)
	w.keepError(w.createPart("xl/workbook.xml").Write(xlsxWorkbook(all)))
	w.keepError(w.createPart("xl/styles.xml").Write(xlsxStyles(w.numbers)))
	w.keepError(0, w.zip.Close())
	return w.file.Bytes(), w.err
}

// The parts of the workbook that hold its sheets.
const (
	rowsPart  = "xl/worksheets/sheet1.xml"
	aboutPart = "xl/worksheets/sheet2.xml"
)

// flushSheet writes what there is of a sheet into its part of the archive.
func (w *xlsxWriter) flushSheet(s *sheet, part string) {
	if s.out == nil {
		s.out = w.createPart(part)
		w.keepError(s.out.Write(s.sheetHead()))
	}
	w.keepError(s.out.Write(s.b))
	s.b = s.b[:0]
}

// archived is the time of every part: the same rows are the same bytes.
var archived = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)

// createPart begins the next file of the archive.
func (w *xlsxWriter) createPart(name string) io.Writer {
	out, err := w.zip.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate, Modified: archived})
	if err != nil {
		w.keepError(0, err)
		return io.Discard
	}
	return out
}

func (w *xlsxWriter) keepError(_ int, err error) { w.err = cmp.Or(w.err, err) }

// sheet is a sheet that is being written.
type sheet struct {
	out    io.Writer // its part of the archive, once begun
	b      []byte    // what is not there yet
	widths []int     // of columns, in letters
	frozen bool      // the first row stays in sight
	row    int
	column int
}

func newSheet(columns int, frozen bool) *sheet {
	return &sheet{widths: make([]int, columns), frozen: frozen}
}

func (s *sheet) beginRow() {
	s.row++
	s.column = 0
	s.b = append(strconv.AppendInt(append(s.b, `<row r="`...), int64(s.row), 10), `">`...)
}

func (s *sheet) endRow() { s.b = append(s.b, "</row>"...) }

// columnName is what spreadsheets call a column: A to Z, then AA.
func columnName(column int) string {
	if column < 26 {
		return string(rune('A' + column))
	}
	return columnName(column/26-1) + columnName(column%26)
}

// beginCell begins a cell of a width in letters.
func (s *sheet) beginCell(style int, attributes string, width int) {
	if s.row <= measured {
		s.widths[s.column] = max(s.widths[s.column], min(width+2, maxWidth))
	}
	s.b = append(s.b, `<c r="`...)
	s.b = strconv.AppendInt(append(s.b, columnName(s.column)...), int64(s.row), 10)
	s.b = append(s.b, `" s="`...)
	s.column++
	s.b = strconv.AppendInt(s.b, int64(style), 10)
	s.b = append(append(s.b, '"'), attributes...)
	s.b = append(s.b, '>')
}

func (s *sheet) writeCell(c Column, style int, cell Cell) {
	switch {
	case cell.Null:
		s.column++
	case c.Kind == Whole, c.Kind == Decimal:
		s.writeNumber(style, cell.Text, len(cell.Text)+len(cell.Text)/3+len(c.Unit))
	case c.Kind == Day, c.Kind == Instant:
		s.writeMoment(style, cell.Text)
	case c.Kind == Bool:
		s.beginCell(style, ` t="b"`, len(cell.Text))
		s.b = fmt.Appendf(s.b, "<v>%d</v></c>", map[bool]int{true: 1}[string(cell.Text) == "true"])
	default:
		s.writeText(textStyle, cell.Text)
	}
}

func (s *sheet) writeNumber(style int, text []byte, width int) {
	s.beginCell(style, "", width)
	s.b = append(append(append(s.b, "<v>"...), text...), "</v></c>"...)
}

// writeMoment writes a day or an instant as a spreadsheet counts them; one before
// its calendar begins is text.
func (s *sheet) writeMoment(style int, text []byte) {
	serial, ok := serialOf(text)
	if !ok {
		s.writeText(textStyle, text)
		return
	}
	s.writeNumber(style, serial, len(text))
}

func (s *sheet) writeText(style int, text []byte) {
	s.beginCell(style, ` t="inlineStr"`, utf8.RuneCount(text))
	s.b = append(s.b, `<is><t xml:space="preserve">`...)
	s.b = appendXML(s.b, truncateText(text))
	s.b = append(s.b, `</t></is></c>`...)
}

// sheetHead is what stands before the rows.
func (s *sheet) sheetHead() []byte {
	b := []byte(xlsxSheet + `<sheetViews><sheetView workbookViewId="0">`)
	if s.frozen {
		b = append(b, `<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/>`...)
	}
	b = append(b, `</sheetView></sheetViews><cols>`...)
	for i, width := range s.widths {
		b = fmt.Appendf(b, `<col min="%d" max="%d" width="%d" customWidth="1"/>`, i+1, i+1, max(width, 4))
	}
	return append(b, `</cols><sheetData>`...)
}
