package query

import (
	"context"
	"errors"
	"math/big"
	"slices"
	"testing"
	"time"

	"adlens"
	"adlens/internal/exact"
	"adlens/internal/manifest"
	"adlens/internal/query/period"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func drawWide(t *rapid.T) (w [measures]exact.Uint128) {
	for i := range w {
		for _, word := range []*uint64{&w[i].Lo, &w[i].Hi} {
			*word = rapid.SampledFrom([]uint64{0, 1, 1 << 63, 1<<64 - 1, rapid.Uint64().Draw(t, "word")}).Draw(t, "chosen")
		}
	}
	return w
}

// rollup is a store of the day totals of generations that counts what is read.
type rollup struct {
	Store
	rows map[uint32][]DayTotal
	read []uint32 // generations, in the order in which they were requested
}

func (r *rollup) DayTotals(_ context.Context, s Statement) ([]DayTotal, error) {
	var all []DayTotal
	for generation, rows := range r.rows {
		if slices.Contains(numbersOf(s.Params["days"]), generation) {
			r.read = append(r.read, generation)
			all = append(all, rows...)
		}
	}
	return all, nil
}

// Random days of random generations, requested by random plans: the sums are
// those of the rows alone, and no generation is read twice.
func TestDayTotalsAreReadOnceAndAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		store := &rollup{rows: map[uint32][]DayTotal{}}
		first := day("2026-01-01")
		for g := uint32(1); g <= 6; g++ {
			store.rows[g] = []DayTotal{} // some have no rows at all
			for range rapid.IntRange(0, 4).Draw(t, "rows") {
				month := first + adlens.Day(31*(g%3)) // a generation is of one month
				store.rows[g] = append(store.rows[g], DayTotal{g, month.FirstOfMonth() + adlens.Day(rapid.IntRange(0, 27).Draw(t, "day of month")), false, drawWide(t)})
			}
		}
		d := newDayTotals(store)
		for range 8 {
			plan := Plan{Account: "a", From: first + adlens.Day(rapid.IntRange(0, 40).Draw(t, "from"))}
			plan.To = plan.From + adlens.Day(rapid.IntRange(0, 40).Draw(t, "days"))
			for _, g := range rapid.SliceOfNDistinct(rapid.Uint32Range(1, 6), 0, 6, rapid.ID).Draw(t, "generations") {
				plan.Days = append(plan.Days, Live{Unit: manifest.Unit{Kind: manifest.Month, Slice: manifest.Slice{Marketplace: uint16(g % 2), AdProduct: adlens.AdProduct(1 + g%3)}}, Generation: g})
			}
			units, err := d.getTotals(t.Context(), plan, false)
			if err != nil {
				t.Fatal(err)
			}
			for _, granularity := range []string{ByDay, ByWeek, ByMonth} {
				r := Request{Period: period.Period{Start: plan.From}, Granularity: granularity}
				if diff := cmp.Diff(wantedPoints(store, plan, granularity), shownPoints(r, grouped(r, plan, units))); diff != "" {
					t.Fatalf("%s of %+v (-rows +memory):\n%s", granularity, plan, diff)
				}
			}
			bySlice := grouped(Request{Dimensions: []string{dimMarketplace, dimAdProduct}}, plan, units)
			if got, want := total(bySlice), total(grouped(Request{Granularity: ByDay}, plan, units)); got != want {
				t.Fatalf("by slice %s, by day %s", got, want)
			}
		}
		slices.Sort(store.read)
		if n := len(store.read); n != len(slices.Compact(store.read)) {
			t.Fatalf("%d generations were read, some twice: %v", n, store.read)
		}
	})
}

func wantedPoints(r *rollup, plan Plan, granularity string) map[string]string {
	sums := map[string]*big.Int{}
	for _, l := range plan.Days {
		for _, row := range r.rows[l.Generation] {
			if row.Day < plan.From || row.Day > plan.To {
				continue
			}
			name := row.Day.String()
			switch granularity {
			case ByMonth:
				name = name[:8] + "01"
			case ByWeek:
				monday := row.Day.Time()
				for monday.Weekday() != time.Monday {
					monday = monday.AddDate(0, 0, -1)
				}
				name = monday.Format(time.DateOnly)
			}
			if sums[name] == nil {
				sums[name] = new(big.Int)
			}
			sums[name].Add(sums[name], row.Sums[spend].Big())
		}
	}
	shown := map[string]string{}
	for name, n := range sums {
		if n.Sign() != 0 {
			shown[name] = n.String()
		}
	}
	return shown
}

func grouped(r Request, plan Plan, units []dayUnit) map[group]*sides {
	all := map[group]*sides{}
	addGroups(all, r, current, plan, units)
	return all
}

