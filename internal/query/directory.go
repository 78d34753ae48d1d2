package query

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"adlens"
	"adlens/internal/flight"
	"adlens/internal/lru"
	"adlens/internal/manifest"
)

// maxNameBytes bounds the product names that are kept in memory.
const maxNameBytes = 128 << 20

// productNames are the ids of an account's products by key, and their titles
// by id.
type productNames struct {
	ids    map[uint32]string
	titles map[string]string
	of     NameGenerations

	idPlaces
}

// idPlaces are by key the places of ids in their order, noID where there is none.
type idPlaces []uint32

// idRank is where the id of a key is in the order of ids.
func (p idPlaces) idRank(key uint32) uint32 {
	if int(key) >= len(p) {
		return noID
	}
	return p[key]
}

// NameGenerations are the live generations of the names of products, campaigns and ad
// groups; 0 without any.
type NameGenerations struct{ Products, Titles, Entities uint32 }

// directory keeps product names between requests, for the generations that they
// belong to. Nothing in it expires.
type directory struct {
	store    Store
	accounts *lru.Cache[string, productNames]
	entities *lru.Cache[string, entityNames]
	flights  flight.Group[string, entityNames] // of entities
}

func newDirectory(store Store) *directory {
	return &directory{store: store,
		accounts: lru.New(maxNameBytes, func(_ string, n productNames) int { return n.memoryBytes() }),
		entities: lru.New(maxNameBytes, func(_ string, n entityNames) int { return n.memoryBytes() })}
}

// getNames returns the names of all products of a view. What it returns is never
// changed afterwards.
func (d *directory) getNames(ctx context.Context, v View) (productNames, error) {
	names, ok := d.cachedNames(v)
	if ok {
		return names, nil
	}
	next, err := d.readNames(ctx, v, names)
	if err != nil {
		return names, err
	}
	d.accounts.Put(v.Account, next)
	return next, nil
}

// cachedNames returns the names that are in memory; ok is false where some have to
// be read.
func (d *directory) cachedNames(v View) (names productNames, ok bool) {
	names, ok = d.accounts.Get(v.Account)
	return names, ok && names.of == NamesOf(v)
}

// NamesOf are the live generations of names.
func NamesOf(v View) NameGenerations {
	return NameGenerations{productsOf(v).Generation, v.Manifest.Generation(manifest.Unit{Kind: manifest.Titles}), v.Manifest.Generation(manifest.Unit{Kind: manifest.Entities})}
}

// productsOf is the live unit of the numbers of an account's products. It has as
// many rows as there are products.
func productsOf(v View) manifest.Entry {
	e, _ := v.Manifest.Find(manifest.Unit{Kind: manifest.Products})
	return e
}

// readNames reads the names that changed since some were read.
func (d *directory) readNames(ctx context.Context, v View, known productNames) (productNames, error) {
	next := known
	next.of = NamesOf(v)
	err := flight.Together(func() error {
		if known.ids != nil && known.of.Products == next.of.Products {
			return nil
		}
		ids, err := d.store.ProductIDs(ctx, v.Account, next.of.Products)
		if err == nil {
			err = checkNames(productsOf(v), len(ids))
		}
		next.setIDs(ids)
		return err
	}, func() (err error) {
		if known.titles == nil || known.of.Titles != next.of.Titles {
			next.titles, err = d.store.Titles(ctx, v.Account, next.of.Titles)
		}
		return err
	})
	return next, err
}

// checkNames refuses names of which rows are missing: the database may have been
// restarted since all rows were looked through.
func checkNames(unit manifest.Entry, rows int) error {
	if uint64(rows) >= unit.Rows {
		return nil
	}
	return &adlens.Error{Kind: adlens.Damaged, Err: fmt.Errorf("generation %d has %d names, expected %d", unit.Generation, rows, unit.Rows)}
}

// setIDs makes these the ids of all products.
func (n *productNames) setIDs(ids map[uint32]string) {
	n.ids = ids
	last := uint32(0)
	for key := range ids {
		last = max(last, key)
	}
	keys := slices.SortedFunc(maps.Keys(ids), func(a, b uint32) int { return strings.Compare(ids[a], ids[b]) })
	n.idPlaces = slices.Repeat([]uint32{noID}, int(last)+1)
	for place, key := range keys {
		n.idPlaces[key] = uint32(place)
	}
}

// mapEntryBytes is about what an entry of the maps takes beside its texts.
const mapEntryBytes = 48

func (n *productNames) memoryBytes() int {
	bytes := 4*len(n.idPlaces) + mapEntryBytes*(len(n.ids)+len(n.titles))
	for _, id := range n.ids {
		bytes += len(id)
	}
	for id, title := range n.titles {
		bytes += len(id) + len(title)
	}
	return bytes
}
