package simulation

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"adlens"
	"adlens/internal/catalogue"
	"adlens/internal/exact"
	"adlens/internal/manifest"
	"adlens/internal/tables"
	"adlens/loader"
)

// fact is a row of the table facts.
type fact struct {
	day    adlens.Day
	of     numbers
	slice  manifest.Slice
	values []uint64 // of the columns of loader.FactColumns
}

// numbers are the stored numbers of what a row is of, 0 for what it is not divided
// by.
type numbers struct{ product, campaign, adGroup uint32 }

// measures is how many measures figures follow from, and summed how many columns
// rollups have: those, and behind them the amounts in their own currency.
const (
	measures = len(catalogue.Headline)
	summed   = measures + 4
)

// rollupRow is a row of a table that is derived of facts.
type rollupRow struct {
	start adlens.Day // the day, or the first of its month or year
	of    numbers
	slice manifest.Slice
	sums  [summed]uint64 // counts, millionths of dollars, and of its own currency with their rests
}

var (
	factColumns = columnNumbers()
)

func columnNumbers() map[string]int {
	numbers := map[string]int{}
	names, _ := loader.FactColumns()
	for i, name := range names {
		numbers[name] = i
	}
	return numbers
}

// InsertFacts writes a block, a part of each month on its own.
func (s store) InsertFacts(ctx context.Context, account string, b *loader.Batch) error {
	months := map[adlens.Day][]tables.Row{}
	var order []adlens.Day
	for row, day := range b.Day {
		f := fact{day: day, of: numbers{b.Product[row], b.Campaign[row], b.AdGroup[row]}, slice: manifest.Slice{Marketplace: b.Marketplace[row], AdProduct: b.AdProduct[row]}, values: make([]uint64, len(factColumns))}
		for column, name := range b.Names {
			f.values[factColumns[name]] = b.Values[column][row]
		}
		month := day.FirstOfMonth()
		if months[month] == nil {
			order = append(order, month)
		}
		months[month] = append(months[month], tables.Row{Generation: b.Generation[row], Value: f})
	}
	return s.writeMonths(ctx, account, "facts", months, order, len(b.Day))
}

func (s store) writeMonths(ctx context.Context, account, table string, months map[adlens.Day][]tables.Row, order []adlens.Day, rows int) error {
	slices.Sort(order)
	var pieces []func()
	for _, month := range order {
		pieces = append(pieces, s.piece(s.session, account, table, months[month]))
	}
	return s.writeOf(ctx, account, "insert "+table, fmt.Sprint(rows), pieces...)
}

// Facts reads stored rows. They are visited once all are read.
func (s store) Facts(ctx context.Context, account string, unit manifest.Unit, generation uint32, days manifest.Days, visit func(*loader.StoredFact) error) error {
	var found []loader.StoredFact
	err := s.readOf(ctx, account, "select facts", fmt.Sprint(generation), func() error {
		for _, r := range s.rowsOf(account, "facts", generation) {
			if f := r.Value.(fact); f.day.FirstOfMonth() == unit.Start && days&manifest.DaysBetween(f.day, f.day) != 0 {
				found = append(found, loader.StoredFact{Day: f.day, Product: f.of.product, Campaign: f.of.campaign, AdGroup: f.of.adGroup, Values: f.values})
			}
		}
		return nil
	})
	slices.SortStableFunc(found, func(a, b loader.StoredFact) int {
		return cmp.Or(cmp.Compare(a.Day, b.Day), cmp.Compare(a.Product, b.Product), cmp.Compare(a.Campaign, b.Campaign), cmp.Compare(a.AdGroup, b.AdGroup))
	})
	for i := range found {
		if err == nil {
			err = visit(&found[i])
		}
	}
	return err
}

