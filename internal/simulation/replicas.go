package simulation

import "sync"

// replica is what the replica of the store has that a process reads: of each table all that was
// written before it caught up last, the newest insert, and of those in between some.
type replica struct {
	number   uint64
	mu       sync.Mutex     // of what follows: a process reads several things at once
	calls    int            // of catchUp
	all      int            // the last call for all tables
	tables   map[string]int // the last calls for some
	caughtUp map[string]caughtUp
}

// caughtUp is what a replica has of a table: all inserts up to one, since a call of catchUp.
type caughtUp struct{ insert, call int }

// catchUp is CatchUp of internal/clickhouse/conn.
func (p *process) catchUp(names ...string) {
	r := p.replica
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls++
	if len(names) == 0 {
		r.all = r.calls
	}
	for _, name := range names {
		r.tables[name] = r.calls
	}
}

// beginRead begins a statement, and returns what it does not find once it is carried out.
func (p *process) beginRead() (hides func(table string, insert, newest int) bool) {
	w, r := p.world, p.replica
	if !w.plan.Replicas || w.calm {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	began := caughtUp{w.rows.Inserts(), r.calls}
	return func(table string, insert, newest int) bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		has, any := r.caughtUp[table]
		if !any || w.broken != NoCatchUp && has.call < max(r.all, r.tables[table]) {
			has = began
			r.caughtUp[table] = has
		}
		return insert > has.insert && insert != newest && isLate(w.plan.Seed, r.number, uint64(insert))
	}
}

// isLate reports whether a replica fetches an insert no sooner than it has to. It hangs on nothing
// else, so what was found is found again.
func isLate(seed, replica, insert uint64) bool {
	x := (seed+1)*0x9e3779b97f4a7c15 ^ (replica+1)*0xbf58476d1ce4e5b9 ^ (insert+1)*0x94d049bb133111eb
	x = (x ^ x>>31) * 0xd6e8feb86659fd93
	return x>>63 == 1
}
