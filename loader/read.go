package loader

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"slices"

	"adlens"
	"adlens/internal/exact"
	"adlens/internal/platform"
)

// grainBudget bounds the memory that the sums of the reports of a load may
// take together. A report with more days and products than fit is read several
// times, each time for a part of them.
//
// It is a variable for tests alone.
var grainBudget = 128 << 20

// One that is read ahead of its turn takes a quarter of the budget, and then
// waits for its turn. What they leave is the share of the one whose turn it is.
func aheadBudget() int { return grainBudget / 4 }

func (d *download) memoryBudget() int {
	if d.alone {
		return grainBudget
	}
	return grainBudget - readAhead*aheadBudget()
}

// grain is what facts are kept by: a day, a product and where its ad ran, by their
// numbers in this file; number 0 is none.
type grain struct {
	day            adlens.Day
	product, place uint32
}

// table holds the exact sums of a report's rows by grain.
type table struct {
	columns  platform.RowColumns
	index    map[grain]int
	grains   []grain
	sums     [][]exact.Uint128 // counts, then units of amounts, of grainsAtOnce grains each, so that none is moved when more come
	products numbering[string]
	places   numbering[adPlace]
}

// numbering gives numbers, 0 to the zero value.
type numbering[T comparable] struct {
	all     []T // by number
	numbers map[T]uint32
}

func newNumbering[T comparable]() numbering[T] {
	var none T
	return numbering[T]{[]T{none}, map[T]uint32{none: 0}}
}

func (n *numbering[T]) numberOf(value T) uint32 {
	number, ok := n.numbers[value]
	if !ok {
		number = uint32(len(n.all))
		n.all = append(n.all, value)
		n.numbers[value] = number
	}
	return number
}

func newTable(columns platform.RowColumns) *table {
	return &table{columns: columns, index: map[grain]int{}, products: newNumbering[string](), places: newNumbering[adPlace]()}
}

func (t *table) grainOf(row *platform.Row) grain {
	return grain{row.Day, t.products.numberOf(row.Product), t.places.numberOf(adPlace{row.Campaign, row.AdGroup})}
}

// grainsAtOnce is how many grains get their place together. Many reports have
// few rows.
const grainsAtOnce = 64

// sumsOf returns the sums of a grain: of counts, and behind them of amounts.
func (t *table) sumsOf(i int) []exact.Uint128 {
	n := t.columnCount()
	at := i % grainsAtOnce * n
	return t.sums[i/grainsAtOnce][at : at+n]
}

// placeOf returns which of the sums of a grain are of a column.
func (t *table) placeOf(s source) int {
	if s.money {
		return len(t.columns.CountColumns) + s.at
	}
	return s.at
}

func (t *table) columnCount() int { return len(t.columns.CountColumns) + len(t.columns.AmountColumns) }

// memoryBytes estimates what the table takes: sums, the index, and the ids.
func (t *table) memoryBytes() int {
	const sum, indexed, named = 16, 72, 120
	return len(t.grains)*(sum*t.columnCount()+indexed) + len(t.products.all)*named + 2*len(t.places.all)*named
}

// largestSum is the largest amount of 128 bits.
var largestSum = adlens.AmountOf(exact.Uint128{Hi: math.MaxUint64, Lo: math.MaxUint64})

// addRow adds a row to the sums of its grain. They have 128 bits: 2^65 rows do not
// overflow counts, and amounts are checked.
func (t *table) addRow(row *platform.Row) error {
	g := t.grainOf(row)
	i, ok := t.index[g]
	if !ok {
		i = len(t.grains)
		t.index[g] = i
		t.grains = append(t.grains, g)
		if i%grainsAtOnce == 0 {
			t.sums = append(t.sums, make([]exact.Uint128, grainsAtOnce*t.columnCount()))
		}
	}
	sums := t.sumsOf(i)
	counts, amounts := sums[:len(row.Counts)], sums[len(row.Counts):]
	for c, n := range row.Counts {
		counts[c], _ = counts[c].Add(exact.Uint128{Lo: n})
	}
	for c, a := range row.Amounts {
		if amounts[c], ok = amounts[c].Add(a.Units()); !ok {
			return newRefusalf("row %d: the sum of %s of product %q on %s exceeds %s, the largest that is kept exactly",
				row.Number, t.columns.AmountColumns[c], row.Product, row.Day, largestSum)
		}
	}
	return nil
}

// sortedGrains returns the numbers of the grains in the order of the stored rows:
// those of a product's day by their ids.
func (t *table) sortedGrains(keys []uint32) []int {
	order := make([]int, len(t.grains))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		x, y := t.grains[a], t.grains[b]
		if x.day != y.day {
			return int(x.day) - int(y.day)
		}
		if x.product != y.product {
			return int(keys[x.product]) - int(keys[y.product])
		}
		return comparePlaces(t.places.all[x.place], t.places.all[y.place])
	})
	return order
}

// content is what a report's download holds.
type content struct {
	rows   int
	sha256 string               // of the unpacked bytes
	days   map[adlens.Day]*Sums // the file's own sums, which the stored ones are compared with
	names  entityNames
	nulls  []platform.Nulls // that were read as 0
	table  *table           // nil where it did not fit into the budget
	fitted int              // then: how many grains did
}

// partCount says in how many readings the grains are summed. There are at most as
// many grains as rows, so each part has about as many as fitted.
func (c *content) partCount() int {
	if c.fitted == 0 {
		return 1
	}
	return c.rows/c.fitted + 1
}

// download reads a report's download: to its end, every row checked.
type download struct {
	pending
	progress Progress
	turn     <-chan struct{} // closed when nothing else is waited for
	alone    bool            // nothing is read beside it
	forms    Forms           // of campaigns, which legacy reports need
}

