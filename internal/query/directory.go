package query

import (
	"context"
	"maps"
	"sync"

	"adlens/internal/manifest"
)

// maxDirectories bounds the accounts whose product names are kept in memory.
const maxDirectories = 64

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
}

// directory keeps product names between requests. Keys are given once and
// never change, so ids are only ever added to; titles are kept for the
// generation that they belong to. Nothing in it expires.
type directory struct {
	store Store

	mu       sync.Mutex
	accounts map[string]productNames
	sizes    map[string]directorySize
}

// directorySize is how many products an account has had at a version.
type directorySize struct {
	version  uint32
	products uint64
}

func newDirectory(store Store) *directory {
	return &directory{store: store, accounts: map[string]productNames{}, sizes: map[string]directorySize{}}
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

// of returns names for all products of the rows. What it returns is never
// changed afterwards.
func (d *directory) of(ctx context.Context, v View, rows []ProductRow) (productNames, error) {
	d.mu.Lock()
	names := d.accounts[v.Account]
	d.mu.Unlock()
	titles := v.Manifest.Generation(manifest.Unit{Kind: manifest.Titles})
	if names.ids != nil && names.knows(rows) && names.of == titles {
		return names, nil
	}
	next, err := d.read(ctx, v.Account, names, titles)
	if err != nil {
		return names, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, here := d.accounts[v.Account]; !here && len(d.accounts) >= maxDirectories {
		clear(d.accounts)
	}
	d.accounts[v.Account] = next
	return next, nil
}

func (n productNames) knows(rows []ProductRow) bool {
	for i := range rows {
		if rows[i].Key > n.last {
			return false
		}
	}
	return true
}

func (d *directory) read(ctx context.Context, account string, known productNames, titles uint32) (productNames, error) {
	next := productNames{ids: maps.Clone(known.ids), last: known.last, titles: known.titles, of: titles}
	added, err := d.store.ProductIDs(ctx, account, known.last)
	if err != nil {
		return known, err
	}
	if next.ids == nil {
		next.ids = map[uint32]string{}
	}
	for key, id := range added {
		next.ids[key] = id
		next.last = max(next.last, key)
	}
	if known.titles == nil || known.of != titles {
		next.titles, err = d.store.Titles(ctx, account, titles)
	}
	return next, err
}
