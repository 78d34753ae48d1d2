package loader

import (
	"fmt"
	"io"
)

// A packed file of a megabyte can hold a gigabyte, so what is kept in memory is
// bounded by what comes out of it.
const (
	maxKept   = 1 << 30 // bytes of a whole file whose rows are kept until its end
	maxRecord = 1 << 20 // bytes of one row of a table
)

// bounded fails where more is read than its limit.
type bounded struct {
	r     io.Reader
	what  string // that the limit is of
	bytes int64  // the size that an error names
	limit int64
	read  int64
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.read > b.limit {
		return 0, fmt.Errorf("%s of more than %d bytes", b.what, b.bytes)
	}
	n, err := b.r.Read(p)
	b.read += int64(n)
	return n, err
}

// endingText is a text of which the last byte is known: one that was cut off rarely ends
// with the end of a line.
type endingText struct {
	io.Reader
	last byte
}

func (e *endingText) Read(p []byte) (int, error) {
	n, err := e.Reader.Read(p)
	if n > 0 {
		e.last = p[n-1]
	}
	return n, err
}

// noteCut says of a table that its last line does not end. Tables that people write are
// often so, and what is left of a value that was cut off may be one too. again is what it takes
// to load the file once more, besides the file.
func (s *session) noteCut(f file, last byte, again string) {
	if last != '\n' && last != '\r' && f.kind != kindBankRates {
		s.noteFile(f, "its last line does not end with a line break; if the file is cut off there, load it again once it is whole"+again)
	}
}

// boundedFile bounds a file that is kept in memory. Downloads of reports are
// not: they are summed as they are read.
func boundedFile(r io.Reader) io.Reader {
	return &bounded{r: r, what: "a file, unpacked,", bytes: maxKept, limit: maxKept}
}

// boundedRecords bounds each row of a table; from is told where one begins.
func boundedRecords(r io.Reader) *bounded {
	b := &bounded{r: r, what: "a row", bytes: maxRecord}
	b.startRecord(0)
	return b
}

func (b *bounded) startRecord(offset int64) { b.limit = offset + maxRecord }
