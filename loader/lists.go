package loader

import (
	"context"
	"errors"
	"fmt"
	"time"

	"adlens"
	"adlens/internal/manifest"
	"adlens/internal/platform"
)

// Lists are what a reading of the platform's API brought of one marketplace. What
// it did not bring stays as it is held.
type Lists struct {
	ProfileID string
	Currency  string // in which the platform lists the profile, and so of all amounts
	Read      []List
	Refused   []adlens.AdProduct // of which the platform gives the profile no list
}

// List is all campaigns, ad groups or ads of one ad product, as the platform's API
// listed them.
type List struct {
	ListName
	ReadAt time.Time // when it was read to its end
	// Sure tells that the number of rows is certain. A list that lost most of its
	// rows and is not sure of it is not believed.
	Sure      bool
	Campaigns []platform.Campaign
	AdGroups  []platform.AdGroup
	Ads       []platform.Ad
}

// ListName tells a marketplace's lists apart.
type ListName struct {
	Entity    platform.Entity
	AdProduct adlens.AdProduct
}

// ListNames are the names of all lists of a marketplace, children before their
// parents.
func ListNames() (all []ListName) {
	for _, p := range adlens.AdProducts {
		for _, e := range []platform.Entity{platform.Ads, platform.AdGroups, platform.Campaigns} {
			all = append(all, ListName{e, p})
		}
	}
	return all
}

// String writes the name for logs and errors.
func (n ListName) String() string {
	return fmt.Sprintf("list of %s of %s", manifest.Unit{Kind: kindOfEntity[n.Entity]}, n.AdProduct)
}

// LostMost is the error of a list that has fewer than half of the rows that
// are held, and is not sure of it.
type LostMost struct {
	ListName
	Held, Read int
}

func (e *LostMost) Error() string {
	return fmt.Sprintf("the %s has %d rows where %d are held, and the platform states no total that confirms it", e.ListName, e.Read, e.Held)
}

// LeftOut is the error of an ad product that the platform refuses although lists of
// it are held: it gave them once.
type LeftOut struct{ AdProduct adlens.AdProduct }

func (e *LeftOut) Error() string {
	return fmt.Sprintf("the platform refuses the lists of %s, of which some are held", e.AdProduct)
}

// ReplaceLists puts the lists in the place of those that are held of their
// marketplace, all in one act; held lists that are newer stay, unless they are
// of the future, which only a wrong clock can have dated. Lists in another currency
// than the marketplace's are refused. The error is a *LostMost or a *LeftOut where a
// list is not believed or an ad product should have some: nothing is changed then.
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
	defer s.counting.Wait()
	if err := s.readAccount(ctx, s.readMarketplaces, s.readForms); err != nil {
		return err
	}
	if err := s.requireWhole(); err != nil {
		return err
	}
	market, ok := s.findMarketplace(read.ProfileID)
	if !ok {
		return fmt.Errorf("%s is no marketplace of account %s any more", read.ProfileID, account)
	}
	if read.Currency != market.Currency { // amounts are stored without theirs
		return fmt.Errorf("profile %s: the platform lists it in %s, expected %s, in which its budgets and bids are kept; its lists stay as they are", read.ProfileID, read.Currency, market.Currency)
	}
	if err := errors.Join(s.checkRefused(market, read), s.checkRowCounts(market, read)); err != nil {
		return err
	}
	if _, err = s.replaceLists(ctx, market, read.byEntity()...); err != nil {
		return err
	}
	return s.closeSession(ctx)
}

// checkRefused finds held lists of ad products that the platform refuses.
func (s *session) checkRefused(market Marketplace, read Lists) error {
	for _, p := range read.Refused {
		for _, kind := range kindOfEntity {
			held, _ := s.Manifest().Find(manifest.Unit{Kind: kind, Slice: manifest.Slice{Marketplace: market.Key, AdProduct: p}})
			if held.Rows > 0 {
				return &LeftOut{p}
			}
		}
	}
	return nil
}

// checkRowCounts finds lists that lost most of their rows, so that a list that
// the platform cut short does not replace a good one.
func (s *session) checkRowCounts(market Marketplace, read Lists) error {
	for _, l := range read.Read {
		held, _ := s.Manifest().Find(manifest.Unit{Kind: kindOfEntity[l.Entity], Slice: manifest.Slice{Marketplace: market.Key, AdProduct: l.AdProduct}})
		if n := len(l.Campaigns) + len(l.AdGroups) + len(l.Ads); !l.Sure && 2*n < int(held.Rows) {
			return &LostMost{ListName: l.ListName, Held: int(held.Rows), Read: n}
		}
	}
	return nil
}

