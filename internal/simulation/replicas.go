package simulation

import (
	"hash/fnv"
	"sync"

	"adlens/internal/tables"
)

// replica is what the replica of the store has that a process reads: of each table all that was
// written before it caught up last, the newest insert, and of those in between some.
type replica struct {
	name   uint64 // a hash of the process's: processes begin in any order
	behind tables.Behind

	mu       sync.Mutex // a process reads several things at once
	caughtUp map[string]caughtUp
}

// caughtUp is what a replica has of a table: all inserts up to one, since a call of catchUp.
type caughtUp struct {
	insert int
	call   uint64
}

func newReplica(process string) *replica {
	h := fnv.New64a()
	h.Write([]byte(process))
	return &replica{name: h.Sum64(), caughtUp: map[string]caughtUp{}}
}

// catchUp is CatchUp of internal/clickhouse/conn.
func (p *process) catchUp(names ...string) {
	for _, r := range p.replicas {
		r.behind.CatchUp(names...)
	}
}

// onReplica begins a statement that reads at a shard, and returns how it is carried out.
func (p *process) onReplica(at *shard, do func() error) func() error {
	w := p.world
	if !w.plan.Replicas || w.calm {
		return do
	}
	rows, r := w.rows, p.replicas[0]
	if at != nil {
		rows, r = at.rows, p.replicas[at.number-1]
	}
	began := caughtUp{rows.Inserts(), r.behind.Calls()}
	hides := func(table string, insert, newest int) bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		has, any := r.caughtUp[table]
		if !any || w.broken != NoCatchUp && has.call < r.behind.CallFor(table) {
			has = began
			r.caughtUp[table] = has
		}
		return insert > has.insert && insert != newest && isLate(w.plan.Seed, r.name, uint64(insert))
	}
	return func() error {
		rows.Hides = hides
		defer func() { rows.Hides = nil }()
		return do()
	}
}

// isLate reports whether a replica fetches an insert no sooner than it has to. It hangs on nothing
// else, so what was found is found again.
func isLate(seed, replica, insert uint64) bool {
	x := (seed+1)*0x9e3779b97f4a7c15 ^ (replica+1)*0xbf58476d1ce4e5b9 ^ (insert+1)*0x94d049bb133111eb
	x = (x ^ x>>31) * 0xd6e8feb86659fd93
	return x>>63 == 1
}
