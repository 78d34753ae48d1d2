package formats

import "bytes"

// CSV is how a CSV file is written.
type CSV struct {
	Separator byte
	Decimal   byte // between whole and fraction of decimals
}

// csvWriter writes CSV by RFC 4180: a header line, lines ended by CRLF. Line
// ends inside of values stay as they are, which encoding/csv does not do.
type csvWriter struct {
	CSV
	columns []Column
	b       []byte
}

// New returns a writer that has written the header line.
func (c CSV) New(columns []Column) TableWriter {
	w := &csvWriter{CSV: c, columns: columns}
	for i, column := range columns {
		w.writeSeparator(i)
		w.writeValue(column.heading())
	}
	w.b = append(w.b, "\r\n"...)
	return w
}

func (w *csvWriter) writeSeparator(column int) {
	if column > 0 {
		w.b = append(w.b, w.Separator)
	}
}

func (w *csvWriter) Row(cells []Cell) {
	begun := len(w.b)
	for i, cell := range cells {
		w.writeSeparator(i)
		switch {
		case cell.Null:
		case w.columns[i].Kind.isText():
			w.writeValue(escapeFormula(cell.Text))
		case w.columns[i].Kind == Decimal && w.Decimal != '.':
			w.writeValue(bytes.Replace(cell.Text, []byte{'.'}, []byte{w.Decimal}, 1))
		default:
			w.b = append(w.b, cell.Text...)
		}
	}
	if len(w.b) == begun { // readers skip an empty line
		w.b = append(w.b, '"', '"')
	}
	w.b = append(w.b, "\r\n"...)
}

// writeValue writes a value, in quotes where it needs them.
func (w *csvWriter) writeValue(text []byte) {
	if !bytes.ContainsAny(text, "\"\r\n") && bytes.IndexByte(text, w.Separator) < 0 {
		w.b = append(w.b, text...)
		return
	}
	w.b = append(w.b, '"')
	for _, c := range text {
		if c == '"' {
			w.b = append(w.b, '"')
		}
		w.b = append(w.b, c)
	}
	w.b = append(w.b, '"')
}

func (w *csvWriter) Close([]Fact) ([]byte, error) { return w.b, nil }

// escapeFormula is a text that no spreadsheet takes for a formula: one that begins
// like one gets an apostrophe before it.
func escapeFormula(text []byte) []byte {
	if len(text) > 0 && bytes.IndexByte([]byte("=+-@\t\r"), text[0]) >= 0 {
		return append([]byte{'\''}, text...)
	}
	return text
}
