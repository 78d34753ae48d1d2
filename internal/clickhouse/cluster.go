package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"adlens"
	"adlens/internal/query"

	"github.com/ClickHouse/clickhouse-go/v2"
)

// Cluster is the shards of a cluster, as the servers' own configuration names
// them.
type Cluster struct {
	name   string
	shards []Remote // in the order of their numbers
	memory Memory
}

// FindCluster asks a server for the shards of a cluster: each of its replicas by
// host and native port. All know the same users.
func (r Remote) FindCluster(ctx context.Context, name string) (Cluster, error) {
	if r.writer.Protocol == clickhouse.HTTP {
		return Cluster{}, errors.New("--cluster needs the native protocol: servers name the native ports of each other; expected --clickhouse clickhouse://user:password@host:9000/database")
	}
	c := Cluster{name: name, memory: r.memory}
	err := askAt(ctx, r.writer, "", "SELECT shard_num, host_name, port FROM system.clusters WHERE cluster = {cluster:String} ORDER BY shard_num, replica_num",
		Params{"cluster": query.Text(name)}, func(scan func(...any) error) error {
			var shard uint32
			var host string
			var port uint16
			if err := scan(&shard, &host, &port); err != nil {
				return err
			}
			if int(shard) > len(c.shards) {
				c.shards = append(c.shards, r.at())
			}
			c.shards[len(c.shards)-1].add(net.JoinHostPort(host, strconv.Itoa(int(port))))
			return nil
		})
	if err != nil {
		return c, &adlens.Error{Kind: kindOf(ctx, err), Err: err}
	}
	if len(c.shards) == 0 {
		return c, fmt.Errorf("%s knows no cluster %q: its configuration has to name the shards under <remote_servers>", r.server(), name)
	}
	return c, nil
}

// at is the same users at hosts that are added to it.
func (r Remote) at() Remote {
	reader, writer := *r.reader, *r.writer
	reader.Addr, writer.Addr = nil, nil
	return Remote{reader: &reader, writer: &writer, doors: &doors{}}
}

// add adds a replica. Each has tables of its own, which follow the others': what
// was written must have come to most of them before anybody builds on it, and
// nobody may be answered by one that lacks it.
func (r *Remote) add(host string) {
	r.reader.Addr, r.writer.Addr = append(r.reader.Addr, host), append(r.writer.Addr, host)
	if r.replicated = len(r.writer.Addr) > 1; r.replicated {
		r.reader.Settings = with(r.reader.Settings, clickhouse.Settings{"select_sequential_consistency": 1})
		r.writer.Settings = with(r.writer.Settings, clickhouse.Settings{"select_sequential_consistency": 1, "insert_quorum": "auto", "insert_quorum_parallel": 0,
			"mutations_sync": 2})
	}
}

// replicas are the servers of a shard one by one: tables are made on each.
func (r Remote) replicas() []Remote {
	all := make([]Remote, len(r.writer.Addr))
	for i, host := range r.writer.Addr {
		all[i] = r.at()
		all[i].replicated = r.replicated
		all[i].reader.Addr, all[i].writer.Addr = []string{host}, []string{host}
	}
	return all
}

func (c Cluster) sources() []Source {
	all := make([]Source, len(c.shards))
	for i, shard := range c.shards {
		all[i] = shard
	}
	return all
}

// OpenCluster connects to all shards and brings their schemas up to date. One
// that is away is left for later, unless it is the first.
func OpenCluster(ctx context.Context, c Cluster) (*DB, error) { return open(ctx, LookCluster(c)) }

// LookCluster is Look at a cluster.
func LookCluster(c Cluster) *DB {
	db := newDB(c.sources()...)
	db.cluster, db.memory = c.name, c.memory
	for i, s := range db.shards {
		s.number = uint16(i + 1)
	}
	return db
}

// prepare makes sure that a server is the one that it is taken for, brings its
// schema up to date, and has a new one note which shard it is. A database by
// itself is no shard, and the embedded engine never is one.
func (db *DB) prepare(ctx context.Context, s *server) error {
	if _, err := s.answering(ctx); err != nil && !isUnknown(err) {
		return &adlens.Error{Kind: kindOf(ctx, err), Err: err}
	}
	// A new replica of a shard has nothing, and follows the others.
	if err := s.makeReplicas(ctx); err != nil {
		return err
	}
	if _, err := db.recognize(ctx, s); err != nil {
		return err
	}
	if err := db.makeSchema(ctx, s); err != nil {
		return err
	}
	return db.identify(ctx, s)
}

