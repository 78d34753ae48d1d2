package query

import (
	"fmt"
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
func (p *Plan) addUnreported(e manifest.Entry) {
	if coverageOf(*p, e) == untouched {
		return
	}
	for i := range p.unreported {
		u := &p.unreported[i]
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

func (p Plan) setUnreported(v map[string]string) {
	for _, u := range p.unreported {
		days := make([]string, len(u.days))
		for i, n := range u.days {
			days[i] = fmt.Sprint(n)
		}
		v["unreported_"+u.measure.Name] = Numbers(u.generations)
		v["unreported_days_"+u.measure.Name] = "[" + strings.Join(days, ",") + "]"
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
	v.addLacked(isLacked, r.Filters, r.Period, further)
	if r.Compared() {
		v.addLacked(isLacked, r.Filters, r.Earlier, further)
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

// addLacked notes which measures a report of a period lacks, by slice.
func (v View) addLacked(isLacked map[manifest.Slice]map[string]bool, f Filters, within period.Period, further []catalogue.Measure) {
	match := v.sliceFilter(f)
	p, _ := v.basePlan(match, within)
	for _, e := range v.Manifest.Of(manifest.Month) {
		if !match(e.Slice) || coverageOf(p, e) == untouched {
			continue
		}
		if isLacked[e.Slice] == nil {
			isLacked[e.Slice] = map[string]bool{}
		}
		days := manifest.DaysBetween(max(p.From, e.Start), min(p.To, e.Start.AddMonths(1)-1))
		for _, m := range further {
			without := func(s manifest.Source) bool { return s.Days&days != 0 && lacks(s, m) }
			isLacked[e.Slice][m.Name] = isLacked[e.Slice][m.Name] || slices.ContainsFunc(e.Sources, without)
		}
	}
}
