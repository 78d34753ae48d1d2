package query

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"runtime"
	"slices"

	"adlens"
	"adlens/internal/flight"
	"adlens/internal/lru"
	"adlens/internal/manifest"
)

// UnitStore reads whole generations.
type UnitStore interface {
	View(ctx context.Context, account string) (View, error)
	// UnitRows has the rows of a statement visited in their order. The row is
	// only valid during the visit. Where the statement has to be repeated,
	// begin is called again; after an error not all were visited.
	UnitRows(ctx context.Context, s Statement, begin func() (visit func(*UnitRow))) error
	// UnitRowsBeside does the same at a low priority, where no request waits.
	UnitRowsBeside(ctx context.Context, s Statement, begin func() (visit func(*UnitRow))) error
}

const (
	// maxRememberedKey bounds the products of an account that is answered from
	// memory. Beyond, the engine puts them in order.
	maxRememberedKey = 100_000
	// marketplaceBits is how many marketplaces the bits of a tally can tell apart.
	marketplaceBits = 64
)

// memory keeps units, and reads those that were missed.
type memory struct {
	store UnitStore
	limit int // bytes
	units *lru.Cache[unitName, *unit]

	fetching flight.Group[string, map[uint32]*unit] // by statement
	computed engagement                             // with reports that the engine adds up
	adding   chan struct{}                          // has a value for each report that is being added up

	*readQueue
}

// unitName says what a unit is of, and not which generation of it: a load that
// replaces a unit replaces what memory has of it, and dead rows take no room.
type unitName struct {
	account  string
	table    unitTable
	unit     manifest.Unit
	by       level
	narrowed string // by filters; "" for all
}

// nameOf is the name of a unit that the plan needs.
func (plan Plan) nameOf(table unitTable, u manifest.Unit) unitName {
	return unitName{account: plan.Account, table: table, unit: u, by: plan.by, narrowed: plan.narrowing.name}
}

func newMemory(store UnitStore, bytes int) *memory {
	weigh := func(n unitName, u *unit) int { return u.memoryBytes() + len(n.narrowed) }
	return &memory{store: store, limit: bytes, units: lru.New(bytes, weigh), adding: make(chan struct{}, runtime.GOMAXPROCS(0)), readQueue: newReadQueue()}
}

// Remember has product reports answered from memory where it has what they
// need. Fill brings that in.
func (s *Service) Remember(store UnitStore, bytes int) { s.memory = newMemory(store, bytes) }

// queueAhead has what was not requested of an account yet read ahead.
func (s *Service) queueAhead(v View) {
	if s.memory != nil {
		s.memory.queueAhead(v.Account, v.Manifest.Version)
	}
}

// answerCached answers a page of a level from memory; ok is false where it cannot.
func (s *Service) answerCached(ctx context.Context, v View, r Request, plan Plan) (report *Report, ok bool) {
	if s.memory == nil {
		return nil, false
	}
	found, then, ok := s.memory.findBoth(v, r, plan, fetched{})
	if !ok || found.unfit || then.unfit {
		return nil, false
	}
	names, ok := s.cachedNames(v, plan.by)
	if !ok {
		return nil, false
	}
	return s.answerTallied(ctx, v, r, found, then, names)
}

// answerTallied adds a report up; ok is false where no request waits for it any more.
func (s *Service) answerTallied(ctx context.Context, v View, r Request, now, then found, names rowNames) (report *Report, ok bool) {
	// More at once than there are cores would only take more memory.
	select {
	case s.memory.adding <- struct{}{}:
		defer func() { <-s.memory.adding }()
	case <-ctx.Done():
		return nil, false
	}
	last := max(now.last, then.last)
	ranked := ranking{request: r, names: names, compare: placeComparison(r)}
	if r.Compared() {
		t, before := talliesOf(now.parts, last), talliesOf(then.parts, last)
		ranked.addBucket(0, t, before)
		tallyPool.Put(t)
		tallyPool.Put(before)
		return ranked.report(v), true
	}
	for parts := range now.byBucket() {
		t := talliesOf(parts, last)
		ranked.addBucket(parts[0].bucket, t, nil)
		tallyPool.Put(t)
	}
	return ranked.report(v), true
}

// byBucket are the parts of each bucket.
func (f *found) byBucket() iter.Seq[[]part] {
	return func(yield func([]part) bool) {
		for rest := f.parts; len(rest) > 0; {
			n := slices.IndexFunc(rest, func(p part) bool { return p.bucket != rest[0].bucket })
			if n < 0 {
				n = len(rest)
			}
			if !yield(rest[:n]) {
				return
			}
			rest = rest[n:]
		}
	}
}

