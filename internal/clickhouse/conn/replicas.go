package conn

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"adlens"
	"adlens/internal/query"

	"github.com/ClickHouse/clickhouse-go/v2"
)

// FindShards asks a server for the shards of a cluster, in the order of their
// numbers: each of their replicas by host and native port. All know the same
// users.
func (r Remote) FindShards(ctx context.Context, cluster string) (shards []Remote, err error) {
	if r.writer.Protocol == clickhouse.HTTP {
		return nil, errors.New("--cluster needs the native protocol: servers name the native ports of each other; expected --clickhouse clickhouse://user:password@host:9000/database")
	}
	err = askAt(ctx, r.writer, "", "SELECT shard_num, host_name, port FROM system.clusters WHERE cluster = {cluster:String} ORDER BY shard_num, replica_num",
		Params{"cluster": query.Text(cluster)}, EachRow(func(scan Scan) error {
			var shard uint32
			var host string
			var port uint16
			if err := scan(&shard, &host, &port); err != nil {
				return err
			}
			if int(shard) > len(shards) {
				shards = append(shards, r.withoutHosts())
			}
			shards[len(shards)-1].addHost(net.JoinHostPort(host, strconv.Itoa(int(port))))
			return nil
		}))
	if err != nil {
		return nil, &adlens.Error{Kind: KindOf(ctx, err), Err: err}
	}
	if len(shards) == 0 {
		return nil, fmt.Errorf("%s knows no cluster %q: its configuration has to name the shards under <remote_servers>", r.describeServer(), cluster)
	}
	return shards, nil
}

// withoutHosts returns the same users at hosts that are added to it.
func (r Remote) withoutHosts() Remote {
	reader, writer := *r.reader, *r.writer
	reader.Addr, writer.Addr = nil, nil
	return Remote{reader: &reader, writer: &writer, doors: &doors{}}
}

// addHost adds a replica. Each has tables of its own, which follow the others': what
// was written must have come to most of them before it is built on, and no
// request may be answered by one that lacks it. Inserts of a quorum one after the other
// are what ClickHouse needs to tell which replica lacks something.
func (r *Remote) addHost(host string) {
	r.reader.Addr, r.writer.Addr = append(r.reader.Addr, host), append(r.writer.Addr, host)
	if r.replicated = len(r.writer.Addr) > 1; r.replicated {
		r.reader.Settings = mergeSettings(r.reader.Settings, clickhouse.Settings{"select_sequential_consistency": 1})
		r.writer.Settings = mergeSettings(r.writer.Settings, replicaSettings)
	}
}

// replicaSettings let an insert be repeated (writeInTurn): it is known by its token, and all
// that a statement selects is one block, which is the same in each attempt.
var replicaSettings = clickhouse.Settings{
	"select_sequential_consistency": 1,
	"insert_quorum":                 "auto",
	"insert_quorum_parallel":        0,
	"insert_quorum_timeout":         quorumPatience.Milliseconds(),
	"insert_deduplicate":            1,
	"min_insert_block_size_rows":    1_000_000_000,
	"min_insert_block_size_bytes":   0,
	"mutations_sync":                2,
	"alter_sync":                    2,
}

// quorumPatience is how long an insert waits for those of others. One whose server is
// lost ends as soon as the replicas have noticed it.
const quorumPatience = time.Minute

// quorumUnderWay is UNSATISFIED_QUORUM_FOR_PREVIOUS_WRITE.
const quorumUnderWay = 286

// turns lets the inserts of a process into a table of replicas go one after the other.
type turns struct {
	mu     sync.Mutex
	tables map[string]chan struct{}
}

var insertedTable = regexp.MustCompile(`(?m)^INSERT INTO (\w+)`)

// acquireTurn waits for the turn of an insert. Other statements have none to wait for.
func (t *turns) acquireTurn(ctx context.Context, sql string) (leave func(), err error) {
	names := insertedTable.FindStringSubmatch(sql)
	if names == nil {
		return func() {}, nil
	}
	t.mu.Lock()
	if t.tables == nil {
		t.tables = map[string]chan struct{}{}
	}
	turn, ok := t.tables[names[1]]
	if !ok {
		turn = make(chan struct{}, 1)
		t.tables[names[1]] = turn
	}
	t.mu.Unlock()
	select {
	case turn <- struct{}{}:
		return func() { <-turn }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// writeInTurn repeats an insert for as long as other processes have the quorum of theirs under
// way: a table of replicas takes one at a time, and refuses the rest. Each attempt is
// at whichever replica takes it. Of an insert into several partitions some may have been
// written by then: the token, which all replicas know, keeps each from being written twice.
func (t *turns) writeInTurn(ctx context.Context, sql string, write func(context.Context) error) error {
	leave, err := t.acquireTurn(ctx, sql)
	if err != nil {
		return err
	}
	defer leave()
	ctx = clickhouse.Context(ctx, clickhouse.WithSettings(clickhouse.Settings{"insert_deduplication_token": rand.Text()}))
	for began := time.Now(); ; {
		err := write(ctx)
		if !isException(err, quorumUnderWay) || time.Since(began) > quorumPatience {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(time.Millisecond + mathrand.N(10*time.Millisecond)):
		}
	}
}

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

// listReplicas returns the servers of a shard one by one: tables are made on each.
func (r Remote) listReplicas() []Remote {
	all := make([]Remote, len(r.writer.Addr))
	for i, host := range r.writer.Addr {
		all[i] = r.withoutHosts()
		all[i].replicated = r.replicated
		all[i].reader.Addr, all[i].writer.Addr = []string{host}, []string{host}
	}
	return all
}

// Address returns where the server is, for people; "" for the embedded engine.
func (s *Server) Address() string {
	if r, ok := s.source.(Remote); ok {
		return strings.Join(r.writer.Addr, ", ")
	}
	return ""
}

// Describe names the server for people.
func (s *Server) Describe() string {
	if address := s.Address(); address != "" {
		return address
	}
	return "the engine"
}

// IsReplicated reports whether the server has several replicas or is one of them.
func (s *Server) IsReplicated() bool {
	r, ok := s.source.(Remote)
	return ok && r.replicated
}

// countReplicas returns how many replicas the server has, 0 where it has none.
func (s *Server) countReplicas() int {
	if r, ok := s.source.(Remote); ok && r.replicated {
		return len(r.writer.Addr)
	}
	return 0
}

// passReplica has the next session begin with another replica, where there is one.
func (s *Server) passReplica() {
	if r, ok := s.source.(Remote); ok {
		r.doors.pass()
	}
}

// Replicas returns the replicas of the server as servers; none where it has none.
func (s *Server) Replicas() (all []*Server) {
	if r, ok := s.source.(Remote); ok && r.replicated {
		for _, replica := range r.listReplicas() {
			all = append(all, NewServer(replica, Checks{}))
		}
	}
	return all
}
