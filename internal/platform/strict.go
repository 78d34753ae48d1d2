package platform

import (
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// strictReader reads rows with a decoder that knows all of JSON. It is set up
// anew for each row at the place where the last one ended.
type strictReader struct {
	*RowReader
	byName map[string]*field // by the name's JSON text, with its quotes
	seen   []bool            // by field number
	array  arrayReader
	buffer []byte
}

func newStrictReader(r *RowReader) strictReader {
	s := strictReader{RowReader: r, byName: map[string]*field{}, seen: make([]bool, len(r.fields)), array: arrayReader{dec: new(jsontext.Decoder)}}
	for _, f := range r.fields {
		s.byName[`"`+f.name+`"`] = f
	}
	return s
}

// Each decoder sees an array that begins like the file's: with nothing, or with
// one empty row in place of all that were read.
const (
	arrayBegun = "["
	rowsRead   = "[{}"
)

// begin sets a decoder up at the window's start, behind a beginning of ours.
func (s *strictReader) begin(beginning string) error {
	s.array.dec.Reset(io.MultiReader(strings.NewReader(beginning), &ahead{window: &s.window}))
	s.array.place = place{offset: s.window.offset - int64(len(beginning)), element: s.row.Number}
	for s.array.dec.InputOffset() < int64(len(beginning)) {
		if _, err := s.array.dec.ReadToken(); err != nil {
			return err
		}
	}
	return nil
}

// taken passes over what the decoder has read.
func (s *strictReader) taken() {
	s.window.take(int(s.array.dec.InputOffset() + s.array.place.offset - s.window.offset))
}

// open reads the array's beginning.
func (s *strictReader) open() error {
	if err := s.begin(""); err != nil {
		return err
	}
	if err := s.array.open(); err != nil {
		return err
	}
	s.taken()
	return nil
}

// next reads the next row; there is no more where the file is whole and ends.
func (s *strictReader) next() (more bool, err error) {
	beginning := rowsRead
	if s.row.Number == 0 {
		beginning = arrayBegun
	}
	if err := s.begin(beginning); err != nil {
		return false, err
	}
	if more, err := s.array.next(s.row.Number); err != nil || !more {
		return false, err
	}
	s.row.Number++
	if err := s.object(); err != nil {
		return false, err
	}
	s.taken()
	return true, nil
}

func (s *strictReader) object() error {
	dec := s.array.dec
	clear(s.seen)
	if _, err := dec.ReadToken(); err != nil {
		return s.array.damaged(s.row.Number, err)
	}
	for dec.PeekKind() != '}' {
		if err := s.member(); err != nil {
			return err
		}
	}
	if _, err := dec.ReadToken(); err != nil {
		return s.array.damaged(s.row.Number, err)
	}
	return s.firstMissing(s.seen)
}

func (s *strictReader) member() error {
	name, err := s.array.dec.ReadValue()
	if err != nil {
		return s.array.damaged(s.row.Number, err)
	}
	f := s.field(name)
	s.plain.learn(name, f)
	value, err := s.array.dec.ReadValue()
	if err != nil {
		return s.array.damaged(s.row.Number, err)
	}
	if f == nil {
		return nil
	}
	s.seen[f.number] = true
	if expected := s.set(f, value); expected != "" {
		return &Fault{Row: s.row.Number, Field: f.name, Value: string(value), Expected: expected}
	}
	return nil
}

// field finds a column by its name as written; nil where nothing is done with
// it. A name with escapes is spelled plainly first, so that no spelling slips
// past.
func (s *strictReader) field(name jsontext.Value) *field {
	if f, ok := s.byName[string(name)]; ok {
		return f
	}
	plain, err := jsontext.AppendUnquote(s.buffer[:0], name)
	s.buffer = plain
	if err != nil || len(plain)+2 == len(name) {
		return nil
	}
	return s.byName[`"`+string(plain)+`"`]
}
