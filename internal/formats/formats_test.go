package formats

import (
	"bytes"
	standard "cmp"
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"adlens/integration/readers"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/parquet-go/parquet-go"
	"pgregory.net/rapid"
)

// oddTexts are those that formats stumble over.
var oddTexts = []string{"", "plain", "a,b;c\td", `say "x"`, "two\nlines", "cr\rhere", "crlf\r\nend", "=HYPERLINK(\"x\")", "+1", "-5.20", "@sum", "\tx", "\rx", "'quoted",
	"_x0041_", "_x000D_", "_x0041\rb", "_xFFFF\x01", "<b>&amp;</b>", "😀 emoji", "\x01\x1f control", "123456789012345678", " spaces ", "1,5", "ÄÖÜ ſ", "\ufffe", "]]>"}

func drawText() *rapid.Generator[string] {
	return rapid.OneOf(rapid.SampledFrom(oddTexts), rapid.String())
}

// drawCell is a value of a kind in its spelling.
func drawCell(t *rapid.T, c Column) Cell {
	if rapid.IntRange(0, 4).Draw(t, "null") == 0 {
		return Cell{Null: true, Text: []byte("left over")}
	}
	var text string
	switch c.Kind {
	case Whole:
		text = new(big.Int).SetUint64(rapid.Uint64().Draw(t, "whole")).String()
	case Decimal:
		n := new(big.Int).SetBytes(rapid.SliceOfN(rapid.Byte(), 0, 14).Draw(t, "units"))
		if rapid.Bool().Draw(t, "negative") {
			n.Neg(n)
		}
		text = new(big.Rat).SetFrac(n, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(c.Scale)), nil)).FloatString(c.Scale)
	case Day:
		text = time.Unix(rapid.Int64Range(-2_000_000_000, 7_000_000_000).Draw(t, "day"), 0).UTC().Format(time.DateOnly)
	case Instant:
		text = time.UnixMilli(rapid.Int64Range(0, 5_000_000_000_000).Draw(t, "instant")).UTC().Format("2006-01-02T15:04:05.000Z")
	case Bool:
		text = rapid.SampledFrom([]string{"true", "false"}).Draw(t, "bool")
	default:
		text = drawText().Draw(t, "text")
	}
	return Cell{Text: []byte(text)}
}

type drawn struct {
	columns []Column
	rows    [][]Cell
}

func draw(t *rapid.T) drawn {
	var d drawn
	for i := range rapid.IntRange(1, 9).Draw(t, "columns") {
		kind := Kind(rapid.IntRange(int(Text), int(Bool)).Draw(t, "kind"))
		d.columns = append(d.columns, Column{Name: string(rune('z' - i)), Kind: kind, Scale: map[Kind]int{Decimal: rapid.SampledFrom([]int{2, 20}).Draw(t, "scale")}[kind],
			Heading: rapid.SampledFrom([]string{"", "Heading, " + string(rune('Z'-i))}).Draw(t, "heading"), Unit: rapid.SampledFrom([]string{"", "%", "USD"}).Draw(t, "unit")})
	}
	for range rapid.IntRange(0, 20).Draw(t, "rows") {
		row := make([]Cell, len(d.columns))
		for i, c := range d.columns {
			row[i] = drawCell(t, c)
		}
		d.rows = append(d.rows, row)
	}
	return d
}

