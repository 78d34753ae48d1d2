package query

import (
	"context"
	"slices"

	"adlens/internal/lru"
	"adlens/internal/manifest"
)

// heldKey is a stored number of a dimension in a view of one state of an account.
type heldKey struct {
	account, part string
	version       uint32
	dimension     string
	key           uint32
}

// maxHeldKeys bounds the numbers of which it is kept whether there are figures.
const maxHeldKeys = 100_000

func newHeldKeys() *lru.Cache[heldKey, bool] {
	return lru.New(maxHeldKeys, func(heldKey, bool) int { return 1 })
}

// heldKeys are those of some stored numbers of a dimension that a view has figures of.
// A number stays when the last figure of its id was restated away, and an account's
// numbers are of all its marketplaces. So each is looked for once after each load.
func (s *Service) heldKeys(ctx context.Context, v View, d identifiedDimension, keys []uint32) (held map[uint32]bool, err error) {
	held = map[uint32]bool{}
	name := heldKey{account: v.Account, part: v.part(), version: v.Manifest.Version, dimension: d.name}
	var unseen []uint32
	for _, key := range keys {
		name.key = key
		switch is, seen := s.held.Get(name); {
		case !seen:
			unseen = append(unseen, key)
		case is:
			held[key] = true
		}
	}
	if statement, some := v.heldKeysStatement(d, unseen); some {
		found, err := s.store.HeldKeys(ctx, statement)
		if err != nil {
			return nil, err
		}
		for _, key := range found {
			held[key] = true
		}
	}
	for _, key := range unseen {
		name.key = key
		s.held.Put(name, held[key])
	}
	return held, nil
}

// heldKeysStatement finds which numbers the view has rows of, in the rollups by year,
// which have them all in the fewest generations; some is false where it can have none.
func (v View) heldKeysStatement(d identifiedDimension, keys []uint32) (st Statement, some bool) {
	table := "year_products"
	if d.isOf != 0 {
		table = "year_ad_groups"
	}
	var generations []uint32
	for _, e := range v.Manifest.Of(manifest.Year) {
		if d.isOf == 0 || e.ByAdGroup() { // others say of no campaign
			generations = append(generations, e.Generation)
		}
	}
	if len(generations) == 0 || len(keys) == 0 {
		return st, false
	}
	return Statement{fillTemplate("held_keys", "/*table*/", table, "/*key*/", d.key),
		map[string]string{"account": Text(v.Account), "generations": Numbers(generations), "keys": Numbers(slices.Sorted(slices.Values(keys)))}}, true
}
