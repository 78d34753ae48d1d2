package loader_test

import (
	"context"
	"time"

	"adlens/internal/manifest"
	"adlens/internal/tables"
)

// faultyTables are small tables that fail at one of the store's calls.
type faultyTables struct {
	tables.Port
	f *faulty
}

func (f *faulty) Tables() tables.Port { return faultyTables{f.store.Tables(), f} }

type faultyTable[R any] struct {
	table tables.Table[R]
	f     *faulty
	name  string
}

func (t faultyTable[R]) Append(ctx context.Context, account string, rows ...R) error {
	return act(t.f, t.name+".Append", func() error { return t.table.Append(ctx, account, rows...) })
}

func (t faultyTable[R]) Read(ctx context.Context, account string) ([]R, error) {
	return call(t.f, t.name+".Read", func() ([]R, error) { return t.table.Read(ctx, account) })
}

func (t faultyTable[R]) ReadAll(ctx context.Context) (map[string][]R, error) {
	return call(t.f, t.name+".ReadAll", func() (map[string][]R, error) { return t.table.ReadAll(ctx) })
}

func (t faultyTable[R]) DeleteBelow(ctx context.Context, account string, number uint32) error {
	return act(t.f, t.name+".DeleteBelow", func() error { return t.table.DeleteBelow(ctx, account, number) })
}

func (p faultyTables) Reservations() tables.Table[tables.Reservation] {
	return faultyTable[tables.Reservation]{p.Port.Reservations(), p.f, "Reservations"}
}

func (p faultyTables) Commits() tables.Table[manifest.Commit] {
	return faultyTable[manifest.Commit]{p.Port.Commits(), p.f, "Commits"}
}

func (p faultyTables) Units() tables.Table[tables.Unit] {
	return faultyTable[tables.Unit]{p.Port.Units(), p.f, "Units"}
}

func (p faultyTables) Seals() tables.Table[tables.Seal] {
	return faultyTable[tables.Seal]{p.Port.Seals(), p.f, "Seals"}
}

func (p faultyTables) Settled() tables.Table[tables.Settled] {
	return faultyTable[tables.Settled]{p.Port.Settled(), p.f, "Settled"}
}

func (p faultyTables) Dead() tables.Table[tables.Dead] {
	return faultyTable[tables.Dead]{p.Port.Dead(), p.f, "Dead"}
}

func (p faultyTables) CountRows(ctx context.Context, account string, names ...string) ([]tables.Count, error) {
	return call(p.f, "CountRows", func() ([]tables.Count, error) { return p.Port.CountRows(ctx, account, names...) })
}

func (p faultyTables) DeleteRows(ctx context.Context, deletions []tables.Deletion) error {
	return act(p.f, "DeleteRows", func() error { return p.Port.DeleteRows(ctx, deletions) })
}

func (p faultyTables) Now(ctx context.Context, account string) (time.Time, error) {
	return call(p.f, "Now", func() (time.Time, error) { return p.Port.Now(ctx, account) })
}
