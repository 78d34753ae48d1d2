package audit

import (
	"context"
	"slices"

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

// Shard is what one shard of a cluster has.
type Shard struct {
	Number   uint16
	Address  string // host:port of each replica
	Accounts int
	Rows     uint64 // of facts on the disk, dead ones included
	Bytes    uint64 // of all tables on the disk
}

// Shards reads what each shard has, the first one first. A database without
// shards has none.
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
	return cluster.Gather(ctx, a.cluster, func(s *cluster.Shard) (Shard, error) {
		one := Shard{Number: s.Number, Address: s.Address(), Accounts: counts[s.Number]}
		err := s.ReadAsOwner(ctx, "SELECT sumIf(rows, table = 'facts'), sum(bytes_on_disk) FROM system.parts WHERE database = currentDatabase() AND active", nil,
			conn.ScanInto(&one.Rows, &one.Bytes))
		return one, err
	})
}
