package console

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf16"

	"adlens"
	"adlens/internal/catalogue"
	"adlens/internal/platform"
)

// ErrUnknown says that a file is no report of the console in a language that is
// known.
var ErrUnknown = errors.New("no report of the advertising console that adlens knows (English, German, Spanish, Italian, Japanese and Chinese)")

// File is a report that was downloaded from the console: what it speaks for. It says
// neither its profile nor the ids of campaigns and ad groups, unless it has columns
// of them.
type File struct {
	Type       *platform.ReportType
	Columns    []string   // the platform's names of those that it has
	Start, End adlens.Day // the first and the last day that rows are of
	Currency   string     // "" where the file does not say
	Mark       string     // at its amounts, where no column says the currency; "" for none
	Country    string     // as it is written; "" where the file does not say
	CreatedAt  time.Time  // of a workbook that says it

	source   io.ReaderAt
	size     int64
	workbook *workbook
	sep      rune
	sheet    string
	header   int      // the row before those of figures
	fields   []*field // by column; nil where nothing is done with its values
	notation notation
}

// field is a column of the file that something is done with.
type field struct {
	*column
	header string // as the file writes it
	name   string // the platform's, in reports of this type; "" where rows do not have it
	count  bool
	amount bool
}

// separators are what may be between the values of a file of text.
var separators = []rune{',', ';', '\t'}

// titleRows is how many rows may stand before the header: a report's title.
const titleRows = 10

// Open reads a whole file, a workbook or text, and says what it is. An error that
// is a fault of the file's content is its first; ErrUnknown says that the file is
// something else.
func Open(source io.ReaderAt, size int64, isWorkbook bool) (*File, error) {
	f := &File{source: source, size: size}
	if err := f.findHeader(isWorkbook); err != nil {
		return nil, err
	}
	if err := f.survey(); err != nil {
		return nil, err
	}
	if f.workbook != nil {
		f.workbook.texts = nil // a load keeps hundreds of files until it reads their rows
	}
	return f, nil
}

// Reopen returns the same report, to be read from another opening of its file.
func (f *File) Reopen(source io.ReaderAt, size int64) (*File, error) {
	again := *f
	again.source, again.size = source, size
	if f.workbook == nil {
		return &again, nil
	}
	archive, err := zip.NewReader(source, size)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errDamaged, err)
	}
	book := *f.workbook
	book.archive, again.workbook = archive, &book
	return &again, nil
}

// findHeader finds the sheet or the separator with which the file has a header of
// the console.
func (f *File) findHeader(isWorkbook bool) error {
	if !isWorkbook {
		for _, f.sep = range separators {
			if headers, err := f.readHeader(); err == nil {
				return f.setColumns(headers)
			}
		}
		return f.findEncoding()
	}
	book, err := openWorkbook(f.source, f.size)
	if err != nil {
		return err
	}
	f.workbook, f.CreatedAt, f.sheet = book, book.createdAt(), book.sheets[0]
	headers, err := f.readHeader()
	switch {
	case err != nil:
		return err
	case len(book.sheets) > 1:
		return &platform.Fault{Value: fmt.Sprintf("a workbook of %d sheets", len(book.sheets)), Expected: "one sheet, as the console writes it"}
	}
	return f.setColumns(headers)
}

// findEncoding refuses a file of text without a header in UTF-8 that is in one of the
// other encodings that spreadsheet programs write. Any other file is ErrUnknown.
func (f *File) findEncoding() error {
	const startSize = 64 << 10 // of a file, more than the rows up to its header
	start, err := io.ReadAll(io.NewSectionReader(f.source, 0, min(f.size, startSize)))
	if err != nil {
		return err
	}
	text, encoding := decodeOther(start)
	decoded := &File{source: strings.NewReader(text), size: int64(len(text))}
	for _, decoded.sep = range separators {
		if _, err := decoded.readHeader(); err == nil {
			return &platform.Fault{Value: "in " + encoding, Expected: `text in UTF-8, as the console writes it; spreadsheet programs call it "CSV UTF-8"`}
		}
	}
	return ErrUnknown
}

// decodeOther reads text in UTF-16 where it begins so, and else in Windows-1252.
func decodeOther(raw []byte) (text, encoding string) {
	var order binary.ByteOrder = binary.LittleEndian
	switch {
	case bytes.HasPrefix(raw, []byte("\xff\xfe")):
	case bytes.HasPrefix(raw, []byte("\xfe\xff")):
		order = binary.BigEndian
	default:
		letters := make([]rune, len(raw))
		for i, b := range raw {
			letters[i] = rune(b) // the letters of headers are where ISO 8859-1 has them
		}
		return string(letters), "Windows-1252"
	}
	var units []uint16
	for at := 2; at+1 < len(raw); at += 2 {
		units = append(units, order.Uint16(raw[at:]))
	}
	return string(utf16.Decode(units)), "UTF-16"
}

