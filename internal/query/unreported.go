package query

import (
	"slices"
	"strings"

	"adlens"
	"adlens/internal/catalogue"
	"adlens/internal/manifest"
	"adlens/internal/query/period"
)

// MeasureNotReported is why a sum is not of all reports.
const MeasureNotReported = "measure_not_reported"

// Incomplete is what a part of an account's reports lacks of an answer.
type Incomplete struct {
	Marketplace Marketplace
	AdProduct   adlens.AdProduct
	Reason      string
	Figures     []string         // that are not of all reports
	Campaigns   []LegacyCampaign // that are left out, by name
}

// unreportedDays are the days of a plan whose reports lack a measure.
type unreportedDays struct {
	measure     catalogue.Measure
	generations []uint32 // whole
	days        []uint64 // single ones: the generation, and below it 16 bits of the day
}

// lacks reports whether a report had no column of a measure, as far as is known.
func lacks(s manifest.Source, m catalogue.Measure) bool {
	return !slices.Contains(strings.Split(s.Columns, ","), m.Column)
}

// addUnreported adds the days of a month.
func (plan *Plan) addUnreported(e manifest.Entry) {
	if coverageOf(*plan, e) == untouched {
		return
	}
	for i := range plan.unreported {
		u := &plan.unreported[i]
		without := func(s manifest.Source) bool { return lacks(s, u.measure) }
		if !slices.ContainsFunc(e.Sources, func(s manifest.Source) bool { return !without(s) }) {
			u.generations = append(u.generations, e.Generation)
			continue
		}
		for _, s := range e.Sources {
			for day := e.Start; without(s) && day.FirstOfMonth() == e.Start; day++ {
				if s.Days&manifest.DaysBetween(day, day) != 0 {
					u.days = append(u.days, uint64(e.Generation)<<16|uint64(day))
				}
			}
		}
	}
}

func (plan Plan) setUnreported(v map[string]string) {
	for _, u := range plan.unreported {
		v["unreported_"+u.measure.Name] = Numbers(u.generations)
		v["unreported_days_"+u.measure.Name] = Numbers(u.days)
	}
}

// incomplete are the slices of which the reports of the period, or of the one that it
// is compared with, leave out campaigns or lack a measure that the request has a
// figure of, in the order of marketplaces and ad products.
func (v View) incomplete(r Request) (all []Incomplete) {
	further := r.furtherMeasures()
	if further == nil && len(v.Legacy) == 0 {
		return nil
	}
	isLacked := map[manifest.Slice]map[string]bool{}
	v.addLacked(isLacked, r, r.Period, further)
	if r.Compared() {
		v.addLacked(isLacked, r, r.Earlier, further)
	}
	for _, m := range v.Marketplaces {
		for _, product := range adProductOrder {
			part := Incomplete{Marketplace: m, AdProduct: adlens.AdProduct(product), Reason: MeasureNotReported}
			if left := v.legacyIn(r, m); part.AdProduct == adlens.SponsoredBrands && left != nil {
				all = append(all, Incomplete{Marketplace: m, AdProduct: part.AdProduct, Reason: LegacyBrands, Campaigns: left})
			}
			for _, measure := range further {
				if isLacked[manifest.Slice{Marketplace: m.Key, AdProduct: part.AdProduct}][measure.Name] {
					part.Figures = append(part.Figures, measure.Name)
				}
			}
			if part.Figures != nil {
				all = append(all, part)
			}
		}
	}
	return all
}

// addLacked notes which measures a report of a period lacks, by marketplace and ad
// product.
func (v View) addLacked(isLacked map[manifest.Slice]map[string]bool, r Request, within period.Period, further []catalogue.Measure) {
	plan, months, _ := v.basePlan(r, within)
	for _, e := range months {
		if coverageOf(plan, e) == untouched {
			continue
		}
		of := e.Slice.Of(e.Slice.Product())
		if isLacked[of] == nil {
			isLacked[of] = map[string]bool{}
		}
		days := manifest.DaysBetween(max(plan.From, e.Start), min(plan.To, e.Start.AddMonths(1)-1))
		for _, m := range further {
			without := func(s manifest.Source) bool { return s.Days&days != 0 && lacks(s, m) }
			isLacked[of][m.Name] = isLacked[of][m.Name] || slices.ContainsFunc(e.Sources, without)
		}
	}
}
