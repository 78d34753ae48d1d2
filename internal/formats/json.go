package formats

import (
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// jsonSink writes JSON in the order of the description, without intermediate
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

func (s *jsonSink) beginRows(name string, _ func()) { s.begin(name, '[') }

func (s *jsonSink) beginRow() { s.open("") }

func (s *jsonSink) endRow() { s.close() }

func (s *jsonSink) endRows() { s.end(']') }

func (s *jsonSink) absent(name string) bool {
	s.Null(name, JSONText)
	return false
}

func (s *jsonSink) Flat() bool { return false }

func (s *jsonSink) Null(name string, _ Kind) {
	s.name(name)
	s.b = append(s.b, "null"...)
}

func (s *jsonSink) Text(name, value string) {
	s.name(name)
	// Text that is not UTF-8 never gets into the store; if it did, it would come
	// out with replacement characters.
	s.b, _ = jsontext.AppendQuote(s.b, value)
}

func (s *jsonSink) Texts(name string, values []string) {
	s.begin(name, '[')
	for _, value := range values {
		s.Text("", value)
	}
	s.end(']')
}

func (s *jsonSink) Bool(name string, value bool) {
	s.name(name)
	s.b = strconv.AppendBool(s.b, value)
}

func (s *jsonSink) Number(name string, _ int, digits []byte) {
	if digits == nil {
		s.Null(name, Decimal)
		return
	}
	s.name(name)
	s.b = append(s.b, digits...)
}

func (s *jsonSink) Moment(name string, _ Kind, text string) { s.Text(name, text) }

func (s *jsonSink) JSON(name, value string) {
	if value == "" {
		s.Null(name, JSONText)
		return
	}
	s.name(name)
	s.b = append(s.b, value...)
}

// linesSink writes the rows of an object as lines of JSON, and nothing else.
type linesSink struct {
	jsonSink
	end int // of the last row
}

// beginRows drops what was written before them.
func (s *linesSink) beginRows(string, func()) { s.b = s.b[:0] }

func (s *linesSink) beginRow() {
	s.comma = false
	s.open("")
}

func (s *linesSink) endRow() {
	s.close()
	s.b = append(s.b, '\n')
}

func (s *linesSink) endRows() { s.end = len(s.b) }

func (s *linesSink) Flat() bool { return true }