func (d drawn) file(t *rapid.T, begin func([]Column) TableWriter) []byte {
	w := begin(d.columns)
	for _, row := range d.rows {
		w.Row(row)
	}
	file, err := w.Close([]Fact{{Column{Name: "why", Kind: Text}, Cell{Text: []byte("=1+1")}}, {Column{Name: "none"}, Cell{Null: true}}})
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// want are the rows as a reader has to find them.
func (d drawn) want(spelled func(Column, string) *string) [][]*string {
	var all [][]*string
	for _, row := range d.rows {
		values := make([]*string, len(row))
		for i, cell := range row {
			if !cell.Null {
				values[i] = spelled(d.columns[i], strings.ToValidUTF8(string(cell.Text), "\ufffd"))
			}
		}
		all = append(all, values)
	}
	return all
}

// mustBe demands rows below a line of what head says of the columns.
func (d drawn) mustBe(t *rapid.T, got readers.Table, head func(Column) string, want [][]*string) {
	for i, c := range d.columns {
		if got.Columns[i] != head(c) {
			t.Fatalf("columns %v, want %v", got.Columns, d.columns)
		}
	}
	if difference := cmp.Diff(want, got.Rows, cmpopts.EquateEmpty()); difference != "" {
		t.Fatal(difference)
	}
}

// headed is what people read above a column.
func headed(c Column) string { return standard.Or(c.Heading, c.Name) }

// guard is the contract's rule, written again.
func guard(c Column, text string) string {
	if c.Kind <= JSONText && text != "" && strings.ContainsAny(text[:1], "=+-@\t\r") {
		return "'" + text
	}
	return text
}

func TestCSVIsReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := draw(t)
		csv := CSV{Separator: rapid.SampledFrom([]byte(",;\t")).Draw(t, "separator"), Decimal: rapid.SampledFrom([]byte(".,")).Draw(t, "decimal")}
		file := d.file(t, csv.New)
		got, err := readers.CSV(file, rune(csv.Separator))
		if err != nil {
			t.Fatal(err)
		}
		if lines := bytes.Count(file, []byte("\r\n")); lines < 1+len(d.rows) || !bytes.HasSuffix(file, []byte("\r\n")) {
			t.Fatalf("%d line ends of %d rows in %q", lines, len(d.rows), file)
		}
		if len(d.columns) == 1 {
			return // a line of one empty value is an empty line, which readers leave out
		}
		d.mustBe(t, got, headed, d.want(func(c Column, text string) *string {
			if c.Kind == Decimal && csv.Decimal == ',' {
				text = strings.Replace(text, ".", ",", 1)
			}
			// The reader of the standard library takes CRLF inside of values for LF.
			text = strings.ReplaceAll(guard(c, text), "\r\n", "\n")
			if text == "" {
				return nil
			}
			return &text
		}))
	})
}

func TestSpreadsheetsAreReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := draw(t)
		got, err := readers.XLSX(d.file(t, NewXLSX))
		if err != nil {
			t.Fatal(err)
		}
		d.mustBe(t, got.Table, headed, d.want(func(_ Column, text string) *string { return &text }))
		if why, known := got.About["why"]; !known || *why != "=1+1" || !got.Frozen {
			t.Fatalf("%v %v", got.About, got.Frozen)
		}
		if none, known := got.About["none"]; !known || none != nil {
			t.Fatalf("%v", got.About)
		}
		if want := fmt.Sprintf("A1:%c%d", 'A'+len(d.columns)-1, 1+len(d.rows)); got.Filter != want {
			t.Fatalf("the filter is over %s, want %s", got.Filter, want)
		}
		for i, c := range d.columns {
			if code := got.Formats[i]; code != "" && code != shownAs(c) {
				t.Fatalf("%+v is shown as %s, want %s", c, code, shownAs(c))
			}
		}
	})
}

// shownAs is the format of a column's numbers, or days.
func shownAs(c Column) string {
	number := map[Kind]string{Whole: "#,##0", Decimal: "#,##0.00", Day: `yyyy\-mm\-dd`, Instant: `yyyy\-mm\-dd\ hh:mm:ss.000`}[c.Kind]
	if c.Scale > 2 {
		number += "##"
	}
	switch {
	case c.Kind != Whole && c.Kind != Decimal:
		return number
	case c.Unit == "%":
		return number + `"%"`
	case c.Unit == "USD":
		return `[$USD]\ ` + number
	}
	return number
}

func TestParquetIsReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := draw(t)
		got, about, err := readers.Parquet(d.file(t, NewParquet))
		if err != nil {
			t.Fatal(err)
		}
		if about != `{"none":null,"why":"=1+1"}` {
			t.Fatal(about)
		}
		d.mustBe(t, got, func(c Column) string { return c.Name }, d.want(func(_ Column, text string) *string { return &text }))
	})
}

