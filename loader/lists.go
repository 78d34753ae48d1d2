package loader

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"adlens"
	"adlens/internal/manifest"
	"adlens/internal/platform"
)

// Lists are all campaigns, ad groups and ads of some ad products of one
// marketplace, as the platform's API listed them at one time.
type Lists struct {
	ProfileID  string
	ReadAt     time.Time          // when the last of them was read to its end
	AdProducts []adlens.AdProduct // that they speak for
	Campaigns  []platform.Campaign
	AdGroups   []platform.AdGroup
	Ads        []platform.Ad
	// Sure tells of which lists the number of rows is certain. Of the others,
	// one that lost most of its rows is not believed.
	Sure map[ListName]bool
}

// ListName tells a marketplace's lists apart.
type ListName struct {
	Entity    platform.Entity
	AdProduct adlens.AdProduct
}

// LostMost is the error of a list that has fewer than half of the rows that
// are held, and is not sure of it.
type LostMost struct {
	ListName
	Held, Read int
}

func (e *LostMost) Error() string {
	return fmt.Sprintf("the list of %s of %s has %d rows where %d are held, and the platform states no total that confirms it", e.Entity, e.AdProduct, e.Read, e.Held)
}

// ErrLeftOut is the error of lists that say nothing of an ad product of which
// lists are held: old and new ones would be shown as one.
var ErrLeftOut = errors.New("an ad product of which lists are held was not read")

// ReplaceLists puts the lists in the place of those that are held of their
// marketplace, all in one act; held lists that are newer stay, unless they are
// of the future, which only a wrong clock can have dated.
func (l *Loader) ReplaceLists(ctx context.Context, account string, read Lists) error {
	release, err := l.lockAccount(ctx, account)
	if err != nil {
		return err
	}
	defer release()
	s, err := l.openSession(ctx, account)
	if err != nil {
		return err
	}
	if err := s.readAccount(ctx, s.readMarketplaces); err != nil {
		return err
	}
	market, ok := s.findMarketplace(read.ProfileID)
	if !ok {
		return fmt.Errorf("%s is no marketplace of account %s any more", read.ProfileID, account)
	}
	if err := errors.Join(s.checkAdProducts(market, read), s.checkRowCounts(market, read)); err != nil {
		return err
	}
	_, err = s.replaceLists(ctx, market, listSource{manifest.Source{GeneratedAt: read.ReadAt}, true}, read.byEntity()...)
	if err != nil {
		return err
	}
	return s.closeSession(ctx)
}

// checkAdProducts finds held lists of ad products that were not read.
func (s *session) checkAdProducts(market Marketplace, read Lists) error {
	for _, p := range adlens.AdProducts {
		for _, kind := range kindOfEntity {
			held, _ := s.Manifest().Find(manifest.Unit{Kind: kind, Slice: manifest.Slice{Marketplace: market.Key, AdProduct: p}})
			if held.Rows > 0 && !slices.Contains(read.AdProducts, p) {
				return fmt.Errorf("%w: %s", ErrLeftOut, p)
			}
		}
	}
	return nil
}

// checkRowCounts finds lists that lost most of their rows, so that a list that
// the platform cut short does not replace a good one.
func (s *session) checkRowCounts(market Marketplace, read Lists) error {
	for _, l := range read.byEntity() {
		for _, p := range l.adProducts {
			name := ListName{l.entity, p}
			held, _ := s.Manifest().Find(l.unitOf(market, p))
			if n := l.countRows(p); !read.Sure[name] && 2*n < int(held.Rows) {
				return &LostMost{ListName: name, Held: int(held.Rows), Read: n}
			}
		}
	}
	return nil
}

func (read Lists) byEntity() []*list {
	return []*list{
		{entity: platform.Campaigns, adProducts: read.AdProducts, campaigns: read.Campaigns},
		{entity: platform.AdGroups, adProducts: read.AdProducts, adGroups: read.AdGroups},
		{entity: platform.Ads, adProducts: read.AdProducts, ads: read.Ads},
	}
}

// list is the rows of one entity, of some ad products.
type list struct {
	entity     platform.Entity
	adProducts []adlens.AdProduct // that it speaks for
	rows       int
	campaigns  []platform.Campaign
	adGroups   []platform.AdGroup
	ads        []platform.Ad
}

// kindOfEntity says which unit a list is.
var kindOfEntity = map[platform.Entity]manifest.Kind{
	platform.Campaigns: manifest.Campaigns, platform.AdGroups: manifest.AdGroups, platform.Ads: manifest.Ads,
}

func (l *list) unitOf(market Marketplace, p adlens.AdProduct) manifest.Unit {
	return manifest.Unit{Kind: kindOfEntity[l.entity], Slice: manifest.Slice{Marketplace: market.Key, AdProduct: p}}
}

// countRows is how many rows the list has of an ad product.
func (l *list) countRows(p adlens.AdProduct) (n int) {
	for _, c := range l.campaigns {
		n += boolToInt(c.AdProduct == p)
	}
	for _, g := range l.adGroups {
		n += boolToInt(g.AdProduct == p)
	}
	for _, a := range l.ads {
		n += boolToInt(a.AdProduct == p)
	}
	return n
}

func boolToInt(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// listSource is where lists come from: an export, or a read just now.
type listSource struct {
	manifest.Source
	justRead bool
}

func (s listSource) supersedesSource(held manifest.Source) bool {
	return s.Newer(held) || s.justRead && held.GeneratedAt.After(time.Now())
}

// replaceLists makes lists of one source live, each for the ad products of
// which no list is held that is as new.
func (s *session) replaceLists(ctx context.Context, market Marketplace, source listSource, lists ...*list) (changed bool, err error) {
	b := s.newBuild()
	for _, l := range lists {
		generations, err := b.supersedeUnits(ctx, market, source, l)
		if err != nil {
			return false, err
		}
		if err := l.insertRows(ctx, s, market.Key, generations); err != nil {
			return false, err
		}
	}
	if len(b.units) == 0 {
		return false, nil
	}
	return true, b.commitLoad(ctx)
}

// supersedeUnits begins new generations of the units of a list that are older than
// its source.
func (b *build) supersedeUnits(ctx context.Context, market Marketplace, source listSource, l *list) (Generations, error) {
	generations := Generations{}
	for _, p := range l.adProducts {
		u := l.unitOf(market, p)
		held, ok := b.session.Manifest().Find(u)
		if ok && len(held.Sources) > 0 && !source.supersedesSource(held.Sources[0]) {
			continue
		}
		ub, err := b.beginUnit(ctx, u)
		if err != nil {
			return nil, err
		}
		ub.entry.Sources, ub.entry.Rows = []manifest.Source{source.Source}, uint64(l.countRows(p))
		generations[p] = ub.entry.Generation
	}
	return generations, nil
}

// insertRows writes the rows of the ad products that have a new generation.
func (l *list) insertRows(ctx context.Context, s *session, market uint16, generations Generations) error {
	switch {
	case len(generations) == 0:
		return nil
	case len(l.campaigns) > 0:
		return s.store.InsertCampaigns(ctx, s.account, market, generations, l.campaigns)
	case len(l.adGroups) > 0:
		return s.store.InsertAdGroups(ctx, s.account, market, generations, l.adGroups)
	case len(l.ads) > 0:
		return s.store.InsertAds(ctx, s.account, market, generations, l.ads)
	}
	return nil
}
