package simulation

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"adlens"
	"adlens/internal/backup"
	"adlens/internal/commits"
	"adlens/internal/manifest"
	"adlens/internal/tables"
	"adlens/loader"
)

// sink is a store into which a backup is restored: an empty one, or that of an
// account that is restored in its place.
type sink struct {
	backup.Sink // of the directory, which loses nothing
	*process
	origin *world // whose handles the rows are
}

func (s sink) Columns(_ context.Context, table string) (backup.Header, error) {
	return columnsOf(table)
}

func (s sink) Shown(_ context.Context, account string) ([]string, error) {
	return slices.DeleteFunc(slices.Sorted(slices.Values(s.world.shown)), func(id string) bool { return account != "" && id != account }), nil
}

// Accounts are those that were added by hand, at another time than those of the backup. Of
// the others a restore does not compare when they were made.
func (s sink) Accounts(context.Context) (all []adlens.Account, err error) {
	if s.world.added {
		for _, id := range s.world.shown {
			all = append(all, adlens.Account{ID: id, CreatedAt: time.UnixMilli(1)})
		}
	}
	return all, nil
}

func (s sink) Live(ctx context.Context, account string, h backup.Header) ([]backup.Live, error) {
	return source{s.process}.Live(ctx, account, h)
}

// LoadedSince is for people alone, who load again what it names.
func (s sink) LoadedSince(context.Context, string, time.Time) (loads backup.Loads, err error) {
	return loads, nil
}

func (s sink) Left(context.Context, string) (left []string, err error) {
	for _, table := range tables.OfGenerations() {
		if all, _ := s.world.rows.Rows(table).ReadAll(context.Background()); len(all) > 0 {
			left = append(left, table)
		}
	}
	return left, nil
}

func (s sink) Began(context.Context, string) (string, error) { return s.world.restoring, nil }

func (s sink) Begin(_ context.Context, _, id string) error { s.world.restoring = id; return nil }

func (s sink) Done(context.Context, string) error {
	if s.world.budget--; s.world.budget == 0 {
		return errKilled
	}
	s.world.restoring = ""
	return nil
}

func (s sink) Clear(context.Context, string, string) error {
	if err := s.requireHeld(); err != nil {
		return err
	}
	given, err := s.world.rows.Reservations().ReadAll(context.Background())
	s.world.rows, s.world.ledger = tables.NewMemory(s.world.storeNow), map[string][]ledgerRow{}
	for account := range s.world.truths {
		s.world.truths[account] = newTruth(s.world, account)
		err = errors.Join(err, s.world.rows.Reservations().Append(context.Background(), account, given[account]...))
	}
	return err
}

func (s sink) Place(context.Context, string) error { return nil }

func (s sink) Insert(ctx context.Context, account, table string, b *backup.Block) error {
	if err := s.requireHeld(); err != nil {
		return err
	}
	if s.world.budget--; s.world.budget == 0 {
		return errKilled
	}
	handles := b.Native(b.Header.Index("handle"))
	numbersOf := func(column string) []byte {
		if i := b.Header.Index(column); i >= 0 {
			return b.Native(i)
		}
		return nil
	}
	commits, generations, owner := numbersOf("number"), numbersOf("generation"), s.session
	return s.write(ctx, "restore "+table, fmt.Sprint(b.Rows), func() {
		for i := range b.Rows {
			switch v := s.origin.handles[binary.LittleEndian.Uint64(handles[8*i:])].(type) {
			case tables.Unit:
				v.Number, v.Generation = binary.LittleEndian.Uint32(commits[4*i:]), binary.LittleEndian.Uint32(generations[4*i:])
				s.world.rows.Units().Append(ctx, account, v)
			case tables.Reservation:
				s.world.rows.Reservations().Append(ctx, account, v)
			case ledgerRow:
				s.world.ledger[account] = append(s.world.ledger[account], v)
			case tables.Row:
				v.Generation = binary.LittleEndian.Uint32(generations[4*i:])
				store{s.process}.piece(owner, account, table, []tables.Row{v})()
			case readRow:
				s.world.readRows = append(s.world.readRows, v)
			case keyRow:
				s.world.linkRows = append(s.world.linkRows, v)
			case string:
				s.world.shown = append(s.world.shown, v)
			}
		}
	})
}

