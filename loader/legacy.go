package loader

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"adlens"
	"adlens/internal/catalogue"
	"adlens/internal/exact"
	"adlens/internal/manifest"
	"adlens/internal/platform"
)

// Legacy reports of Sponsored Brands are kept whole, in a slice that nothing is
// answered from (manifest.LegacyReported). What of them counts is derived from it at
// every load that can change it: rows of campaigns that a list says to have one ad
// group, and that the v3 report which speaks for the day does not have. So
// figures depend on what was loaded, not on the order, and nothing counts twice.

// legacyMonth is a month of which the load may change what counts.
type legacyMonth struct {
	reported, counted, brands manifest.Unit
	days                      manifest.Days
}

// beginLegacy finds the months of legacy reports that the load touches, and begins
// new generations of what counts of them.
func (b *build) beginLegacy(ctx context.Context) (all []legacyMonth, err error) {
	for _, u := range b.legacyUnits() {
		m := legacyMonth{reported: u, counted: u, brands: u}
		m.counted.Slice, m.brands.Slice = u.Slice.Of(manifest.LegacyCounted), u.Slice.Of(adlens.SponsoredBrands)
		held := b.entryOf(u).Held()
		if b.relisted[u.Slice.Marketplace] {
			m.days = held
		}
		if ub, ok := b.units[u]; ok {
			m.days |= ub.replaced
		}
		if ub, ok := b.units[m.brands]; ok {
			m.days |= ub.replaced & held
		}
		if m.days == 0 {
			continue
		}
		ub, err := b.beginUnit(ctx, m.counted)
		if err != nil {
			return nil, err
		}
		ub.replaced |= m.days
		all = append(all, m)
	}
	return all, nil
}

// legacyUnits are the months of legacy reports, of the load and live ones, in order.
func (b *build) legacyUnits() []manifest.Unit {
	units := map[manifest.Unit]bool{}
	for _, e := range b.session.Manifest().Of(manifest.Month) {
		units[e.Unit] = e.Slice.AdProduct == manifest.LegacyReported
	}
	for u := range b.units {
		units[u] = u.Kind == manifest.Month && u.Slice.AdProduct == manifest.LegacyReported
	}
	maps.DeleteFunc(units, func(_ manifest.Unit, legacy bool) bool { return !legacy })
	return slices.SortedFunc(maps.Keys(units), manifest.Unit.Compare)
}

// countLegacy writes what counts of legacy reports.
func (b *build) countLegacy(ctx context.Context, months []legacyMonth) error {
	defer b.awaitBlock() // nothing is written for a load that has ended
	for _, m := range months {
		if err := b.countMonth(ctx, m); err != nil {
			return err
		}
		if err := b.flushBlock(ctx, b.session.blockRows); err != nil {
			return err
		}
	}
	if err := b.flushRows(ctx); err != nil {
		return err
	}
	return b.beginYears(ctx) // of months that were not part of the load before
}

func (b *build) countMonth(ctx context.Context, m legacyMonth) error {
	c := legacyCounter{build: b, month: m, ids: b.session.entityIDs()}
	reported, err := b.storedRows(ctx, m.reported, m.days)
	if err != nil {
		return err
	}
	for day := m.reported.Start; day <= m.reported.Start.LastOfMonth(); day++ {
		if !holdsDay(m.days, day) {
			continue
		}
		n := slices.IndexFunc(reported, func(r keyedSums) bool { return r.day > day })
		if n < 0 {
			n = len(reported)
		}
		if err := c.countDay(ctx, day, reported[:n]); err != nil {
			return err
		}
		reported = reported[n:]
	}
	ub := b.units[m.counted]
	ub.entry.Sources = nil
	for _, source := range b.entryOf(m.reported).Sources {
		if source.Days &= (m.days | ub.before.Held()) &^ c.unclear; source.Days != 0 {
			ub.entry.Sources = append(ub.entry.Sources, source)
		}
	}
	b.addRows(ub, c.counted)
	return c.rewriteBrands(ctx)
}

// storedRows reads the facts of some days of a month, as they are with this load.
func (b *build) storedRows(ctx context.Context, u manifest.Unit, days manifest.Days) (rows []keyedSums, err error) {
	generation := b.entryOf(u).Generation
	if generation == 0 {
		return nil, nil
	}
	b.derives = b.derives || generation == b.session.Manifest().Generation(u)
	err = b.session.store.Facts(ctx, b.session.account, u, generation, days, func(f *StoredFact) error {
		rows = addStored(rows, f)
		return nil
	})
	return rows, err
}

// addRows appends converted rows to the facts of a month.
func (b *build) addRows(ub *unitBuild, rows []keyedSums) {
	for _, r := range rows {
		ub.source.Source.Add(r.ownSums())
	}
	b.writeRows(ub, rows)
}

// writeRows appends rows that the sums of the month have already.
func (b *build) writeRows(ub *unitBuild, rows []keyedSums) {
	columns := b.block.ensureColumns(catalogue.Extra)
	for _, r := range rows {
		b.block.addFact(ub.entry.Slice, ub.entry.Generation, r.factKey, columns, slices.Clone(r.sums))
	}
}