func shownPoints(r Request, byDate map[group]*sides) map[string]string {
	r.Period.End = 1 << 20
	shown := map[string]string{}
	for at, both := range byDate {
		if n := sumAt(both[current], spend).Big(); n.Sign() != 0 {
			shown[r.dateAt(r.Period, at.bucket).String()] = n.String()
		}
	}
	return shown
}

// total adds up what is grouped.
func total(groups map[group]*sides) string {
	var all exact.Sums
	for _, both := range groups {
		all.AddSums(both[current])
	}
	return text(all)
}

func TestDayTotalsOfAccountsAreKeptApart(t *testing.T) {
	store := &rollup{rows: map[uint32][]DayTotal{7: {{7, day("2026-01-01"), false, [measures]exact.Uint128{{Lo: 1}}}}}}
	d := newDayTotals(store)
	for _, account := range []string{"a", "b", "a", "b"} {
		if _, err := d.getTotals(t.Context(), Plan{Account: account, Days: []Live{{Generation: 7}}}, false); err != nil {
			t.Fatal(err)
		}
	}
	if len(store.read) != 2 {
		t.Errorf("generation 7 of two accounts was read %d times", len(store.read))
	}
}

// A load has its months counted again, and what it replaced takes no room.
func TestDayTotalsOfAReplacedMonthAreReplaced(t *testing.T) {
	store := &rollup{rows: map[uint32][]DayTotal{7: {{7, day("2026-01-01"), false, [measures]exact.Uint128{{Lo: 1}}}}, 8: {{8, day("2026-01-01"), false, [measures]exact.Uint128{{Lo: 2}}}}}}
	d := newDayTotals(store)
	month := manifest.Unit{Kind: manifest.Month, Start: day("2026-01-01")}
	for _, generation := range []uint32{7, 8, 8} {
		units, err := d.getTotals(t.Context(), Plan{Account: "a", Days: []Live{{Unit: month, Generation: generation}}}, false)
		if err != nil {
			t.Fatal(err)
		}
		if got := units[0].rows; len(got) != 1 || got[0].Generation != generation {
			t.Errorf("generation %d has the days %v", generation, got)
		}
	}
	if n := d.known.Stats().Values; n != 1 || len(store.read) != 2 {
		t.Errorf("%d months are kept, generations %v were read", n, store.read)
	}
}

// Days that the disk lost are not left out of a sum, and what was read of an account
// before a repair is read again after it.
func TestMissingDaysAreDamage(t *testing.T) {
	store := &rollup{rows: map[uint32][]DayTotal{7: {{7, day("2026-01-01"), false, [measures]exact.Uint128{{Lo: 1}}}}}}
	s := NewService(store, nil)
	get := func(account string, days uint64) error {
		_, err := s.days.getTotals(t.Context(), Plan{Account: account, Days: []Live{{Generation: 7, FactDays: days}}}, false)
		return err
	}
	for _, days := range []uint64{2, 2, 3} {
		if err := get("a", days); adlens.KindOf(err) != adlens.Damaged {
			t.Errorf("one day of %d: %v", days, err)
		}
	}
	for range 2 {
		if err := errors.Join(get("a", 1), get("b", 1)); err != nil {
			t.Fatal(err)
		}
	}
	if len(store.read) != 3+2 {
		t.Errorf("it was read %d times", len(store.read))
	}
	for account, want := range map[string]int{"a": 1, "": 2} {
		before := len(store.read)
		s.Forget(account)
		if err := errors.Join(get("a", 1), get("b", 1)); err != nil {
			t.Fatal(err)
		}
		if read := len(store.read) - before; read != want {
			t.Errorf("after %q was forgotten it was read %d times, want %d", account, read, want)
		}
	}
}

func BenchmarkSummaryOfSixYears(b *testing.B) {
	var plan Plan
	var units []dayUnit
	for unit := range 72 * 18 {
		slice := manifest.Slice{Marketplace: uint16(unit % 6), AdProduct: adlens.AdProduct(1 + unit%3)}
		plan.Days = append(plan.Days, Live{Unit: manifest.Unit{Kind: manifest.Month, Slice: slice}, Generation: uint32(unit)})
		rows := make([]DayTotal, 31)
		for i := range rows {
			rows[i] = DayTotal{uint32(unit), adlens.Day(20_000 + unit/18*31 + i), false, [measures]exact.Uint128{{Lo: 1000}, {Lo: 10}, {Lo: 1}, {Lo: 5_000_000}, {Lo: 20_000_000}}}
		}
		units = append(units, newDayUnit(uint32(unit), rows))
	}
	plan.From, plan.To = 20_000, 30_000
	for b.Loop() {
		newSummary(january, exampleView(), grouped(Request{Dimensions: []string{dimMarketplace, dimAdProduct}}, plan, units))
	}
}
