package loader

import (
	"fmt"
	"slices"

	"adlens"
	"adlens/internal/catalogue"
	"adlens/internal/exact"
	"adlens/internal/manifest"
)

// Batch is a block of facts on their way into the store, column by column. It
// has the columns of every report in it; a row is 0 in those of others, as in
// the store. Money is in millionths, as its columns keep it.
type Batch struct {
	Columns     []catalogue.Unit // of Names and Values
	Names       []string         // fact columns
	Generation  []uint32
	Day         []adlens.Day
	Product     []uint32
	Campaign    []uint32
	AdGroup     []uint32
	Marketplace []uint16
	AdProduct   []adlens.AdProduct
	Values      [][]uint64 // by column, then row
}

// Rows returns how many facts the batch holds.
func (b *Batch) Rows() int { return len(b.Day) }

// Select returns a batch of some of the rows, in the order given.
func (b *Batch) Select(rows []int) *Batch {
	s := &Batch{Columns: b.Columns, Names: b.Names,
		Generation: selectRows(b.Generation, rows), Day: selectRows(b.Day, rows), Product: selectRows(b.Product, rows),
		Campaign: selectRows(b.Campaign, rows), AdGroup: selectRows(b.AdGroup, rows),
		Marketplace: selectRows(b.Marketplace, rows), AdProduct: selectRows(b.AdProduct, rows)}
	for _, values := range b.Values {
		s.Values = append(s.Values, selectRows(values, rows))
	}
	return s
}

func selectRows[T any](values []T, rows []int) []T {
	some := make([]T, len(rows))
	for i, row := range rows {
		some[i] = values[row]
	}
	return some
}

// measures is how many measures figures follow from.
const measures = len(catalogue.Headline)

// ownColumns are the columns of an amount in its own currency: whole millionths,
// and the units below them.
type ownColumns struct{ micros, rest int }

// headlineNames and headlineUnits are the columns of the headline: its measures,
// and of each amount, by its place, the exact sum in the marketplace's own currency.
var headlineNames, headlineUnits, headlineOwn = func() (names []string, units []catalogue.Unit, own [measures]ownColumns) {
	for _, m := range catalogue.Headline {
		names, units = append(names, m.Name), append(units, m.Unit)
	}
	add := func(name string, unit catalogue.Unit) (column int) {
		names, units = append(names, name), append(units, unit)
		return len(names) - 1
	}
	for i, m := range catalogue.Headline {
		if m.IsAmount() {
			micros, _ := m.LocalColumns()
			own[i].micros = add(micros, catalogue.Local)
		}
	}
	for i, m := range catalogue.Headline {
		if m.IsAmount() {
			_, rest := m.LocalColumns()
			own[i].rest = add(rest, catalogue.Count)
		}
	}
	return names, units, own
}()

// ensureColumn is the place of a column, which is added where it was missing.
func (b *Batch) ensureColumn(name string, unit catalogue.Unit) int {
	at := slices.Index(b.Names, name)
	if at < 0 {
		at = len(b.Names)
		b.Names, b.Columns, b.Values = append(b.Names, name), append(b.Columns, unit), append(b.Values, nil)
	}
	return at
}

// ensureColumns are the places of the headline and of further measures.
func (b *Batch) ensureColumns(extra []catalogue.Measure) []int {
	all := make([]int, 0, len(headlineNames)+len(extra))
	for i, name := range headlineNames {
		all = append(all, b.ensureColumn(name, headlineUnits[i]))
	}
	for _, m := range extra {
		all = append(all, b.ensureColumn(m.Name, m.Unit))
	}
	return all
}

// What one stored value holds at most. A larger sum goes on in further rows
// of the same key, so that no sum is too large to be kept exactly.
const (
	maxMicros = 1_000_000_000_000_000_000 - 1 // Decimal(18, 6)
	maxCount  = 1<<63 - 1
)

func (b *Batch) maxValue(column int) uint64 {
	if b.Columns[column] != catalogue.Count {
		return maxMicros
	}
	return maxCount
}

// factKey tells the facts of a generation apart, by stored numbers.
type factKey struct {
	day                        adlens.Day
	product, campaign, adGroup uint32
}