// found is what a plan reads, from memory.
type found struct {
	parts []part // in the order of their buckets
	last  uint32 // the greatest product key
	sums  counts // of whole units: no product has more
	unfit bool   // they exceed 64 bits
}

// unitsByTable are the units of a plan by table.
func (plan Plan) unitsByTable() [3][]Live {
	return [...][]Live{yearUnits: plan.Years, monthUnits: plan.Months, dayUnits: plan.Days}
}

// bothTables are those of both periods, each once.
func (plan Plan) bothTables() [3][]Live {
	all := plan.unitsByTable()
	for table, units := range plan.earlierPlan().unitsByTable() {
		all[table] = slices.Concat(all[table], units)
		slices.SortFunc(all[table], func(a, b Live) int { return cmp.Compare(a.Generation, b.Generation) })
		all[table] = slices.Compact(all[table])
	}
	return all
}

// getUnit returns what memory has of a unit's live generation.
func (m *memory) getUnit(plan Plan, table unitTable, l Live) (*unit, bool) {
	u, ok := m.units.Get(plan.nameOf(table, l.Unit))
	if !ok || u.generation != l.Generation {
		return nil, false
	}
	return u, true
}

// findBoth looks up all units of a plan and of the earlier one, in memory and
// among some that were just read.
func (m *memory) findBoth(v View, r Request, plan Plan, read fetched) (f, then found, ok bool) {
	if f, ok = m.findUnits(v, r, r.Period.Start, plan, read); ok {
		then, ok = m.findUnits(v, r, r.Earlier.Start, plan.earlierPlan(), read)
	}
	return f, then, ok
}

// findUnits looks up all units of a plan, of a period that starts then; ok is false
// where one is missing.
func (m *memory) findUnits(v View, r Request, start adlens.Day, plan Plan, read fetched) (f found, ok bool) {
	for table, units := range plan.unitsByTable() {
		for _, l := range units {
			u, ok := read[table][l.Generation]
			if !ok {
				u, ok = m.getUnit(plan, unitTable(table), l)
			}
			if !ok {
				return f, false
			}
			f.addUnit(v, u, l.Slice, plan.partsOf(r, start, unitTable(table), l, u))
		}
	}
	slices.SortStableFunc(f.parts, func(a, b part) int { return cmp.Compare(a.bucket, b.bucket) })
	return f, true
}

// partsOf are the rows of a unit that the plan reads: of all days at once, or of each
// day that is divided by time.
func (plan Plan) partsOf(r Request, start adlens.Day, table unitTable, l Live, u *unit) []part {
	divided := r.TimeDimension() != ""
	bucketOf := func(day adlens.Day) int { return r.offsetFrom(start, day) }
	switch {
	case divided && table == dayUnits:
		var parts []part
		for _, d := range u.days {
			if plan.hasDay(d.day) {
				rows := u.partBetween(d.day, d.day)
				rows.bucket = bucketOf(d.day)
				parts = append(parts, rows)
			}
		}
		return parts
	case table == dayUnits:
		return []part{u.partBetween(plan.From, plan.To)}
	}
	rows := u.wholePart()
	if divided {
		rows.bucket = bucketOf(l.Start)
	}
	return []part{rows}
}

func (f *found) addUnit(v View, u *unit, of manifest.Slice, parts []part) {
	sums, ok := f.sums.addCounts(u.sums)
	at := slices.IndexFunc(v.Marketplaces, func(m Marketplace) bool { return m.Key == u.marketplace })
	f.sums, f.last = sums, max(f.last, u.last)
	f.unfit = f.unfit || u.unfit || !ok || u.sums != counts{} && (at < 0 || at >= marketplaceBits)
	for _, rows := range parts {
		if !rows.isEmpty() && !f.unfit {
			rows.marketplace, rows.slice = 1<<at, of
			f.parts = append(f.parts, rows)
		}
	}
}

// missingUnits are the units of a plan, both periods, that memory does not have.
func (m *memory) missingUnits(plan Plan) (missing [3][]Live) {
	for table, units := range plan.bothTables() {
		for _, l := range units {
			if _, ok := m.getUnit(plan, unitTable(table), l); !ok {
				missing[table] = append(missing[table], l)
			}
		}
	}
	return missing
}

// noteMiss has read in what memory lacks for a report. What it has and cannot
// answer is not read again.
func (s *Service) noteMiss(v View, r Request, plan Plan) {
	found, then, ok := s.memory.findBoth(v, r, plan, fetched{})
	_, named := s.cachedNames(v, plan.by)
	if !ok || !named && !found.unfit && !then.unfit {
		s.memory.queueMiss(v.Account, r)
	}
}

