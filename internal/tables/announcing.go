package tables

import (
	"context"
	"sync"
)

// Announcing returns a table as it has to be used where a store has replicas. If its rows
// announce others, what is read of it and after it has all that was written before: a replica
// has the newest rows of a table, and not of itself those before them. catchUp has the statements
// on some tables, or on all, that begin after it see what was written before they began.
func Announcing[R any](t Table[R], name string, catchUp func(tables ...string)) Table[R] {
	if d, _ := Find(name); !d.Announces {
		return t
	}
	return announcing[R]{t, name, catchUp}
}

type announcing[R any] struct {
	Table[R]
	name    string
	catchUp func(tables ...string)
}

func (t announcing[R]) Append(ctx context.Context, account string, rows ...R) error {
	defer t.catchUp()
	return t.Table.Append(ctx, account, rows...)
}

func (t announcing[R]) Read(ctx context.Context, account string) ([]R, error) {
	t.catchUp(t.name)
	defer t.catchUp()
	return t.Table.Read(ctx, account)
}

func (t announcing[R]) ReadAll(ctx context.Context) (map[string][]R, error) {
	t.catchUp(t.name)
	defer t.catchUp()
	return t.Table.ReadAll(ctx)
}

// Behind is what a replica has to catch up with. It is safe for concurrent use.
type Behind struct {
	mu    sync.Mutex
	calls uint64
	all   uint64            // the last call for all tables
	some  map[string]uint64 // the last calls for some
}

// CatchUp has the statements on some tables, or on all, that begin after it see what was written
// before they began.
func (b *Behind) CatchUp(tables ...string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.calls++
	if len(tables) == 0 {
		b.all = b.calls
	}
	for _, table := range tables {
		if b.some == nil {
			b.some = map[string]uint64{}
		}
		b.some[table] = b.calls
	}
}

// Calls returns the number of the last call of CatchUp, 0 before the first. Calls count from 1.
func (b *Behind) Calls() uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.calls
}

// CallFor returns the number of the last call for a table: what a statement needs that begins now.
func (b *Behind) CallFor(table string) uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return max(b.all, b.some[table])
}
