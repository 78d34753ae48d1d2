package simulation

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"time"

	"adlens/internal/backup"
	"adlens/internal/commits"
	"adlens/internal/manifest"
	"adlens/internal/moves"
	"adlens/internal/tables"
	"adlens/loader"
)

// movePort is a move's port to the shards, as internal/clickhouse/copies has it.
type movePort struct{ *process }

var _ moves.Shards = movePort{}

// insertPatience is how long after the look at the lock a shard takes rows that are copied.
const insertPatience = leaseLife - leaseTrust - leaseSpare

// move does what adlens account move does.
func (p *process) move(ctx context.Context, account string, to uint16) error {
	o := p.op
	release, err := store{p}.Lock(ctx, account, nil)
	if err != nil {
		return err
	}
	m := moves.NewMover(movePort{p})
	m.Wait = p.waitInMove
	_, err = m.Move(ctx, account, to, func(uint64, uint64) {})
	err = errors.Join(err, release())
	p.local(context.Background(), "moved", brief(err), nil, func() { p.judgeError(o, err) })
	return err
}

// waitInMove lets time pass for a move, but for faults of the program.
func (p *process) waitInMove(ctx context.Context, d time.Duration) error {
	switch broken := p.world.broken; {
	case broken == MoveUnsettled && d == moves.Settling && !p.world.calm:
		return errLease // and the move ends
	case broken == MoveAtOnce && (p.op.placed || d > commits.Leaving) && d != moves.Settling:
		return nil
	}
	return p.waitFor(ctx, d)
}

func (s movePort) Numbers() (all []uint16) {
	for _, shard := range s.world.shards {
		all = append(all, shard.number)
	}
	return all
}

func (s movePort) RequireShard(context.Context, uint16) error { return nil }

func (s movePort) Place(ctx context.Context, account string) (uint16, error) {
	is, err := s.readPlace(ctx, account)
	return is.Shard, err
}

// SetPlace looks at the lock in the insert itself.
func (s movePort) SetPlace(ctx context.Context, account string, to uint16) error {
	w, held := s.world, s.lease
	s.op.placed = true
	err := s.write(ctx, "place", fmt.Sprint(account, " on ", to), func() {
		if w.leaseLeft(held) > leaseSpare || w.broken == LatePlace {
			w.setPlace(account, to)
		}
	})
	if err != nil {
		return err
	}
	is, err := s.Place(ctx, account)
	if err == nil && is != to {
		err = fmt.Errorf("account %s is on shard %d and not on %d", account, is, to)
	}
	return err
}

func (s movePort) SealPlaces(context.Context) error { return nil } // the directory loses nothing

func (s movePort) RequireHeld(string) error {
	if s.world.broken == MoveUnheld {
		return nil
	}
	return s.requireHeld()
}

func (s movePort) FenceOff(ctx context.Context, number uint16, account string) error {
	if s.world.broken == MoveUnfenced {
		return nil
	}
	return commits.FenceOff(onShard(ctx, number), port(s), account, s.token())
}

func (s movePort) NewestCommit(ctx context.Context, number uint16, account string) (newest uint32, err error) {
	s.catchUp("commits")
	err = s.readOf(onShard(ctx, number), account, "newest commit", account, func() error {
		all, err := s.world.rows.Commits().Read(ctx, account)
		newest = newestCommit(all)
		return err
	})
	return newest, err
}

func (s movePort) CommittedWithin(ctx context.Context, number uint16, account string, within time.Duration) (found bool, err error) {
	s.catchUp("commits")
	err = s.readOf(onShard(ctx, number), account, "recent commits", account, func() error {
		all, err := s.world.rows.Commits().Read(ctx, account)
		found = slices.ContainsFunc(all, func(c manifest.Commit) bool { return c.At.After(s.world.clockOf(s.world.here).Add(-within)) })
		return err
	})
	return found, err
}

func (s movePort) Manifest(ctx context.Context, number uint16, account string) (manifest.Manifest, error) {
	state, err := commits.Read(onShard(ctx, number), port(s), account)
	return state.Manifest, err
}

func (s movePort) Faults(ctx context.Context, number uint16, account string, live *manifest.Manifest) ([]string, error) {
	switch {
	case live != nil && s.world.broken == MoveUncompared:
		return nil, nil
	case live == nil:
		s.local(ctx, "look", account, nil, func() { s.op.looked = s.world.steps })
		if s.world.broken == MoveBlind {
			return nil, nil
		}
		return loader.Verify(onShard(ctx, number), store(s), account)
	}
	return loader.VerifyAs(onShard(ctx, number), store(s), account, *live)
}

// Fingerprint sums up rows. Of the record of commits and the like one that occurs twice is one.
func (s movePort) Fingerprint(ctx context.Context, number uint16, e backup.Extent) (print string, err error) {
	if s.world.broken == MoveUncompared {
		return "", nil
	}
	err = s.readOf(onShard(ctx, number), e.Account, "fingerprint "+e.Table, e.Account, func() error {
		var texts []string
		for _, row := range s.world.extract(e) {
			texts = append(texts, rowText(row))
		}
		slices.Sort(texts)
		if e.Generations == nil {
			texts = slices.Compact(texts)
		}
		h := fnv.New64a()
		h.Write([]byte(strings.Join(texts, "\n")))
		print = fmt.Sprint(len(texts), " ", h.Sum64())
		return nil
	})
	return print, err
}

