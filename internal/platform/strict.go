package platform

import (
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// strictReader reads rows with a decoder that knows all of JSON. It is set up
// again for each row at the place where the last one ended.
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

// startDecoder sets a decoder up at the window's start, behind a beginning of ours.
func (s *strictReader) startDecoder(beginning string) error {
	s.array.dec.Reset(io.MultiReader(strings.NewReader(beginning), &ahead{window: &s.window}))
	s.array.place = place{offset: s.window.offset - int64(len(beginning)), element: s.row.Number}
	for s.array.dec.InputOffset() < int64(len(beginning)) {
		if _, err := s.array.dec.ReadToken(); err != nil {
			return err
		}
	}
	return nil
}

// skipDecoded passes over what the decoder has read.
func (s *strictReader) skipDecoded() {
	s.window.skipBytes(int(s.array.dec.InputOffset() + s.array.place.offset - s.window.offset))
}

// openArray reads the array's beginning.
func (s *strictReader) openArray() error {
	if err := s.startDecoder(""); err != nil {
		return err
	}
	if err := s.array.openArray(); err != nil {
		return err
	}
	s.skipDecoded()
	return nil
}

// readRow reads the next row; there is no more where the file is whole and ends.
func (s *strictReader) readRow() (more bool, err error) {
	beginning := rowsRead
	if s.row.Number == 0 {
		beginning = arrayBegun
	}
	if err := s.startDecoder(beginning); err != nil {
		return false, err
	}
	if more, err := s.array.hasNext(s.row.Number); err != nil || !more {
		return false, err
	}
	s.row.Number++
	if err := s.readObject(); err != nil {
		return false, err
	}
	s.skipDecoded()
	return true, nil
}

func (s *strictReader) readObject() error {
	dec := s.array.dec
	clear(s.seen)
	if _, err := dec.ReadToken(); err != nil {
		return s.array.damagedRow(s.row.Number, err)
	}
	for dec.PeekKind() != '}' {
		if err := s.readMember(); err != nil {
			return err
		}
	}
	if _, err := dec.ReadToken(); err != nil {
		return s.array.damagedRow(s.row.Number, err)
	}
	return s.firstMissing(s.seen)
}

func (s *strictReader) readMember() error {
	name, err := s.array.dec.ReadValue()
	if err != nil {
		return s.array.damagedRow(s.row.Number, err)
	}
	f := s.findField(name)
	s.plain.addName(name, f)
	value, err := s.array.dec.ReadValue()
	if err != nil {
		return s.array.damagedRow(s.row.Number, err)
	}
	if f == nil {
		return nil
	}
	s.seen[f.number] = true
	if expected := s.setValue(f, value); expected != "" {
		return &Fault{Row: s.row.Number, Field: f.name, Value: string(value), Expected: expected}
	}
	return nil
}

// findField finds a column by its name as written; nil where nothing is done with
// it. A name with escapes is spelled plainly first, so that no spelling slips
// past.
func (s *strictReader) findField(name jsontext.Value) *field {
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
