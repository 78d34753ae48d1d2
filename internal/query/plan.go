package query

import (
	"slices"

	"adlens"
	"adlens/internal/manifest"
	"adlens/internal/query/period"
)

// Plan says which stored rows answer a request. The generations are those of
// the account's live units that the days and filters touch, so they stand for
// marketplace, ad product and month; no answer needs a predicate on those, and
// one on the calendar only spares the engine what it need not look into.
type Plan struct {
	Account  string
	From, To adlens.Day // the period, cut to what is held

	// Whole years and months are answered by their rollups, the months that
	// the period cuts by single days between From and To.
	Years, Months, Days []Live

	// Rows is how many facts the months have that a product report touches:
	// it has no more products than that.
	Rows uint64

	// Earlier is the plan of the period that is compared with; nil where
	// nothing is compared.
	Earlier *Plan

	// by is what memory divides the plan's units by.
	by level

	// unreported are the days whose reports lack further measures that are asked for.
	unreported []unreportedDays

	// narrowing is what is asked for of all products, campaigns and ad groups.
	narrowing

	// Skipped is how many rows before the page the plan leaves out.
	Skipped int

	// MarketplaceOrder are the keys of the marketplaces in the order of country and
	// id.
	MarketplaceOrder []uint32

	// SmallKeys tells that all marketplaces of the account have keys below 64.
	SmallKeys bool
}

// Live is a unit and its live generation.
type Live struct {
	manifest.Unit
	Generation uint32
	Facts      uint64 // of a month
	Undivided  bool   // it has no rollup by ad group
}

func liveUnit(e manifest.Entry) Live { return Live{e.Unit, e.Generation, e.Rows, !e.ByAdGroup()} }

// Empty reports whether nothing that is held of the period can answer: no
// statement is run.
func (p Plan) Empty() bool { return len(p.Years)+len(p.Months)+len(p.Days) == 0 }

// earlierPlan is the plan of the earlier period, an empty one where nothing is
// compared.
func (p Plan) earlierPlan() Plan {
	if p.Earlier == nil {
		return Plan{}
	}
	return *p.Earlier
}

// hasDay reports whether a day lies in the period.
func (p Plan) hasDay(day adlens.Day) bool { return p.From <= day && day <= p.To }

// sliceFilter are the slices that the filters let through.
func (v View) sliceFilter(f Filters) func(manifest.Slice) bool {
	var keys []uint16
	for _, m := range v.filtered(f) {
		keys = append(keys, m.Key)
	}
	return func(s manifest.Slice) bool {
		return slices.Contains(keys, s.Marketplace) && (f.AdProducts == nil || slices.Contains(f.AdProducts, s.AdProduct))
	}
}

// basePlan is a plan without generations yet; ok is false where no held day of
// the filtered slices lies in the period.
func (v View) basePlan(match func(manifest.Slice) bool, within period.Period) (p Plan, ok bool) {
	oldest, newest, held := v.Manifest.HeldDays(match)
	p = Plan{Account: v.Account, From: max(within.Start, oldest), To: min(within.End, newest),
		SmallKeys: !slices.ContainsFunc(v.Marketplaces, func(m Marketplace) bool { return m.Key >= 64 })}
	for _, m := range v.Marketplaces {
		p.MarketplaceOrder = append(p.MarketplaceOrder, uint32(m.Key))
	}
	return p, held && p.From <= p.To
}

// coverage is how much of a unit's held days a period has.
type coverage uint8

const (
	untouched coverage = iota
	partly
	wholly
)

func coverageOf(p Plan, e manifest.Entry) coverage {
	first, held := e.FirstHeld()
	last, _ := e.LastHeld()
	switch {
	case !held || last < p.From || first > p.To:
		return untouched
	case p.From <= first && last <= p.To:
		return wholly
	}
	return partly
}

// PlanDays plans a summary or timeline: the day totals of months answer it
// alone.
func PlanDays(r Request, v View) Plan {
	p := planDays(v, r.Filters, r.Period)
	if r.Compared() {
		then := planDays(v, r.Filters, r.Earlier)
		p.Earlier = &then
	}
	return p
}

func planDays(v View, f Filters, within period.Period) Plan {
	match := v.sliceFilter(f)
	p, ok := v.basePlan(match, within)
	if !ok {
		return p
	}
	for _, e := range v.Manifest.Of(manifest.Month) {
		if match(e.Slice) && coverageOf(p, e) != untouched {
			p.Days = append(p.Days, liveUnit(e))
		}
	}
	return p
}

// PlanReport plans a report with products: years where the period has all that is
// held of them, else months likewise, else single days. Held days decide, not the
// calendar: the running month is whole for this_month. Months are the coarsest
// where rows are divided by months, and days where they are by weeks or days.
func PlanReport(r Request, v View) Plan {
	p := planReport(v, r, r.Period)
	if r.Compared() {
		then := planReport(v, r, r.Earlier)
		p.Earlier = &then
	}
	return p
}

func planReport(v View, r Request, within period.Period) Plan {
	match := v.sliceFilter(r.Filters)
	p, ok := v.basePlan(match, within)
	p.by, _ = r.level()
	if !ok {
		return p
	}
	granularity := r.Granularity
	if r.sumsFurther() {
		granularity = ByDay
	}
	for _, m := range r.furtherMeasures() {
		p.unreported = append(p.unreported, unreportedDays{measure: m})
	}
	months := map[manifest.Unit][]manifest.Entry{}
	for _, e := range v.Manifest.Of(manifest.Month) {
		if match(e.Slice) {
			p.addUnreported(e)
			year := manifest.Unit{Kind: manifest.Year, Slice: e.Slice, Start: e.Start.FirstOfYear()}
			months[year] = append(months[year], e)
		}
	}
	for _, year := range sortedUnits(months) {
		e, _ := v.Manifest.Find(year)
		p.addYear(months[year], liveUnit(e), granularity, r.Local)
	}
	return p
}

func sortedUnits(months map[manifest.Unit][]manifest.Entry) []manifest.Unit {
	var units []manifest.Unit
	for u := range months {
		units = append(units, u)
	}
	slices.SortFunc(units, manifest.Unit.Compare)
	return units
}

// addYear adds what answers for one slice's year, as fine as the granularity. Rollups
// from before there were ad groups have no local amounts.
func (p *Plan) addYear(months []manifest.Entry, year Live, granularity string, local bool) {
	var whole, part []Live
	outside := false
	for _, e := range months {
		how := coverageOf(*p, e)
		if how != untouched {
			p.Rows += e.Rows
		}
		switch how {
		case wholly:
			if l := liveUnit(e); local && l.Undivided {
				part = append(part, l)
			} else {
				whole = append(whole, l)
			}
		case partly:
			part = append(part, liveUnit(e))
		case untouched:
			_, held := e.FirstHeld()
			outside = outside || held
		}
	}
	switch granularity {
	case ByDay, ByWeek:
		p.Days = append(p.Days, slices.Concat(whole, part)...)
		return
	case ByMonth:
		year.Generation = 0
	}
	if year.Generation != 0 && len(part) == 0 && !outside && len(whole) > 1 {
		p.Years = append(p.Years, year)
		return
	}
	p.Months = append(p.Months, whole...)
	p.Days = append(p.Days, part...)
}
