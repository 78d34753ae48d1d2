package query

import (
	"slices"

	"adlens"
	"adlens/internal/manifest"
	"adlens/internal/query/period"
)

// View is what is known about an account at one moment. All steps of a
// request see the same view, so an answer is of one moment too.
type View struct {
	Account      string
	Manifest     manifest.Manifest
	Marketplaces []Marketplace // in the order of country and id
	Legacy       []LegacyCampaign
	Limited      *Limited // nil for the whole account
}

// Marketplace is one of the account's profiles.
type Marketplace struct {
	Key      uint16 // in the stored rows
	ID       string
	Country  string
	Currency string
	TimeZone string
}

// Bytes that parts of a view take in memory, about, without their texts.
const (
	viewBytes        = 1 << 10
	entryBytes       = 330
	sourceBytes      = 96
	legacyBytes      = 128
	marketplaceBytes = 144
)

// MemoryBytes is about what the view takes in memory. The columns of reports are left out:
// few are distinct, and all that are equal are one text.
func (v View) MemoryBytes() int {
	bytes := viewBytes + marketplaceBytes*len(v.Marketplaces)
	for _, kind := range manifest.Kinds {
		for _, e := range v.Manifest.Of(kind) {
			bytes += entryBytes
			for _, s := range e.Sources {
				bytes += sourceBytes + len(s.ReportID) + len(s.SHA256)
			}
		}
	}
	for _, c := range v.Legacy {
		bytes += legacyBytes + len(c.ID) + len(c.Name) + 4*cap(c.Days)
	}
	return bytes
}

// connectedCountries are the connected countries, sorted.
func (v View) connectedCountries() []string {
	var codes []string
	for _, m := range v.Marketplaces {
		codes = append(codes, m.Country)
	}
	slices.Sort(codes)
	return slices.Compact(codes)
}

// byKey finds the marketplace of stored rows.
func (v View) byKey(key uint16) Marketplace {
	i := slices.IndexFunc(v.Marketplaces, func(m Marketplace) bool { return m.Key == key })
	if i < 0 {
		return Marketplace{}
	}
	return v.Marketplaces[i]
}

// marketplaceByID finds a marketplace of the account.
func (v View) marketplaceByID(id string) (Marketplace, bool) {
	i := slices.IndexFunc(v.Marketplaces, func(m Marketplace) bool { return m.ID == id })
	if i < 0 {
		return Marketplace{}, false
	}
	return v.Marketplaces[i], true
}

// Meta is what an answer says about the data behind it.
type Meta struct {
	LastDate       *adlens.Day // the account's newest held day
	HistoryCovered bool
	Truncated      bool
	EarlierCovered bool // likewise of the period that is compared with
	Incomplete     []Incomplete
	NotHeld        []NotHeld
}

// metaOf is what an answer says about the data behind it, where any is held.
func (v View) metaOf(r Request) Meta {
	oldest, newest, held := v.HeldSpan()
	if !held {
		return Meta{}
	}
	return Meta{LastDate: &newest, HistoryCovered: r.Period.Start >= oldest, EarlierCovered: r.Compared() && r.Earlier.Start >= oldest,
		Incomplete: v.incomplete(r), NotHeld: v.notHeld(r)}
}

// MetaAtAll is likewise of all days that are held.
func (v View) MetaAtAll() Meta {
	oldest, newest, _ := v.HeldSpan()
	return v.metaOf(Request{Period: period.Period{Start: oldest, End: newest}})
}

// HeldSpan returns the oldest and the newest day of which figures are held; held is false
// where there is none.
func (v View) HeldSpan() (oldest, newest adlens.Day, held bool) {
	return v.Manifest.HeldDays(manifest.Any)
}

// HeldDays returns the oldest and the newest held day of an ad product in a marketplace, by
// its id; held is false where there is none.
func (v View) HeldDays(marketplace string, product adlens.AdProduct) (first, last adlens.Day, held bool) {
	return v.Manifest.HeldDays(func(s manifest.Slice) bool {
		return s.Product() == product && slices.ContainsFunc(v.Marketplaces, func(m Marketplace) bool { return m.ID == marketplace && m.Key == s.Marketplace })
	})
}
