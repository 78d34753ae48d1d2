package query

import (
	"math"
	"math/bits"
	"slices"

	"adlens"
)

// unit is what one table has of one generation: the figures of products of
// one marketplace in one year, in one month, or on the days of one month. A
// generation never changes, so a unit is true for ever.
type unit struct {
	generation  uint32
	marketplace uint16
	packed      []packedRow
	rows        []unitRow  // those that are too large to be packed
	step        uint64     // of packed amounts: so many millionths of a US dollar
	days        []dayStart // of the days that have rows; years and months have one of them
	last        uint32     // the greatest product key
	sums        counts     // of all rows
	unfit       bool       // numbers or keys are too large: only the engine answers for it
}

// unitRow is figures of one product. A count that 32 bits do not hold goes on
// in a further row of the same product.
type unitRow struct {
	key    uint32
	counts [counted]uint32
	money  [measures - int(counted)]uint64 // millionths of a US dollar
}

// counted is how many measures are counts. They come before amounts.
const counted = spend

// packedRow is a unitRow in half of the space. Nearly all are small enough,
// and adding them up takes as long as reading them does.
type packedRow struct {
	money   [measures - int(counted)]uint32 // in steps of the unit
	shown   uint32                          // impressions, and purchases in the lowest bits
	clicked uint32                          // the key, and clicks in the lowest bits
}

// The lowest bits of packed numbers, and the bits above them.
const (
	purchaseBits, impressionBits = 10, 22
	clickBits, keyBits           = 16, 16
)

// cent is the step of amounts that are all in whole cents, as those of
// marketplaces in US dollars are.
const cent = 10_000

// counts are the measures in 64 bits, in the order of Measures.
type counts [measures]uint64

// dayStart says where the rows of a day begin.
type dayStart struct {
	day         adlens.Day
	packed, row int
}

// UnitRow is a stored row of a generation with figures.
type UnitRow struct {
	Generation uint32
	Day        adlens.Day // 0 where the table has no days
	Key        uint32
	Measures   [measures]uint64 // as in counts; mostMeasure stands for all that is larger
}

const (
	mostMeasure = math.MaxInt64
	// mostRowsOfAProduct bounds how many rows a large count is spread over.
	mostRowsOfAProduct = 16
)

// Bytes that units take in memory.
const (
	unitRowBytes   = 32
	packedRowBytes = 16
	unitBytes      = 256 // all beside its rows and days
)

func (u *unit) memoryBytes() int {
	return unitBytes + packedRowBytes*cap(u.packed) + unitRowBytes*cap(u.rows) + 24*cap(u.days)
}

// addRow takes a stored row into the unit. Rows come in the order of their days.
func (u *unit) addRow(r *UnitRow) {
	if u.unfit = u.unfit || !u.addToSums(r); u.unfit {
		u.rows, u.days = nil, nil
		return
	}
	u.last = max(u.last, r.Key)
	if len(u.days) == 0 || u.days[len(u.days)-1].day != r.Day {
		u.days = append(u.days, dayStart{day: r.Day, row: len(u.rows)})
	}
	rest := r.Measures
	for more := true; more; clear(rest[counted:]) {
		row := unitRow{key: r.Key}
		copy(row.money[:], rest[counted:])
		more = false
		for m := range row.counts {
			row.counts[m] = uint32(min(rest[m], math.MaxUint32))
			rest[m] -= uint64(row.counts[m])
			more = more || rest[m] > 0
		}
		u.rows = append(u.rows, row)
	}
}

// packRows packs the rows that were added, and gives their room back for others.
func (u *unit) packRows() (room []unitRow) {
	all, fit := u.rows, 0
	u.step = stepOf(all)
	for i := range all {
		if _, ok := all[i].packRow(u.step); ok {
			fit++
		}
	}
	u.packed, u.rows = make([]packedRow, 0, fit), make([]unitRow, 0, len(all)-fit)
	days := u.days
	for i := range all {
		if len(days) > 0 && days[0].row == i {
			days[0].packed, days[0].row = len(u.packed), len(u.rows)
			days = days[1:]
		}
		if row, ok := all[i].packRow(u.step); ok {
			u.packed = append(u.packed, row)
		} else {
			u.rows = append(u.rows, all[i])
		}
	}
	return all[:0]
}

// stepOf is the largest step that all amounts are multiples of.
func stepOf(rows []unitRow) uint64 {
	for i := range rows {
		for _, n := range rows[i].money {
			if n%cent != 0 {
				return 1
			}
		}
	}
	return cent
}

// packRow packs a row whose amounts are multiples of the step; ok is false
// where it is too large.
func (r *unitRow) packRow(step uint64) (p packedRow, ok bool) {
	n := &r.counts
	ok = !slices.ContainsFunc(n[purchases+1:], func(count uint32) bool { return count > 0 }) // has bits for no further counts
	ok = ok && n[impressions] < 1<<impressionBits && n[purchases] < 1<<purchaseBits && n[clicks] < 1<<clickBits && r.key < 1<<keyBits
	for m := range r.money {
		steps := r.money[m] / step
		p.money[m] = uint32(steps)
		ok = ok && steps <= math.MaxUint32
	}
	p.shown, p.clicked = n[impressions]<<purchaseBits|n[purchases], r.key<<clickBits|n[clicks]
	return p, ok
}

// addToSums adds a row to the unit's sums; false where they are beyond 63 bits, or
// the product is beyond those that are put in order here.
func (u *unit) addToSums(r *UnitRow) bool {
	sums, ok := u.sums.addCounts(r.Measures)
	u.sums = sums
	return ok && r.Key <= maxRememberedKey && slices.Max(r.Measures[:counted]) < mostRowsOfAProduct<<32
}

// addCounts adds measures; ok is false where a sum needs more than 63 bits.
func (c counts) addCounts(d counts) (sum counts, ok bool) {
	ok = true
	for i := range c {
		n, carry := bits.Add64(c[i], d[i], 0)
		sum[i] = n
		ok = ok && carry == 0 && n < mostMeasure
	}
	return sum, ok
}

// partBetween are the rows of the days from one to another.
func (u *unit) partBetween(from, to adlens.Day) part {
	first, behind := u.startOf(from), u.startOf(to+1)
	return part{packed: u.packed[first.packed:behind.packed], rows: u.rows[first.row:behind.row], step: u.step}
}

// wholePart are all rows.
func (u *unit) wholePart() part { return part{packed: u.packed, rows: u.rows, step: u.step} }

// startOf is where the rows of a day and of all later ones begin.
func (u *unit) startOf(day adlens.Day) dayStart {
	for _, d := range u.days {
		if d.day >= day {
			return d
		}
	}
	return dayStart{day, len(u.packed), len(u.rows)}
}
