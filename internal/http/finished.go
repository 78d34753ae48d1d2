package http

import (
	"bytes"
	"net/http"
	"slices"
	"sync"

	"adlens/internal/query"
	"adlens/internal/table"
)

// finished is an answer that was written already. It is never changed, so any
// number of clients can have it.
type finished struct {
	*form
	name   string // of the answer, in quotes: its strong tag; "" where it has none
	coding string // of the body; "" is none
	body   []byte
	file   string // what it is called as a file
	paged  *paged // nil where it has no pages
}

func (*finished) fields(*writer) {}

// form is a format as HTTP knows it.
type form struct {
	mediaType string // as answers say it
	accepted  []string
	extension string // of files; "" where answers are shown rather than saved
	packed    bool   // compressed in itself, so that it is not compressed again and can be read in parts
}

// forms are the formats, by their names in requests.
var forms = map[string]*form{
	query.JSON: {mediaType: "application/json; charset=utf-8", accepted: []string{"application/json"}},
	query.CSV:  {mediaType: "text/csv; charset=utf-8; header=present", accepted: []string{"text/csv"}, extension: "csv"},
	query.XLSX: {mediaType: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", extension: "xlsx", packed: true,
		accepted: []string{"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"}},
	query.Parquet: {mediaType: "application/vnd.apache.parquet", extension: "parquet", packed: true,
		accepted: []string{"application/vnd.apache.parquet", "application/x-parquet"}},
	query.NDJSON: {mediaType: "application/x-ndjson", extension: "ndjson", accepted: []string{"application/x-ndjson", "application/ndjson"}},
}

// plainJSON is the format of an answer that has no other.
var plainJSON = query.Format{Name: query.JSON}

// headers say what an answer is.
func (f *finished) headers(h http.Header) {
	h.Set("Content-Type", f.mediaType)
	if f.name != "" {
		h.Set("ETag", tagOf(f.name, f.coding))
	}
	if f.coding != "" {
		h.Set("Content-Encoding", f.coding)
	}
	if f.packed {
		h.Set("Accept-Ranges", "bytes")
	}
	if f.extension != "" && f.file != "" {
		h.Set("Content-Disposition", `attachment; filename="`+f.file+"."+f.extension+`"`)
	}
}

// buffers are what answers are written into before their size is known.
var buffers = sync.Pool{New: func() any { return new(jsonSink) }}

// finish writes an answer to the question of an address.
func finish(a answer, format query.Format, address string) (*finished, error) {
	body, err := bodyOf(a, format, address)
	if err != nil {
		return nil, err
	}
	f := &finished{form: forms[format.Name], body: body}
	if h, ok := a.(headed); ok {
		p := h.paged()
		f.paged = &p
	}
	return f, nil
}

func bodyOf(a answer, format query.Format, address string) ([]byte, error) {
	switch format.Name {
	case query.CSV:
		csv := table.CSV{Separator: separators[format.Separator], Decimal: '.'}
		if format.Decimal == query.Comma {
			csv.Decimal = ','
		}
		return tableOf(a, address, csv.New)
	case query.XLSX:
		return tableOf(a, address, table.NewXLSX)
	case query.Parquet:
		return tableOf(a, address, table.NewParquet)
	case query.NDJSON:
		s := &linesSink{}
		tell(a, s)
		return slices.Clip(s.lines()), nil
	}
	s := buffers.Get().(*jsonSink)
	defer buffers.Put(s)
	s.b, s.comma = s.b[:0], false
	tell(a, s)
	s.b = append(s.b, '\n')
	return bytes.Clone(s.b), nil
}

// separators are those of CSV by their names.
var separators = map[string]byte{query.Comma: ',', query.Semicolon: ';', query.Tab: '\t'}

func tableOf(a answer, address string, begin func([]table.Column) table.Writer) ([]byte, error) {
	s := newColumnsSink(begin)
	s.text("request", address)
	tell(a, s)
	return s.finish()
}

// tell has an answer describe itself to a sink.
func tell(a answer, s sink) {
	w := &writer{s}
	w.object("", func() { a.fields(w) })
}
