package audit

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"adlens/internal/clickhouse/cluster"
	"adlens/internal/clickhouse/conn"
	"adlens/internal/clickhouse/schema"
	"adlens/internal/query"
)

// TableSize is what a table takes on the disk.
type TableSize struct {
	Rows, Bytes uint64 // of the parts that are read
	Replaced    uint64 // bytes of parts that were merged or deleted and are not removed yet
}

// TableSizes reads how large our tables are.
func (a Audit) TableSizes(ctx context.Context) (map[string]TableSize, error) {
	type sizes = map[string]TableSize
	shards, err := cluster.Gather(ctx, a.cluster, func(s *cluster.Shard) (sizes, error) {
		one := sizes{}
		err := s.ReadAsOwner(ctx, `
SELECT table, sumIf(rows, active), sumIf(bytes_on_disk, active), sumIf(bytes_on_disk, NOT active)
FROM system.parts
WHERE database = currentDatabase()
GROUP BY table`, nil, conn.EachRow(func(scan conn.Scan) error {
			var name string
			var of TableSize
			err := scan(&name, &of.Rows, &of.Bytes, &of.Replaced)
			one[name] = of
			return err
		}))
		return one, err
	})
	all := sizes{}
	for _, one := range shards {
		for name, of := range one {
			all[name] = TableSize{all[name].Rows + of.Rows, all[name].Bytes + of.Bytes, all[name].Replaced + of.Replaced}
		}
	}
	return all, err
}

// StuckDeletions reads which tables have a deletion that failed and is tried again, and
// why: all later ones of the table wait for it.
func (a Audit) StuckDeletions(ctx context.Context) ([]string, error) {
	all, err := cluster.Gather(ctx, a.cluster, func(s *cluster.Shard) ([]string, error) {
		return s.ReadTexts(ctx, `
SELECT concat(table, ' (', any(latest_fail_reason), ')')
FROM system.mutations
WHERE database = currentDatabase() AND NOT is_done AND latest_fail_reason != ''
GROUP BY table
ORDER BY table`)
	})
	return slices.Concat(all...), err
}

// Schema reads how far the schema is; of several servers, that of the one that
// is least far.
func (a Audit) Schema(ctx context.Context) (schema.State, error) {
	states, err := cluster.Gather(ctx, a.cluster, func(s *cluster.Shard) (schema.State, error) { return schema.ReadState(ctx, s.Server) })
	if err != nil {
		return schema.State{}, err
	}
	return schema.Least(states), nil
}

// Applied returns how far the schema of the server with the directory is.
func (a Audit) Applied(ctx context.Context) (uint32, error) {
	state, err := schema.ReadState(ctx, a.cluster.Home().Server)
	return state.Applied, err
}

// MissingRights returns what the user may not do, at one server or another, of
// what adlens does.
func (a Audit) MissingRights(ctx context.Context, database string) ([]string, error) {
	all, err := cluster.Gather(ctx, a.cluster, func(s *cluster.Shard) ([]string, error) { return schema.MissingRights(ctx, s.Server, database) })
	return schema.SortRights(all), err
}

// TryReader runs a statement at each server as a request does, with its deadline: a server may
// let the reader set none, or a shorter one.
func (a Audit) TryReader(ctx context.Context, deadline time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, deadline)
	defer cancel()
	return a.cluster.Everywhere(ctx, func(s *cluster.Shard) error { return s.Ping(ctx) })
}

// Shard is what one shard of a cluster has.
type Shard struct {
	Number   uint16
	Address  string // host:port of each replica
	Accounts int
	Held     *Held // nil where it cannot be asked
}

// Held is what a shard has on its disk.
type Held struct {
	Rows  uint64 // of facts, dead ones included
	Bytes uint64 // of all tables
}

// Shards reads what each shard has, the first one first. A database without
// shards has none. Where one cannot be asked, the error is its own, and the others are there.
func (a Audit) Shards(ctx context.Context) ([]Shard, error) {
	if !a.cluster.IsSharded() {
		return nil, nil
	}
	accounts, err := conn.CollectValues[string](ctx, a.cluster.Home(), "SELECT DISTINCT account_id FROM accounts", nil)
	if err != nil {
		return nil, err
	}
	counts := map[uint16]int{}
	for _, account := range accounts {
		place, _, err := a.cluster.Placements().Read(ctx, query.Text(account))
		if err != nil {
			return nil, err
		}
		counts[place]++
	}
	held, errs := cluster.GatherEach(ctx, a.cluster, func(s *cluster.Shard) (*Held, error) {
		var one Held
		err := s.ReadAsOwner(ctx, "SELECT sumIf(rows, table = 'facts'), sum(bytes_on_disk) FROM system.parts WHERE database = currentDatabase() AND active", nil,
			conn.ScanInto(&one.Rows, &one.Bytes))
		return &one, err
	})
	all := make([]Shard, len(held))
	for i, s := range a.cluster.Shards() {
		all[i] = Shard{Number: s.Number, Address: s.Address(), Accounts: counts[s.Number], Held: held[i]}
		if errs[i] != nil {
			all[i].Held = nil
		}
	}
	return all, cmp.Or(errs...)
}

// Replica is one of the servers of a shard that has several.
type Replica struct {
	Shard   uint16
	Address string // host:port
	Schema  schema.State
	Err     error // why it cannot be asked; nil where it answers
}

// IsReady reports whether a replica answers and has all tables.
func (r Replica) IsReady() bool { return r.Err == nil && r.Schema.Applied >= r.Schema.Newest }

// Replicas asks each replica of each shard how far it is, all at once; none where shards have
// one server each.
func (a Audit) Replicas(ctx context.Context) (all []Replica) {
	var servers []*conn.Server
	for _, s := range a.cluster.Shards() {
		for _, server := range s.Replicas() {
			servers, all = append(servers, server), append(all, Replica{Shard: s.Number, Address: server.Address()})
		}
	}
	var asking sync.WaitGroup
	for i, server := range servers {
		asking.Go(func() {
			state, err := schema.ReadState(ctx, server)
			all[i].Schema, all[i].Err = state, errors.Join(err, server.Close())
		})
	}
	asking.Wait()
	return all
}
