package loader

import (
	"fmt"
	"math/bits"

	"adlens"
	"adlens/platform"
)

// Batch is a block of facts on their way into the store, column by column.
// Money is in millionths, as its columns keep it.
type Batch struct {
	AdProduct   adlens.AdProduct
	Columns     []platform.Unit // of Names and Values
	Names       []string        // fact columns
	Generation  []uint32
	Day         []adlens.Day
	Product     []uint32
	Marketplace []uint16
	Values      [][]uint64 // by column, then row
}

// Rows returns how many facts the batch holds.
func (b *Batch) Rows() int { return len(b.Day) }

// Select returns a batch of some of the rows, in the order given.
func (b *Batch) Select(rows []int) *Batch {
	s := &Batch{AdProduct: b.AdProduct, Columns: b.Columns, Names: b.Names,
		Generation: selected(b.Generation, rows), Day: selected(b.Day, rows), Product: selected(b.Product, rows), Marketplace: selected(b.Marketplace, rows)}
	for _, values := range b.Values {
		s.Values = append(s.Values, selected(values, rows))
	}
	return s
}

func selected[T any](values []T, rows []int) []T {
	some := make([]T, len(rows))
	for i, row := range rows {
		some[i] = values[row]
	}
	return some
}

// Names of the fact columns that every ad product has.
const (
	colImpressions = iota
	colClicks
	colPurchases
	colSpend
	colSales
	colSpendLocal
	colSalesLocal
	colSpendRest
	colSalesRest
	headlineColumns
)

var headlineNames = [headlineColumns]string{
	"impressions", "clicks", "purchases", "spend", "sales",
	"spend_local", "sales_local", "spend_local_rest", "sales_local_rest",
}

var headlineUnits = [headlineColumns]platform.Unit{
	colSpend: platform.Money, colSales: platform.Money, colSpendLocal: platform.Money, colSalesLocal: platform.Money,
}

func newBatch(p adlens.AdProduct, extra []platform.Measure) *Batch {
	b := &Batch{AdProduct: p}
	b.Names = append(b.Names, headlineNames[:]...)
	b.Columns = append(b.Columns, headlineUnits[:]...)
	for _, m := range extra {
		b.Names = append(b.Names, m.FactColumn())
		b.Columns = append(b.Columns, m.Unit)
	}
	b.Values = make([][]uint64, len(b.Names))
	return b
}

// What one stored value holds at most. A larger sum goes on in further rows
// of the same key, so that no sum is too large to be kept exactly.
const (
	maxMicros = 1_000_000_000_000_000_000 - 1 // Decimal(18, 6)
	maxCount  = 1<<63 - 1
)

func (b *Batch) limit(column int) uint64 {
	if b.Columns[column] == platform.Money {
		return maxMicros
	}
	return maxCount
}

// wide is a sum of 128 bits on its way into a column.
type wide struct{ hi, lo uint64 }

// take removes at most limit from the sum and returns it.
func (w *wide) take(limit uint64) uint64 {
	if w.hi == 0 && w.lo <= limit {
		taken := w.lo
		w.lo = 0
		return taken
	}
	var borrow uint64
	w.lo, borrow = bits.Sub64(w.lo, limit, 0)
	w.hi -= borrow
	return limit
}

// add appends the rows of one key, and returns how many.
func (b *Batch) add(generation uint32, day adlens.Day, product uint32, marketplace uint16, sums []wide) (rows int) {
	for more := true; more; rows++ {
		more = false
		for column := range sums {
			b.Values[column] = append(b.Values[column], sums[column].take(b.limit(column)))
			more = more || sums[column] != wide{}
		}
		b.Generation = append(b.Generation, generation)
		b.Day = append(b.Day, day)
		b.Product = append(b.Product, product)
		b.Marketplace = append(b.Marketplace, marketplace)
	}
	return rows
}

func (b *Batch) clear() {
	b.Generation, b.Day, b.Product, b.Marketplace = b.Generation[:0], b.Day[:0], b.Product[:0], b.Marketplace[:0]
	for i := range b.Values {
		b.Values[i] = b.Values[i][:0]
	}
}

// StoredFact is a fact as the store holds it, to be converted anew.
type StoredFact struct {
	Day     adlens.Day
	Product uint32
	Values  []uint64 // of the store's fact columns, in the order of FactColumns
}

// FactColumns are all columns of a fact, headline first: their names and what
// they count.
func FactColumns() (names []string, units []platform.Unit) {
	names = append(names, headlineNames[:]...)
	units = append(units, headlineUnits[:]...)
	seen := map[string]bool{}
	for _, t := range platform.ReportTypes {
		for _, m := range extraMeasures(t.Measures) {
			if name := m.FactColumn(); !seen[name] {
				seen[name] = true
				names, units = append(names, name), append(units, m.Unit)
			}
		}
	}
	return names, units
}

// extraMeasures are the measures that are stored under their own names. The
// others are the headline.
func extraMeasures(all []platform.Measure) []platform.Measure {
	var extra []platform.Measure
	for _, m := range all {
		switch m.Column {
		case platform.ColumnViews, platform.ColumnClicks, platform.ColumnSpend, "purchases", "sales":
		default:
			extra = append(extra, m)
		}
	}
	return extra
}

// dollars converts an exact sum of the own currency, once.
func dollars(local, rate adlens.Amount) (wide, error) {
	hi, lo, ok := local.Times(rate)
	if !ok {
		return wide{}, fmt.Errorf("%s at a rate of %s is too large an amount of US dollars to be kept", local, rate)
	}
	return wide{hi, lo}, nil
}
