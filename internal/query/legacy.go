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
	// Days are those on which a legacy report has figures of the campaign that the
	// v3 report leaves out, and that do not count because no list says its form. nil of
	// a campaign of which one does.
	Days []adlens.Day
}

// UnsaidSources are the generations that decide what is left out of campaigns whose form
// the list that is held does not say: the forms by all lists; and of those that no list
// says, the months of legacy reports and of v3 reports, and the campaigns of facts.
type UnsaidSources struct {
	Legacy, V3      []uint32
	Forms, Entities uint32
}

// UnsaidSources returns those of the view; where there are no legacy reports, the forms
// alone.
func (v View) UnsaidSources() (all UnsaidSources) {
	for _, e := range v.Manifest.Of(manifest.Month) {
		if e.Slice.AdProduct != manifest.LegacyReported {
			continue
		}
		all.Legacy = append(all.Legacy, e.Generation)
		if v3, held := v.Manifest.Find(manifest.Unit{Kind: manifest.Month, Slice: e.Slice.Of(adlens.SponsoredBrands), Start: e.Start}); held {
			all.V3 = append(all.V3, v3.Generation)
		}
	}
	all.Forms = v.Manifest.Generation(manifest.Unit{Kind: manifest.Forms})
	if all.Legacy != nil {
		all.Entities = v.Manifest.Generation(manifest.Unit{Kind: manifest.Entities})
	}
	return all
}

// Equal reports whether both are the same generations.
func (u UnsaidSources) Equal(other UnsaidSources) bool {
	return slices.Equal(u.Legacy, other.Legacy) && slices.Equal(u.V3, other.V3) && u.Forms == other.Forms && u.Entities == other.Entities
}

// BrandLists are the generations of the lists that may have legacy campaigns.
func (v View) BrandLists() []uint32 {
	return v.listGenerations(manifest.Campaigns, func(s manifest.Slice) bool { return s.AdProduct == adlens.SponsoredBrands })
}

// legacyIn are the campaigns of a marketplace that are left out of an answer: those
// that the request selects, and that may have run on a day for which a report of
// Sponsored Brands speaks, but no legacy one that has them. Figures of products or ad
// groups alone have none of that ad product anyway, and a search finds no other campaigns
// than those of its text: their names may be of what the reader is not shown.
func (v View) legacyIn(r Request, m Marketplace) (all []LegacyCampaign) {
	slice := manifest.Slice{Marketplace: m.Key, AdProduct: adlens.SponsoredBrands}
	f := r.Filters
	isSearched := r.SearchedIn == nil || slices.Contains(r.SearchedIn, dimCampaign)
	if len(v.Legacy) == 0 || !v.sliceFilter(r)(slice) || f.Products != nil || f.AdGroups != nil || !isSearched {
		return nil
	}
	isFound := r.textFinder()
	held := v.heldIn(slice, r.Period)
	isIn := func(day adlens.Day) bool { return r.Period.Start <= day && day <= r.Period.End }
	if r.Compared() {
		held = append(held, v.heldIn(slice, r.Earlier)...)
		isIn = func(day adlens.Day) bool {
			return r.Period.Start <= day && day <= r.Period.End || r.Earlier.Start <= day && day <= r.Earlier.End
		}
	}
	for _, c := range v.Legacy {
		isAsked := c.Marketplace == m.Key && (f.Campaigns == nil || slices.Contains(f.Campaigns, c.ID)) && isFound(c.Name)
		isLeftOut := slices.ContainsFunc(c.Days, isIn) || c.Days == nil && slices.ContainsFunc(held, c.mayHaveRun)
		if isAsked && isLeftOut {
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

// heldIn are the days of a period that are held of Sponsored Brands without legacy
// reports.
func (v View) heldIn(slice manifest.Slice, within period.Period) (all []heldDays) {
	for _, e := range v.Manifest.Of(manifest.Month) {
		first, last := max(within.Start, e.Start), min(within.End, e.Start.LastOfMonth())
		if e.Slice != slice || first > last {
			continue
		}
		legacy, _ := v.Manifest.Find(manifest.Unit{Kind: manifest.Month, Slice: slice.Of(manifest.LegacyCounted), Start: e.Start})
		if days := e.Held() & manifest.DaysBetween(first, last) &^ legacy.Held(); days != 0 {
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
