// Package manifest says what of an account is visible.
//
// Stored rows carry a generation; the manifest of an account names the live
// generation of each of its units. A load writes new generations of the units
// that it touches and then inserts their manifest entries in one block: the
// only visible act of a load, whatever number of tables and months it wrote.
package manifest

import (
	"fmt"
	"maps"
	"math/bits"
	"slices"
	"time"

	"adlens"
)

// Kind is what a unit holds. The numbers are stored.
type Kind uint8

// The kinds of units.
const (
	// Month is the figures of one slice in one calendar month: facts, days
	// and months of products.
	Month Kind = iota + 1
	// Year is the year totals of products of one slice, derived from months.
	Year
	// Marketplaces is the account's list of marketplaces.
	Marketplaces
	// Rates is the account's rates of exchange.
	Rates
	// Titles is the titles of the account's products.
	Titles
	// Campaigns, AdGroups and Ads are lists of one slice, as they were at the
	// time of their one source.
	Campaigns
	AdGroups
	Ads
	// Rules, RuleRuns and Activity are the service's own records.
	Rules
	RuleRuns
	Activity
	// Products is the numbers under which the account's products are stored.
	Products
	// Entities is the numbers under which its campaigns and ad groups are stored,
	// with the names that reports gave them.
	Entities
	// Forms is which campaigns of Sponsored Brands lists said to have one ad group.
	Forms
)

// Kinds are all kinds of units in the order of their numbers.
var Kinds = []Kind{Month, Year, Marketplaces, Rates, Titles, Campaigns, AdGroups, Ads, Rules, RuleRuns, Activity, Products, Entities, Forms}

// Slice is the marketplace and ad product that a report covers. It is zero for units
// that are not figures.
type Slice struct {
	Marketplace uint16 // the marketplace's key within the account
	AdProduct   adlens.AdProduct
}

// Legacy reports of Sponsored Brands have slices of their own, whose numbers
// follow those of the ad products: so the newest report of each kind speaks for a
// day. The numbers are stored.
const (
	// LegacyReported is all that the legacy reports say. Nothing is answered from it.
	LegacyReported = adlens.SponsoredDisplay + 1 + iota
	// LegacyCounted is what of that counts: campaigns that the v3 reports leave
	// out.
	LegacyCounted
)

// Product returns the ad product that the slice's figures are of, which its rows
// have.
func (s Slice) Product() adlens.AdProduct {
	if s.isLegacy() {
		return adlens.SponsoredBrands
	}
	return s.AdProduct
}

// isLegacy reports whether the slice is of legacy reports of Sponsored Brands.
func (s Slice) isLegacy() bool { return s.AdProduct == LegacyReported || s.AdProduct == LegacyCounted }

// IsAnswered reports whether answers are made of the slice's figures.
func (s Slice) IsAnswered() bool { return s.AdProduct != LegacyReported }

// Of returns the same marketplace's slice of another number.
func (s Slice) Of(p adlens.AdProduct) Slice { return Slice{s.Marketplace, p} }

// KindName names what the slice is of, without its marketplace.
func (s Slice) KindName() string {
	switch s.AdProduct {
	case LegacyReported:
		return "legacy reports of SPONSORED_BRANDS"
	case LegacyCounted:
		return "SPONSORED_BRANDS of legacy reports"
	}
	return s.AdProduct.String()
}

// Unit is the smallest thing that is replaced as a whole.
type Unit struct {
	Kind  Kind
	Slice Slice
	Start adlens.Day // first day of the month or year; 0 otherwise
}

// Compare orders units by kind, slice and time.
func (u Unit) Compare(v Unit) int {
	a := [...]int64{int64(u.Kind), int64(u.Slice.Marketplace), int64(u.Slice.AdProduct), int64(u.Start)}
	b := [...]int64{int64(v.Kind), int64(v.Slice.Marketplace), int64(v.Slice.AdProduct), int64(v.Start)}
	return slices.Compare(a[:], b[:])
}

// Days is a set of days of one month: bit 0 is the first.
type Days uint32

// DaysBetween returns the days of a month from one to another, both included
// and both in the month.
func DaysBetween(from, to adlens.Day) Days {
	first := from.DayOfMonth() - 1
	count := int(to-from) + 1
	return Days(1<<count-1) << first
}

