package query

import (
	"context"
	"slices"

	"adlens/internal/manifest"
)

// unitsAtOnce bounds the generations of a statement that reads ahead.
const unitsAtOnce = 64

// readAhead reads some units of an account that nobody asked for yet, the
// newest first: who asks for one period asks for another soon. They only take
// room that is free, and leave a quarter of the memory to what is asked for.
// more tells whether it is worth to go on.
func (m *memory) readAhead(ctx context.Context, account string) (more bool, err error) {
	v, err := m.store.View(ctx, account)
	if err != nil {
		return false, err
	}
	table, missing := m.newestMissing(v)
	if len(missing) == 0 {
		return false, nil
	}
	sizes, err := m.store.UnitSizes(ctx, unitSizesStatement(account, table, missing))
	if err != nil {
		return false, err
	}
	some := batches(missing, sizes)[0]
	bytes := m.units.Weight()
	for _, generation := range some {
		bytes += unitBytes + unitRowBytes*sizes[generation]
	}
	if bytes > m.limit/4*3 {
		return false, nil
	}
	err = m.read(ctx, account, table, some, sizes)
	return err == nil, err
}

// newestMissing are some units that are not in memory: years before months,
// months before days.
func (m *memory) newestMissing(v View) (unitTable, []uint32) {
	for table, kind := range [...]manifest.Kind{yearUnits: manifest.Year, monthUnits: manifest.Month, dayUnits: manifest.Month} {
		var missing []manifest.Entry
		for _, e := range v.Manifest.Of(kind) {
			if !m.units.Has(unitName{v.Account, unitTable(table), e.Generation}) {
				missing = append(missing, e)
			}
		}
		if len(missing) > 0 {
			slices.SortStableFunc(missing, func(a, b manifest.Entry) int { return int(b.Start - a.Start) })
			return unitTable(table), generationsOf(missing[:min(len(missing), unitsAtOnce)])
		}
	}
	return 0, nil
}

func generationsOf(entries []manifest.Entry) []uint32 {
	all := make([]uint32, len(entries))
	for i, e := range entries {
		all[i] = e.Generation
	}
	return all
}
