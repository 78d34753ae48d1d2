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

func (s *jsonSink) writeName(name string) {
	if s.comma {
		s.b = append(s.b, ',')
	}
	s.comma = true
	if name != "" {
		s.b = strconv.AppendQuote(s.b, name) // names are plain ASCII
		s.b = append(s.b, ':')
	}
}

func (s *jsonSink) openBracket(name string, bracket byte) {
	s.writeName(name)
	s.b, s.comma = append(s.b, bracket), false
}

func (s *jsonSink) closeBracket(bracket byte) { s.b, s.comma = append(s.b, bracket), true }

func (s *jsonSink) openObject(name string) { s.openBracket(name, '{') }

func (s *jsonSink) closeObject() { s.closeBracket('}') }

func (s *jsonSink) openList(name string) sink {
	s.openBracket(name, '[')
	return s
}

func (s *jsonSink) closeList(string, sink) { s.closeBracket(']') }

func (s *jsonSink) beginRows(name string, _ func()) { s.openBracket(name, '[') }

func (s *jsonSink) beginRow() { s.openObject("") }

func (s *jsonSink) endRow() { s.closeObject() }

func (s *jsonSink) endRows() { s.closeBracket(']') }

func (s *jsonSink) writeNullObject(name string) bool {
	s.Null(name, JSONText)
	return false
}

func (s *jsonSink) Flat() bool { return false }

func (s *jsonSink) Null(name string, _ Kind) {
	s.writeName(name)
	s.b = append(s.b, "null"...)
}

func (s *jsonSink) Text(name, value string) {
	s.writeName(name)
	// Text that is not UTF-8 never gets into the store; if it did, it would come
	// out with replacement characters.
	s.b, _ = jsontext.AppendQuote(s.b, value)
}

func (s *jsonSink) Texts(name string, values []string) {
	s.openBracket(name, '[')
	for _, value := range values {
		s.Text("", value)
	}
	s.closeBracket(']')
}

func (s *jsonSink) Bool(name string, value bool) {
	s.writeName(name)
	s.b = strconv.AppendBool(s.b, value)
}

func (s *jsonSink) Number(name string, _ int, digits []byte) {
	if digits == nil {
		s.Null(name, Decimal)
		return
	}
	s.writeName(name)
	s.b = append(s.b, digits...)
}

func (s *jsonSink) Moment(name string, _ Kind, text string) { s.Text(name, text) }

func (s *jsonSink) JSON(name, value string) {
	if value == "" {
		s.Null(name, JSONText)
		return
	}
	s.writeName(name)
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
	s.openObject("")
}

func (s *linesSink) endRow() {
	s.closeObject()
	s.b = append(s.b, '\n')
}

func (s *linesSink) endRows() { s.end = len(s.b) }

func (s *linesSink) Flat() bool { return true }
