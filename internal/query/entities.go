package query

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"adlens"
	"adlens/internal/flight"
	"adlens/internal/manifest"
)

// Entity is a campaign or an ad group that figures are of.
type Entity struct {
	Key uint32 // in stored rows
	adlens.EntityID
	Name adlens.DatedName // the newest that is known
}

// ListedName is the name of a campaign or an ad group in a list.
type ListedName struct {
	Generation uint32
	adlens.EntityID
	Name string
}

// entityNames are the campaigns and ad groups that an account's figures are of, with
// their newest names, and those of its lists.
type entityNames struct {
	byKey  []Entity                     // 0 is none
	listed map[adlens.EntityID][]uint32 // the generations of the lists that have it
	of     []uint32                     // the generations of all that was read

	idPlaces
}

// entityUnits are the live units that know campaigns and ad groups.
func entityUnits(v View) []manifest.Entry {
	return slices.Concat(v.Manifest.Of(manifest.Entities), v.Manifest.Of(manifest.Campaigns), v.Manifest.Of(manifest.AdGroups))
}

// getEntities returns the campaigns and ad groups of a view's account: of a limited
// one too, whose rows have the same numbers. What it returns is never changed
// afterwards.
func (d *directory) getEntities(ctx context.Context, v View) (entityNames, error) {
	v = v.wholeAccount()
	if known, ok := d.cachedEntities(v); ok {
		return known, nil
	}
	units := entityUnits(v)
	of := generationsOfEntries(units)
	return d.flights.Do(ctx, v.Account+" "+Numbers(of), func(ctx context.Context) (entityNames, error) {
		next, err := d.readEntities(ctx, v, units)
		if err == nil {
			next.of = of
			d.entities.Put(v.Account, next)
		}
		return next, err
	})
}

// cachedEntities returns those that are in memory; ok is false where some have to be
// read.
func (d *directory) cachedEntities(v View) (known entityNames, ok bool) {
	v = v.wholeAccount()
	known, ok = d.entities.Get(v.Account)
	return known, ok && slices.Equal(known.of, generationsOfEntries(entityUnits(v)))
}

func generationsOfEntries(all []manifest.Entry) []uint32 {
	generations := make([]uint32, len(all))
	for i, e := range all {
		generations[i] = e.Generation
	}
	return generations
}

func (d *directory) readEntities(ctx context.Context, v View, units []manifest.Entry) (n entityNames, err error) {
	at := map[uint32]time.Time{} // of lists, by generation
	var entities manifest.Entry
	for _, e := range units {
		if e.Kind == manifest.Entities {
			entities = e
		} else if len(e.Sources) > 0 {
			at[e.Generation] = e.Sources[0].GeneratedAt
		}
	}
	var all []Entity
	var lists []ListedName
	err = flight.Together(func() (err error) {
		if all, err = d.store.Entities(ctx, v.Account, entities.Generation); err == nil {
			err = checkNames(entities, len(all))
		}
		return err
	}, func() (err error) {
		if len(at) > 0 {
			lists, err = d.store.ListedNames(ctx, v.Account, slices.Sorted(maps.Keys(at)))
		}
		return err
	})
	if err != nil {
		return n, err
	}
	n.byKey, n.listed = []Entity{{}}, make(map[adlens.EntityID][]uint32, len(lists))
	places := make(map[adlens.EntityID]int, len(all))
	for _, e := range all {
		for int(e.Key) >= len(n.byKey) {
			n.byKey = append(n.byKey, Entity{})
		}
		n.byKey[e.Key], places[e.EntityID] = e, int(e.Key)
	}
	n.idPlaces = slices.Repeat([]uint32{noID}, len(n.byKey))
	slices.SortFunc(all, func(a, b Entity) int { return strings.Compare(a.ID, b.ID) })
	for place, e := range all {
		n.idPlaces[e.Key] = uint32(place)
	}
	for _, l := range lists {
		n.listed[l.EntityID] = append(n.listed[l.EntityID], l.Generation)
		if place, held := places[l.EntityID]; held {
			n.byKey[place].Name.Rename(l.Name, at[l.Generation])
		}
	}
	return n, nil
}

// entity is what has a number; nothing for 0.
func (n entityNames) entity(key uint32) Entity {
	if int(key) >= len(n.byKey) {
		return Entity{}
	}
	return n.byKey[key]
}

func (n entityNames) memoryBytes() int {
	const entity, generations = 84, 24 + 8 // a slice, and mostly one in it
	bytes := entity*len(n.byKey) + (mapEntryBytes+generations)*len(n.listed)
	for _, e := range n.byKey {
		bytes += len(e.ID) + len(e.Name.Text)
	}
	for of := range n.listed {
		bytes += len(of.ID)
	}
	return bytes
}