// insertSelect derives rows from rows: it reads and writes in one call, whose
// parts may be lost one by one.
func (s store) insertSelect(ctx context.Context, account, name, detail string, derive func() map[string][]tables.Row) error {
	var derived map[string][]tables.Row
	owner := s.session
	once := func() map[string][]tables.Row {
		if derived == nil {
			s.world.rows.Unread = ""
			if derived = derive(); s.world.rows.Unread != "" {
				derived = map[string][]tables.Row{} // nothing is written
			}
		}
		return derived
	}
	var pieces []func()
	for _, table := range slices.Concat(tables.OfKind(manifest.Month), tables.OfKind(manifest.Year)) {
		pieces = append(pieces, func() {
			if rows := once()[table]; len(rows) > 0 {
				s.piece(owner, account, table, rows)()
			}
		})
	}
	return s.writeOf(ctx, account, name, detail, pieces...)
}

func (s store) CopyDays(ctx context.Context, account string, copies []loader.Copy) error {
	return s.insertSelect(ctx, account, "copy days", fmt.Sprint(copies), func() map[string][]tables.Row {
		var rows []tables.Row
		for _, c := range copies {
			for _, r := range s.rowsOf(account, "facts", c.From) {
				if f := r.Value.(fact); s.hooks.copyAll || c.Days&manifest.DaysBetween(f.day, f.day) != 0 {
					rows = append(rows, tables.Row{Generation: c.To, Value: f})
				}
			}
		}
		return map[string][]tables.Row{"facts": rows}
	})
}

// groups sums rows by generation, time and what they are of.
type groups struct {
	rows []tables.Row
	at   map[groupKey]int
}

type groupKey struct {
	generation uint32
	of         numbers
	start      adlens.Day
}

func (g *groups) add(generation uint32, start adlens.Day, of numbers, slice manifest.Slice, sums [summed]uint64) {
	key := groupKey{generation, of, start}
	i, ok := g.at[key]
	if !ok {
		if g.at == nil {
			g.at = map[groupKey]int{}
		}
		i = len(g.rows)
		g.at[key] = i
		g.rows = append(g.rows, tables.Row{Generation: generation, Value: &rollupRow{start: start, of: of, slice: slice}})
	}
	r := g.rows[i].Value.(*rollupRow)
	for n, sum := range sums {
		r.sums[n] += sum
	}
}

func (f fact) sums() (sums [summed]uint64) {
	copy(sums[:], f.values) // the headline's columns are the first
	return sums
}

func (s store) Derive(ctx context.Context, account string, months []manifest.Entry, years []loader.YearParts) error {
	if err := s.deriveMonths(ctx, account, months); err != nil {
		return err
	}
	return s.deriveYears(ctx, account, years)
}

func (s store) deriveMonths(ctx context.Context, account string, months []manifest.Entry) error {
	generations := generationsOf(months)
	return s.insertSelect(ctx, account, "derive months", fmt.Sprint(generations), func() map[string][]tables.Row {
		var days groups
		for _, r := range s.rowsOf(account, "facts", generations...) {
			f := r.Value.(fact)
			days.add(r.Generation, f.day, numbers{}, f.slice, f.sums())
		}
		derived := s.monthTotals(account, generations)
		derived["day_totals"] = days.rows
		return derived
	})
}

// dividedBy is what a rollup's rows are of.
func (n numbers) dividedBy(rollup tables.Description) numbers {
	if !rollup.ByAdGroup() {
		n.campaign, n.adGroup = 0, 0
	}
	return n
}

// monthTotals are the rollups of whole months.
func (s store) monthTotals(account string, generations []uint32) map[string][]tables.Row {
	all := map[string][]tables.Row{}
	for _, rollup := range tables.Rollups(manifest.Month) {
		var months groups
		for _, r := range s.rowsOf(account, "facts", generations...) {
			f := r.Value.(fact)
			months.add(r.Generation, f.day.FirstOfMonth(), f.of.dividedBy(rollup), f.slice, f.sums())
		}
		all[rollup.Name] = months.rows
	}
	return all
}

// deriveTotals writes the rollups of whole months alone.
func (s store) deriveTotals(ctx context.Context, account string, months []manifest.Entry) error {
	generations := generationsOf(months)
	return s.insertSelect(ctx, account, "derive totals", fmt.Sprint(generations), func() map[string][]tables.Row { return s.monthTotals(account, generations) })
}

func generationsOf(entries []manifest.Entry) []uint32 {
	all := make([]uint32, len(entries))
	for i, e := range entries {
		all[i] = e.Generation
	}
	return all
}

