package conn

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"adlens"
	"adlens/internal/tables"

	"github.com/ClickHouse/clickhouse-go/v2"
)

// CatchUp lets the statements on some tables, or on all, that begin after it see what was
// written before they began. It is for what is read in an order, such as a commit and then its
// rows: ClickHouse makes sure that a replica has the newest rows of a table, and not that it
// has those before them, which it may fetch later.
func (s *Server) CatchUp(tables ...string) { s.behind.CatchUp(tables...) }

// CatchUp is the server's.
func (c *Session) CatchUp(tables ...string) { c.server.CatchUp(tables...) }

// caughtUp is what a session's replica has.
type caughtUp struct {
	turn   chan struct{} // held by the statement that waits for it
	tables []string      // of words, those that are known to be tables; guarded by turn

	mu   sync.Mutex
	with map[string]uint64 // by word of a statement, as which tables are named: the number of a call of CatchUp, and one, since a session begins behind
}

// catchUpPatience is how long a replica may take to fetch what it lacks, before another is used.
const catchUpPatience = 5 * time.Second

// lastPatience is that of the last one. It is shorter than what a request has.
const lastPatience = 15 * time.Second

// lastReplica is in the context of a statement for which no other replica is left.
type lastReplica struct{}

// catchUp waits until the replica has what was written to the tables of a statement before the
// last CatchUp, or before the session began; to those of which the newest rows count, before the
// statement did.
func (c *Session) catchUp(ctx context.Context, sql string) error {
	if c.server.countReplicas() < 2 {
		return nil
	}
	all := wordsOf(sql)
	if newest := slices.DeleteFunc(slices.Clone(all), func(word string) bool { return !tables.NewestCounts(word) }); len(newest) > 0 {
		c.CatchUp(newest...)
	}
	if words, _ := c.listBehind(all); len(words) == 0 {
		return nil
	}
	select {
	case c.caughtUp.turn <- struct{}{}:
		defer func() { <-c.caughtUp.turn }()
	case <-ctx.Done():
		return c.handleError(ctx, ctx.Err())
	}
	words, calls := c.listBehind(all)
	if len(words) == 0 {
		return nil
	}
	if err := c.syncTables(ctx, words); err != nil {
		if ctx.Err() != nil {
			return c.handleError(ctx, err)
		}
		c.server.dropSession(c)
		return &adlens.Error{Kind: adlens.EngineUnavailable, Err: c.nameReplica(&laggingReplica{err})}
	}
	c.caughtUp.note(words, calls+1)
	return nil
}

// wordsOf returns the words of a statement, each once; tables are among them.
func wordsOf(sql string) []string {
	words := strings.FieldsFunc(sql, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	slices.Sort(words)
	return slices.Compact(words)
}

// listBehind returns the words whose tables, if they are some, may lack something, and which
// call of CatchUp was the last.
func (c *Session) listBehind(all []string) (words []string, calls uint64) {
	b, u := &c.server.behind, &c.caughtUp
	calls = b.Calls()
	u.mu.Lock()
	defer u.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(all), func(word string) bool { return u.with[word] > b.CallFor(word) }), calls
}

// note notes what the replica has of the tables among words.
func (u *caughtUp) note(words []string, with uint64) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, word := range words {
		u.with[word] = with
	}
}

// syncTables has the replica fetch what it lacks of the tables among words.
func (c *Session) syncTables(ctx context.Context, words []string) error {
	patience := catchUpPatience
	if ctx.Value(lastReplica{}) != nil {
		patience = lastPatience
	}
	waiting, cancel := context.WithTimeout(clickhouse.Context(ctx, clickhouse.WithSettings(clickhouse.Settings{"receive_timeout": int(patience.Seconds())})), patience)
	defer cancel()
	names, err := c.tablesAmong(waiting, words)
	if err != nil {
		return err
	}
	var all sync.WaitGroup
	failed := make(chan error, len(names))
	for _, name := range names {
		all.Go(func() {
			if err := c.writer.Exec(waiting, "SYSTEM SYNC REPLICA "+QuoteIdentifier(name)+" LIGHTWEIGHT"); err != nil {
				failed <- err
			}
		})
	}
	all.Wait()
	close(failed)
	return <-failed
}

// tablesAmong returns which words are tables that have replicas.
func (c *Session) tablesAmong(ctx context.Context, words []string) (names []string, err error) {
	isTable := func(word string) bool { return slices.Contains(c.caughtUp.tables, word) }
	if !slices.ContainsFunc(words, func(word string) bool { return !isTable(word) }) {
		return words, nil
	}
	rows, err := c.writer.Query(withParams(ctx, Params{"words": strings.Join(words, " ")}),
		"SELECT groupArray(name) FROM system.tables WHERE database = currentDatabase() AND engine LIKE 'Replicated%' AND has(splitByChar(' ', {words:String}), name)")
	if err != nil {
		return nil, err
	}
	if err := errors.Join(ScanInto(&names)(rows), rows.Err(), rows.Close()); err != nil {
		return nil, err
	}
	c.caughtUp.tables = append(c.caughtUp.tables, slices.DeleteFunc(slices.Clone(names), isTable)...)
	return names, nil
}

// laggingReplica is why a replica is not used.
type laggingReplica struct{ err error }

func (l *laggingReplica) Error() string {
	return "the replica lacks what others have: " + l.err.Error()
}

func (l *laggingReplica) Unwrap() error { return l.err }
