package tables

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"time"

	"adlens/internal/manifest"
)

// Memory is a plain model of a database: its small tables, and the tables of
// generations as rows of which only the generation is known. Nothing in it
// fails, but who calls it may look at Unread. It is not for concurrent use.
//
// A test runs the same steps on it and on the engine (internal/clickhouse); the
// simulation runs whole loads on it (internal/simulation).
type Memory struct {
	Clock func() time.Time
	// Hides reports whether a replica that is read does not have an insert into a table yet:
	// inserts have numbers in their order, and newest is that of the table's last. nil where
	// there is one server alone.
	Hides func(table string, insert, newest int) bool
	// Unread is the last table of which something was needed that SpoilBlock had made
	// unreadable; "" where nothing was since it was emptied. Deletions leave such rows.
	Unread string

	inserts      int
	reservations memoryTable[Reservation]
	commits      memoryTable[manifest.Commit]
	units        memoryTable[Unit]
	seals        memoryTable[Seal]
	settled      memoryTable[Settled]
	dead         memoryTable[Dead]
	generations  map[string]*memoryTable[Row] // by table
	all          map[string]blocks            // the small ones and those of generations, by name
}

// Row is a row of a table of generations.
type Row struct {
	Generation uint32
	Key        uint32 // of a product's number: rows of one number count once
	Value      any
}

var _ Port = (*Memory)(nil)

// NewMemory returns a model without rows.
func NewMemory(clock func() time.Time) *Memory {
	m := &Memory{Clock: clock, generations: map[string]*memoryTable[Row]{}, all: map[string]blocks{}}
	addTable(m, &m.reservations, "number_blocks", func(r Reservation) uint32 { return r.Next })
	addTable(m, &m.commits, "commits", func(c manifest.Commit) uint32 { return c.Number })
	addTable(m, &m.units, "commit_units", func(u Unit) uint32 { return u.Number })
	addTable(m, &m.seals, "seals", func(s Seal) uint32 { return s.Number })
	addTable(m, &m.settled, "accounted", func(s Settled) uint32 { return s.Next })
	addTable(m, &m.dead, "dead_generations", func(d Dead) uint32 { return d.Generation })
	m.commits.stamp = func(c *manifest.Commit) { c.At = clock() }
	m.dead.stamp = func(d *Dead) { d.NotedAt = clock() }
	for _, table := range OfGenerations() {
		m.generations[table] = &memoryTable[Row]{}
		addTable(m, m.generations[table], table, func(r Row) uint32 { return r.Generation })
	}
	return m
}

// addTable makes a table one of the model's. number is what tells its dead rows.
func addTable[R any](m *Memory, t *memoryTable[R], name string, number func(R) uint32) {
	t.of, t.name, t.number = m, name, number
	m.all[name] = t
}

// Reservations, Commits, Units, Seals, Settled and Dead are the small tables.
func (m *Memory) Reservations() Table[Reservation] { return &m.reservations }

// Commits is the record of commits.
func (m *Memory) Commits() Table[manifest.Commit] { return &m.commits }

// Units are the units of commits.
func (m *Memory) Units() Table[Unit] { return &m.units }

// Seals are the acknowledged commits.
func (m *Memory) Seals() Table[Seal] { return &m.seals }

// Settled are the ends of sessions.
func (m *Memory) Settled() Table[Settled] { return &m.settled }

// Dead are the notes of dead generations.
func (m *Memory) Dead() Table[Dead] { return &m.dead }

// Rows is a table of generations.
func (m *Memory) Rows(table string) Table[Row] { return m.generations[table] }

// CountRows counts the rows of generations. Unreadable ones count: parts know how many they
// have.
func (m *Memory) CountRows(_ context.Context, account string, names ...string) ([]Count, error) {
	var all []Count
	for _, name := range names {
		counts, keys := map[Count]uint64{}, map[Count]map[uint32]bool{}
		for b := range m.generations[name].listBlocks(account) {
			for _, r := range b.rows {
				of := Count{Account: b.account, Table: name, Generation: r.Generation}
				if r.Key == 0 {
					counts[of]++
					continue
				}
				if keys[of] == nil {
					keys[of] = map[uint32]bool{}
				}
				keys[of][r.Key] = true
				counts[of] = uint64(len(keys[of]))
			}
		}
		for of, rows := range counts {
			of.Rows = rows
			all = append(all, of)
		}
	}
	slices.SortFunc(all, func(a, b Count) int {
		return cmp.Or(cmp.Compare(a.Account, b.Account), cmp.Compare(a.Table, b.Table), cmp.Compare(a.Generation, b.Generation))
	})
	return all, nil
}

