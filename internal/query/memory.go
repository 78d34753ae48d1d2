package query

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"

	"adlens/internal/lru"
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
	// rowsAtOnce bounds what a statement brings of several generations, and
	// so how long a wish waits while something else is read.
	rowsAtOnce = 200_000
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

type unitName struct {
	account    string
	table      unitTable
	generation uint32
}

func newMemory(store UnitStore, bytes int) *memory {
	weigh := func(_ unitName, u *unit) int { return u.weight() }
	return &memory{store: store, limit: bytes, units: lru.New(bytes, weigh), wishes: map[string]Request{},
		wished: make(chan struct{}, 1), adding: make(chan struct{}, runtime.GOMAXPROCS(0))}
}

// Remember has product reports answered from memory where it has what they
// need. Fill brings that in.
func (s *Service) Remember(store UnitStore, bytes int) { s.memory = newMemory(store, bytes) }

// remembered answers a page of the product report from memory; ok is false
// where the engine has to. Nobody waits for the memory to be filled.
func (s *Service) remembered(ctx context.Context, v View, r Request, plan Plan) (p *Products, ok bool) {
	if s.memory == nil {
		return nil, false
	}
	found, ok := s.memory.find(v, plan)
	if !ok {
		s.memory.wish(v.Account, r)
		return nil, false
	}
	if !found.small(r.Sort) {
		return nil, false
	}
	names, ok := s.directory.known(v, found.last)
	if !ok {
		s.memory.wish(v.Account, r)
		return nil, false
	}
	// More at once than there are cores would only take more memory.
	select {
	case s.memory.adding <- struct{}{}:
		defer func() { <-s.memory.adding }()
	case <-ctx.Done():
		return nil, false
	}
	t := talliesOf(found.parts, found.last)
	defer tallyPool.Put(t)
	return talliedProducts(r, v, t, names), true
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

// generations are those of a plan by table.
func (p Plan) generations() [3][]uint32 {
	return [...][]uint32{yearUnits: p.Years, monthUnits: p.Months, dayUnits: p.Days}
}

// find looks up all units of a plan; ok is false where one is missing.
func (m *memory) find(v View, plan Plan) (f found, ok bool) {
	for table, generations := range plan.generations() {
		for _, generation := range generations {
			u, ok := m.units.Get(unitName{plan.Account, unitTable(table), generation})
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
	found, ok := s.memory.find(v, plan)
	if !ok || !found.small(r.Sort) {
		return false, nil
	}
	_, err = s.directory.of(ctx, v, found.last)
	return err == nil, err
}

// fill reads the missing units of a plan, unless they would crowd out most of
// what the memory has.
func (m *memory) fill(ctx context.Context, plan Plan) error {
	var missing [3][]uint32
	var sizes [3]map[uint32]int
	bytes := 0
	for table, generations := range plan.generations() {
		for _, generation := range generations {
			if u, ok := m.units.Get(unitName{plan.Account, unitTable(table), generation}); ok {
				bytes += u.weight()
			} else {
				missing[table] = append(missing[table], generation)
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

// batches divides generations into those that are read by one statement.
func batches(generations []uint32, sizes map[uint32]int) (all [][]uint32) {
	rows := 0
	for i, generation := range generations {
		if i == 0 || rows+sizes[generation] > rowsAtOnce {
			all, rows = append(all, nil), 0
		}
		all[len(all)-1] = append(all[len(all)-1], generation)
		rows += sizes[generation]
	}
	return all
}

// read brings some generations of a table in. What the table does not have is
// held without figures.
func (m *memory) read(ctx context.Context, account string, table unitTable, generations []uint32, sizes map[uint32]int) error {
	units := make(map[uint32]*unit, len(generations))
	for _, generation := range generations {
		units[generation] = &unit{rows: make([]unitRow, 0, sizes[generation])}
	}
	err := m.store.UnitRows(ctx, unitsStatement(account, table, generations), func(r *UnitRow) { units[r.Generation].add(r) })
	if err != nil {
		return err
	}
	for generation, u := range units {
		m.units.Put(unitName{account, table, generation}, u)
	}
	return nil
}
