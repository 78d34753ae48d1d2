package loader

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"adlens"
	"adlens/internal/flight"
	"adlens/internal/manifest"
	"adlens/internal/tables"
)

// commitLoad finishes the load: what is still held back is written and the rest of
// each month copied, the rollups derived, everything summed and compared, and
// then made visible at once. Up to the last step nothing of it can be seen.
func (b *build) commitLoad(ctx context.Context) error {
	if err := b.session.requireWhole(); err != nil {
		return err
	}
	if b.version == 0 && !b.session.newEntities {
		return nil
	}
	legacy, err := b.beginLegacy(ctx)
	if err != nil {
		return err
	}
	if err := b.beginYears(ctx); err != nil {
		return err
	}
	s := b.session
	products, err := b.beginNumbers(ctx, manifest.Products, s.newProducts, len(s.products))
	if err != nil {
		return err
	}
	entities, err := b.beginNumbers(ctx, manifest.Entities, s.newEntities, len(s.entities))
	if err != nil {
		return err
	}
	var months []manifest.Entry
	var years []YearParts
	for _, steps := range [][]func() error{
		{
			func() error {
				return writeNumbers(products, func(generation uint32) error {
					return s.store.InsertProductNumbers(ctx, s.account, generation, s.products)
				})
			},
			func() error {
				return writeNumbers(entities, func(generation uint32) error { return s.store.InsertEntities(ctx, s.account, generation, s.entities) })
			},
			func() error { return b.flushRows(ctx) },
			func() error { return b.copyDays(ctx) },
		},
		{
			func() error { return b.countLegacy(ctx, legacy) },
		},
		{
			func() error {
				months, years = b.monthEntries(), b.yearParts()
				return b.derive(ctx, months, years)
			},
		},
		{
			func() error { return b.verifySums(ctx, months, years) },
			func() error { return b.requireFacts(ctx) },
		},
	} {
		if err := flight.Together(steps...); err != nil {
			return err
		}
	}
	return b.publishUnits(ctx)
}

// sortedMonths are the months of the load in the order of their units.
func (b *build) sortedMonths() []*unitBuild {
	var months []*unitBuild
	for u, ub := range b.units {
		if u.Kind == manifest.Month {
			months = append(months, ub)
		}
	}
	slices.SortFunc(months, func(x, y *unitBuild) int { return x.entry.Unit.Compare(y.entry.Unit) })
	return months
}

// daysToCopy are the days that stay as they are in the months of the load.
func (b *build) daysToCopy() []Copy {
	var copies []Copy
	for _, ub := range b.sortedMonths() {
		if stay := ub.before.Held() &^ ub.replaced; stay != 0 {
			copies = append(copies, Copy{Month: ub.entry.Start, From: ub.before.Generation, To: ub.entry.Generation, Days: stay})
		}
	}
	return copies
}

func (b *build) copyDays(ctx context.Context) error {
	copies := b.daysToCopy()
	if len(copies) == 0 {
		return nil
	}
	return b.session.store.CopyDays(ctx, b.session.account, copies)
}

func (b *build) monthEntries() []manifest.Entry {
	var all []manifest.Entry
	for _, ub := range b.sortedMonths() {
		all = append(all, ub.entry)
	}
	return all
}

// derive writes what is derived of the load's months, and of the years that have them.
func (b *build) derive(ctx context.Context, months []manifest.Entry, years []YearParts) error {
	if len(months) == 0 {
		return nil
	}
	return b.session.store.Derive(ctx, b.session.account, months, years)
}

// verifySums reads back what was written, and what years were made of.
func (b *build) verifySums(ctx context.Context, months []manifest.Entry, years []YearParts) error {
	if len(months) == 0 {
		return nil
	}
	sums, err := b.session.store.Sums(ctx, b.session.account, months, b.daysToCopy(), years)
	if err != nil {
		return err
	}
	if err := b.requireParts(ctx, years, sums); err != nil {
		return err
	}
	if err := b.verifyMonths(sums); err != nil {
		return err
	}
	return b.verifyYears(sums, years)
}

// verifyMonths makes sure that facts are the file's to the last unit, and that days
// and products add up to the facts.
func (b *build) verifyMonths(sums map[Level]Sums) error {
	for _, ub := range b.sortedMonths() {
		var want Sums
		want.addSums(ub.source)
		want.addSums(sums[Level{tables.OfKind(manifest.Month)[0], ub.before.Generation}]) // of days that were copied
		got := monthSums(sums, ub.entry.Generation)
		if !got.source.Source.Equal(want.Source) || !got.addUp(true) {
			return fmt.Errorf("%s: what was written does not add up to what was read (read: %s; written: %s; rollups: %s); nothing was made visible",
				ub.entry.Unit, want, got.source, got.rollups)
		}
		ub.entry.Rows, ub.entry.Derived = got.source.Rows, got.rows()
	}
	return nil
}

