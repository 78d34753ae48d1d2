// Package loads stores what is loaded: facts and what is derived of them, lists,
// records of the service, and which report files were read.
package loads

import (
	"context"

	"adlens/internal/clickhouse/cluster"
	"adlens/internal/tables"
	"adlens/loader"
)

var _ loader.Store = Store{}

// Locker makes a caller the only writer of an account.
type Locker interface {
	Lock(ctx context.Context, name string, waiting func(holder string)) (release func() error, err error)
}

// Store is the database as the loader sees it.
type Store struct {
	FactStore
	ListStore
	RecordStore
	Locker
	port tables.Port
}

// NewStore returns the store of a database. The locker may be nil where nothing is
// loaded.
func NewStore(c *cluster.Cluster, port tables.Port, locker Locker) Store {
	return Store{FactStore{c}, ListStore{c}, RecordStore{c}, locker, port}
}

// Tables returns the small tables: the record of commits and what belongs to it.
func (s Store) Tables() tables.Port { return s.port }