// isNext reports whether it is the download's turn.
func (d *download) isNext() bool {
	select {
	case <-d.turn:
		return true
	default:
		return false
	}
}

func (d *download) headlineColumns() []string { return d.report.Type.Headline(d.market.Vendor) }

// rowReader reads the rows of a report.
type rowReader interface {
	Columns() platform.RowColumns
	Each(visit func(*platform.Row) error) error
	Nulls() []platform.Nulls
}

// openRows begins to read the rows. closeRows returns the hash of what was read.
func (d *download) openRows(ctx context.Context) (reader rowReader, closeRows func() (sum string, err error), err error) {
	if d.console != nil {
		return d.openConsole(ctx)
	}
	source, closeFile, err := d.file.openUnpacked(d.file.download)
	if err != nil {
		return nil, nil, err
	}
	unpacked := newPipe(source)
	return platform.NewRowReader(unpacked, d.report, d.headlineColumns()...), func() (string, error) {
		sum := unpacked.closeAndSum()
		return sum, closeFile()
	}, nil
}

// eachRow visits every row and returns the hash of the unpacked bytes, and the
// nulls that were read as 0.
func (d *download) eachRow(ctx context.Context, visit func(platform.RowColumns, *platform.Row) error) (sum string, nulls []platform.Nulls, err error) {
	reader, closeRows, err := d.openRows(ctx)
	if err != nil && ctx.Err() != nil {
		return "", nil, context.Cause(ctx) // not the file's fault
	}
	if err != nil {
		return "", nil, asRefusal(err)
	}
	err = reader.Each(func(row *platform.Row) error {
		if row.Number%1024 == 0 && ctx.Err() != nil {
			return fmt.Errorf("interrupted at row %d: %w", row.Number, context.Cause(ctx))
		}
		if row.Currency != "" && row.Currency != d.market.Currency {
			return &platform.Fault{Row: row.Number, Field: platform.CurrencyColumn, Value: row.Currency,
				Expected: d.market.Currency + ", the currency of profile " + d.market.ID}
		}
		if err := d.checkListed(row); err != nil {
			return err
		}
		return visit(reader.Columns(), row)
	})
	sum, closing := closeRows()
	if err == nil {
		err = closing
	}
	if ctx.Err() != nil {
		return "", nil, cmp.Or(err, context.Cause(ctx)) // not the file's fault
	}
	return sum, reader.Nulls(), asRefusal(err)
}

// hashDownload hashes the unpacked download without looking into it.
func (d *download) hashDownload(ctx context.Context) (string, error) {
	if d.console != nil {
		return d.console.sum, nil
	}
	var sum string
	err := d.file.readUnpacked(d.file.download, func(content io.Reader) error {
		unpacked := newPipe(content)
		_, err := io.Copy(io.Discard, unpacked)
		sum = unpacked.closeAndSum()
		return err
	})
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	return sum, err
}

// readContent checks the whole download and sums it, as far as memory allows.
func (d *download) readContent(ctx context.Context) (*content, error) {
	c := &content{days: map[adlens.Day]*Sums{}, names: entityNames{}}
	var headline [measures]source
	var err error
	c.sha256, c.nulls, err = d.eachRow(ctx, func(columns platform.RowColumns, row *platform.Row) error {
		if c.table == nil && c.rows == 0 {
			c.table, headline = newTable(columns), headlineOf(columns, d.headlineColumns())
		}
		c.rows++
		if c.rows%10000 == 0 && d.isNext() {
			d.progress.Rows(c.rows)
		}
		c.addToDay(row, headline)
		c.names.addRow(row)
		return c.addToTable(ctx, row, d)
	})
	return c, err
}

// addToDay adds a row to the file's own sums of its day.
func (c *content) addToDay(row *platform.Row, headline [measures]source) {
	sums, ok := c.days[row.Day]
	if !ok {
		sums = &Sums{Source: make(exact.Sums, measures)}
		c.days[row.Day] = sums
	}
	sums.Rows++
	for i, s := range headline {
		if s.money {
			sums.Source[i].Add(row.Amounts[s.at].Units())
		} else {
			sums.Source[i].Add(exact.Uint128{Lo: row.Counts[s.at]})
		}
	}
}

func (c *content) addToTable(ctx context.Context, row *platform.Row, d *download) error {
	if c.table == nil {
		return nil
	}
	memory := c.table.memoryBytes()
	if memory > aheadBudget() && !d.isNext() {
		select {
		case <-d.turn:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	if memory > d.memoryBudget() {
		// From here on rows are only checked.
		c.fitted, c.table = len(c.table.grains), nil
		return nil
	}
	return c.table.addRow(row)
}

// readPart sums the part of a large download's grains that a number is given for.
func (d *download) readPart(ctx context.Context, number int, c *content) (*table, error) {
	var t *table
	sum, _, err := d.eachRow(ctx, func(columns platform.RowColumns, row *platform.Row) error {
		if t == nil {
			t = newTable(columns)
		}
		if partOf(row, c.partCount()) != number {
			return nil
		}
		return t.addRow(row)
	})
	if err == nil && sum != c.sha256 {
		err = newRefusalf("%s changed while it was read", d.file.download)
	}
	return t, err
}

// partOf spreads grains over parts, so that a part knows only the products of
// its own.
func partOf(row *platform.Row, parts int) int {
	spread := fnv.New32a()
	io.WriteString(spread, row.Product)
	return int((spread.Sum32() + uint32(row.Day)*2654435761) % uint32(parts))
}
