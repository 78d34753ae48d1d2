package backup

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestTypesThatNoTableHasAreRefused(t *testing.T) {
	for _, name := range []string{
		"", "Float64", "Array(Array(UInt8))", "Nullable(String)", "LowCardinality(UInt8)", "Map(String, String)", "FixedString(0)",
		"FixedString(-1)", "Decimal(77, 2)", "Tuple(UInt8)", "Array(Nullable(UInt8))", "UInt32)", "Array(UInt32",
	} {
		if got, err := parseType(name); err == nil {
			t.Errorf("%q was taken as %+v", name, got)
		}
	}
	for name, want := range map[string]Type{
		"UInt128": {Width: 16}, "Decimal(18, 6)": {Width: 8}, "Decimal(38, 20)": {Width: 16}, "DateTime64(9, 'UTC')": {Width: 8}, "FixedString(32)": {Width: 32},
		"Nullable(Decimal(38, 20))": {Width: 16, Nullable: true}, "Array(LowCardinality(String))": {Array: true, Words: true},
	} {
		want.Name = name
		if got, err := parseType(name); err != nil || got != want {
			t.Errorf("%s: got %+v, %v", name, got, err)
		}
	}
}

// row is a row of all shapes of cells.
type row struct {
	account string
	number  uint32
	day     *uint16
	list    []string
	numbers []uint64
}

var rowHeader = mustHeader("account_id", "String", "number", "UInt32", "day", "Nullable(Date)", "list", "Array(LowCardinality(String))", "numbers", "Array(UInt64)")

func mustHeader(pairs ...string) Header {
	var names, types []string
	for i := 0; i < len(pairs); i += 2 {
		names, types = append(names, pairs[i]), append(types, pairs[i+1])
	}
	h, err := NewHeader(names, types)
	if err != nil {
		panic(err)
	}
	return h
}

func (r row) encode() []byte {
	all := binary.LittleEndian.AppendUint32(appendText(nil, r.account), r.number)
	if r.day == nil {
		all = append(all, 1)
	} else {
		all = binary.LittleEndian.AppendUint16(append(all, 0), *r.day)
	}
	all = binary.AppendUvarint(all, uint64(len(r.list)))
	for _, text := range r.list {
		all = appendText(all, text)
	}
	all = binary.AppendUvarint(all, uint64(len(r.numbers)))
	for _, n := range r.numbers {
		all = binary.LittleEndian.AppendUint64(all, n)
	}
	return all
}

func drawRow(t *rapid.T) row {
	return row{
		account: "acme", number: rapid.Uint32().Draw(t, "number"), day: rapid.Ptr(rapid.Uint16(), true).Draw(t, "day"),
		list: rapid.SliceOfN(rapid.String(), 0, 4).Draw(t, "list"), numbers: rapid.SliceOfN(rapid.Uint64(), 0, 4).Draw(t, "numbers"),
	}
}

func TestRowsBecomeColumnsWithoutLoss(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := rapid.SliceOfN(rapid.Custom(drawRow), 1, 20).Draw(t, "rows")
		b := newBlock(rowHeader, "acme")
		var numbers, nulls, days, ends, values []byte
		count := uint64(0)
		for _, r := range rows {
			from := r.encode()
			if size, err := b.addRow(append(slices.Clone(from), "more"...)); err != nil || size != len(from) {
				t.Fatalf("%d bytes of %d were taken: %v", size, len(from), err)
			}
			numbers = binary.LittleEndian.AppendUint32(numbers, r.number)
			day, null := uint16(0), byte(1)
			if r.day != nil {
				day, null = *r.day, 0
			}
			nulls, days = append(nulls, null), binary.LittleEndian.AppendUint16(days, day)
			for _, n := range r.numbers {
				values = binary.LittleEndian.AppendUint64(values, n)
			}
			count += uint64(len(r.numbers))
			ends = binary.LittleEndian.AppendUint64(ends, count)
		}
		for i, want := range map[int][]byte{1: numbers, 2: append(nulls, days...), 4: append(ends, values...)} {
			if got := b.Native(i); !bytes.Equal(got, want) {
				t.Errorf("column %d: got %x, want %x", i, got, want)
			}
		}
		for i, texts := range b.Words(3).([][]string) {
			if !slices.Equal(texts, rows[i].list) {
				t.Errorf("row %d: got %q, want %q", i, texts, rows[i].list)
			}
		}
	})
}

func TestARowOfAnotherAccountIsRefused(t *testing.T) {
	if _, err := newBlock(rowHeader, "other").addRow(row{account: "acme"}.encode()); err == nil {
		t.Error("it was taken")
	}
}

func TestEveryPieceOfARowIsTooShort(t *testing.T) {
	whole := row{account: "acme", number: 1, list: []string{"a", "bc"}, numbers: []uint64{1, 2}}.encode()
	for n := range whole {
		if _, err := rowHeader.rowSize(whole[:n]); !errors.Is(err, errShort) {
			t.Errorf("%d of %d bytes: %v", n, len(whole), err)
		}
	}
}

func FuzzCells(f *testing.F) {
	f.Add(rowHeader.encodeHeader(), row{account: "acme", numbers: []uint64{1}}.encode())
	f.Add([]byte{1, 1, 'x', 6, 'S', 't', 'r', 'i', 'n', 'g'}, []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1})
	f.Fuzz(func(t *testing.T, header, rows []byte) {
		h, size, err := decodeHeader(header)
		if err != nil {
			return
		}
		if again, n, err := decodeHeader(h.encodeHeader()); err != nil || n > size || !slices.Equal(again, h) {
			t.Fatalf("%v reads back as %v in %d bytes of %d, %v", h, again, n, size, err)
		}
		walked, walking := h.rowSize(rows)
		taken, taking := newBlock(h, "acme").addRow(rows)
		if taking == nil && (walking != nil || walked != taken || walked > len(rows)) {
			t.Fatalf("%d bytes were walked, %d taken of %d: %v", walked, taken, len(rows), walking)
		}
	})
}