func (s sink) RequireHeld(string) error { return s.requireHeld() }

func (s sink) Complete(ctx context.Context, account string, m manifest.Manifest, before func(context.Context) error) ([]string, error) {
	months, years := m.Of(manifest.Month), m.Of(manifest.Year)
	if err := errors.Join(s.requireHeld(), before(ctx)); err != nil {
		return nil, err
	}
	if err := (store{s.process}).deriveTotals(ctx, account, months); err != nil {
		return nil, err
	}
	if err := errors.Join(s.requireHeld(), before(ctx)); err != nil {
		return nil, err
	}
	if err := (store{s.process}).deriveYears(ctx, account, loader.PartsOf(years, months)); err != nil {
		return nil, err
	}
	return loader.VerifyRestored(ctx, store{s.process}, account, m)
}

func (s sink) Reserve(ctx context.Context, account string, generations int) (uint32, error) {
	return commits.Leap(ctx, port{s.process}, account, s.token(), generations)
}

func (s sink) Publish(ctx context.Context, account string, live *backup.Block, number uint32) error {
	if err := s.Insert(ctx, account, backup.UnitTable, live); err != nil {
		return err
	}
	return commits.PublishRestored(ctx, port{s.process}, account, number)
}

// restoreAll restores every backup that the disk lists, and then once more with
// one file cut, changed or gone.
func (w *world) restoreAll() {
	var names []string
	w.alone(func(p *process) { names, _ = backup.List(p.ctx, place{p}) })
	for i, name := range names {
		w.restore(name, false, i == len(names)-1)
	}
	w.requireNewest(names)
	r := w.eventRandom()
	files := slices.DeleteFunc(slices.Sorted(maps.Keys(w.disk)), func(name string) bool { return len(w.disk[name]) == 0 })
	if len(files) == 0 {
		return
	}
	hurt := files[r.IntN(len(files))]
	content := w.disk[hurt]
	w.trace.add("%d %s is damaged", w.steps, nameless(hurt))
	switch at := r.IntN(len(content)); r.IntN(3) {
	case 0:
		delete(w.disk, hurt)
	case 1:
		w.disk[hurt] = content[:at]
	case 2:
		w.disk[hurt] = slices.Clone(content)
		w.disk[hurt][at] ^= 1 << r.IntN(8)
	}
	for _, name := range names {
		w.restore(name, true, false)
	}
}

// requireNewest makes sure that the last of the backups that the disk lists, which a restore
// takes, was not taken before another.
func (w *world) requireNewest(names []string) {
	last := slices.IndexFunc(w.copies, func(c *copied) bool { return len(names) > 0 && c.taken.Name == names[len(names)-1] })
	for _, c := range w.copies {
		if last >= 0 && c.whole && c.begun > w.copies[last].ended {
			w.fail("the newest backup, %s, was taken before %s", w.copies[last].taken.Name, c.taken.Name)
		}
	}
}

// restore makes sure of a backup: one that was called whole is, one that is whole
// is restored to what was visible at a moment while it was taken, and no other is.
func (w *world) restore(name string, hurt, andLoad bool) {
	var taken backup.Taken
	var bad error
	w.alone(func(p *process) {
		var faults []error
		if taken, bad = backup.ReadIndex(p.ctx, place{p}, name); bad == nil {
			faults, bad = backup.Verify(p.ctx, place{p}, taken, quiet{})
			bad = errors.Join(append(faults, bad)...)
		}
	})
	i := slices.IndexFunc(w.copies, func(c *copied) bool { return c.taken.Name == name })
	if bad != nil && !hurt && i >= 0 && w.copies[i].whole {
		w.fail("a backup that was called whole is not: %v", bad)
	}
	if taken.Format == 0 || w.fault != "" {
		return
	}
	empty := w.emptied()
	err := empty.restoreFrom(w, taken)
	switch {
	case empty.fault != "": // told below
	case err != nil && bad == nil:
		w.fail("a backup that is whole is not restored: %v", err)
	case err == nil && bad != nil:
		w.fail("a backup is restored although it is damaged: %v", bad)
	case err == nil:
		for _, e := range taken.Accounts {
			w.compareRestored(empty, e.Account, i, andLoad)
			w.compareLinks(empty, e.Account, i)
		}
	}
	if w.fault == "" && empty.fault != "" {
		w.fail("after a restore: %s", empty.fault)
	}
	empty.abandon()
}

