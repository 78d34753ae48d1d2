// Package cluster knows which servers are a database, which of them holds an
// account, and whether each is still the one that it was.
//
// A cluster is sharded by account: all that is loaded into one, its manifest
// included, is on one shard, so that a load becomes visible in one insert there
// and no answer is ever the sum of some shards. adlens itself asks the shard
// that holds the account; servers need not know each other. The first shard has
// the directory too: where each account is, its name, its keys, and what was
// requested of the platform for it. A database by itself is its only shard.
package cluster

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"adlens"
	"adlens/internal/clickhouse/conn"
	"adlens/internal/clickhouse/schema"
	"adlens/internal/query"
)

// Config says which servers are a database.
type Config struct {
	Name    string // of the cluster; "" for a database by itself
	Sources []conn.Source
	Memory  conn.Memory // of the first server's identity
	Guard   conn.Guard  // nil for none
}

// Cluster is a database of adlens: on one server, embedded or not, or on the
// shards of a cluster. It is safe for concurrent use.
type Cluster struct {
	name       string
	shards     []*Shard // the one with the directory first
	memory     conn.Memory
	placements *Placements
	claims     sync.Map // account -> *claim, of accounts locked by Leases
	sightings  sync.Map // token -> sighting, of claims of others by a clock that was ahead
}

// Shard is a server of a database.
type Shard struct {
	*conn.Server
	Number  uint16 // 0 where there is only one server
	cluster *Cluster
	id      atomic.Value          // string: the database's identity, once it was prepared
	lacking atomic.Pointer[error] // of a replica that was passed over when it was prepared
}

// New returns a database as it is. Nothing is connected to yet, nothing is
// made, and the schema stays what it is: it may be old, or not be there.
func New(config Config) *Cluster { return newCluster(config, false) }

// Open connects to all servers and brings their schemas up to date. One that is
// away is left for later, unless it is the first.
func Open(ctx context.Context, config Config) (*Cluster, error) {
	c := newCluster(config, true)
	if err := c.WhereReachable(ctx, func(*Shard) error { return nil }); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

func newCluster(config Config, prepare bool) *Cluster {
	c := &Cluster{name: config.Name, memory: config.Memory}
	for i, source := range config.Sources {
		s := &Shard{cluster: c}
		if c.name != "" {
			s.Number = uint16(i + 1)
		}
		checks := conn.Checks{Verify: s.verifySession, Guard: config.Guard}
		if prepare {
			checks.Prepare = s.prepareShard
		}
		s.Server = conn.NewServer(source, checks)
		c.shards = append(c.shards, s)
	}
	c.placements = newPlacements(c)
	return c
}

// Close gives all connections back.
func (c *Cluster) Close() error {
	var all []error
	for _, s := range c.shards {
		all = append(all, s.Close())
	}
	return errors.Join(all...)
}

// Home returns the server that has the directory.
func (c *Cluster) Home() *Shard { return c.shards[0] }

// Shards returns all servers, the one with the directory first.
func (c *Cluster) Shards() []*Shard { return c.shards }

// IsSharded reports whether the database is on the shards of a cluster.
func (c *Cluster) IsSharded() bool { return c.name != "" }

// Placements returns where accounts are.
func (c *Cluster) Placements() *Placements { return c.placements }

// Ping reports whether the server answers that every request needs: the only one,
// or the one with the directory. Where another shard is away, its accounts alone
// have to wait. A database that was opened has to let its reader see accounts too: one
// that was dropped, or whose reader lost the rights, answers no request. Counting reads
// no row, so damage fails nothing here.
func (c *Cluster) Ping(ctx context.Context) error {
	if c.Identity() == "" {
		return c.Home().Ping(ctx)
	}
	var accounts uint64
	return c.Home().ReadOnce(ctx, "SELECT count() FROM accounts", nil, conn.ScanInto(&accounts))
}

// Work returns what the servers did so far, and what they are doing.
func (c *Cluster) Work() (all conn.Work) {
	for _, s := range c.shards {
		all = all.Plus(s.Work())
	}
	return all
}

// Announce changes what is visible of an account, telling the readers in all
// processes.
func (c *Cluster) Announce(account string, change func() error) error {
	return c.Home().Announce(account, change)
}

// prepareShard makes sure that a server is the one that it is taken for, brings its
// schema up to date, and has a new one note which shard it is.
func (s *Shard) prepareShard(ctx context.Context) error {
	if _, err := s.Find(ctx); err != nil && !conn.IsUnknown(err) {
		return &adlens.Error{Kind: conn.KindOf(ctx, err), Err: err}
	}
	// A new replica of a shard has nothing, and follows the others.
	err := schema.MigrateReplicas(ctx, s.Server, func(ctx context.Context) error {
		_, err := s.recognizeServer(ctx)
		return err
	}, func(lacking error) { s.lacking.Store(&lacking) })
	if err != nil {
		return err
	}
	is, err := s.recognizeServer(ctx)
	if err != nil {
		return err
	}
	if err := schema.Migrate(ctx, s.Server); err != nil {
		return err
	}
	if err := s.takeNumber(ctx); err != nil {
		return err
	}
	return s.assignIdentity(ctx, is)
}

// takeNumber makes sure that a server has the number that it is taken for. A
// database by itself is no shard, and the embedded engine never is one.
func (s *Shard) takeNumber(ctx context.Context) error {
	if s.Source().Marks() != nil {
		return nil
	}
	type identity struct {
		number  uint16
		cluster string
	}
	is, err := conn.Collect(ctx, s, "SELECT DISTINCT number, cluster FROM shard ORDER BY number", nil, func(scan conn.Scan) (i identity, err error) {
		err = scan(&i.number, &i.cluster)
		return i, err
	})
	if err != nil {
		return err
	}
	cluster := s.cluster.name
	want := identity{s.Number, cluster}
	switch {
	case len(is) == 1 && is[0] == want, len(is) == 0 && cluster == "":
		return nil
	case len(is) > 0 && cluster == "":
		return fmt.Errorf("the database is shard %d of cluster %q; expected --cluster %s", is[0].number, is[0].cluster, is[0].cluster)
	case len(is) > 0:
		return fmt.Errorf("the database at %s is shard %d of cluster %q, and is taken for shard %d of %q: was the order of the shards changed?",
			s.Address(), is[0].number, is[0].cluster, s.Number, cluster)
	}
	if s != s.cluster.Home() {
		accounts, err := conn.CollectValues[string](ctx, s, "SELECT account_id FROM accounts LIMIT 1", nil)
		if err != nil {
			return err
		}
		if len(accounts) > 0 {
			return fmt.Errorf("the database at %s has accounts of its own, %q for one, and cannot become shard %d: only the first shard may have been a database by itself",
				s.Address(), accounts[0], s.Number)
		}
	}
	return s.Exec(ctx, "INSERT INTO shard SELECT {number:UInt16}, {cluster:String}",
		conn.Params{"number": conn.Number(s.Number), "cluster": query.Text(cluster)})
}

// Now is the time by the shard's clock, which dates what it stores.
func (s *Shard) Now(ctx context.Context) (now time.Time, err error) {
	err = s.ReadAsOwner(ctx, "SELECT now64(3)", nil, conn.ScanInto(&now))
	return now, s.Name(err)
}
