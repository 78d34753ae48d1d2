package console

import (
	"bufio"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"

	"adlens/internal/platform"
)

// What is kept of a file at a time is bounded.
const (
	maxRow     = 1 << 20 // bytes of a row, unpacked
	maxColumns = 1 << 10
)

// table reads the rows of a file.
type table interface {
	// next returns the next row and its number in the file, or io.EOF.
	next() (cells []cell, number int, err error)
	// setWidth says how many cells a row has, which a file of text must have.
	setWidth(columns int)
	// offset is where in what is read the last row ended.
	offset() int64
}

// bounded fails where a row, or a part of a workbook, does not end.
type bounded struct {
	r           io.Reader
	what        string
	read, limit int64
	most        int64 // bytes of one
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.read > b.limit {
		return 0, fmt.Errorf("%s of more than %d bytes", b.what, b.most)
	}
	n, err := b.r.Read(p[:min(len(p), 64<<10)])
	b.read += int64(n)
	return n, err
}

// boundedTable bounds each row of a table.
type boundedTable struct {
	table
	source *bounded
}

func (t *boundedTable) next() ([]cell, int, error) {
	t.source.limit = t.offset() + maxRow
	return t.table.next()
}

// textTable is a file of text, its values between separators.
type textTable struct {
	reader *csv.Reader
	cells  []cell
}

// newTextTable reads a file of text.
func newTextTable(source io.Reader, separator rune) table {
	b := &bounded{r: source, what: "a row", limit: maxRow, most: maxRow}
	buffered := bufio.NewReader(b)
	if mark, _ := buffered.Peek(3); string(mark) == "\xef\xbb\xbf" {
		buffered.Discard(3)
	}
	t := &textTable{reader: csv.NewReader(buffered)}
	t.reader.Comma, t.reader.FieldsPerRecord, t.reader.ReuseRecord = separator, -1, true
	return &boundedTable{t, b}
}

func (t *textTable) setWidth(columns int) { t.reader.FieldsPerRecord = columns }
func (t *textTable) offset() int64        { return t.reader.InputOffset() }

func (t *textTable) next() ([]cell, int, error) {
	values, err := t.reader.Read()
	if err != nil {
		return nil, 0, platform.RowDamage(err, values, fmt.Sprintf("%d values, one for each column", t.reader.FieldsPerRecord))
	}
	line, _ := t.reader.FieldPos(0)
	if len(values) > maxColumns {
		return nil, 0, &platform.Fault{Row: line, Value: fmt.Sprintf("%d values long", len(values)), Expected: fmt.Sprintf("at most %d", maxColumns)}
	}
	t.cells = t.cells[:0]
	for _, value := range values {
		if !utf8.ValidString(value) || slices.Contains([]byte(value), 0) {
			return nil, 0, &platform.Fault{Row: line, Value: fmt.Sprintf("%q", value), Expected: "text in UTF-8 without NUL"}
		}
		t.cells = append(t.cells, cell{text: value})
	}
	return t.cells, line, nil
}