// makeSchema brings a server's schema up to date, and makes sure that it has the
// number that it is taken for.
func (db *DB) makeSchema(ctx context.Context, s *server) error {
	if err := s.migrate(ctx); err != nil || s.source.Marks() != nil {
		return err
	}
	type identity struct {
		number  uint16
		cluster string
	}
	is, err := collect(ctx, s, "SELECT number, cluster FROM shard ORDER BY number", nil, func(scan func(...any) error) (i identity, err error) {
		err = scan(&i.number, &i.cluster)
		return i, err
	})
	if err != nil {
		return err
	}
	want := identity{s.number, db.cluster}
	switch {
	case len(is) == 1 && is[0] == want, len(is) == 0 && db.cluster == "":
		return nil
	case len(is) > 0 && db.cluster == "":
		return fmt.Errorf("the database is shard %d of cluster %q; expected --cluster %s", is[0].number, is[0].cluster, is[0].cluster)
	case len(is) > 0:
		return fmt.Errorf("the database at %s is shard %d of cluster %q, and is taken for shard %d of %q: was the order of the shards changed?",
			s.address(), is[0].number, is[0].cluster, s.number, db.cluster)
	}
	if s != db.home {
		all, err := collect(ctx, s, "SELECT account_id FROM accounts LIMIT 1", nil, func(scan func(...any) error) (id string, err error) {
			err = scan(&id)
			return id, err
		})
		if err != nil {
			return err
		}
		if len(all) > 0 {
			return fmt.Errorf("the database at %s has accounts of its own, %q for one, and cannot become shard %d: only the first shard may have been a database by itself",
				s.address(), all[0], s.number)
		}
	}
	return s.exec(ctx, "INSERT INTO shard SELECT {number:UInt16}, {cluster:String}",
		Params{"number": number(uint32(s.number)), "cluster": query.Text(db.cluster)})
}

// makeReplicas makes the tables on each replica of a shard that has several.
func (s *server) makeReplicas(ctx context.Context) error {
	r, ok := s.source.(Remote)
	if !ok || !r.replicated {
		return nil
	}
	for _, replica := range r.replicas() {
		one := newDB(replica)
		if err := errors.Join(one.home.migrate(ctx), one.Close()); err != nil {
			return err
		}
	}
	return nil
}

// address is where a shard is, for people.
func (s *server) address() string {
	if r, ok := s.source.(Remote); ok {
		return strings.Join(r.writer.Addr, ", ")
	}
	return ""
}

// Shard is one shard of a cluster.
type Shard struct {
	Number   uint16
	Address  string // host:port of each replica
	Accounts int
	Rows     uint64 // of facts on the disk, dead ones included
	Bytes    uint64 // of all tables on the disk
}

// Shards reads what each shard has, the first one first. A database without
// shards has none.
func (db *DB) Shards(ctx context.Context) ([]Shard, error) {
	if db.cluster == "" {
		return nil, nil
	}
	accounts, err := db.Accounts(ctx)
	if err != nil {
		return nil, err
	}
	counts := map[uint16]int{}
	for _, a := range accounts {
		place, _, err := db.placements.read(ctx, query.Text(a.ID))
		if err != nil {
			return nil, err
		}
		counts[place]++
	}
	return gather(ctx, db, func(s *server) (Shard, error) {
		one := Shard{Number: s.number, Address: s.address(), Accounts: counts[s.number]}
		err := s.asOwner(ctx, "SELECT sumIf(rows, table = 'facts'), sum(bytes_on_disk) FROM system.parts WHERE database = currentDatabase() AND active", nil,
			each(func(scan func(...any) error) error { return scan(&one.Rows, &one.Bytes) }))
		return one, err
	})
}

var engines = regexp.MustCompile(`ENGINE = (\w*MergeTree)(?:\(([^)]*)\))?`)

// replicating makes a table's statement one of a table whose rows come to all
// replicas of the shard, by the macros that their configurations have.
func replicating(statement string) string {
	return engines.ReplaceAllStringFunc(statement, func(engine string) string {
		parts := engines.FindStringSubmatch(engine)
		arguments := slices.DeleteFunc([]string{`'/clickhouse/tables/{shard}/{database}/{table}'`, `'{replica}'`, parts[2]}, func(a string) bool { return a == "" })
		return "ENGINE = Replicated" + parts[1] + "(" + strings.Join(arguments, ", ") + ")"
	})
}
