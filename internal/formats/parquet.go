package formats

import (
	"bytes"
	"fmt"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// parquetFacts is the name under which a file's metadata has the facts, as one
// JSON object of texts.
const parquetFacts = "adlens"

// parquetWriter keeps the rows as text until all are there: whether counts fit
// into 64 bits decides about the type of their column.
type parquetWriter struct {
	columns []Column
	text    []byte
	ends    []int // of each cell in text; negative for null
	large   []bool
}

// NewParquet returns a writer of Parquet. Every column may be null; decimals
// have 38 digits; counts have 64 bits, or are decimals where one does not fit.
func NewParquet(columns []Column) TableWriter {
	return &parquetWriter{columns: columns, large: make([]bool, len(columns))}
}

func (w *parquetWriter) Row(cells []Cell) {
	for i, cell := range cells {
		if cell.Null {
			w.ends = append(w.ends, -1)
			continue
		}
		if w.columns[i].Kind == Whole && !w.large[i] {
			_, err := strconv.ParseInt(string(cell.Text), 10, 64)
			w.large[i] = err != nil
		}
		w.text = append(w.text, cell.Text...)
		w.ends = append(w.ends, len(w.text))
	}
}

func (w *parquetWriter) Close(facts []Fact) ([]byte, error) {
	about, err := aboutJSON(facts)
	if err != nil {
		return nil, err
	}
	var file bytes.Buffer
	options := []parquet.WriterOption{w.buildSchema(), parquet.Compression(&parquet.Snappy), parquet.CreatedBy("adlens", "", ""), parquet.KeyValueMetadata(parquetFacts, about)}
	for i, c := range w.columns {
		if w.isDecimal(i) {
			options = append(options, parquet.SkipPageBounds(c.Name), parquet.SkipPageStatistics(c.Name))
		}
	}
	out := parquet.NewGenericWriter[any](&file, options...)
	if err := w.writeRows(out); err != nil {
		return nil, err
	}
	if err := out.Close(); err != nil {
		return nil, err
	}
	return file.Bytes(), nil
}

// writeRows writes the rows in blocks.
func (w *parquetWriter) writeRows(out *parquet.GenericWriter[any]) error {
	const block = 1000
	n := len(w.columns)
	values, rows := make([]parquet.Value, block*n), make([]parquet.Row, 0, block)
	from := 0
	for cell, end := range w.ends {
		row, column := cell/n%block, cell%n
		value := parquet.NullValue()
		if end >= 0 {
			var err error
			if value, err = w.cellValue(column, w.text[from:end]); err != nil {
				return fmt.Errorf("%s: %w", w.columns[column].Name, err)
			}
			value, from = value.Level(0, 1, column), end
		} else {
			value = value.Level(0, 0, column)
		}
		values[row*n+column] = value
		if column < n-1 {
			continue
		}
		rows = append(rows, values[row*n:row*n+n])
		if len(rows) == block || cell == len(w.ends)-1 {
			if _, err := out.WriteRows(rows); err != nil {
				return err
			}
			rows = rows[:0]
		}
	}
	return nil
}

// isDecimal reports whether a column is stored as decimals.
func (w *parquetWriter) isDecimal(column int) bool {
	c := w.columns[column]
	return c.Kind == Decimal || c.Kind == Whole && w.large[column]
}

// cellValue reads a cell as its column's type.
func (w *parquetWriter) cellValue(column int, text []byte) (v parquet.Value, err error) {
	switch c := w.columns[column]; {
	case w.isDecimal(column):
		number, err := parseUnscaled(text, c.Scale)
		return parquet.FixedLenByteArrayValue(number[:]), err
	case c.Kind == Whole:
		n, err := strconv.ParseInt(string(text), 10, 64)
		return parquet.Int64Value(n), err
	case c.Kind == Day:
		t, err := time.Parse(time.DateOnly, string(text))
		return parquet.Int32Value(int32(t.Unix() / secondsPerDay)), err
	case c.Kind == Instant:
		t, err := time.Parse(time.RFC3339, string(text))
		return parquet.Int64Value(t.UnixMilli()), err
	case c.Kind == Bool:
		return parquet.BooleanValue(string(text) == "true"), nil
	}
	return parquet.ByteArrayValue(text), nil
}

const secondsPerDay = 24 * 60 * 60

func (w *parquetWriter) buildSchema() *parquet.Schema {
	root := ordered{Group: parquet.Group{}}
	for i, c := range w.columns {
		root.names = append(root.names, c.Name)
		root.Group[c.Name] = parquet.Optional(w.columnNode(i))
	}
	return parquet.NewSchema("adlens", root)
}

func (w *parquetWriter) columnNode(column int) parquet.Node {
	switch c := w.columns[column]; {
	case w.isDecimal(column):
		return parquet.Decimal(c.Scale, digits38, decimalType{parquet.FixedLenByteArrayType(decimalBytes)})
	case c.Kind == Whole:
		return parquet.Int(64)
	case c.Kind == Day:
		return parquet.Date()
	case c.Kind == Instant:
		return parquet.Timestamp(parquet.Millisecond)
	case c.Kind == Bool:
		return parquet.Leaf(parquet.BooleanType)
	}
	return parquet.String()
}

// ordered is a group whose fields stay in their order. The library's own are
// ordered by name.
type ordered struct {
	parquet.Group
	names []string
}

func (o ordered) Fields() []parquet.Field {
	byName := map[string]parquet.Field{}
	for _, f := range o.Group.Fields() {
		byName[f.Name()] = f
	}
	fields := make([]parquet.Field, len(o.names))
	for i, name := range o.names {
		fields[i] = byName[name]
	}
	return fields
}

// aboutJSON writes facts as a JSON object of texts and nulls.
func aboutJSON(facts []Fact) (string, error) {
	about := map[string]*string{}
	for _, f := range facts {
		about[f.Name] = new(string(f.Text))
		if f.Null {
			about[f.Name] = nil
		}
	}
	b, err := json.Marshal(about, json.Deterministic(true))
	return string(b), err
}

// decimalType is a type of the library without its bounds, which compare decimals
// without their sign: a reader may leave out what is outside of them.
type decimalType struct{ parquet.Type }

func (decimalType) NewColumnIndexer(int) parquet.ColumnIndexer { return &decimalIndexer{} }

// decimalIndexer describes pages of decimals, each of which may hold any.
type decimalIndexer struct{ index format.ColumnIndex }

func (i *decimalIndexer) Reset() { i.index = format.ColumnIndex{} }

func (i *decimalIndexer) IndexPage(values, nulls int64, _, _ parquet.Value) {
	var least, greatest []byte // of no value
	if values > nulls {
		least, greatest = leastDecimal[:], greatestDecimal[:]
	}
	i.index.NullPages, i.index.NullCounts = append(i.index.NullPages, values == nulls), append(i.index.NullCounts, nulls)
	i.index.MinValues, i.index.MaxValues = append(i.index.MinValues, least), append(i.index.MaxValues, greatest)
}

func (i *decimalIndexer) ColumnIndex() format.ColumnIndex { return i.index }

// Bounds of 16 bytes, with their sign.
var leastDecimal, greatestDecimal = int128Bytes(1<<63, 0, false), int128Bytes(1<<63-1, 1<<64-1, false)
