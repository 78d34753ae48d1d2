package query

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"

	"adlens/internal/flight"
	"adlens/internal/lru"
	"adlens/internal/manifest"
)

// maxNameBytes bounds the product names that are kept in memory.
const maxNameBytes = 128 << 20

// maxDirectorySizes bounds the accounts of which the number of products is
// kept.
const maxDirectorySizes = 10_000

// productNames are the ids of an account's products by key, and their titles
// by id.
type productNames struct {
	ids    map[uint32]string
	last   uint32
	titles map[string]string
	of     uint32 // the generation of the titles

	places []uint32 // by key: the place of the id in the order of ids, noID where there is none
}

// directory keeps product names between requests. Keys are given once and
// never change, so ids are only ever added to; titles are kept for the
// generation that they belong to. Nothing in it expires.
type directory struct {
	store Store

	accounts *lru.Cache[string, productNames]

	mu    sync.Mutex
	sizes map[string]directorySize
}

// directorySize is how many products an account has had at a version.
type directorySize struct {
	version  uint32
	products uint64
}

func newDirectory(store Store) *directory {
	weigh := func(_ string, n productNames) int { return n.weight() }
	return &directory{store: store, accounts: lru.New(maxNameBytes, weigh), sizes: map[string]directorySize{}}
}

// size is how many products the account has at most.
func (d *directory) size(ctx context.Context, v View) (uint64, error) {
	d.mu.Lock()
	known, ok := d.sizes[v.Account]
	d.mu.Unlock()
	if ok && known.version == v.Manifest.Version {
		return known.products, nil
	}
	last, err := d.store.LastProductKey(ctx, v.Account)
	if err != nil {
		return 0, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.sizes) >= maxDirectorySizes {
		clear(d.sizes)
	}
	products := uint64(last) + 1 // keys are given without gaps, and 0 is for figures without a product
	d.sizes[v.Account] = directorySize{v.Manifest.Version, products}
	return products, nil
}

// of returns names for all products whose keys are no greater than the last
// one. What it returns is never changed afterwards.
func (d *directory) of(ctx context.Context, v View, last uint32) (productNames, error) {
	names, ok := d.known(v, last)
	if ok {
		return names, nil
	}
	next, err := d.read(ctx, v.Account, names, TitlesOf(v))
	if err != nil {
		return names, err
	}
	d.accounts.Put(v.Account, next)
	return next, nil
}

// known returns the names that are in memory; ok is false where some have to
// be read.
func (d *directory) known(v View, last uint32) (names productNames, ok bool) {
	names, _ = d.accounts.Get(v.Account)
	return names, names.ids != nil && last <= names.last && names.of == TitlesOf(v)
}

// TitlesOf is the live generation of an account's titles, 0 without any.
func TitlesOf(v View) uint32 { return v.Manifest.Generation(manifest.Unit{Kind: manifest.Titles}) }

// lastKey is the greatest key of some rows.
func lastKey(rows []ProductRow) (last uint32) {
	for i := range rows {
		last = max(last, rows[i].Key)
	}
	return last
}

func (d *directory) read(ctx context.Context, account string, known productNames, titles uint32) (productNames, error) {
	next := known
	next.of = titles
	var added map[uint32]string
	err := flight.Together(func() (err error) {
		added, err = d.store.ProductIDs(ctx, account, known.last)
		return err
	}, func() (err error) {
		if known.titles == nil || known.of != titles {
			next.titles, err = d.store.Titles(ctx, account, titles)
		}
		return err
	})
	if err != nil {
		return known, err
	}
	if known.ids == nil || len(added) > 0 {
		next.add(added)
	}
	return next, nil
}

// add makes these the names of more products.
func (n *productNames) add(added map[uint32]string) {
	ids := make(map[uint32]string, len(n.ids)+len(added))
	maps.Copy(ids, n.ids)
	maps.Copy(ids, added)
	n.ids = ids
	for key := range added {
		n.last = max(n.last, key)
	}
	keys := slices.SortedFunc(maps.Keys(ids), func(a, b uint32) int { return strings.Compare(ids[a], ids[b]) })
	n.places = slices.Repeat([]uint32{noID}, int(n.last)+1)
	for place, key := range keys {
		n.places[key] = uint32(place)
	}
}

// place is where a product's id is in the order of ids.
func (n *productNames) place(key uint32) uint32 {
	if int(key) >= len(n.places) {
		return noID
	}
	return n.places[key]
}

// mapEntryBytes is about what an entry of the maps takes beside its texts.
const mapEntryBytes = 48

func (n *productNames) weight() int {
	bytes := 4*len(n.places) + mapEntryBytes*(len(n.ids)+len(n.titles))
	for _, id := range n.ids {
		bytes += len(id)
	}
	for id, title := range n.titles {
		bytes += len(id) + len(title)
	}
	return bytes
}
