package simulation

import (
	"context"
	"fmt"
	"time"

	"adlens/internal/moves"
	"adlens/internal/tables"
)

// shard is one server of a store that has several. The first has the directory: where accounts
// are, and who holds their locks.
type shard struct {
	number uint16
	rows   *tables.Memory
	ledger map[string][]ledgerRow
	jumped time.Duration // of its clock; the store's own of the first
}

// addShards gives the store so many shards. Accounts are on the first until they move.
func (w *world) addShards(n int) {
	w.noted, w.started = map[string]moves.Place{}, start
	for i := range n {
		s := &shard{number: uint16(i + 1), ledger: map[string][]ledgerRow{}}
		s.rows = tables.NewMemory(func() time.Time { return w.clockOf(s) })
		w.shards = append(w.shards, s)
	}
	w.rows, w.ledger = w.shards[0].rows, w.shards[0].ledger
}

func (w *world) isSharded() bool { return len(w.shards) > 0 }

// home is the shard with the directory; nil where the store has one server alone.
func (w *world) home() *shard {
	if !w.isSharded() {
		return nil
	}
	return w.shards[0]
}

// everywhere are all shards; nil alone where the store has one server alone.
func (w *world) everywhere() []*shard {
	if !w.isSharded() {
		return []*shard{nil}
	}
	return w.shards
}

// shardOf is the shard where an account is, whatever a process believes.
func (w *world) shardOf(account string) *shard {
	if !w.isSharded() {
		return nil
	}
	return w.shards[max(1, w.noted[account].Shard)-1]
}

// uptime is for how long the shards have been running.
func (w *world) uptime() time.Duration { return w.now().Sub(w.started) }

// clockOf is the time by a shard's clock.
func (w *world) clockOf(s *shard) time.Time {
	if s == w.home() {
		return w.storeNow()
	}
	return w.now().Add(s.jumped)
}

func (w *world) jumpShard(s *shard, d time.Duration) {
	w.trace.add("%d the clock of shard %d jumps by %s", w.steps, s.number, d)
	s.jumped += d
	w.excuseReaders()
}

// excuseReaders has no answer judged that is under way.
func (w *world) excuseReaders() {
	for _, p := range w.processes {
		p.excused = true
	}
}

// on has something carried out at a shard.
func (w *world) on(s *shard, do func()) {
	if s == nil {
		do()
		return
	}
	before, rows, ledger := w.here, w.rows, w.ledger
	w.here, w.rows, w.ledger = s, s.rows, s.ledger
	defer func() { w.here, w.rows, w.ledger = before, rows, ledger }()
	do()
}

// detail tells a call's detail with where it was sent.
func (s *shard) detail(of string) string {
	if s == nil {
		return of
	}
	return fmt.Sprintf("at %d: %s", s.number, of)
}

// chosenShard is the key of a shard that a context has chosen.
type chosenShard struct{}

// onShard is OnShard of internal/clickhouse/cluster.
func onShard(ctx context.Context, number uint16) context.Context {
	return context.WithValue(ctx, chosenShard{}, number)
}

// findShard returns the shard to which a statement on an account is sent, as Holder of
// internal/clickhouse/cluster does.
func (p *process) findShard(ctx context.Context, account string) (*shard, error) {
	if !p.world.isSharded() {
		return nil, nil
	}
	number, chosen := ctx.Value(chosenShard{}).(uint16)
	if !chosen {
		var err error
		if number, err = p.places.Find(ctx, account); err != nil {
			return nil, err
		}
	}
	return p.world.shards[number-1], nil
}

// readPlace reads where an account is.
func (p *process) readPlace(ctx context.Context, account string) (is moves.Place, err error) {
	w := p.world
	err = w.run(&call{process: p, ctx: ctx, name: "place", detail: account, do: func() error {
		is = w.noted[account]
		is.Shard = w.shardOf(account).number
		return nil
	}})
	return is, err
}

// lease is a lock that a process has taken, as Leases of internal/clickhouse/cluster know it.
type lease struct {
	holder   *process
	released bool
}

// stopRenewing has the lock of a process not renewed for a time. One that stood still already, or
// did so for too long before, has not renewed it since.
func (w *world) stopRenewing(p *process, d time.Duration) {
	if !w.isSharded() || !p.distrusted && !p.stalledUntil.After(w.now()) {
		p.renewed, p.claimUntil = w.now(), w.storeNow().Add(leaseLife)
	}
	p.distrusted = p.distrusted || w.now().Add(d).Sub(p.renewed) > leaseTrust
}

// stallSender stops a process right before it sends a statement: a writer until its lock has
// ended, a reader for less than a move waits for it.
func (w *world) stallSender(bits uint32) {
	var all []*call
	for _, c := range w.parked {
		if p := c.process; !c.local && !p.killed && !p.stalledUntil.After(w.now()) && p.writer == (c.pieces != nil) {
			all = append(all, c)
		}
	}
	if len(all) == 0 {
		return
	}
	p, long := all[int(bits>>4)%len(all)].process, bits&1 == 1
	switch {
	case p.writer && long:
		w.stall(p, 20*time.Minute, true)
	case p.writer:
		w.stall(p, 70*time.Second, true)
	case long:
		w.stall(p, 35*time.Second, false)
	default:
		w.stall(p, 15*time.Second, false)
	}
}

// leaseSpare is what is left of a lock at least when a place is written under it.
const leaseSpare = 10 * time.Second

// leaseLeft is how long a lock lives on if it is not renewed, by the clock of the first shard.
func (w *world) leaseLeft(l *lease) time.Duration {
	switch {
	case l.released:
		return 0
	case l.holder.killed || l.holder.distrusted || l.holder.stalledUntil.After(w.now()):
		return l.holder.claimUntil.Sub(w.storeNow())
	}
	return leaseLife
}

// setPlace has an account on another shard.
func (w *world) setPlace(account string, to uint16) {
	w.noted[account] = moves.Place{Shard: to, Version: w.noted[account].Version + 1}
	w.trace.add("  %s is on shard %d", account, to)
	t, at := w.truths[account], w.shards[to-1]
	if t.copies[at] != "" {
		t.vanished, t.lostAt = t.copies[at], w.steps
		delete(t.copies, at)
	}
	w.on(at, t.moved)
}
