package clickhouse

import (
	"context"

	"adlens/internal/clickhouse/accounts"
	"adlens/internal/clickhouse/audit"
	"adlens/internal/clickhouse/cluster"
	"adlens/internal/clickhouse/conn"
	"adlens/internal/clickhouse/copies"
	"adlens/internal/clickhouse/figures"
	"adlens/internal/clickhouse/integrity"
	"adlens/internal/clickhouse/loads"
	"adlens/internal/clickhouse/tables"
	"adlens/internal/moves"
	"adlens/loader"
)

// Database is the rooms of one open database.
type Database struct {
	Cluster     *cluster.Cluster
	Tables      tables.Port
	Loads       loads.Store // without a lock, for reading alone
	Figures     *figures.Store
	Lists       figures.Lists
	Accounts    accounts.AccountStore
	Keys        accounts.KeyStore
	Feeds       accounts.FeedStore
	Apps        accounts.AppStore
	Connections accounts.ConnectionStore
	DayUses     accounts.DayStore
	Inspector   *integrity.Inspector
	Source      copies.Source
	Sink        copies.Sink
	Mover       moves.Mover
	Audit       audit.Audit

	guard *integrity.Guard
}

// Open connects to a server and brings its schema up to date.
func Open(ctx context.Context, source conn.Source) (*Database, error) {
	return openCluster(ctx, alone(source))
}

// Look returns the database of a server as it is. Nothing is connected to yet,
// nothing is made, and the schema stays what it is: it may be old, or not be there.
func Look(source conn.Source) *Database { return lookAt(alone(source)) }

// OpenCluster connects to all shards of a cluster that a server belongs to, and
// brings their schemas up to date.
func OpenCluster(ctx context.Context, r conn.Remote, name string) (*Database, error) {
	config, err := findCluster(ctx, r, name)
	if err != nil {
		return nil, err
	}
	return openCluster(ctx, config)
}

// LookCluster is Look at a cluster that a server belongs to.
func LookCluster(ctx context.Context, r conn.Remote, name string) (*Database, error) {
	config, err := findCluster(ctx, r, name)
	if err != nil {
		return nil, err
	}
	return lookAt(config), nil
}

// Close gives all connections back.
func (d *Database) Close() error { return d.Cluster.Close() }

func alone(source conn.Source) cluster.Config {
	config := cluster.Config{Sources: []conn.Source{source}}
	if known, ok := source.(interface{ Memory() conn.Memory }); ok {
		config.Memory = known.Memory()
	}
	return config
}

func findCluster(ctx context.Context, r conn.Remote, name string) (cluster.Config, error) {
	config := cluster.Config{Name: name, Memory: r.Memory()}
	shards, err := r.FindShards(ctx, name)
	for _, shard := range shards {
		config.Sources = append(config.Sources, shard)
	}
	return config, err
}

func openCluster(ctx context.Context, config cluster.Config) (*Database, error) {
	guard := integrity.NewGuard()
	config.Guard = guard
	c, err := cluster.Open(ctx, config)
	if err != nil {
		return nil, err
	}
	return assemble(c, guard), nil
}

func lookAt(config cluster.Config) *Database {
	guard := integrity.NewGuard()
	config.Guard = guard
	return assemble(cluster.New(config), guard)
}

// assemble puts the rooms together.
func assemble(c *cluster.Cluster, guard *integrity.Guard) *Database {
	d := &Database{guard: guard, Cluster: c, Tables: tables.On(c), Accounts: accounts.AccountStore{Cluster: c}, Keys: accounts.KeyStore{Cluster: c},
		Feeds: accounts.FeedStore{Cluster: c}, Apps: accounts.AppStore{Cluster: c}, DayUses: accounts.DayStore{Cluster: c}, Lists: figures.Lists{Cluster: c}}
	d.Loads = d.LoadStore(nil)
	visible := struct {
		tables.Port
		loads.ListStore
	}{d.Tables, d.Loads.ListStore}
	d.Figures, d.Connections = figures.NewStore(c, visible), accounts.ConnectionStore{Cluster: c, Visible: visible}
	d.Inspector = integrity.NewInspector(c, guard, func(ctx context.Context, account string) ([]string, error) {
		return loader.Verify(ctx, d.Loads, account)
	})
	d.Source = copies.NewSource(c, d.Tables, d.Inspector)
	d.Sink = copies.NewSink(d.Source, d.Accounts, d.Loads)
	d.Mover = copies.NewMover(d.Sink)
	d.Audit = audit.New(c)
	return d
}

// DirectoryMark stays the same while accounts, keys, links, connections and assistants
// do; settled is false where nothing follows from it: also where an account is withheld,
// whose key has to be looked up again to be refused.
func (d *Database) DirectoryMark() (mark uint64, settled bool) {
	mark, settled = d.Cluster.Home().Mark(conn.Directory)
	return mark, settled && d.guard.IsQuiet()
}

// LoadStore returns the database as the loader sees it, under a locker.
func (d *Database) LoadStore(l loads.Locker) loads.Store {
	return loads.NewStore(d.Cluster, d.Tables, l)
}
