package conn

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"net"
	"regexp"
	"strconv"
	"strings"
	"sync"
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
// are what ClickHouse needs to tell which replica lacks the newest; for the rest, see CatchUp.
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

// turns lets the inserts of a process into a table of replicas go one after the other.
type turns struct {
	mu     sync.Mutex
	tables map[string]chan struct{}
}

var insertedTable = regexp.MustCompile(`(?m)^INSERT INTO (\w+)`)

// acquireTurn waits for the turn of an insert. Other statements have none to wait for, and
// who prepares a server takes none: the one whose turn it is may wait for that.
func (t *turns) acquireTurn(ctx context.Context, sql string) (leave func(), err error) {
	names := insertedTable.FindStringSubmatch(sql)
	if names == nil || ctx.Value(preparer{}) != nil {
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
// way: a table of replicas takes one at a time, and refuses the rest. So it does with changes
// of the table, which two processes make that take a schema step at once. Each attempt is
// at whichever replica takes it. Of an insert into several partitions some may have been
// written by then: the token, which all replicas know, keeps each from being written twice.
func (t *turns) writeInTurn(ctx context.Context, sql string, write func(context.Context) error) error {
	leave, err := t.acquireTurn(ctx, sql)
	if err != nil {
		return err
	}
	defer leave()
	ctx = clickhouse.Context(ctx, clickhouse.WithSettings(mergeSettings(promptSettings(ctx), clickhouse.Settings{"insert_deduplication_token": rand.Text()})))
	for began := time.Now(); ; {
		err := write(ctx)
		if !isException(err, codeUnsatisfiedQuorumForPreviousWrite) && !isException(err, codeCannotAssignAlter) || time.Since(began) > quorumPatience {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(time.Millisecond + mathrand.N(10*time.Millisecond)):
		}
	}
}

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

// ReplicaError is an error of one of a shard's replicas.
type ReplicaError struct {
	Address string
	Err     error
}

func (e *ReplicaError) Error() string { return e.Address + ": " + e.Err.Error() }

func (e *ReplicaError) Unwrap() error { return e.Err }

// IsLeftInKeeper reports whether a table was not made because Keeper has one in its place, as of
// servers that are gone.
func IsLeftInKeeper(err error) bool {
	return isException(err, codeIncompatibleColumns) || isException(err, codeReplicaAlreadyExists)
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

// AtReplicas does something at each replica of the server, or at the server itself where it has
// none. One that cannot is passed over where another can; else the error says of each why.
func (s *Server) AtReplicas(do func(*Server) error) error {
	all := s.Replicas()
	if len(all) == 0 {
		return do(s)
	}
	var failures []error
	for _, replica := range all {
		if err := errors.Join(do(replica), replica.Close()); err != nil {
			failures = append(failures, err)
		}
	}
	if len(failures) == len(all) {
		return errors.Join(failures...)
	}
	return nil
}