// legacyCounter finds what counts of a month of legacy reports.
type legacyCounter struct {
	build *build
	month legacyMonth
	ids   []string // of entities by their numbers

	counted   []keyedSums
	unclear   manifest.Days // whose v3 reports do not say their campaigns
	rewritten manifest.Days // of the v3 reports, whose dollars change
	brands    []keyedSums   // of those days
}

// countDay takes the rows of a day that count.
func (c *legacyCounter) countDay(ctx context.Context, day adlens.Day, rows []keyedSums) error {
	brands, err := c.build.storedRows(ctx, c.month.brands, manifest.DaysBetween(day, day))
	if err != nil {
		return err
	}
	has := map[uint32]bool{}
	for _, r := range brands {
		has[r.campaign] = true
	}
	source := c.sourceOf(day)
	w := c.build.withheld[source]
	counted := slices.DeleteFunc(rows, func(r keyedSums) bool {
		id := c.ids[r.campaign]
		form, listed := c.build.session.forms[ListedCampaign{c.month.brands.Slice.Marketplace, id}]
		switch {
		case listed && form == platform.UnknownForm && !has[r.campaign]:
			w.unsaid = append(w.unsaid, id)
		case form != platform.OneAdGroup:
			w.several++
		case has[0]: // of campaigns that are not named: this may be one of them
			w.unclear = append(w.unclear, id)
		case has[r.campaign]:
			w.twice = append(w.twice, id)
		default:
			return false
		}
		return true
	})
	c.build.withheld[source] = w
	if has[0] {
		c.unclear |= manifest.DaysBetween(day, day)
	}
	return c.convertDay(day, brands, counted)
}

// sourceOf returns the id of the legacy report that speaks for a day.
func (c *legacyCounter) sourceOf(day adlens.Day) string {
	for _, s := range c.build.entryOf(c.month.reported).Sources {
		if holdsDay(s.Days, day) {
			return s.ReportID
		}
	}
	return ""
}

// convertDay converts what the legacy and the v3 report say of a day, which are
// one sum that is rounded once (shares.go). The v3 one's rows are written again
// only where one of them has other dollars now.
func (c *legacyCounter) convertDay(day adlens.Day, brands, counted []keyedSums) error {
	if len(brands)+len(counted) == 0 {
		return nil
	}
	rate, err := c.build.heldRate(c.build.session.currencyOf(c.month.brands.Slice.Marketplace), day)
	if err != nil {
		return err
	}
	before := make([][]exact.Uint128, len(brands))
	for i, r := range brands {
		before[i] = slices.Clone(r.sums)
	}
	if err := convertStored(slices.Concat(brands, counted), c.ids, rate); err != nil {
		return err
	}
	c.counted = append(c.counted, counted...)
	for i, r := range brands {
		if !slices.Equal(r.sums, before[i]) {
			c.rewritten |= manifest.DaysBetween(day, day)
			c.brands = append(c.brands, brands...)
			break
		}
	}
	return nil
}

// rewriteBrands writes days of the v3 reports again, whose dollars change,
// under a generation of their own.
func (c *legacyCounter) rewriteBrands(ctx context.Context) error {
	if c.rewritten == 0 {
		return nil
	}
	b, u := c.build, c.month.brands
	from := b.entryOf(u).Generation
	ub, begun := b.units[u]
	if !begun {
		var err error
		if ub, err = b.beginUnit(ctx, u); err != nil {
			return err
		}
		ub.replaced = c.rewritten
		b.addRows(ub, c.brands)
	} else {
		// What was written of the month is not visible yet, and its sums stay the same.
		generation, err := b.session.Number(ctx)
		if err != nil {
			return err
		}
		b.session.Discard(manifest.Entry{Unit: u, Generation: from})
		ub.entry.Generation = generation
		b.writeRows(ub, c.brands)
	}
	stay := ub.entry.Held() &^ c.rewritten
	if stay == 0 {
		return nil
	}
	return b.session.store.CopyDays(ctx, b.session.account, []Copy{{Month: u.Start, From: from, To: ub.entry.Generation, Days: stay}})
}

// withheld is what of a legacy report does not count: how many campaigns have several
// ad groups, of which no list says it, which a v3 report has too, and which it may
// have.
type withheld struct {
	several                int
	unsaid, twice, unclear []string // ids
}

// describe says in one line what does not count, and why; "" for nothing.
func (w withheld) describe() string {
	var all []string
	if w.several > 0 {
		all = append(all, fmt.Sprintf("%d %s left to sbCampaigns, because they may have several ad groups", w.several, plural(w.several, "campaign")))
	}
	for _, part := range []struct {
		ids []string
		why string
	}{
		{w.unsaid, "no list says isMultiAdGroupsEnabled of it, so its figures may be missing"},
		{w.twice, "sbCampaigns reports it on that day too"},
		{w.unclear, "the report of that day that is held does not say its campaigns, and may have it"},
	} {
		if len(part.ids) > 0 {
			all = append(all, fmt.Sprintf("refused campaign %s: %s", strings.Join(part.ids, ", "), part.why))
		}
	}
	return strings.Join(all, "; ")
}
