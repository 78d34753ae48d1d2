package platform

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// arrayReader reads a JSON array of objects one at a time.
type arrayReader struct {
	dec    *jsontext.Decoder
	source *meter // of dec, where it reads the whole file
	place  place
}

// place says where the decoder's text stands in the file, where the decoder
// does not see the file from its beginning.
type place struct {
	offset  int64 // to be added to the decoder's own
	element int   // what the decoder takes for element 1 of the array; 0 where it counts right
}

// openArray reads the array's beginning.
func (a *arrayReader) openArray() error {
	if kind := a.dec.PeekKind(); kind != '[' && kind != 0 {
		return &Fault{Row: 1, Value: kind.String(), Expected: "a JSON array of rows"}
	}
	switch _, err := a.dec.ReadToken(); {
	case errors.Is(err, io.EOF):
		return &Fault{Expected: "a JSON array of rows, but the file is empty"}
	case err != nil:
		return a.damagedRow(1, err)
	}
	return nil
}

// hasNext reports whether another object follows those that were read. If not, it
// makes sure that the array and the file end.
func (a *arrayReader) hasNext(read int) (more bool, err error) {
	switch kind := a.dec.PeekKind(); kind {
	case '{':
		return true, nil
	case ']', 0:
		return false, a.readEnd(read)
	default:
		return false, &Fault{Row: read + 1, Value: kind.String(), Expected: "a row in braces, or the array's end"}
	}
}

func (a *arrayReader) readEnd(read int) error {
	if _, err := a.dec.ReadToken(); err != nil {
		return a.damagedAfter(read, err)
	}
	switch _, err := a.dec.ReadToken(); {
	case errors.Is(err, io.EOF):
		return nil
	case err == nil:
		return &Fault{Expected: "the file's end after the array of rows, but more follows"}
	default:
		return a.damagedAfter(read, err)
	}
}

// damagedRow names the place of an error of the file's form in a row.
func (a *arrayReader) damagedRow(number int, err error) error {
	if isCut(err) {
		return truncatedError(number - 1)
	}
	return fmt.Errorf("row %d: %w", number, Damage(a.place.locateError(err)))
}

// damagedAfter names the place of an error behind some whole rows.
func (a *arrayReader) damagedAfter(whole int, err error) error {
	if isCut(err) {
		return truncatedError(whole)
	}
	if whole == 0 {
		return a.damagedRow(1, err)
	}
	return fmt.Errorf("after row %d: %w", whole, Damage(a.place.locateError(err)))
}

func isCut(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) }

func truncatedError(whole int) error {
	return fmt.Errorf("the file ends in the middle, after row %d: it is half-written or damaged", whole)
}

// locateError puts an error of the form where it stands in the file.
func (p place) locateError(err error) error {
	var syntax *jsontext.SyntacticError
	if !errors.As(err, &syntax) {
		return err
	}
	moved := *syntax
	moved.ByteOffset += p.offset
	rest, ok := strings.CutPrefix(string(moved.JSONPointer), "/1") // not /10
	if ok && (rest == "" || rest[0] == '/') && p.element > 0 {
		moved.JSONPointer = jsontext.Pointer(fmt.Sprintf("/%d%s", p.element, rest))
	}
	return &moved
}

// newArrayReader reads an array whose rows are bounded in size.
func newArrayReader(r io.Reader) arrayReader {
	source := &meter{r: r}
	return arrayReader{dec: jsontext.NewDecoder(source), source: source}
}

// eachObject visits the objects of an array, with the decoder at their beginnings.
func (a *arrayReader) eachObject(visit func(number int) error) error {
	if err := a.openArray(); err != nil {
		return err
	}
	for number := 1; ; number++ {
		a.source.setLimit(a.dec.InputOffset())
		if more, err := a.hasNext(number - 1); err != nil || !more {
			return err
		}
		if err := visit(number); err != nil {
			return err
		}
	}
}

// meter bounds how far the decoder may read before a row ends.
type meter struct {
	r     io.Reader
	read  int64
	limit int64
}

func (m *meter) setLimit(offset int64) { m.limit = offset + maxRowBytes }

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
