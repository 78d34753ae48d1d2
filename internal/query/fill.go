package query

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"

	"adlens/internal/manifest"
)

const (
	// rowsAtOnce bounds what a statement brings of several generations, and
	// so how long a wish waits while something else is read.
	rowsAtOnce = 200_000
	// unitsAtOnce bounds the generations of a statement that reads ahead.
	unitsAtOnce = 64
)

// Missed has a value where there is something to Fill since it was read last.
func (s *Service) Missed() <-chan struct{} {
	if s.memory == nil {
		return nil
	}
	return s.memory.wished
}

// Fill reads into memory what a request has missed, or where none has, some
// of what may be asked for next. worked is false once nothing is left to do.
// It is for one caller, who decides how much of the engine it may take. A
// panic is an error too: no request is to end for it.
func (s *Service) Fill(ctx context.Context) (worked bool, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("panic: %v\n%s", cause, debug.Stack())
		}
	}()
	m := s.memory
	if m == nil {
		return false, nil
	}
	if account, r, ok := m.next(); ok {
		useful, err := s.fill(ctx, account, r)
		if useful && !slices.Contains(m.ahead, account) {
			m.ahead = append(m.ahead, account)
		}
		return true, err
	}
	if len(m.ahead) == 0 {
		return false, nil
	}
	account := m.ahead[0]
	m.ahead = m.ahead[1:]
	more, err := m.readAhead(ctx, account)
	if more {
		m.ahead = append(m.ahead, account)
	}
	return true, err
}

// fill reads what a request needs of the account as it is now. useful is false
// where the engine has to answer nevertheless.
func (s *Service) fill(ctx context.Context, account string, r Request) (useful bool, err error) {
	v, err := s.memory.store.View(ctx, account)
	if err != nil {
		return false, err
	}
	plan := PlanProducts(r, v)
	if err := s.memory.fill(ctx, plan); err != nil {
		return false, err
	}
	found, then, ok := s.memory.findBoth(v, plan)
	if !ok || !found.small(r.Sort) || then.unfit {
		return false, nil
	}
	_, err = s.directory.of(ctx, v, max(found.last, then.last))
	return err == nil, err
}

// fill reads the missing units of a plan, both periods, unless they would crowd
// out most of what the memory has.
func (m *memory) fill(ctx context.Context, plan Plan) error {
	var missing [3][]Live
	var sizes [3]map[uint32]int
	bytes := 0
	for table, units := range plan.bothTables() {
		for _, l := range units {
			if u, ok := m.get(plan.Account, unitTable(table), l); ok {
				bytes += u.weight()
			} else {
				missing[table] = append(missing[table], l)
			}
		}
		if len(missing[table]) == 0 {
			continue
		}
		var err error
		if sizes[table], err = m.store.UnitSizes(ctx, unitSizesStatement(plan.Account, unitTable(table), missing[table])); err != nil {
			return err
		}
		for _, rows := range sizes[table] {
			bytes += unitBytes + unitRowBytes*rows
		}
	}
	if bytes > m.limit/2 {
		return nil
	}
	for table := range missing {
		for _, some := range batches(missing[table], sizes[table]) {
			if err := m.read(ctx, plan.Account, unitTable(table), some, sizes[table]); err != nil {
				return err
			}
		}
	}
	return nil
}

// batches divides units into those that are read by one statement.
func batches(units []Live, sizes map[uint32]int) (all [][]Live) {
	rows := 0
	for i, l := range units {
		if i == 0 || rows+sizes[l.Generation] > rowsAtOnce {
			all, rows = append(all, nil), 0
		}
		all[len(all)-1] = append(all[len(all)-1], l)
		rows += sizes[l.Generation]
	}
	return all
}

// read brings some units of a table in. What the table does not have is held
// without figures.
func (m *memory) read(ctx context.Context, account string, table unitTable, some []Live, sizes map[uint32]int) error {
	units := make(map[uint32]*unit, len(some))
	for _, l := range some {
		units[l.Generation] = &unit{generation: l.Generation, rows: make([]unitRow, 0, sizes[l.Generation])}
	}
	err := m.store.UnitRows(ctx, unitsStatement(account, table, some), func(r *UnitRow) { units[r.Generation].add(r) })
	if err != nil {
		return err
	}
	for _, l := range some {
		m.units.Put(unitName{account, table, l.Unit}, units[l.Generation])
	}
	return nil
}

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
	for _, l := range some {
		bytes += unitBytes + unitRowBytes*sizes[l.Generation]
	}
	if bytes > m.limit/4*3 {
		return false, nil
	}
	err = m.read(ctx, account, table, some, sizes)
	return err == nil, err
}

// newestMissing are some units that are not in memory: years before months,
// months before days.
func (m *memory) newestMissing(v View) (unitTable, []Live) {
	for table, kind := range [...]manifest.Kind{yearUnits: manifest.Year, monthUnits: manifest.Month, dayUnits: manifest.Month} {
		var missing []Live
		for _, e := range v.Manifest.Of(kind) {
			if u, ok := m.units.Peek(unitName{v.Account, unitTable(table), e.Unit}); !ok || u.generation != e.Generation {
				missing = append(missing, live(e))
			}
		}
		if len(missing) > 0 {
			slices.SortStableFunc(missing, func(a, b Live) int { return int(b.Start - a.Start) })
			return unitTable(table), missing[:min(len(missing), unitsAtOnce)]
		}
	}
	return 0, nil
}
