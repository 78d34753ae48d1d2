package query

import (
	"math"
	"math/bits"

	"adlens"
)

// unit is what one table has of one generation: the figures of products of
// one marketplace in one year, in one month, or on the days of one month. A
// generation never changes, so a unit is true for ever.
type unit struct {
	generation  uint32
	marketplace uint16
	rows        []unitRow
	days        []dayStart // of the days that have rows; years and months have one of them
	last        uint32     // the greatest product key
	sums        counts     // of all rows
	unfit       bool       // numbers or keys are too large: only the engine answers for it
}

// unitRow is figures of one product, packed. A count that 32 bits do not hold
// goes on in a further row of the same product.
type unitRow struct {
	key                            uint32
	impressions, clicks, purchases uint32
	spend, sales                   uint64 // millionths of a US dollar
}

// counts are the five measures in 64 bits: impressions, clicks, purchases, and
// millionths of spend and sales.
type counts [5]uint64

// dayStart says where the rows of a day begin.
type dayStart struct {
	day   adlens.Day
	index int
}

// UnitRow is a stored row of a generation.
type UnitRow struct {
	Generation  uint32
	Day         adlens.Day // 0 where the table has no days
	Marketplace uint16
	Key         uint32
	Measures    [5]uint64 // as in counts; mostMeasure stands for all that is larger
}

const (
	mostMeasure = math.MaxInt64
	// mostRowsOfAProduct bounds how many rows a large count is spread over.
	mostRowsOfAProduct = 16
)

// Bytes that units take in memory.
const (
	unitRowBytes = 32
	unitBytes    = 256 // all beside its rows
)

func (u *unit) weight() int { return unitBytes + unitRowBytes*cap(u.rows) + 16*cap(u.days) }

// add takes a stored row into the unit. Rows come in the order of their days.
func (u *unit) add(r *UnitRow) {
	if u.unfit = u.unfit || !u.fits(r); u.unfit {
		u.rows, u.days = nil, nil
		return
	}
	u.marketplace, u.last = r.Marketplace, max(u.last, r.Key)
	if len(u.days) == 0 || u.days[len(u.days)-1].day != r.Day {
		u.days = append(u.days, dayStart{r.Day, len(u.rows)})
	}
	spend, sales := r.Measures[3], r.Measures[4]
	rest := [3]uint64(r.Measures[:3])
	for more := true; more; spend, sales = 0, 0 {
		row := unitRow{key: r.Key, spend: spend, sales: sales}
		more = false
		for i, part := range [...]*uint32{&row.impressions, &row.clicks, &row.purchases} {
			*part = uint32(min(rest[i], math.MaxUint32))
			rest[i] -= uint64(*part)
			more = more || rest[i] > 0
		}
		u.rows = append(u.rows, row)
	}
}

// fits adds a row to the unit's sums; false where they are beyond 63 bits,
// the product is beyond those that are put in order here, or the row is of
// another marketplace than the unit.
func (u *unit) fits(r *UnitRow) bool {
	sums, ok := u.sums.plus(r.Measures)
	u.sums = sums
	return ok && r.Key <= maxRememberedKey && max(r.Measures[0], r.Measures[1], r.Measures[2]) < mostRowsOfAProduct<<32 &&
		(len(u.rows) == 0 || u.marketplace == r.Marketplace)
}

// plus adds measures; ok is false where a sum needs more than 63 bits.
func (c counts) plus(d counts) (sum counts, ok bool) {
	ok = true
	for i := range c {
		n, carry := bits.Add64(c[i], d[i], 0)
		sum[i] = n
		ok = ok && carry == 0 && n < mostMeasure
	}
	return sum, ok
}

// between returns the rows of the days from one to another.
func (u *unit) between(from, to adlens.Day) []unitRow {
	return u.rows[u.startOf(from):u.startOf(to+1)]
}

// startOf is where the rows of a day and of all later ones begin.
func (u *unit) startOf(day adlens.Day) int {
	for _, d := range u.days {
		if d.day >= day {
			return d.index
		}
	}
	return len(u.rows)
}
