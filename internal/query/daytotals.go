package query

import (
	"context"
	"maps"
	"math/big"
	"math/bits"
	"slices"
	"unsafe"

	"adlens"
	"adlens/internal/flight"
	"adlens/internal/lru"
	"adlens/internal/manifest"
)

// dayTotalsMemory bounds the day totals that are kept, in bytes: those of some
// twenty accounts of six years, six marketplaces and three ad products.
const dayTotalsMemory = 64 << 20

// DayTotal is the sums of one generation's facts of one day.
type DayTotal struct {
	Generation uint32
	Day        adlens.Day
	Sums       Wide
}

// Wide are the five measures as the rollups store them: impressions, clicks,
// purchases, spend and sales, each in 128 bits, the lower half first.
type Wide [measures][2]uint64

const measures = 5

// dayTotals keeps the day totals of months as they were read last. What was
// read of a generation is true for ever, because its rows never change; which
// generations are live is said by the view. So nothing in it expires, and what
// a load has replaced is replaced here.
type dayTotals struct {
	store   Store
	known   *lru.Cache[monthKey, dayUnit]
	flights flight.Group[string, []DayTotal]
}

// dayUnit is the day totals of one generation, which is of one month, and what
// they add up to: a period that has them all need not look at each.
type dayUnit struct {
	generation  uint32
	rows        []DayTotal
	first, last adlens.Day // of the rows
	total       wideTally
}

func newDayUnit(generation uint32, rows []DayTotal) dayUnit {
	u := dayUnit{generation: generation, rows: rows}
	for i := range rows {
		if day := rows[i].Day; i == 0 {
			u.first, u.last = day, day
		} else {
			u.first, u.last = min(u.first, day), max(u.last, day)
		}
		u.total.add(&rows[i].Sums)
	}
	return u
}

// addTo adds the days that lie in the period up.
func (u *dayUnit) addTo(t *wideTally, p Plan) {
	if p.has(u.first) && p.has(u.last) {
		t.addWide(&u.total)
		return
	}
	for i := range u.rows {
		if p.has(u.rows[i].Day) {
			t.add(&u.rows[i].Sums)
		}
	}
}

type monthKey struct {
	account string
	month   manifest.Unit
}

func newDayTotals(store Store) *dayTotals {
	return &dayTotals{store: store, known: lru.New(dayTotalsMemory, func(k monthKey, u dayUnit) int {
		return 200 + len(k.account) + int(unsafe.Sizeof(u)) + len(u.rows)*int(unsafe.Sizeof(DayTotal{}))
	})}
}

// of returns the days of the plan's months, in their order. Those that are
// not known are read, once for all who ask for the same ones at the same time.
func (d *dayTotals) of(ctx context.Context, p Plan) ([]dayUnit, error) {
	units := make([]dayUnit, len(p.Days))
	missing := p
	missing.Days = nil
	var places []int // of what is missing, in units
	for i, l := range p.Days {
		unit, ok := d.known.Get(monthKey{p.Account, l.Unit})
		if units[i] = unit; !ok || unit.generation != l.Generation {
			missing.Days, places = append(missing.Days, l), append(places, i)
		}
	}
	if len(places) == 0 {
		return units, nil
	}
	read, err := d.flights.Do(ctx, p.Account+" "+Numbers(generationsOf(missing.Days)), func(ctx context.Context) ([]DayTotal, error) {
		return d.store.DayTotals(ctx, missing.DayTotalsStatement())
	})
	if err != nil {
		return nil, err
	}
	for i, unit := range d.keep(p.Account, missing.Days, read) {
		units[places[i]] = unit
	}
	return units, nil
}

// keep remembers what was read, also of months that have no rows, and returns
// it in their order.
func (d *dayTotals) keep(account string, months []Live, read []DayTotal) []dayUnit {
	rows := make(map[uint32][]DayTotal, len(months))
	for _, row := range read {
		rows[row.Generation] = append(rows[row.Generation], row)
	}
	units := make([]dayUnit, len(months))
	for i, l := range months {
		units[i] = newDayUnit(l.Generation, rows[l.Generation])
		d.known.Put(monthKey{account, l.Unit}, units[i])
	}
	return units
}

// SliceRow is the sums of a slice over a period.
type SliceRow struct {
	Marketplace uint16
	AdProduct   adlens.AdProduct
	Sums        Sums
}

// PointRow is the sums of a day, or of the days of a month.
type PointRow struct {
	Day  adlens.Day // the day, or the first of the month
	Sums Sums
}

// bySlice adds the plan's days up by slice.
func bySlice(p Plan, units []dayUnit) []SliceRow {
	tallies := map[manifest.Slice]*wideTally{}
	for i := range units {
		if len(units[i].rows) > 0 {
			units[i].addTo(wideTallyOf(tallies, p.Days[i].Slice), p)
		}
	}
	all := make([]SliceRow, 0, len(tallies))
	for slice, t := range tallies {
		all = append(all, SliceRow{slice.Marketplace, slice.AdProduct, t.sums()})
	}
	return all
}

// byDate adds the plan's days up by day or month, oldest first.
func byDate(p Plan, units []dayUnit, granularity string) []PointRow {
	tallies := map[adlens.Day]*wideTally{}
	for i := range units {
		u := &units[i]
		switch {
		case len(u.rows) == 0:
		case granularity == ByMonth:
			u.addTo(wideTallyOf(tallies, u.first.FirstOfMonth()), p)
		default:
			for j := range u.rows {
				if day := u.rows[j].Day; p.has(day) {
					wideTallyOf(tallies, day).add(&u.rows[j].Sums)
				}
			}
		}
	}
	all := make([]PointRow, 0, len(tallies))
	for _, date := range slices.Sorted(maps.Keys(tallies)) {
		all = append(all, PointRow{date, tallies[date].sums()})
	}
	return all
}

// wideTally adds wide sums up. It is exact: sums of 128 bits are carried on in a
// third word, which no number of rows fills.
type wideTally [measures][3]uint64

func wideTallyOf[K comparable](tallies map[K]*wideTally, key K) *wideTally {
	t, ok := tallies[key]
	if !ok {
		t = &wideTally{}
		tallies[key] = t
	}
	return t
}

func (t *wideTally) add(w *Wide) {
	for i := range t {
		var carry uint64
		t[i][0], carry = bits.Add64(t[i][0], w[i][0], 0)
		t[i][1], carry = bits.Add64(t[i][1], w[i][1], carry)
		t[i][2] += carry
	}
}

func (t *wideTally) addWide(o *wideTally) {
	for i := range t {
		var carry uint64
		t[i][0], carry = bits.Add64(t[i][0], o[i][0], 0)
		t[i][1], carry = bits.Add64(t[i][1], o[i][1], carry)
		t[i][2], _ = bits.Add64(t[i][2], o[i][2], carry)
	}
}

// sums returns what was added up.
func (t *wideTally) sums() (s Sums) {
	for i, into := range []*big.Int{&s.Impressions, &s.Clicks, &s.Purchases, &s.Spend, &s.Sales} {
		for _, word := range []uint64{t[i][2], t[i][1], t[i][0]} {
			into.Lsh(into, 64).Or(into, new(big.Int).SetUint64(word))
		}
	}
	return s
}
