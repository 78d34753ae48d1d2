// Package formats writes what describes itself field by field as JSON, lines of
// JSON, CSV, a spreadsheet or Parquet. It knows nothing of what it writes. One
// description makes the same bytes, always: no clock and no chance is in a file.
package formats

import (
	"bytes"
	"iter"
	"strconv"
	"sync"
)

// Writer takes the description of an object, field by field, once for all
// formats: names, order and values are the caller's, and what becomes of them
// is the format's.
type Writer struct {
	sink
	digits []byte
}

// sink makes a format of the fields of an object. A name is "" for an element
// of a list and for the whole.
type sink interface {
	// openObject and closeObject enclose the fields of an object.
	openObject(name string)
	closeObject()
	// openList precedes the objects of a list, which are written to the sink that it
	// returns, and closeList follows them.
	openList(name string) sink
	closeList(name string, inner sink)
	// beginRows and endRows enclose the rows of an object, beginRow and endRow
	// each of them. A blank row has all fields.
	beginRows(name string, blank func())
	beginRow()
	endRow()
	endRows()
	// writeNullObject writes an object that is null; fields reports whether those of an
	// empty one are needed instead.
	writeNullObject(name string) (fields bool)

	// Flat reports whether rows are all that is written of parts and whole.
	Flat() bool
	// Null writes null for a value of a kind.
	Null(name string, kind Kind)
	Text(name, value string)
	Texts(name string, values []string)
	Bool(name string, value bool)
	// Number writes a number of so many decimals by its digits; nil is null.
	Number(name string, scale int, digits []byte)
	// Moment writes a Day or an Instant in the spelling of its kind.
	Moment(name string, kind Kind, text string)
	// JSON writes a value that is JSON already; "" is null.
	JSON(name, value string)
}

// buffers are what JSON is written into before its size is known.
var buffers = sync.Pool{New: func() any { return new(jsonSink) }}

// JSON returns an object as a line of JSON.
func JSON(describe func(*Writer)) []byte {
	s := buffers.Get().(*jsonSink)
	defer buffers.Put(s)
	s.b, s.comma = s.b[:0], false
	describeObject(s, describe)
	s.b = append(s.b, '\n')
	return bytes.Clone(s.b)
}

// Lines returns the rows of an object as lines of JSON, and nothing else.
func Lines(describe func(*Writer)) []byte {
	s := &linesSink{}
	describeObject(s, describe)
	return s.b[:s.end] // not clipped: callers count its capacity
}

// Table returns the rows of an object as a file that begin begins: with a column
// for each field, those of an object under its name (budget_amount). A list of
// objects is one JSON text. All other fields are facts about the table. present adds
// to each column how people read it.
func Table(describe func(*Writer), present func(Column) Column, begin func([]Column) TableWriter) ([]byte, error) {
	s := &columnsSink{present: present, begin: begin, places: map[string]int{}}
	describeObject(s, describe)
	return s.out.Close(s.facts)
}

func describeObject(s sink, describe func(*Writer)) {
	w := &Writer{sink: s}
	w.Object("", func() { describe(w) })
}

// Object writes a field that is an object; with an empty name, an element or
// the whole.
func (w *Writer) Object(name string, fields func()) {
	w.openObject(name)
	fields()
	w.closeObject()
}

// List writes a field that is a list of objects.
func (w *Writer) List(name string, elements func()) {
	outer := w.sink
	w.sink = outer.openList(name)
	elements()
	w.sink, outer = outer, w.sink
	w.closeList(name, outer)
}

// Rows writes the rows of an object. A blank one is not written: it shows
// fields that all may lack.
func Rows[T any](w *Writer, name string, blank T, all iter.Seq[T], describe func(T)) {
	w.beginRows(name, func() { describe(blank) })
	for row := range all {
		w.beginRow()
		describe(row)
		w.endRow()
	}
	w.endRows()
}

// Nullable writes a field that is an object, or null for nil.
func Nullable[T any](w *Writer, name string, value *T, fields func(T)) {
	var v T
	if value != nil {
		v = *value
	} else if !w.writeNullObject(name) {
		return
	}
	w.Object(name, func() { fields(v) })
}

// Count writes a whole number.
func (w *Writer) Count(name string, value uint64) {
	w.digits = strconv.AppendUint(w.digits[:0], value, 10)
	w.Number(name, 0, w.digits)
}

// TextOrNull writes null for "".
func (w *Writer) TextOrNull(name, value string) {
	if value == "" {
		w.Null(name, Text)
		return
	}
	w.Text(name, value)
}

// OptionalText writes null for nil.
func (w *Writer) OptionalText(name string, text *string) {
	if text == nil {
		w.Null(name, Text)
		return
	}
	w.Text(name, *text)
}

// TextsOrNull writes null for nil.
func (w *Writer) TextsOrNull(name string, values []string) {
	if values == nil {
		w.Null(name, List)
		return
	}
	w.Texts(name, values)
}