// Source is a report that speaks for some days of a unit.
type Source struct {
	ReportID    string
	GeneratedAt time.Time
	SHA256      string // of the unpacked download, in hex
	Days        Days
	// Columns are those of the platform's that the report had and that are kept,
	// with commas between them; "" where it was loaded before that was noted.
	Columns string
}

// Newer reports whether a report beats another where both cover a day: by the
// later generatedAt, then by the greater id.
func (s Source) Newer(t Source) bool {
	if !s.GeneratedAt.Equal(t.GeneratedAt) {
		return s.GeneratedAt.After(t.GeneratedAt)
	}
	return s.ReportID > t.ReportID
}

// Entry is the live state of a unit.
type Entry struct {
	Unit
	Generation uint32
	Rows       uint64   // of its first table
	Derived    []uint64 // rows of its further tables, in their order; nil where they were not counted
	Sources    []Source // of months: which reports speak; their days are the held days. Of lists: the export
	// Origin is a random number of the commit that wrote the generation, 0 of before it was
	// noted. A database whose disk was put back gives its numbers a second time.
	Origin uint64
}

// RowsAt returns how many rows the unit has in the table of its kind at a place,
// 0 for the first.
func (e Entry) RowsAt(place int) uint64 {
	switch {
	case place == 0:
		return e.Rows
	case place <= len(e.Derived):
		return e.Derived[place-1]
	}
	return 0
}

// ByAdGroup reports whether the unit's rollups by ad group were written: months and
// years of before there were any do not have them, and count products last.
func (e Entry) ByAdGroup() bool {
	switch e.Kind {
	case Month:
		return len(e.Derived) > 2
	case Year:
		return len(e.Derived) > 0
	}
	return false
}

// CountedAt reports whether it is known how many rows the unit has in the table of
// its kind at a place: it may be older than the table.
func (e Entry) CountedAt(place int) bool { return place <= len(e.Derived) }

// Held returns the days that reports cover.
func (e Entry) Held() Days {
	var held Days
	for _, s := range e.Sources {
		held |= s.Days
	}
	return held
}

// heldRuns yields the days that reports cover, each run as long as it is.
func (e Entry) heldRuns(yield func(Run) bool) {
	for held := uint64(e.Held()); held != 0; {
		from := bits.TrailingZeros64(held)
		to := from + bits.TrailingZeros64(^(held >> from))
		if !yield(Run{e.Start + adlens.Day(from), e.Start + adlens.Day(to) - 1}) {
			return
		}
		held &^= 1<<to - 1
	}
}

// FirstHeld and LastHeld return the ends of the held days; ok is false where
// no day is held.
func (e Entry) FirstHeld() (day adlens.Day, ok bool) {
	held := e.Held()
	return e.Start + adlens.Day(bits.TrailingZeros32(uint32(held))), held != 0
}

// LastHeld returns the newest held day.
func (e Entry) LastHeld() (day adlens.Day, ok bool) {
	held := e.Held()
	return e.Start + adlens.Day(bits.Len32(uint32(held))) - 1, held != 0
}

// Manifest is what of an account is visible at one moment.
type Manifest struct {
	Version uint32 // of the load that was visible last; 0 before the first
	entries map[Unit]Entry
	kinds   map[Kind][]Entry // the same entries in the order of their units
	held    map[Slice]heldDays
}

// Run is days one after the other, from the first to the last.
type Run struct{ First, Last adlens.Day }

// String names the days for people.
func (r Run) String() string {
	if r.First == r.Last {
		return r.First.String()
	}
	return r.First.String() + " to " + r.Last.String()
}

// heldDays are the oldest and the newest held day of a slice, and the days between them that
// no report covers.
type heldDays struct {
	Run
	holes []Run
}

// New returns the manifest of these live entries.
func New(version uint32, entries ...Entry) Manifest {
	m := Manifest{Version: version, entries: make(map[Unit]Entry, len(entries))}
	for _, e := range entries {
		m.entries[e.Unit] = e
	}
	m.index()
	return m
}

