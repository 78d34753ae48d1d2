package demo

import (
	"bytes"
	"encoding/json"
	"strconv"
)

// cents is an amount with two decimals, kept exact.
type cents int64

// quoted is a JSON text, ready to be written.
type quoted string

const null quoted = "null"

func quote(s string) quoted {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err) // a string always marshals
	}
	return quoted(b)
}

// appendDecimal writes n/10^places. A fraction of zero is not written, nor are
// its last zeros: the platform prints 0, 14.5 and 59.98.
func appendDecimal(b []byte, n int64, places int) []byte {
	one := int64(1)
	for range places {
		one *= 10
	}
	b = strconv.AppendInt(b, n/one, 10)
	rest := n % one
	if rest == 0 {
		return b
	}
	b = append(b, '.')
	for rest > 0 {
		one /= 10
		b = append(b, '0'+byte(rest/one))
		rest %= one
	}
	return b
}

// MarshalJSON writes an amount as the platform does.
func (c cents) MarshalJSON() ([]byte, error) { return appendDecimal(nil, int64(c), 2), nil }

// A column names one field of a report's rows and writes it. The same columns
// are named in the report's configuration: the two cannot disagree.
type column[R any] struct {
	name  string
	key   string // `"name":`
	value func([]byte, *R) []byte
}

type columns[R any] []column[R]

func col[R any](name string, value func([]byte, *R) []byte) column[R] {
	return column[R]{name, `"` + name + `":`, value}
}

func text[R any](name string, get func(*R) quoted) column[R] {
	return col(name, func(b []byte, r *R) []byte { return append(b, get(r)...) })
}

func count[R any](name string, get func(*R) int64) column[R] {
	return col(name, func(b []byte, r *R) []byte { return strconv.AppendInt(b, get(r), 10) })
}

func money[R any](name string, get func(*R) cents) column[R] {
	return col(name, func(b []byte, r *R) []byte { return appendDecimal(b, int64(get(r)), 2) })
}

// ratio has four decimals and is 0 where its base is missing.
func ratio[R any](name string, get func(*R) (part, whole int64)) column[R] {
	return col(name, func(b []byte, r *R) []byte {
		part, whole := get(r)
		if whole == 0 {
			return append(b, '0')
		}
		return appendDecimal(b, part*10_000/whole, 4)
	})
}

func (c columns[R]) names() []string {
	out := make([]string, len(c))
	for i := range c {
		out[i] = c[i].name
	}
	return out
}

// write adds one row to the array.
func (c columns[R]) write(a *array, row *R) {
	b := a.next()
	for i := range c {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, c[i].key...)
		b = c[i].value(b, row)
	}
	a.buf = append(b, '}')
}

// An array is a JSON array of objects under construction; its text may be taken
// away in pieces.
type array struct {
	buf  []byte
	rows int
}

func (a *array) open() { a.buf, a.rows = append(a.buf[:0], '['), 0 }

// next begins an object, after the comma that parts it from the one before.
func (a *array) next() []byte {
	if a.rows++; a.rows > 1 {
		a.buf = append(a.buf, ',', '\n')
	}
	return append(a.buf, '{')
}

func (a *array) close() { a.buf = append(a.buf, ']') }

// ndjson writes a record on each line.
func ndjson[T any](records []T) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	for i := range records {
		if err := e.Encode(&records[i]); err != nil {
			return nil, err
		}
	}
	return b.Bytes(), nil
}

// jsonFile is a small file for people and programs to read.
func jsonFile(v any) ([]byte, error) {
	b, err := json.MarshalIndent(v, "", "  ")
	return append(b, '\n'), err
}
