package http

import (
	"strconv"

	"adlens"
	"adlens/internal/query"
	"adlens/internal/table"

	"github.com/go-json-experiment/json/jsontext"
)

// jsonSink writes JSON in the order in which it is told, without intermediate
// maps.
type jsonSink struct {
	b     []byte
	comma bool
}

func (s *jsonSink) name(name string) {
	if s.comma {
		s.b = append(s.b, ',')
	}
	s.comma = true
	if name != "" {
		s.b = strconv.AppendQuote(s.b, name) // names are plain ASCII
		s.b = append(s.b, ':')
	}
}

func (s *jsonSink) begin(name string, bracket byte) {
	s.name(name)
	s.b, s.comma = append(s.b, bracket), false
}

func (s *jsonSink) end(bracket byte) { s.b, s.comma = append(s.b, bracket), true }

func (s *jsonSink) open(name string) { s.begin(name, '{') }

func (s *jsonSink) close() { s.end('}') }

func (s *jsonSink) list(name string) sink {
	s.begin(name, '[')
	return s
}

func (s *jsonSink) listed(string, sink) { s.end(']') }

func (s *jsonSink) rows(name string, _ func()) { s.begin(name, '[') }

func (s *jsonSink) nextRow() { s.open("") }

func (s *jsonSink) endRow() { s.close() }

func (s *jsonSink) endRows() { s.end(']') }

func (s *jsonSink) absent(name string) bool {
	s.null(name, table.JSON)
	return false
}

func (s *jsonSink) flat() bool { return false }

func (s *jsonSink) null(name string, _ table.Kind) {
	s.name(name)
	s.b = append(s.b, "null"...)
}

func (s *jsonSink) text(name, value string) {
	s.name(name)
	s.quote(value)
}

func (s *jsonSink) quote(value string) {
	// Text that is no UTF-8 never gets into the store; were it there, it would
	// come out with replacement characters.
	s.b, _ = jsontext.AppendQuote(s.b, value)
}

func (s *jsonSink) texts(name string, values []string) {
	s.begin(name, '[')
	for _, value := range values {
		s.text("", value)
	}
	s.end(']')
}

func (s *jsonSink) bool(name string, value bool) {
	s.name(name)
	s.b = strconv.AppendBool(s.b, value)
}

func (s *jsonSink) count(name string, value uint64) {
	s.name(name)
	s.b = strconv.AppendUint(s.b, value, 10)
}

func (s *jsonSink) figure(name string, value query.Value) {
	s.name(name)
	s.b = value.Append(s.b)
}

func (s *jsonSink) amount(name string, value *adlens.Amount) {
	if value == nil {
		s.null(name, table.Decimal)
		return
	}
	s.json(name, value.String())
}

func (s *jsonSink) moment(name string, _ table.Kind, text string) { s.text(name, text) }

// json writes a value that is JSON already; none is null.
func (s *jsonSink) json(name, value string) {
	if value == "" {
		s.null(name, table.JSON)
		return
	}
	s.name(name)
	s.b = append(s.b, value...)
}