// mostDaysOfMonth is how many days a month has at most.
const mostDaysOfMonth = 31

// rowBound is how many rows a table has of a unit at most, where the account has
// no more than so many values of the level.
func (l Live) rowBound(table unitTable, most uint64) int {
	bound := l.Facts
	if l.most != 0 {
		most = min(most, l.most)
		bound = min(bound, most*mostDaysOfMonth)
	}
	switch table {
	case dayUnits:
		return int(bound)
	case monthUnits:
		return int(min(l.Facts, most))
	}
	return int(most)
}

// reader is one of a store's two ways to read units.
type reader func(ctx context.Context, s Statement, begin func() (visit func(*UnitRow))) error

// readUnits brings some units of a table in. What the table does not have is held
// without figures.
func (m *memory) readUnits(ctx context.Context, rows reader, plan Plan, table unitTable, some []Live) (map[uint32]*unit, error) {
	var units map[uint32]*unit
	var last *unit
	var room []unitRow
	err := rows(ctx, plan.unitsStatement(table, some), func() func(*UnitRow) {
		units, last, room = make(map[uint32]*unit, len(some)), nil, room[:0]
		for _, l := range some {
			units[l.Generation] = &unit{generation: l.Generation, marketplace: l.Slice.Marketplace}
		}
		return func(r *UnitRow) {
			if last == nil || last.generation != r.Generation {
				if last != nil {
					room = last.packRows()
				}
				last = units[r.Generation]
				last.rows = room
			}
			last.addRow(r)
		}
	})
	if err != nil {
		return nil, err
	}
	if last != nil {
		last.packRows()
	}
	for _, l := range some {
		m.units.Put(plan.nameOf(table, l.Unit), units[l.Generation])
	}
	return units, nil
}

// fetchedRows bounds what is read for a report before it is answered. The
// engine adds so many rows up hardly sooner than it gives them, and the next
// report of the same rows needs nothing of it.
const fetchedRows = 100_000

// fetchedNames bounds the products or campaigns whose names are read for a report before it
// is answered.
const fetchedNames = 5_000

// answerFetched answers a page of a level from memory, for which it reads what is
// missing there, if that is little; ok is false where it is not, or where memory
// cannot answer at all. most is how many rows the report has at most.
func (s *Service) answerFetched(ctx context.Context, v View, r Request, plan Plan, most uint64) (report *Report, ok bool, err error) {
	if s.memory == nil {
		return nil, false, nil
	}
	names, known := s.cachedNames(v, plan.by)
	if !known && most >= fetchedNames {
		return nil, false, nil
	}
	missing, few := s.memory.fewMissing(plan, most)
	if !few {
		return nil, false, nil
	}
	var units fetched
	err = flight.Together(
		func() (err error) { units, err = s.memory.fetchUnits(ctx, plan, missing); return err },
		func() (err error) { names, err = s.readNames(ctx, v, plan.by); return err },
	)
	if err != nil {
		return nil, false, err
	}
	found, then, ok := s.memory.findBoth(v, r, plan, units)
	if !ok || found.unfit || then.unfit {
		return nil, false, nil
	}
	report, ok = s.answerTallied(ctx, v, r, found, then, names)
	return report, ok, nil
}

// fewMissing are the units that memory does not have; few is false where they may have
// too many rows to be read for an answer.
func (m *memory) fewMissing(plan Plan, most uint64) (missing [3][]Live, few bool) {
	missing = m.missingUnits(plan)
	rows := 0
	for table := range missing {
		for _, l := range missing[table] {
			bound := l.rowBound(unitTable(table), most)
			if plan.by == byNothing {
				bound = min(bound, mostDaysOfMonth)
			}
			rows += bound
		}
	}
	return missing, rows <= fetchedRows
}

// fetched are units that were just read, by table and generation: a month's generation
// is that of its days too.
type fetched [len(unitTables)]map[uint32]*unit

// fetchUnits reads units of all tables side by side, once for all who need the same
// ones at the same time.
func (m *memory) fetchUnits(ctx context.Context, plan Plan, missing [3][]Live) (all fetched, err error) {
	var steps []func() error
	for table, units := range missing {
		if len(units) == 0 {
			continue
		}
		steps = append(steps, func() (err error) {
			key := fmt.Sprintf("%q %d %d %v %v", plan.Account, plan.by, table, generationsOf(units), plan.narrowing.name)
			all[table], err = m.fetching.Do(ctx, key, func(ctx context.Context) (map[uint32]*unit, error) {
				return m.readUnits(ctx, m.store.UnitRows, plan, unitTable(table), units)
			})
			return err
		})
	}
	err = flight.Together(steps...)
	return all, err
}