// Writers hand on what they have after so many rows or bytes: each row is there once, with
// its own values.
func TestLongTablesAreReadBack(t *testing.T) {
	columns := []Column{{Name: "id"}, {Name: "spend", Kind: Decimal, Scale: 2}, {Name: "clicks", Kind: Whole}}
	for name, format := range map[string]struct {
		begin func([]Column) TableWriter
		read  func([]byte) (readers.Table, error)
	}{
		"csv": {CSV{',', '.'}.New, func(file []byte) (readers.Table, error) { return readers.CSV(file, ',') }},
		"xlsx": {NewXLSX, func(file []byte) (readers.Table, error) {
			book, err := readers.XLSX(file)
			return book.Table, err
		}},
		"parquet": {NewParquet, func(file []byte) (readers.Table, error) {
			table, _, err := readers.Parquet(file)
			return table, err
		}},
	} {
		const rows = 2_345
		w := format.begin(columns)
		for i := range rows {
			w.Row([]Cell{{Text: fmt.Appendf(nil, "B%07d", i)}, {Null: i%7 == 0, Text: fmt.Appendf(nil, "%d.25", i)}, {Text: fmt.Append(nil, 3*i)}})
		}
		file, err := w.Close(nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := format.read(file)
		if err != nil || len(got.Rows) != rows {
			t.Fatalf("%s has %d rows, expected %d: %v", name, len(got.Rows), rows, err)
		}
		for i, row := range got.Rows {
			spend := row[1] == nil
			if i%7 != 0 {
				spend = row[1] != nil && *row[1] == fmt.Sprintf("%d.25", i)
			}
			if *row[0] != fmt.Sprintf("B%07d", i) || !spend || *row[2] != fmt.Sprint(3*i) {
				t.Fatalf("row %d of %s is %v", i, name, row)
			}
		}
	}
}

// The same table is the same file, whatever was written before and beside it.
func TestFilesAreTheSameToTheByte(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := draw(t)
		for _, begin := range []func([]Column) TableWriter{CSV{',', '.'}.New, NewXLSX, NewParquet} {
			if first, again := d.file(t, begin), d.file(t, begin); !bytes.Equal(first, again) {
				t.Fatalf("%d and %d bytes that differ", len(first), len(again))
			}
		}
	})
}

func TestADecimalThatDoesNotFitIsRefused(t *testing.T) {
	for text, scale := range map[string]int{strings.Repeat("9", 37): 2, "1.234": 2, "": 2, "1e5": 2, "1.2.3": 2, "0x1": 2, "-" + strings.Repeat("9", 39): 0} {
		if n, err := parseUnscaled([]byte(text), scale); err == nil {
			t.Errorf("%q is %v", text, n)
		}
	}
	if _, err := parseUnscaled([]byte("-"+strings.Repeat("9", 36)+".99"), 2); err != nil {
		t.Error(err)
	}
}

