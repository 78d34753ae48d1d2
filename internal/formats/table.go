package formats

import "cmp"

// Kind says what a column holds.
type Kind uint8

// The kinds of columns, and how a cell's text spells a value of them.
const (
	Text     Kind = iota // as it is
	List                 // plain values, joined by ;
	JSONText             // a JSON text
	Whole                // 42, of any size
	Decimal              // 12.50, exact
	Day                  // 2026-03-01
	Instant              // 2026-03-01T10:24:00.000Z
	Bool                 // true, false
)

// isText reports whether a column's values are text to a program that reads them.
func (k Kind) isText() bool { return k <= JSONText }

// Column is a column of a table.
type Column struct {
	Name  string
	Kind  Kind
	Scale int // decimals that a Decimal may have

	// How people read the column, where the format is for them.
	Heading string // its first cell; "" is the name
	Unit    string // shown with its numbers: %, the code of a currency, or ""
}

// heading returns the first cell of the column.
func (c Column) heading() []byte { return []byte(cmp.Or(c.Heading, c.Name)) }

// Cell is a value in the spelling of its column's kind, or null.
type Cell struct {
	Null bool
	Text []byte
}

// Fact is a value that describes the table as a whole.
type Fact struct {
	Column
	Cell
}

// TableWriter writes a table, row by row.
type TableWriter interface {
	// Row writes a row of as many cells as there are columns. It keeps none.
	Row(cells []Cell)
	// Close returns the whole file. Facts are left out where the format has no
	// place for them. The error is of values that the format cannot hold.
	Close(facts []Fact) ([]byte, error)
}