// index puts the entries in order and finds the ends of what is held once,
// because every request asks for them.
func (m *Manifest) index() {
	m.kinds = map[Kind][]Entry{}
	for _, e := range m.entries {
		m.kinds[e.Kind] = append(m.kinds[e.Kind], e)
	}
	for _, of := range m.kinds {
		slices.SortFunc(of, func(a, b Entry) int { return a.Unit.Compare(b.Unit) })
	}
	m.held = map[Slice]heldDays{}
	for _, e := range m.kinds[Month] { // in the order of their days
		for run := range e.heldRuns {
			of, known := m.held[e.Slice]
			if !known {
				of.First = run.First
			} else if of.Last+1 < run.First {
				of.holes = append(of.holes, Run{of.Last + 1, run.First - 1})
			}
			of.Last = run.Last
			m.held[e.Slice] = of
		}
	}
}

// Entries returns all live entries in the order of their units.
func (m Manifest) Entries() []Entry {
	all := make([]Entry, 0, len(m.entries))
	for _, kind := range Kinds {
		all = append(all, m.kinds[kind]...)
	}
	return all
}

// Len returns how many units are live.
func (m Manifest) Len() int { return len(m.entries) }

// With returns the manifest after a load.
func (m Manifest) With(version uint32, entries ...Entry) Manifest {
	next := Manifest{Version: version, entries: maps.Clone(m.entries)}
	if next.entries == nil {
		next.entries = make(map[Unit]Entry, len(entries))
	}
	for _, e := range entries {
		next.entries[e.Unit] = e
	}
	next.index()
	return next
}

// OfSlices returns the manifest without the units of slices that do not match. Units
// that are of no slice stay.
func (m Manifest) OfSlices(match func(Slice) bool) Manifest {
	kept := Manifest{Version: m.Version, entries: map[Unit]Entry{}} // no larger than what it holds
	for u, e := range m.entries {
		if u.Slice == (Slice{}) || match(u.Slice) {
			kept.entries[u] = e
		}
	}
	kept.index()
	return kept
}

// Find returns the live state of a unit.
func (m Manifest) Find(u Unit) (Entry, bool) {
	e, ok := m.entries[u]
	return e, ok
}

// Generation returns the live generation of a unit, 0 where it has none.
func (m Manifest) Generation(u Unit) uint32 { return m.entries[u].Generation }

// Of returns the live entries of a kind in the order of their units. They must
// not be changed.
func (m Manifest) Of(kind Kind) []Entry { return m.kinds[kind] }

// HeldDays returns the oldest and the newest held day of the slices that
// match; ok is false where none is held.
func (m Manifest) HeldDays(match func(Slice) bool) (oldest, newest adlens.Day, ok bool) {
	for slice, held := range m.held {
		if !match(slice) {
			continue
		}
		if !ok {
			oldest, newest, ok = held.First, held.Last, true
		}
		oldest, newest = min(oldest, held.First), max(newest, held.Last)
	}
	return oldest, newest, ok
}

// NotHeld returns the days of a slice up to one that no report covers, after the first that one
// does: what was before the slice's first report may not have been.
func (m Manifest) NotHeld(s Slice, to adlens.Day) []Run {
	held, some := m.held[s]
	if !some || held.Last >= to {
		return held.holes
	}
	return append(slices.Clip(held.holes), Run{held.Last + 1, to})
}

// Any matches every slice.
func Any(Slice) bool { return true }

// names are what people call the kinds.
var names = map[Kind]string{
	Marketplaces: "marketplaces", Rates: "rates", Titles: "titles", Campaigns: "campaigns", AdGroups: "ad groups", Ads: "ads",
	Rules: "rules", RuleRuns: "rule runs", Activity: "activity", Products: "product numbers", Entities: "campaigns and ad groups of figures",
	Forms: "forms of campaigns",
}

// String writes the unit for logs and errors. Marketplaces are numbered in the
// order in which the account got them.
func (u Unit) String() string {
	text := names[u.Kind]
	switch u.Kind {
	case Month:
		text = "figures of " + u.Start.String()[:len("2006-01")]
	case Year:
		text = "products of the year " + u.Start.String()[:len("2006")]
	}
	if u.Slice != (Slice{}) {
		text += fmt.Sprintf(", marketplace no. %d, %s", u.Slice.Marketplace, u.Slice.KindName())
	}
	return text
}
