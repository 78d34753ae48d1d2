package query

import (
	"context"
	"fmt"
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

// DayTotal is the sums of one generation's facts of one day, with amounts in
// millionths of a US dollar, or in units of 10^-20 of the marketplace's own currency.
type DayTotal struct {
	Generation uint32
	Day        adlens.Day
	TooWide    bool // 128 bits are too few for a sum
	Sums       [measures]exact.Uint128
}

// dayTotals keeps the day totals of months as they were read last. What was
// read of a generation is true for ever, because its rows never change; which
// generations are live follows from the view. So nothing in it expires, and what
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
	total       exact.Sums
	tooWide     bool
}

func newDayUnit(generation uint32, rows []DayTotal) dayUnit {
	u := dayUnit{generation: generation, rows: rows}
	for i := range rows {
		if day := rows[i].Day; i == 0 {
			u.first, u.last = day, day
		} else {
			u.first, u.last = min(u.first, day), max(u.last, day)
		}
		u.total.Add(rows[i].Sums[:])
		u.tooWide = u.tooWide || rows[i].TooWide
	}
	return u
}

// addTo adds the days of the period to some sums.
func (u *dayUnit) addTo(t *exact.Sums, plan Plan) {
	if plan.hasDay(u.first) && plan.hasDay(u.last) {
		t.AddSums(u.total)
		return
	}
	for i := range u.rows {
		if plan.hasDay(u.rows[i].Day) {
			t.Add(u.rows[i].Sums[:])
		}
	}
}

type monthKey struct {
	account string
	month   manifest.Unit
	local   bool // amounts are in the marketplace's own currency
}

func newDayTotals(store Store) *dayTotals {
	return &dayTotals{store: store, known: lru.New(dayTotalsMemory, func(k monthKey, u dayUnit) int {
		return 200 + len(k.account) + int(unsafe.Sizeof(u)) + len(u.total)*int(unsafe.Sizeof(exact.Sum{})) + len(u.rows)*int(unsafe.Sizeof(DayTotal{}))
	})}
}

// getTotals returns the days of the plan's months, in their order. Those that are
// not known are read, once for all who ask for the same ones at the same time.
func (d *dayTotals) getTotals(ctx context.Context, plan Plan, local bool) ([]dayUnit, error) {
	units := make([]dayUnit, len(plan.Days))
	missing := plan
	missing.Days = nil
	var places []int // of what is missing, in units
	for i, l := range plan.Days {
		unit, ok := d.known.Get(monthKey{plan.Account, l.Unit, local})
		if units[i] = unit; !ok || unit.generation != l.Generation {
			missing.Days, places = append(missing.Days, l), append(places, i)
		}
	}
	if len(places) == 0 {
		return units, nil
	}
	read, err := d.flights.Do(ctx, fmt.Sprint(plan.Account, " ", local, generationsOf(missing.Days)), func(ctx context.Context) ([]DayTotal, error) {
		return d.store.DayTotals(ctx, missing.DayTotalsStatement(local))
	})
	if err != nil {
		return nil, err
	}
	totals, err := d.cacheTotals(plan.Account, missing.Days, read, local)
	for i, unit := range totals {
		units[places[i]] = unit
	}
	return units, err
}

// cacheTotals remembers what was read, also of months that have no rows, and returns
// it in their order. A month of which days are missing is damaged, and not remembered:
// the database may have been restarted since all rows were looked through.
func (d *dayTotals) cacheTotals(account string, months []Live, read []DayTotal, local bool) ([]dayUnit, error) {
	rows := make(map[uint32][]DayTotal, len(months))
	for _, row := range read {
		rows[row.Generation] = append(rows[row.Generation], row)
	}
	units := make([]dayUnit, len(months))
	for i, l := range months {
		units[i] = newDayUnit(l.Generation, rows[l.Generation])
		if days := len(units[i].rows); l.FactDays != 0 && uint64(days) != l.FactDays {
			return nil, &adlens.Error{Kind: adlens.Damaged, Err: fmt.Errorf("generation %d has day totals of %d days, expected %d", l.Generation, days, l.FactDays)}
		}
		d.known.Put(monthKey{account, l.Unit, local}, units[i])
	}
	return units, nil
}

// addGroups adds the days of the plan of one side up by the request's dimensions.
func addGroups(to map[group]*sides, r Request, side int, plan Plan, units []dayUnit) {
	start := [...]adlens.Day{current: r.Period.Start, earlier: r.Earlier.Start}[side]
	for i := range units {
		u := &units[i]
		switch {
		case len(u.rows) == 0:
		case r.Granularity == "" || r.Granularity == ByMonth: // all its days are of one month
			u.addTo(sumsAt(to, r.groupOf(plan.Days[i].Slice, start, u.first), side), plan)
		default:
			for j := range u.rows {
				if day := u.rows[j].Day; plan.hasDay(day) {
					sumsAt(to, r.groupOf(plan.Days[i].Slice, start, day), side).Add(u.rows[j].Sums[:])
				}
			}
		}
	}
}

// groupDays adds the totals of days up by the request's dimensions; ok is false where
// they cannot be kept.
func (s *Service) groupDays(ctx context.Context, r Request, plan Plan, local bool) (all map[group]*sides, ok bool, err error) {
	all = map[group]*sides{}
	for side, of := range [...]Plan{current: plan, earlier: plan.earlierPlan()} {
		units, err := s.days.getTotals(ctx, of, local)
		if err != nil || slices.ContainsFunc(units, func(u dayUnit) bool { return u.tooWide }) {
			return nil, false, err
		}
		addGroups(all, r, side, of, units)
	}
	return all, true, nil
}
