package simulation

import (
	"context"
	"errors"
	"hash/fnv"
	"math/rand/v2"
	"strings"
	"time"

	"adlens"
	"adlens/internal/backup"
	"adlens/internal/commits"
	"adlens/internal/manifest"
	"adlens/internal/tables"
)

// damage gives every account a backup that is older than what it holds, and has one
// of them lose rows.
func (w *world) damage() {
	r := rand.New(rand.NewPCG(w.plan.Seed, 3))
	load := func(files []int) {
		for _, account := range w.plan.Accounts {
			w.alone(func(p *process) { p.load(p.ctx, p.begin(account, files...)) })
		}
	}
	load(w.plan.universe.some(r))
	w.alone(func(p *process) { p.takeBackup(p.ctx, Step{}) })
	load(w.plan.universe.some(r))
	w.shown = w.plan.Accounts
	for w.lost("") == "" {
		w.vanish(r, w.plan.Accounts, losable)
	}
}

// restoreInPlace does what adlens restore --account does with the newest backup: for
// the account that is damaged, or for another one, which is refused.
func (p *process) restoreInPlace(ctx context.Context, account string, wait time.Duration) (err error) {
	w := p.world
	o := p.begin(account)
	p.wait(ctx, wait)
	p.local(ctx, "look for damage", "", nil, func() {
		for _, of := range w.plan.Accounts {
			if w.lost(of) != "" {
				account, o.account = of, of
			}
		}
	})
	lock := store{p}.Lock
	if w.broken == RestoreUnlocked {
		lock = func(context.Context, string, func(string)) (func() error, error) {
			return func() error { return nil }, nil
		}
	}
	taken, err := backup.Choose(ctx, place{p}, "", "")
	if err == nil {
		for _, e := range taken.Accounts {
			if e.Account == account {
				o.backup = e.Version
			}
		}
		_, err = backup.Restore(ctx, place{p}, taken, sink{process: p, origin: w}, backup.Restoring{Account: account, Schema: 1, Lock: lock}, quiet{})
	}
	p.local(context.Background(), "restored", brief(err), nil, func() {
		if err != nil && !o.marred && w.plan.Lock == lockFile && !isWhole(err) {
			w.truths[account].fail("a restore in place failed without a cause: %v", err)
		}
	})
	return err
}

// isWhole reports whether a restore in place was refused because nothing that a
// reader or a load needs is missing.
func isWhole(err error) bool {
	return err != nil && strings.Contains(err.Error(), "is there already, and whole")
}

// repairAll restores every account that is damaged when nothing fails any more.
func (w *world) repairAll() {
	for _, account := range w.plan.Accounts {
		if w.lost(account) == "" {
			continue
		}
		var err error
		w.alone(func(p *process) { err = p.restoreInPlace(p.ctx, account, 0) })
		if err != nil && !isWhole(err) {
			w.truths[account].fail("after the storm, a restore in place does not put the account right: %v", err)
		}
	}
}

// Faults are those that a restore in place reads before it begins.
func (s sink) Faults(ctx context.Context, account string) ([]string, error) {
	err := s.inspect(ctx, account)
	if err == nil {
		_, err = port{s.process}.ReadRows(ctx, account, tables.OfGenerations()...)
	}
	if adlens.KindOf(err) == adlens.Damaged {
		return []string{err.Error()}, nil
	}
	return nil, err
}

// RequireDirectory finds nothing: the directory loses nothing.
func (s sink) RequireDirectory(context.Context, string) error { return nil }

func (s sink) MakeRoom(ctx context.Context, account string, _ func(time.Duration)) (backup.Room, error) {
	_, before := commits.Read(ctx, s.world.rows, account)
	mark := fnv.New64a()
	mark.Write([]byte(s.token()))
	room, err := commits.Close(ctx, port{s.process}, account, mark.Sum64())
	if err != nil {
		return nil, err
	}
	if s.world.broken != RestoreAtOnce || !errors.Is(before, manifest.ErrClosed) {
		s.wait(ctx, commits.Leaving)
	}
	if err := s.requireHeld(); err != nil {
		return nil, err
	}
	if s.world.truths[account].spoiled && s.world.broken != KeepUnread {
		if err := s.write(ctx, "set aside", account, func() { s.world.setAside(account) }); err != nil {
			return nil, err
		}
	}
	return room, room.Clear(ctx)
}
