package clickhouse

import (
	"sync/atomic"
	"time"
)

// Work is what the reading statements of this process do to the server.
type Work struct {
	Running, Queued int           // now
	Statements      uint64        // that ended, so far
	Refused         uint64        // for which there was no turn, so far
	Took            time.Duration // of all that ended
	Waited          time.Duration // for a turn, of all that got one
}

// counts adds up what ended.
type counts struct {
	statements, refused atomic.Uint64
	took, waited        atomic.Int64
}

func (c *counts) ended(took time.Duration) {
	c.statements.Add(1)
	c.took.Add(int64(took))
}

// Work returns what was done so far, and what is being done.
func (db *DB) Work() Work {
	w := Work{Statements: db.counts.statements.Load(), Refused: db.counts.refused.Load(), Took: time.Duration(db.counts.took.Load()),
		Waited: time.Duration(db.counts.waited.Load())}
	for _, s := range db.shards {
		running, queued := s.gate.now()
		w.Running, w.Queued = w.Running+running, w.Queued+queued
	}
	return w
}
