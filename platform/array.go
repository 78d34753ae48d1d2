package platform

import (
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

// arrayReader reads a JSON array of objects one at a time.
type arrayReader struct {
	dec    *jsontext.Decoder
	source *meter
}

func (a *arrayReader) each(visit func(number int) error) error {
	number := 0
	if kind := a.dec.PeekKind(); kind != '[' && kind != 0 {
		return &Fault{Row: 1, Value: kind.String(), Expected: "a JSON array of rows"}
	}
	if _, err := a.dec.ReadToken(); err != nil {
		return a.damaged(0, err)
	}
	for a.dec.PeekKind() == '{' {
		number++
		a.source.from(a.dec.InputOffset())
		if err := visit(number); err != nil {
			return err
		}
	}
	a.source.from(a.dec.InputOffset())
	if kind := a.dec.PeekKind(); kind != ']' && kind != 0 {
		return &Fault{Row: number + 1, Value: kind.String(), Expected: "a row in braces, or the array's end"}
	}
	if _, err := a.dec.ReadToken(); err != nil {
		return a.damaged(number, err)
	}
	switch _, err := a.dec.ReadToken(); {
	case errors.Is(err, io.EOF):
		return nil
	case err == nil:
		return &Fault{Expected: "the file's end after the array of rows, but more follows"}
	default:
		return a.damaged(number, err)
	}
}

// newArrayReader reads an array whose rows are bounded in size.
func newArrayReader(r io.Reader) arrayReader {
	source := &meter{r: r}
	return arrayReader{dec: jsontext.NewDecoder(source), source: source}
}

// damaged names the place of an error of the file's form.
func (a *arrayReader) damaged(number int, err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("the file ends in the middle, after row %d: it is half-written or damaged", max(number-1, 0))
	}
	return fmt.Errorf("row %d: damaged: %w", max(number, 1), err)
}

// meter bounds how far the decoder may read before a row ends.
type meter struct {
	r     io.Reader
	read  int64
	limit int64
}

func (m *meter) from(offset int64) { m.limit = offset + maxRowBytes }

var errLongRow = fmt.Errorf("a row of more than %d bytes", maxRowBytes)

// oneRead is how much is read at a time. The decoder asks for more and more
// while a value does not end, and must not get it.
const oneRead = 64 << 10

func (m *meter) Read(p []byte) (int, error) {
	if m.limit == 0 {
		m.limit = maxRowBytes
	}
	// The decoder reads ahead, so the count may pass a row's limit by one read.
	if m.read > m.limit+oneRead {
		return 0, errLongRow
	}
	n, err := m.r.Read(p[:min(len(p), oneRead)])
	m.read += int64(n)
	return n, err
}
