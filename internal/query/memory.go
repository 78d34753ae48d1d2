package query

import (
	"cmp"
	"context"
	"runtime"
	"slices"
	"sync"

	"adlens/internal/lru"
	"adlens/internal/manifest"
)

// UnitStore reads whole generations, at a low priority: nobody waits for them.
type UnitStore interface {
	View(ctx context.Context, account string) (View, error)
	// UnitSizes are the numbers of rows by generation.
	UnitSizes(ctx context.Context, s Statement) (map[uint32]int, error)
	// UnitRows visits rows in the order of the statement. The row is only
	// valid during the visit. After an error not all were visited.
	UnitRows(ctx context.Context, s Statement, visit func(*UnitRow)) error
}

const (
	// maxRememberedKey bounds the products of an account that is answered from
	// memory. Beyond, the engine puts them in order.
	maxRememberedKey = 100_000
	// marketplaceBits is how many marketplaces the bits of a tally can tell apart.
	marketplaceBits = 64
	// maxWishes bounds the accounts whose units wait to be read.
	maxWishes = 1_000
)

// memory keeps units, and reads those that were missed.
type memory struct {
	store UnitStore
	limit int // bytes
	units *lru.Cache[unitName, *unit]

	mu     sync.Mutex
	wishes map[string]Request // the last one of each account that was not answered from here
	turns  []string           // the accounts in the order of their wishes
	wished chan struct{}      // has a value where there may be wishes

	adding chan struct{} // has a value for each report that is being added up

	ahead []string // the accounts of which more may be read ahead; only Fill knows it
}

// unitName says what a unit is of, and not which generation of it: a load that
// replaces a unit replaces what memory has of it, and dead rows take no room.
type unitName struct {
	account string
	table   unitTable
	unit    manifest.Unit
}

func newMemory(store UnitStore, bytes int) *memory {
	weigh := func(_ unitName, u *unit) int { return u.weight() }
	return &memory{store: store, limit: bytes, units: lru.New(bytes, weigh), wishes: map[string]Request{},
		wished: make(chan struct{}, 1), adding: make(chan struct{}, runtime.GOMAXPROCS(0))}
}

// Remember has product reports answered from memory where it has what they
// need. Fill brings that in.
func (s *Service) Remember(store UnitStore, bytes int) { s.memory = newMemory(store, bytes) }

// remembered answers a page of the product report from memory, and has it
// computed where it cannot. What was missed is read in behind that answer:
// beside it, each would take the other's core. Nobody waits for it.
func (s *Service) remembered(ctx context.Context, v View, r Request, plan Plan, computed func() (*Products, error)) (*Products, error) {
	if s.memory == nil {
		return computed()
	}
	found, then, ok := s.memory.findBoth(v, plan)
	if !ok {
		defer s.memory.wish(v.Account, r)
		return computed()
	}
	if !found.small(r.Sort) || then.unfit {
		return computed()
	}
	last := max(found.last, then.last)
	names, ok := s.directory.known(v, last)
	if !ok {
		defer s.memory.wish(v.Account, r)
		return computed()
	}
	// More at once than there are cores would only take more memory.
	select {
	case s.memory.adding <- struct{}{}:
		defer func() { <-s.memory.adding }()
	case <-ctx.Done():
		return computed() // which says whether it took too long or nobody waits any more
	}
	t := talliesOf(found.parts, last)
	defer tallyPool.Put(t)
	if plan.Earlier == nil {
		return talliedProducts(r, v, t, nil, names), nil
	}
	before := talliesOf(then.parts, last)
	defer tallyPool.Put(before)
	return talliedProducts(r, v, t, before, names), nil
}

// found is what a plan reads, from memory.
type found struct {
	parts []part
	last  uint32 // the greatest product key
	sums  counts // of whole units: no product has more
	unfit bool
}

// small tells whether all can be computed in 64 bits.
func (f *found) small(sort string) bool {
	most := &tally{f.sums[0], f.sums[1], f.sums[2], f.sums[3], f.sums[4], 0}
	return !f.unfit && (sort == SortProduct || Catalogue[figureIndex(sort)].small(most))
}

// tables are the units of a plan by table.
func (p Plan) tables() [3][]Live {
	return [...][]Live{yearUnits: p.Years, monthUnits: p.Months, dayUnits: p.Days}
}

// bothTables are those of both periods, each once.
func (p Plan) bothTables() [3][]Live {
	all := p.tables()
	for table, units := range p.then().tables() {
		all[table] = slices.Concat(all[table], units)
		slices.SortFunc(all[table], func(a, b Live) int { return cmp.Compare(a.Generation, b.Generation) })
		all[table] = slices.Compact(all[table])
	}
	return all
}

// get returns what memory has of a unit's live generation.
func (m *memory) get(account string, table unitTable, l Live) (*unit, bool) {
	u, ok := m.units.Get(unitName{account, table, l.Unit})
	if !ok || u.generation != l.Generation {
		return nil, false
	}
	return u, true
}

// findBoth looks up all units of a plan and of the earlier one.
func (m *memory) findBoth(v View, plan Plan) (f, then found, ok bool) {
	if f, ok = m.find(v, plan); ok {
		then, ok = m.find(v, plan.then())
	}
	return f, then, ok
}

// find looks up all units of a plan; ok is false where one is missing.
func (m *memory) find(v View, plan Plan) (f found, ok bool) {
	for table, units := range plan.tables() {
		for _, l := range units {
			u, ok := m.get(plan.Account, unitTable(table), l)
			if !ok {
				return f, false
			}
			rows := u.rows
			if unitTable(table) == dayUnits {
				rows = u.between(plan.From, plan.To)
			}
			f.add(v, u, rows)
		}
	}
	return f, true
}

func (f *found) add(v View, u *unit, rows []unitRow) {
	sums, ok := f.sums.plus(u.sums)
	at := slices.IndexFunc(v.Marketplaces, func(m Marketplace) bool { return m.Key == u.marketplace })
	f.sums, f.last = sums, max(f.last, u.last)
	f.unfit = f.unfit || u.unfit || !ok || len(u.rows) > 0 && (at < 0 || at >= marketplaceBits)
	if len(rows) > 0 && !f.unfit {
		f.parts = append(f.parts, part{rows, 1 << at})
	}
}

// wish notes what an account asked for in vain.
func (m *memory) wish(account string, r Request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, waits := m.wishes[account]; !waits {
		if len(m.wishes) >= maxWishes {
			return
		}
		m.turns = append(m.turns, account)
	}
	m.wishes[account] = r
	select {
	case m.wished <- struct{}{}:
	default:
	}
}

// next takes the wish that waits for the longest time.
func (m *memory) next() (account string, r Request, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.turns) == 0 {
		return "", r, false
	}
	account, m.turns = m.turns[0], m.turns[1:]
	r = m.wishes[account]
	delete(m.wishes, account)
	return account, r, true
}