func TestALongTextIsCutInSight(t *testing.T) {
	w := NewXLSX([]Column{{Name: "text"}})
	long := strings.Repeat("😀", 20_000)
	w.Row([]Cell{{Text: []byte(long)}})
	w.Row([]Cell{{Text: []byte(long[:4*16_383])}})
	file, err := w.Close(nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := readers.XLSX(file)
	if err != nil {
		t.Fatal(err)
	}
	if text := *got.Rows[0][0]; !strings.HasSuffix(text, cutNote) || !strings.HasPrefix(text, long[:60_000]) || len(utf16.Encode([]rune(text))) > 32_767 {
		t.Errorf("%d letters, ending %q", len([]rune(text)), text[len(text)-80:])
	}
	if *got.Rows[1][0] != long[:4*16_383] {
		t.Error("a text that fits was cut")
	}
}

func TestColumnsAreCalledAsSpreadsheetsDo(t *testing.T) {
	for column, want := range map[int]string{0: "A", 25: "Z", 26: "AA", 51: "AZ", 52: "BA", 701: "ZZ", 702: "AAA"} {
		if got := columnName(column); got != want {
			t.Errorf("column %d is %s, want %s", column, got, want)
		}
	}
}

// Readers of Parquet leave out pages whose bounds do not hold what they look for. No
// bounds of a column leave out a value of it, and each page has its own.
func TestBoundsInParquetLeaveNothingOut(t *testing.T) {
	w := NewParquet([]Column{{Name: "change", Kind: Decimal, Scale: 2}, {Name: "none", Kind: Decimal, Scale: 2}, {Name: "count", Kind: Whole}, {Name: "text"}})
	for i := range 60_000 { // some pages
		cell := Cell{Text: []byte(fmt.Sprintf("%d.00", i-30_000))}
		w.Row([]Cell{cell, {Null: true}, {Text: []byte(fmt.Sprint(i))}, {Text: []byte("a")}})
	}
	content, err := w.Close(nil)
	if err != nil {
		t.Fatal(err)
	}
	file, err := parquet.OpenFile(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		t.Fatal(err)
	}
	signed := func(raw []byte) *big.Int {
		n := new(big.Int).SetBytes(raw)
		if raw[0] >= 0x80 {
			n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(raw))))
		}
		return n
	}
	holds := func(least, greatest []byte) bool {
		return len(least) == decimalBytes && signed(least).Cmp(big.NewInt(-3_000_000)) <= 0 && signed(greatest).Cmp(big.NewInt(2_999_900)) >= 0
	}
	for column, index := range file.ColumnIndexes() {
		pages := len(index.NullPages)
		if len(index.MinValues) != pages || len(index.MaxValues) != pages || len(index.NullCounts) != pages || pages < 2 && column < 2 {
			t.Errorf("column %d has %d pages, %d least and %d greatest values", column, pages, len(index.MinValues), len(index.MaxValues))
		}
		for page, empty := range index.NullPages {
			if column == 0 && !holds(index.MinValues[page], index.MaxValues[page]) || column == 1 && (!empty || len(index.MinValues[page]) > 0) {
				t.Errorf("page %d of column %d is empty: %v, bounds % x and % x", page, column, empty, index.MinValues[page], index.MaxValues[page])
			}
		}
	}
	if s := file.Metadata().RowGroups[0].Columns[0].MetaData.Statistics; s.MinValue != nil && !holds(s.MinValue, s.MaxValue) {
		t.Errorf("the column is bounded by % x and % x", s.MinValue, s.MaxValue)
	}
}

// A line without a character is none to readers of CSV.
func TestARowOfOneNullIsALine(t *testing.T) {
	w := CSV{',', '.'}.New([]Column{{Name: "acos", Kind: Decimal}})
	w.Row([]Cell{{Null: true}})
	if file, err := w.Close(nil); err != nil || string(file) != "acos\r\n\"\"\r\n" {
		t.Errorf("%q, %v", file, err)
	}
}

// A count that 64 bits do not hold is exact in Parquet all the same, in rows
// before it too.
func TestLargeCountsStayExact(t *testing.T) {
	w := NewParquet([]Column{{Name: "count", Kind: Whole}, {Name: "other", Kind: Whole}})
	for _, text := range []string{"7", "170141183460469231731687303715884105727", "9223372036854775807"} {
		w.Row([]Cell{{Text: []byte(text)}, {Text: []byte("9223372036854775807")}})
	}
	if _, err := w.Close(nil); err == nil {
		t.Fatal("39 digits fit into 38")
	}
	w = NewParquet([]Column{{Name: "count", Kind: Whole}})
	want := []string{"7", "99999999999999999999999999999999999999", "9223372036854775808"}
	for _, text := range want {
		w.Row([]Cell{{Text: []byte(text)}})
	}
	file, err := w.Close(nil)
	if err != nil {
		t.Fatal(err)
	}
	got, _, err := readers.Parquet(file)
	if err != nil {
		t.Fatal(err)
	}
	for i := range want {
		if *got.Rows[i][0] != want[i] {
			t.Errorf("%s, want %s", *got.Rows[i][0], want[i])
		}
	}
}

func FuzzGuard(f *testing.F) {
	for _, text := range oddTexts {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		w := CSV{',', '.'}.New([]Column{{Name: "text"}, {Name: "number", Kind: Decimal}})
		w.Row([]Cell{{Text: []byte(text)}, {Text: []byte("-5.20")}})
		file, _ := w.Close(nil)
		got, err := readers.CSV(file, ',')
		if err != nil || len(got.Rows) != 1 || *got.Rows[0][1] != "-5.20" {
			t.Fatalf("%q: %v, %v", file, got, err)
		}
		want := strings.ReplaceAll(guard(Column{}, text), "\r\n", "\n")
		if cell := got.Rows[0][0]; cell == nil && want != "" || cell != nil && *cell != want {
			t.Fatalf("%q is read as %v, want %q", text, cell, want)
		}
	})
}