// requireParts makes sure that live months which the load made years of were still
// whole after they were read: an engine may have lost rows, and restarted, since the load
// began. Sums of a year and its months would not show it.
func (b *build) requireParts(ctx context.Context, years []YearParts, sums map[Level]Sums) error {
	var live []manifest.Entry
	for _, e := range b.session.Manifest().Of(manifest.Month) {
		if slices.ContainsFunc(years, func(y YearParts) bool { return slices.Contains(y.Months, e.Generation) }) {
			live = append(live, e)
		}
	}
	var counts []tables.Count
	var names []string
	for _, rollup := range tables.Rollups(manifest.Month) {
		names = append(names, rollup.Name)
		for _, e := range live {
			counts = append(counts, tables.Count{Table: rollup.Name, Generation: e.Generation, Rows: sums[Level{rollup.Name, e.Generation}].Rows})
		}
	}
	return b.session.RequireRows(ctx, live, counts, names...)
}

// requireFacts does the same for live facts that were copied, or may have been converted.
func (b *build) requireFacts(ctx context.Context) error {
	copies := b.daysToCopy()
	var live []manifest.Entry
	var generations []uint32
	for _, e := range b.session.Manifest().Of(manifest.Month) {
		if b.derives || slices.ContainsFunc(copies, func(c Copy) bool { return c.From == e.Generation }) {
			live, generations = append(live, e), append(generations, e.Generation)
		}
	}
	if len(live) == 0 {
		return nil
	}
	counts, err := b.session.store.CountFacts(ctx, b.session.account, generations)
	if err != nil {
		return err
	}
	return b.session.RequireRows(ctx, live, counts, tables.OfKind(manifest.Month)[0])
}

// verifyYears compares the years with their months.
func (b *build) verifyYears(sums map[Level]Sums, years []YearParts) error {
	for _, y := range years {
		s := yearSums(sums, y)
		if !s.addUp(true) {
			return fmt.Errorf("year generation %d does not add up to its months; nothing was made visible", y.Generation)
		}
		entry := &b.units[y.Unit].entry
		rows := s.rows()
		entry.Rows, entry.Derived = rows[0], rows[1:]
	}
	return nil
}

// beginYears begins the new generations of the years that the load touches.
func (b *build) beginYears(ctx context.Context) error {
	for _, ub := range b.sortedMonths() {
		if _, err := b.beginUnit(ctx, manifest.Unit{Kind: manifest.Year, Slice: ub.entry.Slice, Start: ub.entry.Start.FirstOfYear()}); err != nil {
			return err
		}
	}
	return nil
}

// yearParts are the years of the load with their months, in the order of their
// units.
func (b *build) yearParts() (years []YearParts) {
	for _, u := range slices.SortedFunc(maps.Keys(b.units), manifest.Unit.Compare) {
		if u.Kind == manifest.Year {
			years = append(years, b.partsOf(b.units[u].entry))
		}
	}
	return years
}

// partsOf are a year's months as they will be live. Those that the load writes have
// all rollups.
func (b *build) partsOf(year manifest.Entry) YearParts {
	parts := YearParts{Unit: year.Unit, Generation: year.Generation}
	for month := year.Start; month.Year() == year.Start.Year(); month = month.AddMonths(1) {
		u := manifest.Unit{Kind: manifest.Month, Slice: year.Slice, Start: month}
		if ub, ok := b.units[u]; ok {
			parts.addMonth(ub.entry.Generation, true)
		} else if live, ok := b.session.Manifest().Find(u); ok {
			parts.addMonth(live.Generation, live.ByAdGroup())
		}
	}
	return parts
}

// publishUnits is the only visible act.
func (b *build) publishUnits(ctx context.Context) error {
	entries := make([]manifest.Entry, 0, len(b.units))
	for _, ub := range b.units {
		entries = append(entries, ub.entry)
	}
	slices.SortFunc(entries, func(x, y manifest.Entry) int { return x.Unit.Compare(y.Unit) })
	if err := b.session.Commit(ctx, b.version, entries); err != nil {
		return err
	}
	if _, written := b.units[manifest.Unit{Kind: manifest.Products}]; written {
		b.session.newProducts = false
	}
	if _, written := b.units[manifest.Unit{Kind: manifest.Entities}]; written {
		b.session.newEntities = false
	}
	return nil
}

// CollectAfter is for how long the rows of a superseded generation are kept:
// longer than the longest query that may still be reading them.
const CollectAfter = 15 * time.Minute

// holdsDay reports whether days of a month include one of it.
func holdsDay(days manifest.Days, day adlens.Day) bool {
	return days&manifest.DaysBetween(day, day) != 0
}
