package query

import (
	"maps"
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

	// unreported are the days whose reports lack further measures that are requested.
	unreported []unreportedDays

	// narrowing is what is requested of all products, campaigns and ad groups.
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
	FactDays   uint64 // of a month: days that have facts; 0 where they were not counted
	Undivided  bool   // it has no rollup by ad group
	most       uint64 // rows of a rollup that filters leave of its year; 0 where none narrow it
}

func liveUnit(e manifest.Entry) Live {
	return Live{Unit: e.Unit, Generation: e.Generation, Facts: e.Rows, FactDays: e.RowsAt(dayTotalsPlace), Undivided: !e.ByAdGroup()}
}

// dayTotalsPlace is the place of the table of day totals among those of a month.
const dayTotalsPlace = 1

// Empty reports whether nothing that is held of the period can answer: no
// statement is run.
func (plan Plan) Empty() bool { return len(plan.Years)+len(plan.Months)+len(plan.Days) == 0 }

// earlierPlan is the plan of the earlier period, an empty one where nothing is
// compared.
func (plan Plan) earlierPlan() Plan {
	if plan.Earlier == nil {
		return Plan{}
	}
	return *plan.Earlier
}

// dividedBy is the plan for another level, of both periods.
func (plan Plan) dividedBy(by level) Plan {
	plan.by = by
	if plan.Earlier != nil {
		plan.Earlier = new(plan.Earlier.dividedBy(by))
	}
	return plan
}

// hasDay reports whether a day lies in the period.
func (plan Plan) hasDay(day adlens.Day) bool { return plan.From <= day && day <= plan.To }

// sliceFilter are the slices that the request's filters let through.
func (v View) sliceFilter(r Request) func(manifest.Slice) bool {
	var keys []uint16
	for _, m := range v.filtered(r) {
		keys = append(keys, m.Key)
	}
	return func(s manifest.Slice) bool {
		return s.IsAnswered() && slices.Contains(keys, s.Marketplace) && r.hasAdProduct(s)
	}
}

func (r Request) hasAdProduct(s manifest.Slice) bool {
	return r.Filters.AdProducts == nil || slices.Contains(r.Filters.AdProducts, s.Product())
}

// basePlan is a plan without generations yet, and the months of the slices that the
// request's filters let through; ok is false where no held day of these lies in the
// period.
func (v View) basePlan(r Request, within period.Period) (plan Plan, months []manifest.Entry, ok bool) {
	match := v.sliceFilter(r)
	for _, e := range v.Manifest.Of(manifest.Month) {
		if match(e.Slice) {
			months = append(months, e)
		}
	}
	oldest, newest, held := v.Manifest.HeldDays(match)
	plan = Plan{Account: v.Account, From: max(within.Start, oldest), To: min(within.End, newest),
		SmallKeys: !slices.ContainsFunc(v.Marketplaces, func(m Marketplace) bool { return m.Key >= 64 })}
	for _, m := range v.Marketplaces {
		plan.MarketplaceOrder = append(plan.MarketplaceOrder, uint32(m.Key))
	}
	return plan, months, held && plan.From <= plan.To
}

// coverage is how much of a unit's held days a period has.
type coverage uint8

const (
	untouched coverage = iota
	partly
	wholly
)

func coverageOf(plan Plan, e manifest.Entry) coverage {
	first, held := e.FirstHeld()
	last, _ := e.LastHeld()
	switch {
	case !held || last < plan.From || first > plan.To:
		return untouched
	case plan.From <= first && last <= plan.To:
		return wholly
	}
	return partly
}

// PlanDays plans a summary or timeline: the day totals of months answer it
// alone.
func PlanDays(r Request, v View) Plan { return planBoth(r, v, planDays) }

// planBoth plans the period and, where one is compared with, the earlier one.
func planBoth(r Request, v View, planPeriod func(View, Request, period.Period) Plan) Plan {
	plan := planPeriod(v, r, r.Period)
	if r.Compared() {
		plan.Earlier = new(planPeriod(v, r, r.Earlier))
	}
	return plan
}

func planDays(v View, r Request, within period.Period) Plan {
	plan, months, ok := v.basePlan(r, within)
	if !ok {
		return plan
	}
	for _, e := range months {
		if coverageOf(plan, e) != untouched {
			plan.Days = append(plan.Days, liveUnit(e))
		}
	}
	return plan
}

// PlanReport plans a report with products: years where the period has all that is
// held of them, else months likewise, else single days. Held days decide, not the
// calendar: the running month is whole for this_month. Months are the coarsest
// where rows are divided by months, and days where they are by weeks or days.
func PlanReport(r Request, v View) Plan { return planBoth(r, v, planReport) }

func planReport(v View, r Request, within period.Period) Plan {
	plan, months, ok := v.basePlan(r, within)
	plan.by, _ = r.level()
	if !ok {
		return plan
	}
	granularity := r.Granularity
	if r.sumsFurther() {
		granularity = ByDay
	}
	for _, m := range r.furtherMeasures() {
		plan.unreported = append(plan.unreported, unreportedDays{measure: m})
	}
	years := map[manifest.Unit][]manifest.Entry{} // with their months
	for _, e := range months {
		plan.addUnreported(e)
		year := manifest.Unit{Kind: manifest.Year, Slice: e.Slice, Start: e.Start.FirstOfYear()}
		years[year] = append(years[year], e)
	}
	for _, year := range slices.SortedFunc(maps.Keys(years), manifest.Unit.Compare) {
		e, _ := v.Manifest.Find(year)
		plan.addYear(years[year], liveUnit(e), granularity, r.Local)
	}
	return plan
}

// addYear adds what answers for one slice's year, as fine as the granularity. Rollups
// from before there were ad groups have no local amounts.
func (plan *Plan) addYear(months []manifest.Entry, year Live, granularity string, local bool) {
	var whole, part []Live
	outside := false
	for _, e := range months {
		how := coverageOf(*plan, e)
		if how != untouched {
			plan.Rows += e.Rows
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
		plan.Days = append(plan.Days, slices.Concat(whole, part)...)
		return
	case ByMonth:
		year.Generation = 0
	}
	if year.Generation != 0 && len(part) == 0 && !outside && len(whole) > 1 {
		plan.Years = append(plan.Years, year)
		return
	}
	plan.Months = append(plan.Months, whole...)
	plan.Days = append(plan.Days, part...)
}
