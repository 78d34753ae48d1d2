package http

// linesSink writes the rows of an answer as lines of JSON, and nothing else.
type linesSink struct {
	jsonSink
	end int // of the last row
}

// rows drops what stood before them.
func (s *linesSink) rows(string, func()) { s.b = s.b[:0] }

func (s *linesSink) nextRow() {
	s.comma = false
	s.open("")
}

func (s *linesSink) endRow() {
	s.close()
	s.b = append(s.b, '\n')
}

func (s *linesSink) endRows() { s.end = len(s.b) }

func (s *linesSink) flat() bool { return true }

// lines are all that was written.
func (s *linesSink) lines() []byte { return s.b[:s.end] }