// addFact appends the rows of one key, whose sums are those of the columns at.
func (b *Batch) addFact(u manifest.Slice, generation uint32, k factKey, at []int, sums []exact.Uint128) {
	for more := true; more; {
		more = false
		row := b.Rows()
		for i, column := range at {
			b.padColumn(column, row)
			sum, limit := &sums[i], b.maxValue(column)
			taken := sum.Lo
			if sum.Hi == 0 && taken <= limit { // as nearly all
				sum.Lo = 0
			} else {
				*sum, _ = sum.Distance(exact.Uint128{Lo: limit})
				taken, more = limit, true
			}
			b.Values[column] = append(b.Values[column], taken)
		}
		b.Generation = append(b.Generation, generation)
		b.Day = append(b.Day, k.day)
		b.Product, b.Campaign, b.AdGroup = append(b.Product, k.product), append(b.Campaign, k.campaign), append(b.AdGroup, k.adGroup)
		b.Marketplace = append(b.Marketplace, u.Marketplace)
		b.AdProduct = append(b.AdProduct, u.Product())
	}
}

// growRows makes room for so many more rows.
func (b *Batch) growRows(n int) {
	b.Generation, b.Day, b.Product = slices.Grow(b.Generation, n), slices.Grow(b.Day, n), slices.Grow(b.Product, n)
	b.Campaign, b.AdGroup = slices.Grow(b.Campaign, n), slices.Grow(b.AdGroup, n)
	b.Marketplace, b.AdProduct = slices.Grow(b.Marketplace, n), slices.Grow(b.AdProduct, n)
	for i := range b.Values {
		b.Values[i] = slices.Grow(b.Values[i], n)
	}
}

// padColumn lets a column be 0 up to a row, of whose report it is not.
func (b *Batch) padColumn(column, row int) {
	if missing := row - len(b.Values[column]); missing > 0 {
		b.Values[column] = append(b.Values[column], make([]uint64, missing)...)
	}
}

// padColumns makes all columns as long as the batch.
func (b *Batch) padColumns() {
	for column := range b.Values {
		b.padColumn(column, b.Rows())
	}
}

func (b *Batch) clearRows() {
	b.Generation, b.Day, b.Product = b.Generation[:0], b.Day[:0], b.Product[:0]
	b.Campaign, b.AdGroup = b.Campaign[:0], b.AdGroup[:0]
	b.Marketplace, b.AdProduct = b.Marketplace[:0], b.AdProduct[:0]
	for i := range b.Values {
		b.Values[i] = b.Values[i][:0]
	}
}

// takeColumns gives an empty batch the columns of another, at the same places.
func (b *Batch) takeColumns(of *Batch) {
	b.Names, b.Columns = slices.Clip(of.Names), slices.Clip(of.Columns)
	b.Values = append(b.Values, make([][]uint64, len(b.Names)-len(b.Values))...)
}

// StoredFact is a fact as the store holds it, to be converted again.
type StoredFact struct {
	Day                        adlens.Day
	Product, Campaign, AdGroup uint32
	Values                     []uint64 // of the store's fact columns, in the order of FactColumns
}

// FactColumns returns all columns of a fact, headline first: their names and what
// they count.
func FactColumns() (names []string, units []catalogue.Unit) {
	names, units = slices.Clone(headlineNames), slices.Clone(headlineUnits)
	for _, m := range catalogue.Extra {
		names, units = append(names, m.Name), append(units, m.Unit)
	}
	return names, units
}

// setAmounts sets the columns of the exact sums of a product's day in their own
// currency, which are converted together.
func (s *sharer) setAmounts(rows [][]exact.Uint128, column int, own []adlens.Amount, rate adlens.Amount) error {
	shares, ok := s.shareMicros(own, rate)
	if !ok {
		return fmt.Errorf("%s of %s at a rate of %s is too large an amount of US dollars to be kept", headlineNames[column], slices.MaxFunc(own, compareAmounts), rate)
	}
	at := headlineOwn[column]
	for i, sums := range rows {
		ownMicros, rest := own[i].Micros()
		sums[column], sums[at.micros], sums[at.rest] = shares[i], ownMicros, exact.Uint128{Lo: rest}
	}
	return nil
}

func compareAmounts(a, b adlens.Amount) int { return a.Units().Compare(b.Units()) }
