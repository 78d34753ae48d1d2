package query

import (
	"context"
	"maps"
	"strings"
	"sync"

	"adlens/internal/flight"
)

// fetchedRows bounds what is read for a report before it is answered. The
// engine adds so many rows up hardly sooner than it gives them, and the next
// report of the same rows needs nothing of it.
const fetchedRows = 100_000

// fetchedNames bounds the products whose names are read for a report before it
// is answered.
const fetchedNames = 5_000

// answerFetched answers a page of the product report from memory, for which it reads
// what is missing there, if that is little; ok is false where it is not, or
// where memory cannot answer at all. products is how many products the report
// has at most.
func (s *Service) answerFetched(ctx context.Context, v View, r Request, plan Plan, products uint64) (p *Products, ok bool, err error) {
	if s.memory == nil {
		return nil, false, nil
	}
	names, known := s.directory.cachedNames(v)
	if !known && products >= fetchedNames {
		return nil, false, nil
	}
	missing := s.memory.missingUnits(plan)
	rows := 0
	for table := range missing {
		for _, l := range missing[table] {
			rows += l.rowBound(unitTable(table), products)
		}
	}
	if rows > fetchedRows {
		return nil, false, nil
	}
	var units map[uint32]*unit
	err = flight.Together(
		func() (err error) { units, err = s.memory.fetchUnits(ctx, plan.Account, missing); return err },
		func() (err error) { names, err = s.directory.getNames(ctx, v); return err },
	)
	if err != nil {
		return nil, false, err
	}
	found, then, ok := s.memory.findBoth(v, plan, units)
	if !ok || found.unfit || then.unfit {
		return nil, false, nil
	}
	p, ok = s.answerTallied(ctx, v, r, found, then, names)
	return p, ok, nil
}

// fetchUnits reads units of all tables side by side, once for all who need the same
// ones at the same time.
func (m *memory) fetchUnits(ctx context.Context, account string, missing [3][]Live) (map[uint32]*unit, error) {
	all := map[uint32]*unit{}
	var mu sync.Mutex
	var steps []func() error
	for table, units := range missing {
		if len(units) == 0 {
			continue
		}
		steps = append(steps, func() error {
			key := strings.Join([]string{account, unitTables[table].name, Numbers(generationsOf(units))}, " ")
			some, err := m.fetching.Do(ctx, key, func(ctx context.Context) (map[uint32]*unit, error) {
				return m.readUnits(ctx, m.store.UnitRows, account, unitTable(table), units)
			})
			mu.Lock()
			defer mu.Unlock()
			maps.Copy(all, some)
			return err
		})
	}
	return all, flight.Together(steps...)
}
