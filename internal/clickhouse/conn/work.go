package conn

import (
	"sync/atomic"
	"time"
)

// Work is what the reading statements of this process do to a server.
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

// addStatement counts a statement that ended.
func (c *counts) addStatement(took time.Duration) {
	c.statements.Add(1)
	c.took.Add(int64(took))
}

// Work returns what the server did so far, and what it is doing.
func (s *Server) Work() Work {
	w := Work{Statements: s.counts.statements.Load(), Refused: s.counts.refused.Load(), Took: time.Duration(s.counts.took.Load()), Waited: time.Duration(s.counts.waited.Load())}
	w.Running, w.Queued = s.gate.countStatements()
	return w
}

// Plus returns the work of two servers.
func (w Work) Plus(o Work) Work {
	return Work{w.Running + o.Running, w.Queued + o.Queued, w.Statements + o.Statements, w.Refused + o.Refused, w.Took + o.Took, w.Waited + o.Waited}
}