// rowText has all of a row.
func rowText(row any) string {
	if r, ok := row.(tables.Row); ok {
		if rollup, ok := r.Value.(*rollupRow); ok {
			r.Value = *rollup
		}
		row = r
	}
	return fmt.Sprintf("%+v", row)
}

// extract are rows of the shard whose call is carried out.
func (w *world) extract(e backup.Extent) (all []any) {
	if e.Table != "ledger" {
		return w.rows.Export(e.Table, e.Account, e.Generations)
	}
	for _, line := range w.ledger[e.Account] {
		all = append(all, line)
	}
	return all
}

func (s movePort) Left(ctx context.Context, number uint16, account string) (left []string, err error) {
	err = s.readOf(onShard(ctx, number), account, "tables with rows", account, func() error {
		left = s.world.left(account)
		return nil
	})
	return left, err
}

// left are the tables with rows of an account at the shard whose call is carried out.
func (w *world) left(account string) []string {
	return slices.DeleteFunc(tables.OfShards(), func(table string) bool { return len(w.extract(backup.Extent{Table: table, Account: account})) == 0 })
}

// HeldUntil is that of internal/clickhouse/cluster.
func (s movePort) HeldUntil(ctx context.Context, number uint16, account string) (until moves.Deadline, err error) {
	err = s.readOf(onShard(ctx, number), account, "time", account, func() error {
		const held = leaseLife - leaseTrust - leaseSpare
		until.Clock, until.Since = s.world.clockOf(s.world.here).Add(held), s.world.uptime()
		until.Running = until.Since + held
		return nil
	})
	if err == nil {
		err = s.RequireHeld(account)
	}
	return until, err
}

// Clear is refused by a shard that takes it after the deadline.
func (s movePort) Clear(ctx context.Context, number uint16, account, table string, until moves.Deadline) error {
	w, late := s.world, false
	err := s.writeOf(onShard(ctx, number), account, "clear "+table, account, func() {
		if late = w.clockOf(w.here).After(until.Clock) || w.uptime() > until.Running || w.uptime() < until.Since; late && w.broken != LateDeletion {
			return
		}
		if w.here != w.shardOf(account) {
			w.truths[account].leave(ctx, s.op)
		}
		w.rows.Clear(ctx, account, table)
		if w.rows.Unread == "" {
			w.truths[account].clear(table)
		}
		if table == "ledger" {
			w.ledger[account] = nil
		}
	})
	if err == nil && late && w.broken != LateDeletion {
		err = errLease
	}
	return err
}

// Copy writes rows in two pieces, which may come apart.
func (s movePort) Copy(ctx context.Context, from, to uint16, e backup.Extent, copied func(uint64)) error {
	var rows []any
	err := s.readOf(onShard(ctx, from), e.Account, "export "+e.Table, e.Account, func() error {
		rows = s.world.extract(e)
		return nil
	})
	if err != nil || len(rows) == 0 {
		return err
	}
	copied(uint64(len(rows)))
	if err := s.RequireHeld(e.Account); err != nil {
		return err
	}
	w, looked := s.world, s.world.now()
	var pieces []func()
	for some := range slices.Chunk(rows, (len(rows)+1)/2) {
		pieces = append(pieces, func() {
			if age := w.now().Sub(looked); age <= insertPatience || w.landing && age <= commits.Leaving || w.broken == LateCopy {
				w.putRows(e, some)
			}
		})
	}
	return s.writeOf(onShard(ctx, to), e.Account, "import "+e.Table, fmt.Sprint(e.Account, " ", len(rows)), pieces...)
}

// putRows writes rows of extract.
func (w *world) putRows(e backup.Extent, rows []any) {
	if e.Table != "ledger" {
		w.rows.Import(e.Table, e.Account, rows)
		return
	}
	for _, row := range rows {
		w.ledger[e.Account] = append(w.ledger[e.Account], row.(ledgerRow))
	}
}

// settleMoves has every account moved once more, when nothing fails any more: then its own
// shard alone has rows of it. Another one may have a newer load, of a writer that stood still
// until the account had moved; then the account is loaded before that.
func (w *world) settleMoves() {
	r := w.eventRandom()
	for _, account := range w.plan.Accounts {
		to := uint16(1 + r.IntN(len(w.shards)))
		var err error
		again := func() {
			w.alone(func(p *process) {
				p.begin(account)
				err = p.move(p.ctx, account, to)
			})
		}
		if again(); err != nil && strings.Contains(err.Error(), "has a newer load") {
			w.lastLoad(account, loader.Loaded)
			again()
		}
		if w.lost(account) != "" || len(w.truths[account].copies) > 0 { // it stays, or goes as it is
			continue
		}
		if err != nil && w.fault == "" {
			w.truths[account].fail("after the storm, it is not moved: %v", err)
		}
		for _, s := range w.shards {
			w.on(s, func() {
				if left := w.left(account); s != w.shardOf(account) && len(left) > 0 {
					w.truths[account].fail("after a move shard %d has rows of %v", s.number, left)
				}
			})
		}
	}
}
