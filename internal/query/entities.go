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

// NamedEntity is an entity with the name that a marketplace gave.
type NamedEntity struct {
	Key uint32
	adlens.EntityID
	adlens.MarketplaceName
}

// ListedName is the name of a campaign or an ad group in a list.
type ListedName struct {
	Generation uint32
	adlens.EntityID
	Name string
}

// entityNames are the campaigns and ad groups that an account's figures are of, with
// the newest names that a view's marketplaces gave, and those of its lists.
type entityNames struct {
	byKey  []Entity // 0 is none
	listed map[adlens.EntityID]struct{}
	of     []uint32 // the generations of all that was read

	idPlaces
}

// entityUnits are the live units that know campaigns and ad groups.
func entityUnits(v View) []manifest.Entry {
	return slices.Concat(v.Manifest.Of(manifest.Entities), v.Manifest.Of(manifest.Campaigns), v.Manifest.Of(manifest.AdGroups))
}

// getEntities returns the campaigns and ad groups of a view's account, whose numbers are
// the same in a part of it, with the names and lists of the view. What it returns is never
// changed afterwards.
func (d *directory) getEntities(ctx context.Context, v View) (entityNames, error) {
	if known, ok := d.cachedEntities(v); ok {
		return known, nil
	}
	units := entityUnits(v)
	of := generationsOfEntries(units)
	return d.flights.Do(ctx, entitiesName(v)+" "+Numbers(of), func(ctx context.Context) (entityNames, error) {
		next, err := d.readEntities(ctx, v, units)
		if err == nil {
			next.of = of
			d.entities.Put(entitiesName(v), next)
		}
		return next, err
	})
}

// entitiesName names what getEntities returns, of whatever version.
func entitiesName(v View) string {
	return limitedName(v.Account, []string{v.namePart()})
}

// cachedEntities returns those that are in memory; ok is false where some have to be
// read.
func (d *directory) cachedEntities(v View) (known entityNames, ok bool) {
	known, ok = d.entities.Get(entitiesName(v))
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
	var all []NamedEntity
	var lists []ListedName
	err = flight.Together(func() (err error) {
		all, err = d.store.Entities(ctx, v.Account, entities.Generation)
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
	unsaid := n.nameAll(v, all)
	n.listed = make(map[adlens.EntityID]struct{}, len(lists))
	places := make(map[adlens.EntityID]int, len(n.byKey))
	for place, e := range n.byKey {
		if e.Key != 0 {
			places[e.EntityID] = place
		}
	}
	if err := checkNames(entities, len(places)); err != nil {
		return n, err
	}
	for _, l := range lists {
		n.listed[l.EntityID] = struct{}{}
		if place, held := places[l.EntityID]; held {
			n.byKey[place].Name.Rename(l.Name, at[l.Generation])
		}
	}
	for key, name := range unsaid {
		if n.byKey[key].Name.Text == "" {
			n.byKey[key].Name = name
		}
	}
	return n, nil
}

// nameAll gives all entities the newest names of the view's marketplaces. A name of which
// nothing says the marketplace counts as one of theirs, but for entities that others name
// too: those names are unsaid, for entities that have no other.
func (n *entityNames) nameAll(v View, all []NamedEntity) (unsaid map[uint32]adlens.DatedName) {
	n.byKey = []Entity{{}}
	shared := map[uint32]bool{}
	unsaid = map[uint32]adlens.DatedName{}
	for _, e := range all {
		for int(e.Key) >= len(n.byKey) {
			n.byKey = append(n.byKey, Entity{})
		}
		entity := &n.byKey[e.Key]
		entity.Key, entity.EntityID = e.Key, e.EntityID
		switch {
		case !v.isPart() || v.byKey(e.Marketplace).Key != 0:
			entity.Name.Rename(e.Text, e.At)
		case e.Marketplace == 0:
			unsaid[e.Key] = e.DatedName
		default:
			shared[e.Key] = true
		}
	}
	for key, name := range unsaid {
		if !shared[key] {
			n.byKey[key].Name.Rename(name.Text, name.At)
			delete(unsaid, key)
		}
	}
	n.idPlaces = slices.Repeat([]uint32{noID}, len(n.byKey))
	sorted := slices.DeleteFunc(slices.Clone(n.byKey), func(e Entity) bool { return e.Key == 0 })
	slices.SortFunc(sorted, func(a, b Entity) int { return strings.Compare(a.ID, b.ID) })
	for place, e := range sorted {
		n.idPlaces[e.Key] = uint32(place)
	}
	return unsaid
}

// entity is what has a number; nothing for 0.
func (n entityNames) entity(key uint32) Entity {
	if int(key) >= len(n.byKey) {
		return Entity{}
	}
	return n.byKey[key]
}

func (n entityNames) memoryBytes() int {
	const entity = 84
	bytes := entity*len(n.byKey) + mapEntryBytes*len(n.listed)
	for _, e := range n.byKey {
		bytes += len(e.ID) + len(e.Name.Text)
	}
	for of := range n.listed {
		bytes += len(of.ID)
	}
	return bytes
}