// ReadRows counts what can be read.
func (m *Memory) ReadRows(ctx context.Context, account string, names ...string) ([]Count, error) {
	for _, name := range names {
		for range m.generations[name].listVisible(account) {
		}
	}
	return m.CountRows(ctx, account, names...)
}

// DeleteRows deletes rows of generations and their notes.
func (m *Memory) DeleteRows(_ context.Context, deletions []Deletion) error {
	for _, d := range deletions {
		m.generations[d.Table].deleteWhere(d.Account, func(r Row) bool { return slices.Contains(d.Generations, r.Generation) })
		m.dead.deleteWhere(d.Account, func(n Dead) bool { return n.Table == d.Table && slices.Contains(d.Generations, n.Generation) })
	}
	return nil
}

// Clear passes over tables that are not in the model.
func (m *Memory) Clear(_ context.Context, account string, names ...string) error {
	for _, name := range names {
		if name == "commits" {
			m.commits.deleteWhere(account, func(c manifest.Commit) bool { return c.Number != manifest.Closed })
			continue
		}
		if t := m.all[name]; t != nil && !t.meetsSpoiled(account) {
			t.drop(account, func(int) bool { return true })
		}
	}
	return nil
}

// Reopen deletes commits that say that an account is closed.
func (m *Memory) Reopen(_ context.Context, account string, digests []uint64) error {
	m.commits.deleteWhere(account, func(c manifest.Commit) bool {
		return c.Number == manifest.Closed && slices.Contains(digests, c.Digest)
	})
	return nil
}

// Now is the time by the model's clock.
func (m *Memory) Now(context.Context, string) (time.Time, error) { return m.Clock(), nil }

// DropBlocks loses what some inserts of an account wrote into a table: drop is
// called with the place of each insert among those of the account, and reports
// whether to lose it.
func (m *Memory) DropBlocks(table, account string, drop func(place int) bool) {
	if t := m.all[table]; t != nil {
		t.drop(account, drop)
	}
}

// SpoilBlock makes unreadable what one insert of an account wrote into a table, by its place
// among those of the account.
func (m *Memory) SpoilBlock(table, account string, place int) {
	if t := m.all[table]; t != nil {
		t.spoil(account, place)
	}
}

// SetAside loses what is unreadable of an account.
func (m *Memory) SetAside(account string) {
	for _, t := range m.all {
		t.setAside(account)
	}
}

// Export returns the rows of an account in a table that can be read, of all generations or of
// some, and those of a key once.
func (m *Memory) Export(table, account string, generations []uint32) []any {
	if t := m.all[table]; t != nil {
		return t.export(account, generations)
	}
	return nil
}

// Import writes rows of Export as one insert, with what another store had set of them.
func (m *Memory) Import(table, account string, rows []any) { m.all[table].put(account, rows) }

// Save returns what puts all tables back as they are now.
func (m *Memory) Save() (putBack func()) {
	var all []func()
	for _, t := range m.all {
		all = append(all, t.save())
	}
	return func() {
		for _, one := range all {
			one()
		}
	}
}

// blocks are the inserts into a table, whatever its rows are.
type blocks interface {
	save() (putBack func())
	drop(account string, drop func(place int) bool)
	spoil(account string, place int)
	setAside(account string)
	meetsSpoiled(account string) bool
	export(account string, generations []uint32) []any
	put(account string, rows []any)
}

// memoryTable is the inserts into a table in their order.
type memoryTable[R any] struct {
	of     *Memory
	name   string
	number func(R) uint32
	stamp  func(*R) // sets what the store itself sets
	blocks []memoryBlock[R]
	newest int // the last insert
}

type memoryBlock[R any] struct {
	insert  int
	account string
	rows    []R
	spoiled bool
}

func (t *memoryTable[R]) Append(_ context.Context, account string, rows ...R) error {
	if len(rows) == 0 {
		return nil
	}
	rows = slices.Clone(rows)
	if t.stamp != nil {
		for i := range rows {
			t.stamp(&rows[i])
		}
	}
	t.of.inserts++
	t.newest = t.of.inserts
	t.blocks = append(t.blocks, memoryBlock[R]{insert: t.newest, account: account, rows: rows})
	return nil
}

