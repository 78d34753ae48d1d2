package http

import (
	"strconv"
	"time"

	"adlens"
	"adlens/internal/query"

	"github.com/go-json-experiment/json/jsontext"
)

// writer writes JSON in the order in which it is told, without intermediate
// maps: field names, order and number formats are the contract's.
type writer struct {
	b     []byte
	comma bool
}

func (w *writer) separate() {
	if w.comma {
		w.b = append(w.b, ',')
	}
	w.comma = true
}

func (w *writer) name(name string) {
	w.separate()
	w.b = strconv.AppendQuote(w.b, name) // names are plain ASCII
	w.b = append(w.b, ':')
}

// object writes a field that is an object; with an empty name, an element or
// the whole.
func (w *writer) object(name string, fields func()) { w.nested(name, '{', '}', fields) }

// list writes a field that is an array.
func (w *writer) list(name string, elements func()) { w.nested(name, '[', ']', elements) }

func (w *writer) nested(name string, open, close byte, inside func()) {
	if name == "" {
		w.separate()
	} else {
		w.name(name)
	}
	w.b, w.comma = append(w.b, open), false
	inside()
	w.b, w.comma = append(w.b, close), true
}

func (w *writer) text(name, value string) {
	w.name(name)
	w.quote(value)
}

func (w *writer) quote(value string) {
	// Text that is no UTF-8 never gets into the store; were it there, it would
	// come out with replacement characters.
	w.b, _ = jsontext.AppendQuote(w.b, value)
}

// textOrNull writes null for "".
func (w *writer) textOrNull(name, value string) {
	if value == "" {
		w.null(name)
		return
	}
	w.text(name, value)
}

func (w *writer) null(name string) {
	w.name(name)
	w.b = append(w.b, "null"...)
}

func (w *writer) bool(name string, value bool) {
	w.name(name)
	w.b = strconv.AppendBool(w.b, value)
}

func (w *writer) number(name string, value int) {
	w.name(name)
	w.b = strconv.AppendInt(w.b, int64(value), 10)
}

func (w *writer) count(name string, value uint64) {
	w.name(name)
	w.b = strconv.AppendUint(w.b, value, 10)
}

// pagination writes which page of how many rows this is.
func (w *writer) pagination(p query.Paging, rows int) {
	w.object("pagination", func() {
		w.number("page", p.Page)
		w.number("page_size", p.PageSize)
		w.number("total_rows", rows)
		w.number("total_pages", p.TotalPages(rows))
		if next, ok := p.NextPage(rows); ok {
			w.number("next_page", next)
		} else {
			w.null("next_page")
		}
	})
}

func (w *writer) texts(name string, values []string) {
	w.list(name, func() {
		for _, value := range values {
			w.separate()
			w.quote(value)
		}
	})
}

func (w *writer) day(name string, d *adlens.Day) {
	if d == nil {
		w.null(name)
		return
	}
	w.text(name, d.String())
}

// timestamp writes an instant as the contract does: UTC, milliseconds.
func (w *writer) timestamp(name string, t *time.Time) {
	if t == nil {
		w.null(name)
		return
	}
	w.text(name, t.UTC().Format("2006-01-02T15:04:05.000Z"))
}

// figures writes the catalogue's figures in its order.
func (w *writer) figures(figures query.Figures) {
	for i, value := range figures {
		w.name(query.Catalogue[i].Name)
		w.b = value.Append(w.b)
	}
}