// emptied is another store, in which nothing fails.
func (w *world) emptied() *world {
	plan := *w.plan
	plan.World, plan.Mutes, plan.Broken = OneAccount, Mutes{}, ""
	empty := newWorld(&plan, false)
	empty.calm, empty.ops, empty.jumped = true, w.ops, w.jumped
	return empty
}

// restoreFrom restores a backup of another world. A first attempt is killed
// somewhere, and sometimes the accounts are added by hand after it.
func (w *world) restoreFrom(origin *world, taken backup.Taken) error {
	r := origin.eventRandom()
	w.budget = r.IntN(60)
	err := w.attemptRestore(origin, taken)
	if n := len(w.shown); n > 0 && n < len(taken.Accounts) {
		w.fail("a restore that was killed shows %d of %d accounts", n, len(taken.Accounts))
	}
	w.budget = -1
	if err != nil && len(w.shown) == 0 && r.IntN(4) == 0 {
		for _, e := range taken.Accounts {
			w.shown = append(w.shown, e.Account)
		}
		w.added = true
		if w.attemptRestore(origin, taken) == nil {
			w.fail("accounts that were added after a restore was killed are called restored")
		}
		w.shown, w.added = nil, false
	}
	if err == nil {
		return nil
	}
	return w.attemptRestore(origin, taken)
}

func (w *world) attemptRestore(origin *world, taken backup.Taken) (err error) {
	w.alone(func(p *process) {
		_, err = backup.Restore(p.ctx, place{p.of(origin)}, taken, sink{process: p, origin: origin},
			backup.Restoring{Schema: 1, Lock: func(context.Context, string, func(string)) (func() error, error) {
				return func() error { return nil }, nil
			}}, quiet{})
	})
	return err
}

// of is the process, with the disk of another world.
func (p *process) of(origin *world) *process {
	twin := *p
	twin.disk = origin.disk
	return &twin
}

// compareRestored compares what a restored account answers with what was visible
// while the backup was taken, and loads on.
func (w *world) compareRestored(restored *world, account string, which int, andLoad bool) {
	all := map[Question]*answers{}
	var failed error
	restored.alone(func(p *process) {
		for _, q := range questions {
			a, err := p.answer(p.ctx, account, q)
			all[q], failed = a, errors.Join(failed, err)
		}
	})
	switch {
	case restored.fault != "": // told by who restored it
		return
	case failed != nil:
		w.truths[account].fail("a restored account is not answered: %v", failed)
		return
	}
	t := w.truths[account]
	var last string
	for i := len(t.history) - 1; i >= 0; i-- {
		if which >= 0 && w.copies[which].whole {
			c := w.copies[which]
			if t.history[i].step > c.ended || i+1 < len(t.history) && t.history[i+1].step < c.begun {
				continue
			}
		}
		difference := ""
		for _, q := range questions {
			difference += all[q].differs(t.expected(t.history[i].visible), q)
		}
		if difference == "" {
			t.compareRead(restored, t.history[i].visible)
			if andLoad {
				restored.loadOn(account, t.history[i].visible)
			}
			return
		}
		last = difference
	}
	t.fail("a restored backup is of no moment at which it was taken: %s", last)
}

// loadOn loads everything into a restored account.
func (w *world) loadOn(account string, v visible) {
	t := w.truths[account]
	v.number = t.now.number
	t.now, t.states[v.number] = v, v
	w.lastLoad(account, loader.Loaded)
	w.lastLoad(account, loader.Unchanged)
	w.ask(account)
}

// moment is what became visible at a step.
type moment struct {
	step int
	visible
}
