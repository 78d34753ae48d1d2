package connector

import (
	"context"
	"errors"
	"fmt"
	"time"

	"adlens"
	"adlens/internal/platform"
	"adlens/internal/platform/api"
	"adlens/loader"
)

// ReadLists reads a marketplace's campaigns, ad groups and ads from the
// platform and puts them in the place of those that are held. Whatever goes
// wrong, what is held stays as it is. An ad product that the platform never
// gave the profile, as it refuses authors Sponsored Brands, holds up no other.
func (c *Connector) ReadLists(ctx context.Context, account, marketplaceID string) error {
	connection, client, err := c.openClient(ctx, account)
	if err != nil {
		return err
	}
	r := &listReader{client: client, profile: marketplaceID, sure: map[loader.ListName]bool{}}
	refused, err := r.readAll(ctx)
	err = c.noteAccepted(ctx, connection, err)
	for err == nil {
		err = c.Loader.ReplaceLists(ctx, account, r.buildLists())
		var lost *loader.LostMost
		switch {
		case errors.As(err, &lost):
			err = r.confirmList(ctx, lost)
		case errors.Is(err, loader.ErrLeftOut):
			return errors.Join(err, refused)
		case err == nil && refused != nil:
			c.Notice(account, fmt.Sprintf("lists of %s without what the platform refuses: %v", marketplaceID, refused))
			fallthrough
		default:
			return err
		}
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

// readAll reads the lists of all ad products. refused says which of them the
// platform does not give this profile: those whose very first list it refused.
// Sponsored Products are everybody's.
func (r *listReader) readAll(ctx context.Context) (refused, err error) {
	for _, p := range adlens.AdProducts {
		err := readList(ctx, r, platform.Ads, p, r.client.Ads, &r.ads)
		if errors.Is(err, api.Refused) && p != adlens.SponsoredProducts {
			refused = errors.Join(refused, err)
			continue
		}
		// Parents are read after their children: what is created in between is
		// then an unknown child nowhere.
		if err == nil {
			err = readList(ctx, r, platform.AdGroups, p, r.client.AdGroups, &r.adGroups)
		}
		if err == nil {
			err = readList(ctx, r, platform.Campaigns, p, r.client.Campaigns, &r.campaigns)
		}
		if err != nil {
			return nil, err
		}
		r.adProducts = append(r.adProducts, p)
	}
	r.readAt = time.Now().UTC().Truncate(time.Millisecond)
	return refused, nil
}

func readList[T any](ctx context.Context, r *listReader, entity platform.Entity, p adlens.AdProduct,
	read func(context.Context, string, adlens.AdProduct) (api.List[T], error), into *[]T) error {
	list, err := read(ctx, r.profile, p)
	*into = append(*into, list.Rows...)
	r.sure[loader.ListName{Entity: entity, AdProduct: p}] = list.Stated
	return err
}

func (r *listReader) buildLists() loader.Lists {
	return loader.Lists{ProfileID: r.profile, ReadAt: r.readAt, AdProducts: r.adProducts, Campaigns: r.campaigns, AdGroups: r.adGroups, Ads: r.ads, Sure: r.sure}
}

// confirmList reads a list again that lost most of its rows, of which the platform
// states no number: twice the same is believed.
func (r *listReader) confirmList(ctx context.Context, lost *loader.LostMost) error {
	again, err := r.rereadIDs(ctx, lost.ListName)
	if err != nil {
		return err
	}
	for _, id := range r.listIDs(lost.ListName) {
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

// rereadIDs reads a list again, for its ids and how often each is there.
func (r *listReader) rereadIDs(ctx context.Context, name loader.ListName) (map[string]int, error) {
	again := &listReader{client: r.client, profile: r.profile, sure: map[loader.ListName]bool{}}
	var err error
	switch name.Entity {
	case platform.Campaigns:
		err = readList(ctx, again, name.Entity, name.AdProduct, r.client.Campaigns, &again.campaigns)
	case platform.AdGroups:
		err = readList(ctx, again, name.Entity, name.AdProduct, r.client.AdGroups, &again.adGroups)
	case platform.Ads:
		err = readList(ctx, again, name.Entity, name.AdProduct, r.client.Ads, &again.ads)
	}
	count := map[string]int{}
	for _, id := range again.listIDs(name) {
		count[id]++
	}
	return count, err
}

// listIDs are the ids that were read of a list.
func (r *listReader) listIDs(name loader.ListName) (ids []string) {
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
