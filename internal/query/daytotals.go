package query

import (
	"context"
	"maps"
	"slices"
	"unsafe"

	"adlens"
	"adlens/internal/exact"
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

// Wide are the measures as the rollups store them.
type Wide [measures]exact.Uint128

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
	total       Sums
}

func newDayUnit(generation uint32, rows []DayTotal) dayUnit {
	u := dayUnit{generation: generation, rows: rows}
	for i := range rows {
		if day := rows[i].Day; i == 0 {
			u.first, u.last = day, day
		} else {
			u.first, u.last = min(u.first, day), max(u.last, day)
		}
		u.total.addWide(&rows[i].Sums)
	}
	return u
}

// addTo adds the days that lie in the period up.
func (u *dayUnit) addTo(t *Sums, p Plan) {
	if p.has(u.first) && p.has(u.last) {
		t.Add(&u.total)
		return
	}
	for i := range u.rows {
		if p.has(u.rows[i].Day) {
			t.addWide(&u.rows[i].Sums)
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
	sums := map[manifest.Slice]*Sums{}
	for i := range units {
		if len(units[i].rows) > 0 {
			units[i].addTo(sumsOf(sums, p.Days[i].Slice), p)
		}
	}
	all := make([]SliceRow, 0, len(sums))
	for slice, s := range sums {
		all = append(all, SliceRow{slice.Marketplace, slice.AdProduct, *s})
	}
	return all
}

// byDate adds the plan's days up by day or month, oldest first.
func byDate(p Plan, units []dayUnit, granularity string) []PointRow {
	sums := map[adlens.Day]*Sums{}
	for i := range units {
		u := &units[i]
		switch {
		case len(u.rows) == 0:
		case granularity == ByMonth:
			u.addTo(sumsOf(sums, u.first.FirstOfMonth()), p)
		default:
			for j := range u.rows {
				if day := u.rows[j].Day; p.has(day) {
					sumsOf(sums, day).addWide(&u.rows[j].Sums)
				}
			}
		}
	}
	all := make([]PointRow, 0, len(sums))
	for _, date := range slices.Sorted(maps.Keys(sums)) {
		all = append(all, PointRow{date, *sums[date]})
	}
	return all
}

// sumsOf are the sums of a key, none before the first.
func sumsOf[K comparable](all map[K]*Sums, key K) *Sums {
	s, ok := all[key]
	if !ok {
		s = &Sums{}
		all[key] = s
	}
	return s
}
