package simulation

import (
	"context"
	"errors"
	"fmt"
	"time"

	"adlens/internal/commits"
	"adlens/internal/manifest"
	"adlens/internal/tables"
)

// port is the small tables as one process reaches them.
type port struct{ *process }

var _ tables.Port = port{}

// table is a small table on the way to which calls wait and fail.
type table[R any] struct {
	p     *process
	name  string
	inner func(*tables.Memory) tables.Table[R]
	// written is called with rows when they are carried out; nil for nothing.
	written func(account string, rows []R) func()
	// hooks of a fault of the program; nil for nothing
	filter func(rows []R) []R
	before func(ctx context.Context, account string, rows []R) (skip bool, err error)
	around func(ctx context.Context, account string, insert func() error) error
}

// rows is the table at the shard whose call is carried out.
func (t table[R]) rows() tables.Table[R] { return t.inner(t.p.world.rows) }

func (t table[R]) Append(ctx context.Context, account string, rows ...R) error {
	if len(rows) == 0 {
		return nil
	}
	if t.before != nil {
		if skip, err := t.before(ctx, account, rows); skip || err != nil {
			return err
		}
	}
	if t.around != nil {
		return t.around(ctx, account, func() error { return t.append(ctx, account, rows) })
	}
	return t.append(ctx, account, rows)
}

func (t table[R]) append(ctx context.Context, account string, rows []R) error {
	var written func()
	if t.written != nil {
		written = t.written(account, rows)
	}
	return t.p.writeOf(ctx, account, "append "+t.name, fmt.Sprintf("%+v", rows), func() {
		t.rows().Append(ctx, account, rows...)
		if written != nil {
			written()
		}
	})
}

func (t table[R]) Read(ctx context.Context, account string) (all []R, err error) {
	err = t.p.readOf(ctx, account, "read "+t.name, "", func() (err error) {
		all, err = t.rows().Read(ctx, account)
		if t.name == "commits" {
			truth := t.p.world.truths[account]
			t.p.view, t.p.viewed = truth.head(), t.p.world.steps
			if t.p.world.plan.Replicas || t.p.world.isSharded() {
				t.p.view = truth.states[newestCommit(any(all).([]manifest.Commit))]
			}
			if !t.p.writer {
				truth.read(t.p.view)
			}
		}
		return err
	})
	if err == nil && t.filter != nil {
		all = t.filter(all)
	}
	return all, err
}

func (t table[R]) ReadAll(ctx context.Context) (all map[string][]R, err error) {
	all = map[string][]R{}
	err = t.p.readAtEach(ctx, "read all "+t.name, "", func() error {
		some, err := t.rows().ReadAll(ctx)
		for account, rows := range some {
			all[account] = append(all[account], rows...)
		}
		return err
	})
	if err == nil && t.filter != nil {
		for account, rows := range all {
			all[account] = t.filter(rows)
		}
	}
	return all, err
}

func (t table[R]) DeleteBelow(ctx context.Context, account string, number uint32) error {
	if t.p.hooks.trimming != nil {
		number = t.p.hooks.trimming(account, number)
	}
	return t.p.writeOf(ctx, account, "trim "+t.name, fmt.Sprint(number), func() { t.rows().DeleteBelow(ctx, account, number) })
}

func (p port) Reservations() tables.Table[tables.Reservation] {
	return announcing(table[tables.Reservation]{p: p.process, name: "number_blocks", inner: (*tables.Memory).Reservations,
		filter: p.hooks.reservations,
		before: func(_ context.Context, account string, rows []tables.Reservation) (bool, error) {
			p.reserving(account, rows[0])
			return false, nil
		}})
}

func announcing[R any](t table[R]) tables.Table[R] {
	return tables.Announcing(t, t.name, t.p.catchUp)
}

// reserving notes which session a process is in.
func (p *process) reserving(account string, r tables.Reservation) {
	s := p.world.sessions[r.Token]
	if s == nil {
		s = &session{account: account}
		p.world.sessions[r.Token] = s
	}
	p.session, p.reserved = s, r.First
	if !s.complete {
		s.first = r.First
	}
}

var errLease = errors.New("the lock on the account could not be renewed; another process may have it")

func (p port) Commits() tables.Table[manifest.Commit] { return announcing(p.commits()) }

// newestCommit returns the number of the newest of some commits, 0 for none.
func newestCommit(all []manifest.Commit) (newest uint32) {
	for _, c := range all {
		newest = max(newest, c.Number)
	}
	return newest
}

