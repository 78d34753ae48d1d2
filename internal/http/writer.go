package http

import (
	"iter"
	"time"

	"adlens"
	"adlens/internal/query"
	"adlens/internal/table"
)

// writer is what an answer describes itself to, field by field, once for all
// formats: field names, order and values are the contract's. What becomes of
// them is the sink's affair.
type writer struct{ sink }

// sink makes a format of the fields of an answer. A name is "" for an element
// of a list and for the whole.
type sink interface {
	// open and close stand around the fields of an object.
	open(name string)
	close()
	// list stands before the objects of a list, which are told to the sink that
	// it returns, and listed after them.
	list(name string) sink
	listed(name string, inner sink)
	// rows, and then nextRow and endRow for each of them, and endRows stand
	// around what an answer is about. A blank row has all fields.
	rows(name string, blank func())
	nextRow()
	endRow()
	endRows()
	// absent tells of an object that is null; fields wants those of an empty
	// one instead.
	absent(name string) (fields bool)
	// flat tells whether rows are all that is written of parts and whole.
	flat() bool

	null(name string, kind table.Kind)
	text(name, value string)
	texts(name string, values []string)
	bool(name string, value bool)
	count(name string, value uint64)
	figure(name string, value query.Value)
	amount(name string, value *adlens.Amount)
	moment(name string, kind table.Kind, text string)
	json(name, value string)
}

// object writes a field that is an object; with an empty name, an element or
// the whole.
func (w *writer) object(name string, fields func()) {
	w.open(name)
	fields()
	w.close()
}

// list writes a field that is a list of objects.
func (w *writer) list(name string, elements func()) {
	outer := w.sink
	w.sink = outer.list(name)
	elements()
	w.sink, outer = outer, w.sink
	w.listed(name, outer)
}

// rows writes the rows of an answer. A blank one is not written: it shows
// fields that all may lack.
func rows[T any](w *writer, name string, blank T, all iter.Seq[T], one func(T)) {
	w.rows(name, func() { one(blank) })
	for row := range all {
		w.nextRow()
		one(row)
		w.endRow()
	}
	w.endRows()
}

// nullable writes a field that is an object, or null for nil.
func nullable[T any](w *writer, name string, value *T, fields func(T)) {
	var v T
	if value != nil {
		v = *value
	} else if !w.absent(name) {
		return
	}
	w.object(name, func() { fields(v) })
}

// textOrNull writes null for "".
func (w *writer) textOrNull(name, value string) {
	if value == "" {
		w.null(name, table.Text)
		return
	}
	w.text(name, value)
}

func (w *writer) optional(name string, text *string) {
	if text == nil {
		w.null(name, table.Text)
		return
	}
	w.text(name, *text)
}

// textsOrNull writes null for nil.
func (w *writer) textsOrNull(name string, values []string) {
	if values == nil {
		w.null(name, table.List)
		return
	}
	w.texts(name, values)
}

func (w *writer) number(name string, value int) { w.count(name, uint64(value)) }

func (w *writer) day(name string, d *adlens.Day) {
	if d == nil {
		w.null(name, table.Day)
		return
	}
	w.moment(name, table.Day, d.String())
}

// timestamp writes an instant as the contract does: UTC, milliseconds.
func (w *writer) timestamp(name string, t *time.Time) {
	if t == nil {
		w.null(name, table.Instant)
		return
	}
	w.moment(name, table.Instant, t.UTC().Format("2006-01-02T15:04:05.000Z"))
}

// figures writes the catalogue's figures in its order; of a blank row they are
// null.
func (w *writer) figures(figures query.Figures) {
	if figures == nil {
		figures = query.NoFigures
	}
	for i, value := range figures {
		w.figure(query.Catalogue[i].Name, value)
	}
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
			w.null("next_page", table.Whole)
		}
	})
}

// question writes what every figure answer repeats of its request.
func (w *writer) question(r query.Request) {
	w.period(r)
	w.object("filters", func() {
		w.textsOrNull("marketplaces", r.Filters.Marketplaces)
		w.textsOrNull("ad_products", r.Filters.AdProductNames())
	})
	w.text("currency", "USD")
}

// period writes days, how they were found, and whose calendar says today.
func (w *writer) period(r query.Request) {
	w.object("period", func() {
		w.day("start_date", &r.Period.Start)
		w.day("end_date", &r.Period.End)
		w.text("range", string(r.Period.Range))
		w.text("timezone", r.TimeZone)
	})
}

func (w *writer) meta(m query.Meta) {
	w.object("meta", func() {
		w.day("data_last_date", m.LastDate)
		w.bool("history_covered", m.HistoryCovered)
		w.bool("truncated", m.Truncated)
	})
}
