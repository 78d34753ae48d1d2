package backup

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Type is the type of a column as far as its bytes go: how a cell stands in a
// row, and how its values stand one behind the other in a column.
type Type struct {
	Name     string // as the database writes it
	Width    int    // of a value in bytes; 0 of texts
	Nullable bool   // a byte before each value says whether there is none
	Array    bool   // a length before the values of each cell
	Words    bool   // texts of which the database keeps a dictionary
}

var widths = map[string]int{
	"Bool": 1, "UInt8": 1, "UInt16": 2, "UInt32": 4, "UInt64": 8, "UInt128": 16, "Int32": 4, "Int64": 8,
	"Date": 2, "Date32": 4, "String": 0,
}

// parseType reads the name of a type. Types that no table of ours has are
// refused.
func parseType(name string) (Type, error) {
	t := Type{Name: name}
	inner := name
	for _, wrap := range []struct {
		name string
		set  *bool
	}{{"Array", &t.Array}, {"Nullable", &t.Nullable}, {"LowCardinality", &t.Words}} {
		if within, ok := typeArgument(inner, wrap.name); ok {
			inner, *wrap.set = within, true
		}
	}
	width, known := widthOf(inner)
	if !known || t.Array && t.Nullable || t.Nullable && width == 0 || t.Words && inner != "String" {
		return Type{}, fmt.Errorf("%q is no type of a column that this adlens knows", name)
	}
	t.Width = width
	return t, nil
}

// typeArgument takes Wrap(X) apart.
func typeArgument(text, wrap string) (string, bool) {
	rest, ok := strings.CutPrefix(text, wrap+"(")
	if !ok {
		return "", false
	}
	return strings.CutSuffix(rest, ")")
}

func widthOf(name string) (width int, known bool) {
	if width, known := widths[name]; known {
		return width, true
	}
	if digits, ok := typeArgument(name, "FixedString"); ok {
		n, err := strconv.Atoi(digits)
		return n, err == nil && n > 0 && n <= 1<<16
	}
	if _, ok := typeArgument(name, "DateTime64"); ok {
		return 8, true
	}
	if parameters, ok := typeArgument(name, "Decimal"); ok {
		precision, _, _ := strings.Cut(parameters, ",")
		n, err := strconv.Atoi(precision)
		return decimalWidth(n), err == nil && n > 0 && n <= 76
	}
	return 0, false
}

func decimalWidth(precision int) int {
	switch {
	case precision <= 9:
		return 4
	case precision <= 18:
		return 8
	case precision <= 38:
		return 16
	}
	return 32
}

// errShort says that a row ends in the middle of a cell.
var errShort = errors.New("a row ends in the middle of a value")

// longest is the most bytes or elements that one value may have: a length that
// is made up must not take all memory.
const longest = 1 << 30

// cellHead returns where the values of a cell begin in a row and how many they
// are, and whether the cell has none.
func (t Type) cellHead(row []byte) (begin, count int, null bool, err error) {
	switch {
	case t.Nullable:
		if len(row) == 0 {
			return 0, 0, false, errShort
		}
		if row[0] > 1 {
			return 0, 0, false, fmt.Errorf("a mark of %s is %d, expected 0 or 1", t.Name, row[0])
		}
		return 1, 1 - int(row[0]), row[0] == 1, nil
	case t.Array:
		begin, count, err = readLength(row)
		return begin, count, false, err
	}
	return 0, 1, false, nil
}

// valueSize returns how long the first value of some bytes is.
func (t Type) valueSize(rest []byte) (int, error) {
	if t.Width > 0 {
		if len(rest) < t.Width {
			return 0, errShort
		}
		return t.Width, nil
	}
	begin, n, err := readLength(rest)
	if err == nil && len(rest)-begin < n {
		err = errShort
	}
	return begin + n, err
}

// valueText returns the text of a value.
func valueText(value []byte) []byte {
	_, skip := binary.Uvarint(value)
	return value[skip:]
}

func readLength(rest []byte) (begin, n int, err error) {
	number, begin := binary.Uvarint(rest)
	switch {
	case begin == 0:
		return 0, 0, errShort
	case begin < 0 || number > longest:
		return 0, 0, fmt.Errorf("a length is more than %d", longest)
	}
	return begin, int(number), nil
}

// eachValue visits the values of the first cell of some bytes, and returns how long
// the cell is.
func (t Type) eachValue(row []byte, visit func(value []byte)) (size int, err error) {
	size, count, _, err := t.cellHead(row)
	for range count {
		if err != nil {
			return 0, err
		}
		var n int
		if n, err = t.valueSize(row[size:]); err == nil {
			visit(row[size : size+n])
			size += n
		}
	}
	return size, err
}