// byEntity puts the lists of each entity together, so that each table takes one
// insert.
func (read Lists) byEntity() []*list {
	var all []*list
	for _, e := range []platform.Entity{platform.Campaigns, platform.AdGroups, platform.Ads} {
		one := &list{entity: e, sources: map[adlens.AdProduct]manifest.Source{}}
		for _, l := range read.Read {
			if l.Entity == e {
				one.sources[l.AdProduct] = manifest.Source{GeneratedAt: l.ReadAt}
				one.campaigns, one.adGroups, one.ads = append(one.campaigns, l.Campaigns...), append(one.adGroups, l.AdGroups...), append(one.ads, l.Ads...)
			}
		}
		all = append(all, one)
	}
	return all
}

// list is the rows of one entity, of some ad products.
type list struct {
	entity    platform.Entity
	sources   map[adlens.AdProduct]manifest.Source // of the ad products that it speaks for
	rows      int
	campaigns []platform.Campaign
	adGroups  []platform.AdGroup
	ads       []platform.Ad
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

// ClockSlack is by how much clocks may differ that are right.
const ClockSlack = 5 * time.Minute

// supersedesSource reports whether a list takes the place of one that is held: the newer one
// does. Against a list that was read from the platform, which has no report's id, a time that
// has not come is wrong and loses; of exports alone it counts as it is. Where clocks differ a
// little, no export takes the place of a list that was read just now. One that was loaded before
// hashes of exports were kept is loaded again once: its rows may lack what is read of it since,
// as which campaigns reports leave out.
func supersedesSource(next, held manifest.Source) bool {
	now, exported, read := time.Now(), next.ReportID != "", held.ReportID == ""
	switch {
	case exported && read && next.GeneratedAt.After(now):
		return false
	case !exported && held.GeneratedAt.After(now), read && held.GeneratedAt.After(now.Add(ClockSlack)):
		return true
	}
	return next.Newer(held) || exported && isSameSource(next, held) && held.SHA256 == ""
}

// isSameSource reports whether two lists are one export, or were read at one moment.
func isSameSource(a, b manifest.Source) bool {
	return a.ReportID == b.ReportID && a.GeneratedAt.Equal(b.GeneratedAt)
}

// replaceLists makes lists live, each for the ad products of which it supersedes the
// list that is held.
func (s *session) replaceLists(ctx context.Context, market Marketplace, lists ...*list) (changed bool, err error) {
	b := s.newBuild()
	for _, l := range lists {
		generations, err := b.supersedeUnits(ctx, market, l)
		if err != nil {
			return false, err
		}
		if err := l.insertRows(ctx, s, market.Key, generations); err != nil {
			return false, err
		}
	}
	if err := b.keepForms(ctx, market, lists); err != nil {
		return false, err
	}
	changed = len(b.units) > 0 // older names alone are no change
	if !changed && !s.newEntities {
		return false, nil
	}
	return changed, b.commitLoad(ctx)
}

// supersedeUnits begins new generations of the units of a list that its sources
// supersede.
func (b *build) supersedeUnits(ctx context.Context, market Marketplace, l *list) (Generations, error) {
	generations := Generations{}
	for _, p := range adlens.AdProducts {
		source, speaks := l.sources[p]
		if !speaks {
			continue
		}
		u := l.unitOf(market, p)
		held, ok := b.session.Manifest().Find(u)
		if ok && len(held.Sources) > 0 {
			if err := l.keepNames(ctx, b.session, p, held); err != nil {
				return nil, err
			}
			if !supersedesSource(source, held.Sources[0]) {
				continue
			}
		}
		ub, err := b.beginUnit(ctx, u)
		if err != nil {
			return nil, err
		}
		ub.entry.Sources, ub.entry.Rows = []manifest.Source{source}, uint64(l.countRows(p))
		generations[p] = ub.entry.Generation
	}
	return generations, nil
}

// keepNames keeps the names that a list and the one that is held do not share. Ads have
// none, and a list that is loaded again has no others; of one without a hash that is not certain.
func (l *list) keepNames(ctx context.Context, s *session, p adlens.AdProduct, held manifest.Entry) error {
	next, before := l.sources[p], held.Sources[0]
	if l.entity == platform.Ads || isSameSource(next, before) && next.SHA256 == before.SHA256 {
		return nil
	}
	known, err := s.store.ListedNames(ctx, s.account, held.Generation)
	if err != nil {
		return err
	}
	names := map[adlens.EntityID]string{}
	for _, c := range l.campaigns {
		if c.AdProduct == p {
			names[adlens.EntityID{Type: adlens.CampaignEntity, ID: c.ID}] = c.Name
		}
	}
	for _, g := range l.adGroups {
		if g.AdProduct == p {
			names[adlens.EntityID{Type: adlens.AdGroupEntity, ID: g.ID}] = g.Name
		}
	}
	if supersedesSource(next, before) {
		return s.keepListed(ctx, held.Slice.Marketplace, known, names, before.GeneratedAt)
	}
	return s.keepListed(ctx, held.Slice.Marketplace, names, known, next.GeneratedAt)
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
