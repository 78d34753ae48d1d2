package backup

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// Column is one column of a file or table.
type Column struct {
	Name string
	Type
}

// Header is the columns of a file of rows, in their order.
type Header []Column

// NewHeader returns the header of columns by their names and types.
func NewHeader(names, types []string) (Header, error) {
	h := make(Header, len(names))
	for i, name := range names {
		t, err := parseType(types[i])
		if err != nil {
			return nil, fmt.Errorf("column %s: %w", name, err)
		}
		h[i] = Column{name, t}
	}
	return h, nil
}

// Index returns where a column is, -1 where there is none of the name.
func (h Header) Index(name string) int {
	return slices.IndexFunc(h, func(c Column) bool { return c.Name == name })
}

// encodeHeader writes the header as RowBinaryWithNamesAndTypes begins.
func (h Header) encodeHeader() []byte {
	all := binary.AppendUvarint(nil, uint64(len(h)))
	for _, c := range h {
		all = appendText(all, c.Name)
	}
	for _, c := range h {
		all = appendText(all, c.Type.Name)
	}
	return all
}

func appendText(to []byte, text string) []byte {
	return append(binary.AppendUvarint(to, uint64(len(text))), text...)
}

// maxColumns bounds what a header may claim.
const maxColumns = 10_000

// decodeHeader reads the header from the beginning of some bytes and returns
// how long it is.
func decodeHeader(from []byte) (h Header, size int, err error) {
	size, count, err := readLength(from)
	if err != nil || count == 0 || count > maxColumns {
		return nil, 0, fmt.Errorf("it does not begin with the names of columns")
	}
	words := make([]string, 0, 2*count)
	plain := Type{Name: "String"}
	for range 2 * count {
		n, err := plain.valueSize(from[size:])
		if err != nil {
			return nil, 0, err
		}
		words = append(words, string(valueText(from[size:size+n])))
		size += n
	}
	h, err = NewHeader(words[:count], words[count:])
	return h, size, err
}

// rowSize returns how long the first row of some bytes is.
func (h Header) rowSize(from []byte) (size int, err error) {
	for _, c := range h {
		n, err := c.eachValue(from[size:], func([]byte) {})
		if err != nil {
			return 0, err
		}
		size += n
	}
	return size, nil
}
