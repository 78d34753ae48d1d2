package made

import (
	"encoding/json"
	"io"
	"strconv"
)

// Rows is a JSON array of objects under construction. Members of a row are
// added in turn, by the methods or to Text itself after Name.
type Rows struct {
	Text    []byte // what was not written out yet
	written int    // bytes
	rows    int
	members int // of the row
}

// Open begins an array.
func (r *Rows) Open() { *r = Rows{Text: append(r.Text[:0], '[')} }

// Begin begins a row.
func (r *Rows) Begin() {
	if r.rows++; r.rows > 1 {
		r.Text = append(r.Text, ',', '\n')
	}
	r.Text = append(r.Text, '{')
	r.members = 0
}

// End ends a row.
func (r *Rows) End() { r.Text = append(r.Text, '}') }

// Flush writes out the text so far.
func (r *Rows) Flush(w io.Writer) error {
	n, err := w.Write(r.Text)
	r.written += n
	r.Text = r.Text[:0]
	return err
}

// Close ends the array and writes out what is left of it. It returns the size
// of the whole array in bytes.
func (r *Rows) Close(w io.Writer) (size int, err error) {
	r.Text = append(r.Text, ']')
	err = r.Flush(w)
	return r.written, err
}

// Name begins a member, whose value is added to Text.
func (r *Rows) Name(name string) {
	if r.members++; r.members > 1 {
		r.Text = append(r.Text, ',')
	}
	r.Text = append(append(append(r.Text, '"'), name...), '"', ':')
}

// JSON adds a member whose value is a JSON text.
func (r *Rows) JSON(name, value string) {
	r.Name(name)
	r.Text = append(r.Text, value...)
}

// Count adds a whole number.
func (r *Rows) Count(name string, n int64) {
	r.Name(name)
	r.Text = strconv.AppendInt(r.Text, n, 10)
}

// Decimal adds n/10^places as AppendDecimal writes it.
func (r *Rows) Decimal(name string, n int64, places int) {
	r.Name(name)
	r.Text = AppendDecimal(r.Text, n, places)
}

// AppendDecimal appends n/10^places. A fraction of zero is not written, nor are
// its last zeros: the platform prints 0, 14.5 and 59.98.
func AppendDecimal(b []byte, n int64, places int) []byte {
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

// Quote returns a text as JSON.
func Quote(text string) string {
	b, err := json.Marshal(text)
	if err != nil {
		panic(err) // a string always marshals
	}
	return string(b)
}
