package query

import (
	"slices"

	"adlens"
	"adlens/internal/manifest"
	"adlens/internal/query/period"
)

// LegacyBrands is why figures of Sponsored Brands are too low: the platform's reports
// leave out campaigns of the form with one ad group.
const LegacyBrands = "legacy_sponsored_brands"

// LegacyCampaign is a listed campaign that the platform's reports leave out, in any
// state: it may have spent before it was archived.
type LegacyCampaign struct {
	Marketplace uint16 // its key
	ID, Name    string
	Start, End  *adlens.Day // nil where none is known
}

// BrandLists are the generations of the lists that may have legacy campaigns.
func (v View) BrandLists() []uint32 {
	return v.listGenerations(manifest.Campaigns, func(s manifest.Slice) bool { return s.AdProduct == adlens.SponsoredBrands })
}

// legacyIn are the campaigns of a marketplace that are left out of an answer: those
// that it asks for, and that may have run on a day for which a report of Sponsored
// Brands speaks. Figures of products or ad groups alone have none of that ad
// product anyway.
func (v View) legacyIn(r Request, m Marketplace) (all []LegacyCampaign) {
	slice := manifest.Slice{Marketplace: m.Key, AdProduct: adlens.SponsoredBrands}
	f := r.Filters
	if len(v.Legacy) == 0 || !v.sliceFilter(f)(slice) || f.Products != nil || f.AdGroups != nil {
		return nil
	}
	held := v.heldIn(slice, r.Period)
	if r.Compared() {
		held = append(held, v.heldIn(slice, r.Earlier)...)
	}
	for _, c := range v.Legacy {
		isAsked := c.Marketplace == m.Key && (f.Campaigns == nil || slices.Contains(f.Campaigns, c.ID))
		if isAsked && slices.ContainsFunc(held, c.mayHaveRun) {
			all = append(all, c)
		}
	}
	return all
}

// heldDays are held days of one month.
type heldDays struct {
	month adlens.Day // its first day
	days  manifest.Days
}

// heldIn are the days of a period that are held of a slice.
func (v View) heldIn(slice manifest.Slice, within period.Period) (all []heldDays) {
	for _, e := range v.Manifest.Of(manifest.Month) {
		first, last := max(within.Start, e.Start), min(within.End, e.Start.LastOfMonth())
		if e.Slice != slice || first > last {
			continue
		}
		if days := e.Held() & manifest.DaysBetween(first, last); days != 0 {
			all = append(all, heldDays{e.Start, days})
		}
	}
	return all
}

// mayHaveRun reports whether one of the days is neither before the campaign's first
// nor after its last.
func (c LegacyCampaign) mayHaveRun(held heldDays) bool {
	first, last := held.month, held.month.LastOfMonth()
	if c.Start != nil {
		first = max(first, *c.Start)
	}
	if c.End != nil {
		last = min(last, *c.End)
	}
	return first <= last && held.days&manifest.DaysBetween(first, last) != 0
}

// IncompleteAtAll is what the figures of the account lack, whatever the period.
func (v View) IncompleteAtAll() []Incomplete {
	oldest, newest, held := v.Manifest.HeldDays(manifest.Any)
	if !held {
		return nil
	}
	return v.incomplete(Request{Period: period.Period{Start: oldest, End: newest}})
}
