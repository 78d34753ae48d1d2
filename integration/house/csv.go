package house

import (
	"bytes"
	"encoding/csv"
	"testing"
)

// CSVRows reads CSV as a spreadsheet does, names first.
func CSVRows(t *testing.T, text []byte) [][]string {
	t.Helper()
	rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	Need(t, err)
	return rows
}
