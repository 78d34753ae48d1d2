package backup

import (
	"encoding/binary"
	"fmt"
	"slices"

	"adlens"
	"adlens/internal/manifest"
)

// Block is rows turned into columns, to be inserted together.
type Block struct {
	Header  Header
	Rows    int
	bytes   int // that the rows had
	columns []values
	account string
}

// values are the values of a column one behind the other, as the database
// sends them.
type values struct {
	bytes []byte
	nulls []byte
	ends  []byte   // of arrays, how many values there are up to the end of each cell
	words []string // of texts with a dictionary, instead of bytes
	count uint64
}

// newBlock returns an empty block for rows of one account.
func newBlock(h Header, account string) *Block {
	return &Block{Header: h, columns: make([]values, len(h)), account: account}
}

// addRow takes the first row of some bytes and returns how long it is. Of a row
// that is not whole nothing is taken.
func (b *Block) addRow(from []byte) (size int, err error) {
	if _, err := b.Header.rowSize(from); err != nil {
		return 0, err
	}
	for i, c := range b.Header {
		n, err := b.columns[i].addCell(c.Type, from[size:])
		if err != nil {
			return 0, fmt.Errorf("column %s: %w", c.Name, err)
		}
		if c.Name == "account_id" && string(valueText(from[size:size+n])) != b.account {
			return 0, fmt.Errorf("it holds a row of account %q, expected %q alone", valueText(from[size:size+n]), b.account)
		}
		size += n
	}
	b.Rows++
	b.bytes += size
	return size, nil
}

func (v *values) addCell(t Type, row []byte) (size int, err error) {
	_, _, null, err := t.cellHead(row)
	if err != nil {
		return 0, err
	}
	size, err = t.eachValue(row, func(value []byte) {
		if v.count++; t.Words {
			v.words = append(v.words, string(valueText(value)))
		} else {
			v.bytes = append(v.bytes, value...)
		}
	})
	if t.Nullable {
		v.nulls = append(v.nulls, row[0])
		if null { // a value stands there nevertheless
			v.bytes = append(v.bytes, make([]byte, t.Width)...)
		}
	}
	if t.Array {
		v.ends = binary.LittleEndian.AppendUint64(v.ends, v.count)
	}
	return size, err
}

// Native returns a column as the database's native format has it. It is not
// for columns of words.
func (b *Block) Native(i int) []byte {
	v := b.columns[i]
	return append(append(append([]byte(nil), v.nulls...), v.ends...), v.bytes...)
}

// Words returns the texts of a column of words, and for arrays of words the
// texts of each cell.
func (b *Block) Words(i int) any {
	v := b.columns[i]
	if !b.Header[i].Array {
		return v.words
	}
	cells, from := make([][]string, b.Rows), uint64(0)
	for row := range cells {
		end := binary.LittleEndian.Uint64(v.ends[8*row:])
		cells[row], from = v.words[from:end], end
	}
	return cells
}

// numberAt returns a whole number of a row; the column is of numbers.
func (b *Block) numberAt(column string, row int) uint64 {
	i := b.Header.Index(column)
	var wide [8]byte
	width := b.Header[i].Width
	copy(wide[:], b.columns[i].bytes[row*width:(row+1)*width])
	return binary.LittleEndian.Uint64(wide[:])
}

// numbersAt returns the elements of a cell; the column is of arrays of UInt64.
func (b *Block) numbersAt(column string, row int) []uint64 {
	v := b.columns[b.Header.Index(column)]
	from, end := uint64(0), binary.LittleEndian.Uint64(v.ends[8*row:])
	if row > 0 {
		from = binary.LittleEndian.Uint64(v.ends[8*(row-1):])
	}
	all := make([]uint64, 0, end-from)
	for i := from; i < end; i++ {
		all = append(all, binary.LittleEndian.Uint64(v.bytes[8*i:]))
	}
	return all
}

// unitColumns returns the columns of live units that a restore reads.
func unitColumns(table string) []string {
	own := []string{"number", "rows"}
	if table == formerUnitTable {
		own = []string{"version", "fact_rows"}
	}
	return append(own, "kind", "marketplace_key", "ad_product", "start", "generation")
}

// readManifest reads the live units. The reports that speak for them are not needed
// here.
func (b *Block) readManifest() manifest.Manifest {
	var version uint32
	entries := make([]manifest.Entry, b.Rows)
	for i := range entries {
		entries[i] = manifest.Entry{
			Unit: manifest.Unit{
				Kind:  manifest.Kind(b.numberAt("kind", i)),
				Slice: manifest.Slice{Marketplace: uint16(b.numberAt("marketplace_key", i)), AdProduct: adlens.AdProduct(b.numberAt("ad_product", i))},
				Start: adlens.Day(b.numberAt("start", i)),
			},
			Generation: uint32(b.numberAt("generation", i)),
		}
		e, commit := &entries[i], "version"
		if b.Former() {
			e.Rows = b.numberAt("fact_rows", i)
		} else if counts := b.numbersAt("rows", i); len(counts) > 0 {
			commit, e.Rows, e.Derived = "number", counts[0], counts[1:]
		}
		version = max(version, uint32(b.numberAt(commit, i)))
	}
	return manifest.New(version, entries...)
}

// Former reports whether live units are of the time before there were commits.
func (b *Block) Former() bool { return b.Header.Index("version") >= 0 }

// renumber puts all live units under one commit, and gives them the generations before
// its number, in the order of those that they had. It returns the new ones by the old.
func (b *Block) renumber(number uint32) (generations map[uint32]uint32) {
	numbers, units := b.columns[b.Header.Index("number")].bytes, b.columns[b.Header.Index("generation")].bytes
	had := make([]uint32, b.Rows)
	for row := range had {
		had[row] = binary.LittleEndian.Uint32(units[4*row:])
	}
	distinct := slices.Compact(slices.Sorted(slices.Values(had)))
	generations = make(map[uint32]uint32, len(distinct))
	for i, generation := range distinct {
		generations[generation] = number - uint32(len(distinct)-i)
	}
	for row, generation := range had {
		binary.LittleEndian.PutUint32(numbers[4*row:], number)
		binary.LittleEndian.PutUint32(units[4*row:], generations[generation])
	}
	return generations
}

// setGenerations gives rows the generations that live units got.
func (b *Block) setGenerations(generations map[uint32]uint32) error {
	column := b.columns[b.Header.Index("generation")].bytes
	for row := range b.Rows {
		had := binary.LittleEndian.Uint32(column[4*row:])
		now, live := generations[had]
		if !live {
			return fmt.Errorf("it holds a row of generation %d, which is not live", had)
		}
		binary.LittleEndian.PutUint32(column[4*row:], now)
	}
	return nil
}
