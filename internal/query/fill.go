package query

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"adlens/internal/manifest"
)

const (
	// rowsAtOnce bounds what a statement brings of several generations, and
	// so how long a miss waits while something else is read.
	rowsAtOnce = 200_000
	// aheadPatience is how long reading ahead waits for reports that the
	// engine adds up.
	aheadPatience = time.Second
	// wayGiven is how many times as long as a statement took the next one waits
	// for such reports: the one that is under way would take twice as long.
	wayGiven = 4
	// unitsAtOnce bounds the generations of a statement that reads ahead.
	unitsAtOnce = 1000
)

// Missed has a value where there is something to Fill since it was read last.
func (s *Service) Missed() <-chan struct{} {
	if s.memory == nil {
		return nil
	}
	return s.memory.ready
}

// Fill reads into memory what a request has missed, or where none has, some
// of what may be requested next. worked is false once nothing is left to do.
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
	if account, r, ok := m.nextMiss(); ok {
		return true, s.fillRequest(ctx, account, r)
	}
	account, ok := m.nextAhead()
	if !ok {
		return false, nil
	}
	m.computed.waitIdle(ctx, aheadPatience)
	more, err := s.readAhead(ctx, account)
	switch {
	case err != nil:
		m.forgetAccount(account) // its next request has it read ahead again
	case more:
		m.goOn(account)
	}
	return true, err
}

// fillRequest reads what a request needs of the account as it is now.
func (s *Service) fillRequest(ctx context.Context, account string, r Request) error {
	by, _ := r.level()
	v, most, ok, err := s.fillableView(ctx, account, by)
	if err != nil || !ok {
		return err
	}
	plan := PlanReport(r, v)
	if err := s.memory.fillUnits(ctx, plan, most); err != nil {
		return err
	}
	found, then, ok := s.memory.findBoth(v, r, plan, fetched{})
	if !ok || found.unfit || then.unfit {
		return nil // the engine has to answer nevertheless
	}
	_, err = s.readNames(ctx, v, by)
	return err
}

// fillableView is an account as it is now and how many rows a report of a level has at
// most; ok is false where they are too many for the memory.
func (s *Service) fillableView(ctx context.Context, account string, by level) (v View, most uint64, ok bool, err error) {
	if v, err = s.memory.store.View(ctx, account); err != nil {
		return v, 0, false, err
	}
	most = by.mostOf(v)
	return v, most, most <= maxRememberedKey+1, nil
}

// fillUnits reads the missing units of a plan, both periods, unless all of them, with
// those that memory has, would crowd out most of the rest, or one another.
func (m *memory) fillUnits(ctx context.Context, plan Plan, most uint64) error {
	bytes := 0
	for table, units := range plan.bothTables() {
		bytes += weightOf(units, unitTable(table), most)
	}
	if bytes > m.limit/2 {
		return nil
	}
	missing := m.missingUnits(plan)
	for table := range missing {
		for _, some := range batchUnits(missing[table], unitTable(table), most) {
			began := time.Now()
			if _, err := m.readUnits(ctx, m.store.UnitRowsBeside, plan, unitTable(table), some); err != nil {
				return err
			}
			m.computed.waitIdle(ctx, wayGiven*time.Since(began))
		}
	}
	return nil
}

// weightOf is what units will weigh, about.
func weightOf(units []Live, table unitTable, most uint64) (bytes int) {
	for _, l := range units {
		bytes += unitBytes + packedRowBytes*l.rowBound(table, most)
	}
	return bytes
}

// batchUnits divides units into those that are read by one statement.
func batchUnits(units []Live, table unitTable, most uint64) (all [][]Live) {
	rows := 0
	for i, l := range units {
		if more := l.rowBound(table, most); i == 0 || rows+more > rowsAtOnce {
			all, rows = append(all, nil), 0
		}
		all[len(all)-1] = append(all[len(all)-1], l)
		rows += l.rowBound(table, most)
	}
	return all
}

// readAhead reads the names of an account's products, which every report
// needs, and then some units that were not requested yet, the newest first. They
// only take room that is free, or that they had before a load, and leave a
// quarter of the memory to what is requested. more reports whether it is worth
// to go on.
func (s *Service) readAhead(ctx context.Context, account string) (more bool, err error) {
	v, products, ok, err := s.fillableView(ctx, account, byProduct)
	if err != nil || !ok {
		return false, err
	}
	m := s.memory
	if _, named := s.directory.cachedNames(v); !named {
		_, err := s.directory.getNames(ctx, v)
		_, named = s.directory.cachedNames(v)
		return named, err // names without room are not read again and again
	}
	table, missing := m.newestMissing(v)
	if len(missing) == 0 {
		return false, nil
	}
	some := batchUnits(missing, table, products)[0]
	bytes := m.units.Weight() + weightOf(some, table, products)
	for _, l := range some {
		if old, ok := m.units.Peek(Plan{Account: account}.nameOf(table, l.Unit)); ok {
			bytes -= old.memoryBytes()
		}
	}
	if bytes > m.limit/4*3 {
		return false, nil
	}
	_, err = m.readUnits(ctx, m.store.UnitRowsBeside, Plan{Account: account}, table, some)
	// Units that were heavier than estimated, and had no room, are not read again and again.
	hasRoom := func(l Live) bool { return m.hasUnit(Plan{Account: account}.nameOf(table, l.Unit), l.Generation) }
	return err == nil && slices.ContainsFunc(some, hasRoom), err
}

func (m *memory) hasUnit(name unitName, generation uint32) bool {
	u, ok := m.units.Peek(name)
	return ok && u.generation == generation
}

// newestMissing are some units that are not in memory: years before months,
// months before days.
func (m *memory) newestMissing(v View) (unitTable, []Live) {
	for table, kind := range [...]manifest.Kind{yearUnits: manifest.Year, monthUnits: manifest.Month, dayUnits: manifest.Month} {
		var missing []Live
		for _, e := range v.Manifest.Of(kind) {
			if !m.hasUnit(Plan{Account: v.Account}.nameOf(unitTable(table), e.Unit), e.Generation) {
				missing = append(missing, liveUnit(e))
			}
		}
		if len(missing) > 0 {
			slices.SortStableFunc(missing, func(a, b Live) int { return int(b.Start - a.Start) })
			return unitTable(table), missing[:min(len(missing), unitsAtOnce)]
		}
	}
	return 0, nil
}