func (s store) deriveYears(ctx context.Context, account string, years []loader.YearParts) error {
	return s.insertSelect(ctx, account, "derive years", fmt.Sprint(years), func() map[string][]tables.Row {
		all := map[string][]tables.Row{}
		for _, rollup := range tables.Rollups(manifest.Year) {
			var derived groups
			for _, y := range years {
				s.addYear(&derived, account, rollup, y)
			}
			all[rollup.Name] = derived.rows
		}
		return all
	})
}

// addYear adds the months of a year to a rollup. Those without ad groups are read by
// product.
func (s store) addYear(to *groups, account string, rollup tables.Description, y loader.YearParts) {
	for _, month := range y.Months {
		table := rollup.MonthsOf()
		if rollup.ByAdGroup() && slices.Contains(y.Undivided, month) {
			table = "month_products"
		}
		for _, r := range s.rowsOf(account, table, month) {
			m := r.Value.(*rollupRow)
			to.add(y.Generation, y.Start, m.of.dividedBy(rollup), m.slice, m.sums)
		}
	}
}

func sumRollups(rows []tables.Row) (s loader.Sums) {
	for _, r := range rows {
		addSums(&s, r.Value.(*rollupRow).sums)
	}
	return s
}

// addSums adds a row.
func addSums(s *loader.Sums, sums [summed]uint64) {
	var figures, source [measures]exact.Uint128
	for i := range figures {
		figures[i].Lo, source[i].Lo = sums[i], sums[i]
	}
	for i, place := range []int{catalogue.Spend, catalogue.Sales} {
		micros, _ := exact.Uint128{Lo: sums[measures+i]}.Times(100_000_000_000_000)
		source[place], _ = micros.Add(exact.Uint128{Lo: sums[measures+2+i]})
	}
	s.Rows++
	s.Figures.Add(figures[:])
	s.Source.Add(source[:])
}

func sumFacts(rows []tables.Row, days manifest.Days) (s loader.Sums) {
	for _, r := range rows {
		if f := r.Value.(fact); days&manifest.DaysBetween(f.day, f.day) != 0 {
			addSums(&s, f.sums())
		}
	}
	return s
}

func (s store) CountFacts(ctx context.Context, account string, generations []uint32) ([]tables.Count, error) {
	all, err := s.Tables().CountRows(ctx, account, "facts")
	if err == nil && s.hooks.recounting != nil {
		all = s.hooks.recounting(account, all)
	}
	return slices.DeleteFunc(all, func(c tables.Count) bool { return !slices.Contains(generations, c.Generation) }), err
}

func (s store) Sums(ctx context.Context, account string, months []manifest.Entry, copies []loader.Copy, years []loader.YearParts) (all map[loader.Level]loader.Sums, err error) {
	all = map[loader.Level]loader.Sums{}
	err = s.readOf(ctx, account, "sum levels", fmt.Sprint(generationsOf(months), copies, years), func() error {
		for _, c := range copies {
			days := c.Days
			if s.hooks.copyAll {
				days = ^manifest.Days(0)
			}
			all[loader.Level{Table: "facts", Generation: c.From}] = sumFacts(s.rowsOf(account, "facts", c.From), days)
		}
		parts := generationsOf(months)
		for _, m := range months {
			all[loader.Level{Table: "facts", Generation: m.Generation}] = sumFacts(s.rowsOf(account, "facts", m.Generation), ^manifest.Days(0))
			s.sumLevel(all, account, "day_totals", m.Generation)
		}
		for _, y := range years {
			parts = append(parts, y.Months...)
			for _, rollup := range tables.Rollups(manifest.Year) {
				s.sumLevel(all, account, rollup.Name, y.Generation)
			}
		}
		for _, rollup := range tables.Rollups(manifest.Month) {
			for _, part := range parts {
				s.sumLevel(all, account, rollup.Name, part)
			}
		}
		return nil
	})
	return all, err
}

// sumLevel sums the rows of a generation in a table that is derived.
func (s store) sumLevel(all map[loader.Level]loader.Sums, account, table string, generation uint32) {
	all[loader.Level{Table: table, Generation: generation}] = sumRollups(s.rowsOf(account, table, generation))
}
