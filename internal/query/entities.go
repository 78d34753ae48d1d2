package query

import (
	"context"
	"maps"
	"slices"
	"time"

	"adlens/internal/flight"
	"adlens/internal/lru"
	"adlens/internal/manifest"
)

// EntityType is what an entity of figures is. The numbers are stored.
type EntityType uint8

// The types of entities.
const (
	CampaignEntity EntityType = iota + 1
	AdGroupEntity
)

// Entity is a campaign or an ad group that figures are of.
type Entity struct {
	Key  uint32 // in stored rows
	Type EntityType
	ID   string
	Name string // the newest that a report gave, "" for none
	// NamedAt is the time of that report.
	NamedAt time.Time
}

// ListedName is the name of a campaign or an ad group in a list.
type ListedName struct {
	Generation uint32
	Type       EntityType
	ID, Name   string
}

type entityID struct {
	isOf EntityType
	id   string
}

// entityNames are the campaigns and ad groups that an account's figures are of, with
// their newest names, and those of its lists.
type entityNames struct {
	byKey  []Entity // 0 is none
	listed map[entityID]string
	of     []uint32 // the generations of all that was read
}

// entityUnits are the live units that know campaigns and ad groups.
func entityUnits(v View) []manifest.Entry {
	return slices.Concat(v.Manifest.Of(manifest.Entities), v.Manifest.Of(manifest.Campaigns), v.Manifest.Of(manifest.AdGroups))
}

func newEntityCache() *lru.Cache[string, entityNames] {
	return lru.New(maxNameBytes, func(_ string, n entityNames) int { return n.memoryBytes() })
}

// getEntities returns the campaigns and ad groups of a view. What it returns is never
// changed afterwards.
func (d *directory) getEntities(ctx context.Context, v View) (entityNames, error) {
	units := entityUnits(v)
	of := make([]uint32, len(units))
	for i, e := range units {
		of[i] = e.Generation
	}
	if known, ok := d.entities.Get(v.Account); ok && slices.Equal(known.of, of) {
		return known, nil
	}
	return d.flights.Do(ctx, v.Account+" "+Numbers(of), func(ctx context.Context) (entityNames, error) {
		next, err := d.readEntities(ctx, v, units)
		if err == nil {
			next.of = of
			d.entities.Put(v.Account, next)
		}
		return next, err
	})
}

func (d *directory) readEntities(ctx context.Context, v View, units []manifest.Entry) (n entityNames, err error) {
	at := map[uint32]time.Time{} // of lists, by generation
	var entities uint32
	for _, e := range units {
		if e.Kind == manifest.Entities {
			entities = e.Generation
		} else if len(e.Sources) > 0 {
			at[e.Generation] = e.Sources[0].GeneratedAt
		}
	}
	var all []Entity
	var lists []ListedName
	err = flight.Together(func() (err error) {
		all, err = d.store.Entities(ctx, v.Account, entities)
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
	n.byKey, n.listed = []Entity{{}}, make(map[entityID]string, len(lists))
	places := make(map[entityID]int, len(all))
	for _, e := range all {
		for int(e.Key) >= len(n.byKey) {
			n.byKey = append(n.byKey, Entity{})
		}
		n.byKey[e.Key], places[entityID{e.Type, e.ID}] = e, int(e.Key)
	}
	for _, l := range lists {
		id := entityID{l.Type, l.ID}
		n.listed[id] = l.Name
		if place, held := places[id]; held {
			n.byKey[place].rename(l.Name, at[l.Generation])
		}
	}
	return n, nil
}

// rename takes over a newer name; of two of one time the greater counts.
func (e *Entity) rename(name string, at time.Time) {
	if name == "" || at.Before(e.NamedAt) || at.Equal(e.NamedAt) && name <= e.Name {
		return
	}
	e.Name, e.NamedAt = name, at
}

// entity is what has a number; nothing for 0.
func (n entityNames) entity(key uint32) Entity {
	if int(key) >= len(n.byKey) {
		return Entity{}
	}
	return n.byKey[key]
}

func (n entityNames) memoryBytes() int {
	const entity = 80
	bytes := entity*len(n.byKey) + mapEntryBytes*len(n.listed)
	for _, e := range n.byKey {
		bytes += len(e.ID) + len(e.Name)
	}
	for of, name := range n.listed {
		bytes += len(of.id) + len(name)
	}
	return bytes
}