func (t *memoryTable[R]) put(account string, rows []any) {
	of := make([]R, len(rows))
	for i, r := range rows {
		of[i] = r.(R)
	}
	t.of.inserts++
	t.newest = t.of.inserts
	t.blocks = append(t.blocks, memoryBlock[R]{insert: t.newest, account: account, rows: of})
}

func (t *memoryTable[R]) export(account string, generations []uint32) (all []any) {
	type numbered struct{ generation, key uint32 }
	seen := map[numbered]bool{}
	for b := range t.listVisible(account) {
		for _, r := range b.rows {
			row, _ := any(r).(Row)
			of := numbered{row.Generation, row.Key}
			if generations != nil && !slices.Contains(generations, row.Generation) || row.Key != 0 && seen[of] {
				continue
			}
			seen[of] = true
			all = append(all, r)
		}
	}
	return all
}

func (t *memoryTable[R]) Read(_ context.Context, account string) (all []R, err error) {
	rows := 0
	for b := range t.listVisible(account) {
		rows += len(b.rows)
	}
	all = slices.Grow(all, rows)
	for b := range t.listVisible(account) {
		all = append(all, b.rows...)
	}
	return all, nil
}

func (t *memoryTable[R]) ReadAll(context.Context) (map[string][]R, error) {
	all := map[string][]R{}
	for b := range t.listVisible("") {
		all[b.account] = append(all[b.account], b.rows...)
	}
	return all, nil
}

// listBlocks lists the inserts of an account, or for "" of all, that are not hidden.
func (t *memoryTable[R]) listBlocks(account string) iter.Seq[memoryBlock[R]] {
	return func(yield func(memoryBlock[R]) bool) {
		for _, b := range t.blocks {
			if (account == "" || account == b.account) && (t.of.Hides == nil || !t.of.Hides(t.name, b.insert, t.newest)) && !yield(b) {
				return
			}
		}
	}
}

// listVisible lists those that can be read.
func (t *memoryTable[R]) listVisible(account string) iter.Seq[memoryBlock[R]] {
	return func(yield func(memoryBlock[R]) bool) {
		for b := range t.listBlocks(account) {
			if b.spoiled {
				t.of.Unread = t.name
			} else if !yield(b) {
				return
			}
		}
	}
}

// Inserts returns the number of the last insert.
func (m *Memory) Inserts() int { return m.inserts }

func (t *memoryTable[R]) DeleteBelow(_ context.Context, account string, number uint32) error {
	t.deleteWhere(account, func(r R) bool { return t.number(r) < number })
	return nil
}

func (t *memoryTable[R]) deleteWhere(account string, dead func(R) bool) {
	if t.meetsSpoiled(account) {
		return
	}
	for i, b := range t.blocks {
		if b.account == account {
			t.blocks[i].rows = slices.DeleteFunc(slices.Clone(b.rows), dead)
		}
	}
	t.blocks = slices.DeleteFunc(t.blocks, func(b memoryBlock[R]) bool { return len(b.rows) == 0 })
}

// save keeps the blocks: their rows are never changed in place.
func (t *memoryTable[R]) save() (putBack func()) {
	kept := slices.Clone(t.blocks)
	return func() { t.blocks = slices.Clone(kept) }
}

func (t *memoryTable[R]) drop(account string, drop func(place int) bool) {
	place := -1
	t.blocks = slices.DeleteFunc(t.blocks, func(b memoryBlock[R]) bool {
		if b.account != account {
			return false
		}
		place++
		return drop(place)
	})
}

func (t *memoryTable[R]) spoil(account string, place int) {
	for i := range t.blocks {
		if b := &t.blocks[i]; b.account == account {
			b.spoiled = b.spoiled || place == 0
			place--
		}
	}
}

func (t *memoryTable[R]) setAside(account string) {
	t.blocks = slices.DeleteFunc(t.blocks, func(b memoryBlock[R]) bool { return b.account == account && b.spoiled })
}

// meetsSpoiled reports whether something of an account is unreadable, and notes that it was
// needed.
func (t *memoryTable[R]) meetsSpoiled(account string) bool {
	spoiled := slices.ContainsFunc(t.blocks, func(b memoryBlock[R]) bool { return b.account == account && b.spoiled })
	if spoiled {
		t.of.Unread = t.name
	}
	return spoiled
}
