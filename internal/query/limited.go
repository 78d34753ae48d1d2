package query

import (
	"context"
	"slices"
	"strings"

	"adlens"
	"adlens/internal/manifest"
)

// Limited is what a view is of, where that is not the whole account (contract D6).
type Limited struct {
	// Marketplaces are the ids of those in the view, sorted.
	Marketplaces []string
	// Countries are those of which the view has all marketplaces of the account: what
	// names only a country is known to be of the view's then.
	Countries []string

	of int // how many marketplaces the account has
}

// limitTo returns the view of an account that has only some marketplaces, given by
// country code or id. All others, with what is held of them, are not in it. What the
// account has as a whole (rates, titles, records, stored numbers) stays; its readers
// narrow it.
func (v View) limitTo(only []string) View {
	inView := func(m Marketplace) bool { return slices.Contains(only, m.Country) || slices.Contains(only, m.ID) }
	limited := View{Account: v.Account, Limited: &Limited{of: len(v.Marketplaces)}}
	keys := map[uint16]bool{}
	for _, m := range v.Marketplaces {
		if inView(m) {
			keys[m.Key] = true
			limited.Marketplaces = append(limited.Marketplaces, m)
			limited.Limited.Marketplaces = append(limited.Limited.Marketplaces, m.ID)
		}
	}
	slices.Sort(limited.Limited.Marketplaces)
	for _, country := range limited.connectedCountries() {
		if !slices.ContainsFunc(v.Marketplaces, func(m Marketplace) bool { return m.Country == country && !keys[m.Key] }) {
			limited.Limited.Countries = append(limited.Limited.Countries, country)
		}
	}
	limited.Manifest = v.Manifest.OfSlices(func(s manifest.Slice) bool { return keys[s.Marketplace] })
	for _, c := range v.Legacy {
		if keys[c.Marketplace] {
			limited.Legacy = append(limited.Legacy, c)
		}
	}
	return limited
}

// isPart reports whether a view lacks a marketplace of its account. One that has none is
// never the whole, also of an account without any.
func (v View) isPart() bool {
	return v.Limited != nil && (len(v.Marketplaces) == 0 || len(v.Marketplaces) < v.Limited.of)
}

// part names what of its account a view has: "" for all of it.
func (v View) part() string {
	if v.Limited == nil {
		return ""
	}
	return "only " + strings.Join(v.Limited.Marketplaces, ",")
}

// namePart is part, but "" also of a limited view that lacks nothing of its account.
func (v View) namePart() string {
	if !v.isPart() {
		return ""
	}
	return v.part()
}

// maxLimitedBytes bounds the memory of all limited views that are kept.
const maxLimitedBytes = 64 << 20

// limitedView is a view with the one that it was made of.
type limitedView struct {
	version uint32
	of      []Marketplace
	view    View
}

func (l limitedView) memoryBytes() int {
	return l.view.MemoryBytes() + marketplaceBytes*len(l.of)
}

// limitedName names a limited view. That of no marketplaces begins all of the account.
func limitedName(account string, only []string) string {
	return account + "\n" + strings.Join(only, ",")
}

// LimitedView is View of some marketplaces, given by country code or id; nil is all.
func (s *Service) LimitedView(ctx context.Context, account string, only []string) (View, error) {
	v, err := s.View(ctx, account)
	if err != nil || only == nil {
		return v, err
	}
	return s.limitView(v, only), nil
}

func (s *Service) limitView(v View, only []string) View {
	name := limitedName(v.Account, only)
	if known, ok := s.limited.Get(name); ok && known.version == v.Manifest.Version && slices.Equal(known.of, v.Marketplaces) {
		return known.view
	}
	limited := v.limitTo(only)
	s.limited.Put(name, limitedView{v.Manifest.Version, v.Marketplaces, limited})
	return limited
}

// ParseMarketplaces reads country codes and ids of marketplaces of an account as the
// filter of figures does: canonical, sorted, each once. faults are of those that the
// account does not have.
func ParseMarketplaces(v View, texts []string) (only []string, faults []adlens.Fault) {
	p := &parser{view: v}
	p.parseMarketplaces(texts)
	return p.request.Filters.Marketplaces, p.faults
}