func (p port) commits() table[manifest.Commit] {
	return table[manifest.Commit]{p: p.process, name: "commits", inner: (*tables.Memory).Commits, filter: p.hooks.commits,
		before: func(ctx context.Context, account string, rows []manifest.Commit) (bool, error) {
			if err := p.requireHeld(); err != nil {
				return false, err
			}
			if p.hooks.committing != nil {
				return p.hooks.committing(ctx, account, rows[0])
			}
			return false, nil
		},
		around: p.announce,
		written: func(account string, rows []manifest.Commit) func() {
			owner, c := p.op, rows[0]
			return func() { p.world.truths[account].landed(owner, c) }
		}}
}

func (p port) Units() tables.Table[tables.Unit] {
	return table[tables.Unit]{p: p.process, name: "commit_units", inner: (*tables.Memory).Units, filter: p.hooks.units,
		before: func(ctx context.Context, account string, rows []tables.Unit) (bool, error) {
			p.op.begins(rows)
			if p.hooks.naming != nil {
				return p.hooks.naming(ctx, account, rows)
			}
			return false, nil
		}}
}

func (p port) Seals() tables.Table[tables.Seal] {
	return announcing(table[tables.Seal]{p: p.process, name: "seals", inner: (*tables.Memory).Seals, filter: p.hooks.seals})
}

func (p port) Settled() tables.Table[tables.Settled] {
	return announcing(table[tables.Settled]{p: p.process, name: "accounted", inner: (*tables.Memory).Settled})
}

func (p port) Dead() tables.Table[tables.Dead] {
	return table[tables.Dead]{p: p.process, name: "dead_generations", inner: (*tables.Memory).Dead}
}

func (p port) CountRows(ctx context.Context, account string, names ...string) (all []tables.Count, err error) {
	all, err = p.countRows(ctx, account, "count rows", (*tables.Memory).CountRows, names)
	if err == nil && p.hooks.counting != nil {
		for _, of := range p.world.plan.Accounts {
			if account == "" || account == of {
				all = p.hooks.counting(of, all)
			}
		}
	}
	return all, err
}

func (p port) ReadRows(ctx context.Context, account string, names ...string) ([]tables.Count, error) {
	return p.countRows(ctx, account, "read rows", (*tables.Memory).ReadRows, names)
}

// countRows counts rows of an account, or of all where it is "".
func (p port) countRows(ctx context.Context, account, name string, count func(*tables.Memory, context.Context, string, ...string) ([]tables.Count, error), names []string) (all []tables.Count, err error) {
	read := func() error {
		some, err := count(p.world.rows, ctx, account, names...)
		all = append(all, some...)
		return err
	}
	if account == "" {
		err = p.readAtEach(ctx, name, fmt.Sprint(len(names)), read)
		return all, err
	}
	err = p.readOf(ctx, account, name, fmt.Sprint(len(names)), read)
	return all, err
}

func (p port) DeleteRows(ctx context.Context, deletions []tables.Deletion) error {
	if p.hooks.deleting != nil {
		deletions = p.hooks.deleting(deletions)
	}
	return p.deleteAt(ctx, deletions)
}

func (p port) Clear(ctx context.Context, account string, names ...string) error {
	for _, name := range names {
		err := p.writeOf(ctx, account, "clear "+name, account, func() {
			p.world.rows.Clear(ctx, account, name)
			if name == "ledger" {
				p.world.ledger[account] = nil
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (p port) Reopen(ctx context.Context, account string, digests []uint64) error {
	if err := p.requireHeld(); err != nil {
		return err
	}
	return p.announce(ctx, account, func() error {
		return p.writeOf(ctx, account, "reopen", account, func() {
			p.world.rows.Reopen(ctx, account, digests)
			if _, err := commits.Read(ctx, p.world.rows, account); errors.Is(err, manifest.ErrClosed) {
				return // another restore closes it
			}
			t := p.world.truths[account]
			t.vanished, t.mended = "", p.world.steps
		})
	})
}

// requireHeld is what cluster.RequireHeld knows.
func (p *process) requireHeld() error {
	if p.distrusted && p.world.plan.Lock == lockLease {
		return errLease
	}
	return nil
}

func (p port) Now(ctx context.Context, account string) (now time.Time, err error) {
	err = p.process.readOf(ctx, account, "now", account, func() error {
		now = p.world.clockOf(p.world.here)
		return nil
	})
	return now, err
}
