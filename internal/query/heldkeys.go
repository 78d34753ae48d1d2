package query

import (
	"context"
	"slices"

	"adlens/internal/manifest"
)

// HeldKey says how many rows a generation of a year has of a stored number.
type HeldKey struct {
	Key, Generation uint32
	Rows            uint64
}

// keyName is a stored number of a dimension in a view of one state of an account.
type keyName struct {
	account, part string
	version       uint32
	dimension     string
	key           uint32
}

// maxHeldYears bounds the numbers of which it is kept in which years they have rows,
// with those years: some 10 MB.
const maxHeldYears = 500_000

// heldYears are the years in which a view has rows of some stored numbers of a
// dimension, by number. Numbers without rows are left out: a number stays when the last
// figure of its id was restated away, and an account's numbers are of all its
// marketplaces. A campaign's figures are mostly of one marketplace and ad product. So
// each is looked for once after each load.
func (s *Service) heldYears(ctx context.Context, v View, d identifiedDimension, keys []uint32) (held map[uint32][]HeldKey, err error) {
	held = map[uint32][]HeldKey{}
	name := keyName{account: v.Account, part: v.part(), version: v.Manifest.Version, dimension: d.name}
	var unseen []uint32
	for _, key := range keys {
		name.key = key
		switch years, seen := s.held.Get(name); {
		case !seen:
			unseen = append(unseen, key)
		case len(years) > 0:
			held[key] = years
		}
	}
	if statement, some := v.heldKeysStatement(d, unseen); some {
		found, err := s.seeking.Do(ctx, statement.String(), func(ctx context.Context) ([]HeldKey, error) { return s.store.HeldKeys(ctx, statement) })
		if err != nil {
			return nil, err
		}
		for _, one := range found {
			held[one.Key] = append(held[one.Key], one)
		}
	}
	for _, key := range unseen {
		name.key = key
		s.held.Put(name, held[key])
	}
	return held, nil
}

// heldKeysStatement finds in which years the view has rows of the numbers, in the
// rollups by year, which have them all in the fewest generations; some is false where
// it can have none.
func (v View) heldKeysStatement(d identifiedDimension, keys []uint32) (st Statement, some bool) {
	table := "year_products"
	if d.isOf != 0 {
		table = "year_ad_groups"
	}
	var generations []uint32
	for _, e := range v.Manifest.Of(manifest.Year) {
		if e.Slice.IsAnswered() && (d.isOf == 0 || e.ByAdGroup()) { // others say of no campaign
			generations = append(generations, e.Generation)
		}
	}
	if len(generations) == 0 || len(keys) == 0 {
		return st, false
	}
	return Statement{fillTemplate("held_keys", "/*table*/", table, "/*key*/", d.key),
		map[string]string{"account": Text(v.Account), "generations": Numbers(generations), "keys": Numbers(slices.Sorted(slices.Values(keys)))}}, true
}

// setYears finds the years that have rows of what filters narrow to.
func (s *Service) setYears(ctx context.Context, v View, n *narrowing) error {
	for i, d := range identified {
		if n.Only[i] == nil {
			continue
		}
		held, err := s.heldYears(ctx, v, d, n.Only[i])
		if err != nil {
			return err
		}
		n.years[i] = map[uint32]uint64{}
		for _, years := range held {
			for _, one := range years {
				n.years[i][one.Generation] += one.Rows
			}
		}
	}
	return nil
}
