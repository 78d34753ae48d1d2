package connector

import (
	"context"
	"errors"
	"fmt"
	"time"

	"adlens"
	"adlens/loader"
	"adlens/platform"
	"adlens/platform/api"
)

// ReadLists reads a marketplace's campaigns, ad groups and ads from the
// platform and puts them in the place of those that are held. Whatever goes
// wrong, what is held stays as it is. An ad product that the platform refuses
// the profile, as it refuses authors Sponsored Brands, holds up no other.
func (c *Connector) ReadLists(ctx context.Context, account, marketplaceID string) error {
	connection, client, err := c.open(ctx, account)
	if err != nil {
		return err
	}
	r := &listReader{client: client, profile: marketplaceID, sure: map[loader.ListName]bool{}}
	refused, err := r.readAll(ctx)
	err = c.accepted(ctx, connection, err)
	if err == nil && refused != nil {
		c.Notice(account, fmt.Sprintf("lists of %s without what the platform refuses: %v", marketplaceID, refused))
	}
	for err == nil {
		err = c.Loader.ReplaceLists(ctx, account, r.lists())
		var lost *loader.LostMost
		if !errors.As(err, &lost) {
			return err
		}
		err = r.confirm(ctx, lost)
	}
	return err
}

// listReader reads the lists of a profile.
type listReader struct {
	client  *api.Client
	profile string

	adProducts []adlens.AdProduct // that were read
	campaigns  []platform.Campaign
	adGroups   []platform.AdGroup
	ads        []platform.Ad
	sure       map[loader.ListName]bool
	readAt     time.Time
}

// readAll reads the lists of all ad products. refused says which the platform
// does not give; where it gives none, that is the error.
func (r *listReader) readAll(ctx context.Context) (refused, err error) {
	for _, p := range adlens.AdProducts {
		one := &listReader{client: r.client, profile: r.profile, sure: r.sure}
		switch err := one.readProduct(ctx, p); {
		case errors.Is(err, api.Refused):
			refused = errors.Join(refused, err)
		case err != nil:
			return nil, err
		default:
			r.adProducts = append(r.adProducts, p)
			r.campaigns = append(r.campaigns, one.campaigns...)
			r.adGroups = append(r.adGroups, one.adGroups...)
			r.ads = append(r.ads, one.ads...)
		}
	}
	if len(r.adProducts) == 0 {
		return nil, refused
	}
	r.readAt = time.Now().UTC().Truncate(time.Millisecond)
	return refused, nil
}

// readProduct reads parents after their children: what is created in between
// is then an unknown child nowhere.
func (r *listReader) readProduct(ctx context.Context, p adlens.AdProduct) error {
	if err := take(ctx, r, platform.Ads, p, r.client.Ads, &r.ads); err != nil {
		return err
	}
	if err := take(ctx, r, platform.AdGroups, p, r.client.AdGroups, &r.adGroups); err != nil {
		return err
	}
	return take(ctx, r, platform.Campaigns, p, r.client.Campaigns, &r.campaigns)
}

func take[T any](ctx context.Context, r *listReader, entity platform.Entity, p adlens.AdProduct,
	read func(context.Context, string, adlens.AdProduct) (api.List[T], error), into *[]T) error {
	list, err := read(ctx, r.profile, p)
	*into = append(*into, list.Rows...)
	r.sure[loader.ListName{Entity: entity, AdProduct: p}] = list.Stated
	return err
}

func (r *listReader) lists() loader.Lists {
	return loader.Lists{ProfileID: r.profile, ReadAt: r.readAt, AdProducts: r.adProducts, Campaigns: r.campaigns, AdGroups: r.adGroups, Ads: r.ads, Sure: r.sure}
}

// confirm reads a list again that lost most of its rows, of which the platform
// states no number: twice the same is believed.
func (r *listReader) confirm(ctx context.Context, lost *loader.LostMost) error {
	again, err := r.ids(ctx, lost.ListName)
	if err != nil {
		return err
	}
	for _, id := range r.read(lost.ListName) {
		again[id]--
	}
	for _, n := range again {
		if n != 0 {
			return fmt.Errorf("%w; read a second time, it is another list", lost)
		}
	}
	r.sure[lost.ListName] = true
	return nil
}

// ids reads a list again, for its ids and how often each is there.
func (r *listReader) ids(ctx context.Context, name loader.ListName) (map[string]int, error) {
	again := &listReader{client: r.client, profile: r.profile, sure: map[loader.ListName]bool{}}
	var err error
	switch name.Entity {
	case platform.Campaigns:
		err = take(ctx, again, name.Entity, name.AdProduct, r.client.Campaigns, &again.campaigns)
	case platform.AdGroups:
		err = take(ctx, again, name.Entity, name.AdProduct, r.client.AdGroups, &again.adGroups)
	case platform.Ads:
		err = take(ctx, again, name.Entity, name.AdProduct, r.client.Ads, &again.ads)
	}
	count := map[string]int{}
	for _, id := range again.read(name) {
		count[id]++
	}
	return count, err
}

// read are the ids that were read of a list.
func (r *listReader) read(name loader.ListName) (ids []string) {
	add := func(p adlens.AdProduct, id string) {
		if p == name.AdProduct {
			ids = append(ids, id)
		}
	}
	switch name.Entity {
	case platform.Campaigns:
		for _, c := range r.campaigns {
			add(c.AdProduct, c.ID)
		}
	case platform.AdGroups:
		for _, g := range r.adGroups {
			add(g.AdProduct, g.ID)
		}
	case platform.Ads:
		for _, a := range r.ads {
			add(a.AdProduct, a.ID)
		}
	}
	return ids
}
