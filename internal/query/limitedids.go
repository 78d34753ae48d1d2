package query

import (
	"context"
	"slices"

	"adlens/internal/manifest"
)

// heldKeys are those of some stored numbers of a dimension that a view has figures of.
// An account's numbers are of all its marketplaces, so a limited view has to look.
func (s *Service) heldKeys(ctx context.Context, v View, d identifiedDimension, keys []uint32) (held map[uint32]bool, err error) {
	held = map[uint32]bool{}
	if v.Limited == nil {
		for _, key := range keys {
			held[key] = true
		}
		return held, nil
	}
	statement, some := v.heldKeysStatement(d, keys)
	if !some {
		return held, nil
	}
	found, err := s.store.HeldKeys(ctx, statement)
	for _, key := range found {
		held[key] = true
	}
	return held, err
}

// heldKeysStatement finds which numbers the view has rows of; some is false where it
// can have none.
func (v View) heldKeysStatement(d identifiedDimension, keys []uint32) (st Statement, some bool) {
	table := "month_products"
	if d.isOf != 0 {
		table = "month_ad_groups"
	}
	var generations []uint32
	for _, e := range v.Manifest.Of(manifest.Month) {
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
