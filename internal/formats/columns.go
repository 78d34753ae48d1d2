package formats

import (
	"fmt"
	"strconv"
)

// columnsSink makes a table of an object: see Table.
type columnsSink struct {
	present func(Column) Column
	begin   func([]Column) TableWriter
	out     TableWriter
	columns []Column
	places  map[string]int // of columns by name
	cells   []Cell         // of the row that is being written
	facts   []Fact
	stage   stage
	next    int    // the column that most likely comes next
	path    []byte // of the objects that are open: budget_
	opened  []int  // lengths of the path before them
	dropped Cell
}

// stage is what is being described.
type stage uint8

const (
	aboutAll    stage = iota // what is outside of the rows
	blankRow                 // which columns there are
	betweenRows              // nothing
	inRow
)

func (s *columnsSink) openObject(name string) {
	s.opened = append(s.opened, len(s.path))
	if name != "" {
		s.path = append(append(s.path, name...), '_')
	}
}

func (s *columnsSink) closeObject() {
	last := len(s.opened) - 1
	s.path, s.opened = s.path[:s.opened[last]], s.opened[:last]
}

// openList has its objects written as JSON.
func (s *columnsSink) openList(string) sink {
	inner := &jsonSink{}
	inner.openBracket("", '[')
	return inner
}

func (s *columnsSink) closeList(name string, inner sink) {
	written := inner.(*jsonSink)
	written.closeBracket(']')
	s.JSON(name, string(written.b))
}

func (s *columnsSink) beginRows(_ string, blank func()) {
	s.stage = blankRow
	blank()
	s.out, s.cells, s.stage = s.begin(s.columns), make([]Cell, len(s.columns)), betweenRows
}

func (s *columnsSink) beginRow() {
	s.stage, s.next = inRow, 0
	for i := range s.cells {
		s.cells[i].Null = true
	}
}

func (s *columnsSink) endRow() {
	s.out.Row(s.cells)
	s.stage = betweenRows
}

func (s *columnsSink) endRows() { s.stage = aboutAll }

// writeNullObject leaves the cells of a null object null.
func (s *columnsSink) writeNullObject(string) bool { return s.stage == blankRow }

func (s *columnsSink) Flat() bool { return true }

// cellFor returns the cell that a value belongs in.
func (s *columnsSink) cellFor(name string, kind Kind, scale int) *Cell {
	s.path = append(s.path, name...)
	key := s.path
	s.path = s.path[:len(s.path)-len(name)]
	switch s.stage {
	case aboutAll:
		s.facts = append(s.facts, Fact{Column: s.present(Column{Name: string(key), Kind: kind, Scale: scale})})
		return &s.facts[len(s.facts)-1].Cell
	case blankRow:
		if _, known := s.places[string(key)]; !known {
			s.places[string(key)] = len(s.columns)
			s.columns = append(s.columns, s.present(Column{Name: string(key), Kind: kind, Scale: scale}))
		}
		return &s.dropped
	}
	place := s.next
	if place >= len(s.columns) || s.columns[place].Name != string(key) {
		var known bool
		if place, known = s.places[string(key)]; !known {
			panic(fmt.Sprintf("a row has %s, which the blank one has not", key)) // it would be missing silently
		}
	}
	s.next = place + 1
	cell := &s.cells[place]
	cell.Null, cell.Text = false, cell.Text[:0]
	return cell
}

func (s *columnsSink) Null(name string, kind Kind) { s.cellFor(name, kind, 0).Null = true }

func (s *columnsSink) Text(name, value string) { s.Moment(name, Text, value) }

func (s *columnsSink) Texts(name string, values []string) {
	cell := s.cellFor(name, List, 0)
	for i, value := range values {
		if i > 0 {
			cell.Text = append(cell.Text, ';')
		}
		cell.Text = append(cell.Text, value...)
	}
}

func (s *columnsSink) Bool(name string, value bool) {
	cell := s.cellFor(name, Bool, 0)
	cell.Text = strconv.AppendBool(cell.Text, value)
}

func (s *columnsSink) Number(name string, scale int, digits []byte) {
	kind := Whole
	if scale > 0 {
		kind = Decimal
	}
	cell := s.cellFor(name, kind, scale)
	cell.Null, cell.Text = digits == nil, append(cell.Text, digits...)
}

func (s *columnsSink) Moment(name string, kind Kind, text string) {
	cell := s.cellFor(name, kind, 0)
	cell.Text = append(cell.Text, text...)
}

func (s *columnsSink) JSON(name, value string) { s.Moment(name, JSONText, value) }