// openTable begins to read the file's rows, the first or those behind the header.
func (f *File) openTable() (table, func() error, error) {
	if f.workbook != nil {
		t, part, err := f.workbook.openSheet(f.sheet)
		if err != nil {
			return nil, nil, err
		}
		return t, part.Close, nil
	}
	return newTextTable(io.NewSectionReader(f.source, 0, f.size), f.sep), func() error { return nil }, nil
}

// readHeader finds the row of headers among the file's first rows.
func (f *File) readHeader() ([]cell, error) {
	t, done, err := f.openTable()
	if err != nil {
		return nil, err
	}
	defer done()
	for range titleRows {
		cells, number, err := t.next()
		if errors.Is(err, errDamaged) {
			return nil, err
		}
		if err != nil {
			return nil, ErrUnknown
		}
		if isHeader(cells) {
			f.header = number
			return slices.Clone(cells), nil
		}
	}
	return nil, ErrUnknown
}

// isHeader reports whether a row has the headers that all reports of the console
// with figures have.
func isHeader(cells []cell) bool {
	found := map[*column]bool{}
	for _, c := range cells {
		found[columnOf[normalHeader(c.text)]] = true
	}
	return found[impressionsColumn] && found[clicksColumn] && found[spendColumn] && found[campaignColumn]
}

// setColumns finds out which report has these headers, and takes those columns of
// it that rows keep.
func (f *File) setColumns(headers []cell) error {
	found := map[*column]*field{}
	f.fields = make([]*field, len(headers))
	for i, c := range headers {
		known := columnOf[normalHeader(c.text)]
		if known == nil {
			continue
		}
		if found[known] != nil {
			return &platform.Fault{Row: f.header, Field: strings.TrimSpace(c.text), Value: "there twice", Expected: "one column of it"}
		}
		f.fields[i] = &field{column: known, header: strings.TrimSpace(c.text)}
		found[known] = f.fields[i]
	}
	if err := f.setType(headers, func(c *column) bool { return found[c] != nil }); err != nil {
		return err
	}
	if found[dateColumn] == nil {
		return errors.New("it has no column of days: its figures are sums of a period; download it again with the time unit Daily")
	}
	for _, field := range f.fields {
		if field == nil {
			continue
		}
		if field.name = field.column.name(f.Type.AdProduct); field.name == "" {
			continue
		}
		f.Columns = append(f.Columns, field.name)
		i := slices.IndexFunc(f.Type.Measures, func(m catalogue.Measure) bool { return m.Column == field.name })
		field.count = i >= 0 && !f.Type.Measures[i].IsAmount()
		field.amount = i >= 0 && f.Type.Measures[i].IsAmount()
	}
	return nil
}

// rightReports are what to download, by the place in platform.ReportTypes.
const rightReports = "the report Advertised product of Sponsored Products or Sponsored Display, or Campaign of Sponsored Brands, with the time unit Daily"

// setType finds out which report a file is by the columns that it has. Reports that
// could be of two ad products are refused.
func (f *File) setType(headers []cell, has func(*column) bool) error {
	for _, c := range headers {
		if otherReports[normalHeader(c.text)] {
			return fmt.Errorf("the column %s shows a report that figures do not come from, because they would count twice or are of a part; expected %s", strings.TrimSpace(c.text), rightReports)
		}
	}
	products := has(asinColumn) && (has(sales7Column) || has(orders7Column) || has(ofSameASIN14Column))
	display := has(asinColumn) && (has(viewableColumn) || has(salesClickColumn) || has(detailPagesColumn))
	brands := !has(asinColumn) && !has(adGroupColumn) && (has(newOrdersShare) || has(fiveSecondsColumn))
	switch {
	case products && !display:
		f.Type = platform.ReportTypes[0]
	case display && !products:
		f.Type = platform.ReportTypes[2]
	case brands && !has(sales7Column):
		f.Type = platform.ReportTypes[1]
	case has(asinColumn):
		return fmt.Errorf("its columns could be those of Sponsored Products or of Sponsored Display; expected those of one: %q or %q of Sponsored Products, %q or %q of Sponsored Display",
			sales7Column.headers[0], ofSameASIN14Column.headers[0], viewableColumn.headers[0], salesClickColumn.headers[0])
	default:
		return fmt.Errorf("its columns are not those of a report that figures come from; expected %s", rightReports)
	}
	return nil
}

// eachRow visits the rows behind the header that have a value at all.
func (f *File) eachRow(visit func(cells []cell, number int) error) error {
	t, done, err := f.openTable()
	if err != nil {
		return err
	}
	defer done()
	for {
		cells, number, err := t.next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case number == f.header:
			t.setWidth(len(f.fields))
		case number > f.header && slices.ContainsFunc(cells, func(c cell) bool { return strings.TrimSpace(c.text) != "" }):
			if err := visit(cells, number); err != nil {
				return err
			}
		}
	}
}

// cellOf is the value of a column, none where the row ends before it.
func cellOf(cells []cell, column int) cell {
	if column < len(cells) {
		return cells[column]
	}
	return cell{}
}
