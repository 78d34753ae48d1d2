// Package readers reads the formats of answers as other programs do, sharing no
// code with what writes them, but for the Parquet library. A value comes back
// in the spelling of the JSON answer.
package readers

import (
	"bytes"
	"encoding/csv"
	"strings"
)

// Table is what a file says: columns and rows. A nil value is an empty cell.
type Table struct {
	Columns []string
	Rows    [][]*string
}

// Guarded takes the apostrophe away that keeps a text from being a formula.
func Guarded(text string) string {
	if len(text) > 1 && text[0] == '\'' && strings.ContainsRune("=+-@\t\r", rune(text[1])) {
		return text[1:]
	}
	return text
}

// CSV reads a file of some separator. Values are left as they are, apostrophes
// and decimal commas too; an empty one is nil.
func CSV(file []byte, separator rune) (t Table, err error) {
	r := csv.NewReader(bytes.NewReader(file))
	r.Comma = separator
	lines, err := r.ReadAll()
	if err != nil {
		return t, err
	}
	for i, line := range lines {
		if i == 0 {
			t.Columns = line
			continue
		}
		row := make([]*string, len(line))
		for j := range line {
			if line[j] != "" {
				row[j] = &line[j]
			}
		}
		t.Rows = append(t.Rows, row)
	}
	return t, nil
}
