package query

import (
	"context"
	"maps"
	"sync"

	"adlens/internal/manifest"
)

// maxDirectories bounds the accounts whose product names are kept in memory.
const maxDirectories = 64

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
}

func newDirectory(store Store) *directory {
	return &directory{store: store, accounts: map[string]productNames{}}
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
