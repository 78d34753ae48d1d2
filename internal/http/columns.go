package http

import (
	"fmt"
	"strconv"

	"adlens"
	"adlens/internal/query"
	"adlens/internal/table"
)

// columnsSink makes a table of an answer: each row of it is one, with a column
// for each field, those of an object behind its name (budget_amount). A list
// of objects is one JSON text. All else that the answer says are facts about
// the table.
type columnsSink struct {
	begin   func([]table.Column) table.Writer
	out     table.Writer
	columns []table.Column
	places  map[string]int // of columns by name
	cells   []table.Cell   // of the row that is being told
	facts   []table.Fact
	stage   stage
	next    int    // the column that most likely comes next
	path    []byte // of the objects that are open: budget_
	opened  []int  // lengths of the path before them
	dropped table.Cell
}

// stage is what is being told.
type stage uint8

const (
	aboutAll   stage = iota // what stands beside the rows
	blankRow                // which columns there are
	betweenRow              // nothing
	inRow
)

func newColumnsSink(begin func([]table.Column) table.Writer) *columnsSink {
	return &columnsSink{begin: begin, places: map[string]int{}}
}

func (s *columnsSink) open(name string) {
	s.opened = append(s.opened, len(s.path))
	if name != "" {
		s.path = append(append(s.path, name...), '_')
	}
}

func (s *columnsSink) close() {
	last := len(s.opened) - 1
	s.path, s.opened = s.path[:s.opened[last]], s.opened[:last]
}

// list has its objects written as JSON.
func (s *columnsSink) list(string) sink {
	inner := &jsonSink{}
	inner.begin("", '[')
	return inner
}

func (s *columnsSink) listed(name string, inner sink) {
	written := inner.(*jsonSink)
	written.end(']')
	s.json(name, string(written.b))
}

func (s *columnsSink) rows(_ string, blank func()) {
	s.stage = blankRow
	blank()
	s.out, s.cells, s.stage = s.begin(s.columns), make([]table.Cell, len(s.columns)), betweenRow
}

func (s *columnsSink) nextRow() {
	s.stage, s.next = inRow, 0
	for i := range s.cells {
		s.cells[i].Null = true
	}
}

func (s *columnsSink) endRow() {
	s.out.Row(s.cells)
	s.stage = betweenRow
}

func (s *columnsSink) endRows() { s.stage = aboutAll }

// absent leaves the cells of a null object null.
func (s *columnsSink) absent(string) bool { return s.stage == blankRow }

func (s *columnsSink) flat() bool { return true }

// finish returns the whole file.
func (s *columnsSink) finish() ([]byte, error) { return s.out.Close(s.facts) }

// cell is where a value belongs.
func (s *columnsSink) cell(name string, kind table.Kind, scale int) *table.Cell {
	s.path = append(s.path, name...)
	key := s.path
	s.path = s.path[:len(s.path)-len(name)]
	switch s.stage {
	case aboutAll:
		s.facts = append(s.facts, table.Fact{Column: table.Column{Name: string(key), Kind: kind, Scale: scale}})
		return &s.facts[len(s.facts)-1].Cell
	case blankRow:
		if _, known := s.places[string(key)]; !known {
			s.places[string(key)] = len(s.columns)
			s.columns = append(s.columns, table.Column{Name: string(key), Kind: kind, Scale: scale})
		}
		return &s.dropped
	}
	place := s.next
	if place >= len(s.columns) || s.columns[place].Name != string(key) {
		var known bool
		if place, known = s.places[string(key)]; !known {
			panic(fmt.Sprintf("a row has %s, which the blank one has not", key)) // it would be left out without a word
		}
	}
	s.next = place + 1
	cell := &s.cells[place]
	cell.Null, cell.Text = false, cell.Text[:0]
	return cell
}

func (s *columnsSink) null(name string, kind table.Kind) { s.cell(name, kind, 0).Null = true }

func (s *columnsSink) text(name, value string) { s.moment(name, table.Text, value) }

func (s *columnsSink) texts(name string, values []string) {
	cell := s.cell(name, table.List, 0)
	for i, value := range values {
		if i > 0 {
			cell.Text = append(cell.Text, ';')
		}
		cell.Text = append(cell.Text, value...)
	}
}

func (s *columnsSink) bool(name string, value bool) {
	cell := s.cell(name, table.Bool, 0)
	cell.Text = strconv.AppendBool(cell.Text, value)
}

func (s *columnsSink) count(name string, value uint64) {
	cell := s.cell(name, table.Whole, 0)
	cell.Text = strconv.AppendUint(cell.Text, value, 10)
}

func (s *columnsSink) figure(name string, value query.Value) {
	kind, scale := table.Whole, 0
	if value.Hundredths() {
		kind, scale = table.Decimal, 2
	}
	cell := s.cell(name, kind, scale)
	if cell.Null = value.Null(); !cell.Null {
		cell.Text = value.Append(cell.Text)
	}
}

func (s *columnsSink) amount(name string, value *adlens.Amount) {
	cell := s.cell(name, table.Decimal, adlens.AmountDecimals)
	if cell.Null = value == nil; !cell.Null {
		cell.Text = append(cell.Text, value.String()...)
	}
}

func (s *columnsSink) moment(name string, kind table.Kind, text string) {
	cell := s.cell(name, kind, 0)
	cell.Text = append(cell.Text, text...)
}

func (s *columnsSink) json(name, value string) { s.moment(name, table.JSON, value) }
