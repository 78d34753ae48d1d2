package conn

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"adlens"

	"github.com/ClickHouse/clickhouse-go/v2"
)

// CatchUp lets the statements that begin after it see all that was written before it. It is
// for what is read in an order, such as a commit and then its rows: ClickHouse makes sure that a
// replica has the newest rows of a table, and not that it has those before them, which it
// may fetch later.
func (s *Server) CatchUp() { s.behind.Add(1) }

// CatchUp is the server's.
func (c *Session) CatchUp() { c.server.CatchUp() }

// caughtUp is what a session's replica has.
type caughtUp struct {
	turn chan struct{} // held by the statement that waits for it
	with atomic.Uint64 // the count of Server.behind, and one, since a session begins behind
}

// catchUpPatience is how long a replica may take to fetch what it lacks, before another is used.
const catchUpPatience = 5 * time.Second

// catchUp waits until the replica has what was written before the last CatchUp, or before the
// session began.
func (c *Session) catchUp(ctx context.Context) error {
	if c.server.countReplicas() < 2 || c.caughtUp.with.Load() > c.server.behind.Load() {
		return nil
	}
	select {
	case c.caughtUp.turn <- struct{}{}:
		defer func() { <-c.caughtUp.turn }()
	case <-ctx.Done():
		return c.handleError(ctx, ctx.Err())
	}
	with := c.server.behind.Load() + 1
	if c.caughtUp.with.Load() >= with {
		return nil
	}
	if err := c.syncTables(ctx); err != nil {
		if ctx.Err() != nil {
			return c.handleError(ctx, err)
		}
		c.server.dropSession(c)
		return &adlens.Error{Kind: adlens.EngineUnavailable, Err: &laggingReplica{err}}
	}
	c.caughtUp.with.Store(with)
	return nil
}

// syncTables has the replica fetch what it lacks of all tables.
func (c *Session) syncTables(ctx context.Context) error {
	waiting, cancel := context.WithTimeout(clickhouse.Context(ctx, clickhouse.WithSettings(clickhouse.Settings{"receive_timeout": int(catchUpPatience.Seconds())})), catchUpPatience)
	defer cancel()
	rows, err := c.writer.Query(waiting, "SELECT groupArray(name) FROM system.tables WHERE database = currentDatabase() AND engine LIKE 'Replicated%'")
	if err != nil {
		return err
	}
	var names []string
	if err := errors.Join(ScanInto(&names)(rows), rows.Err(), rows.Close()); err != nil || len(names) == 0 {
		return err
	}
	var all sync.WaitGroup
	failed := make(chan error, len(names))
	for some := range slices.Chunk(names, (len(names)+syncsAtOnce-1)/syncsAtOnce) {
		all.Go(func() {
			for _, name := range some {
				if err := c.writer.Exec(waiting, "SYSTEM SYNC REPLICA "+QuoteIdentifier(name)+" LIGHTWEIGHT"); err != nil {
					failed <- err
					return
				}
			}
		})
	}
	all.Wait()
	close(failed)
	return <-failed
}

// syncsAtOnce is how many tables of a replica catch up at once.
const syncsAtOnce = 8

// laggingReplica is why a replica is not used.
type laggingReplica struct{ err error }

func (l *laggingReplica) Error() string {
	return "the replica lacks what others have: " + l.err.Error()
}

func (l *laggingReplica) Unwrap() error { return l.err }
