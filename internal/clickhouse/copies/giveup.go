package copies

import (
	"context"
	"fmt"
	"slices"
	"time"

	"adlens"
	"adlens/internal/clickhouse/cluster"
	"adlens/internal/clickhouse/conn"
	"adlens/internal/clickhouse/directory"
	smalltables "adlens/internal/clickhouse/tables"
	"adlens/internal/manifest"
	"adlens/internal/moves"
	"adlens/internal/query"
	"adlens/internal/tables"
	"adlens/loader"
)

// notes of the directory say that an account has loads, and how far the platform was read for
// it: of what its lost shard had, nothing counts as read.
var notes = []string{"report_requests", "refreshed", "loaded_accounts"}

// GiveUp has an account whose loads are lost begin on a shard with what that has of it, nothing
// as a rule: its shard is another server now, or not in the list any more, or has no load of it
// although it had, as where an older copy of its disk was put back, and of what was lost there
// is no backup. newest is the newest load that a move has left there, 0 for none. Where another
// shard has all of the account, it is refused, and that one named. The caller is the account's
// only writer. wait is time.Sleep, which tests replace.
func (s Sink) GiveUp(ctx context.Context, account string, to uint16, wait func(time.Duration)) (newest uint32, err error) {
	ctx = conn.Inspecting(ctx)
	from, _, err := s.cluster.Placements().Read(ctx, query.Text(account))
	if err != nil {
		return 0, err
	}
	if _, err := s.cluster.Shard(ctx, to); err != nil {
		return 0, err
	}
	left, err := s.leftLoads(ctx, account)
	if err == nil {
		err = s.requireLost(ctx, account, from, left)
	}
	if err == nil {
		newest, err = s.keepWhole(ctx, account, to, left, wait)
	}
	if err != nil {
		return 0, err
	}
	home := s.cluster.Home()
	held := func() error { return s.cluster.RequireHeld(account) }
	if err := home.Announce(conn.Directory, func() error { return home.ClearTables(ctx, notes, account, held) }); err != nil {
		return 0, err
	}
	if err := held(); err != nil {
		return 0, err
	}
	target, err := s.cluster.Shard(ctx, to)
	if err != nil {
		return 0, err
	}
	err = s.cluster.Placements().Put(ctx, account, target)
	wait(moves.Settling) // until every process has read the place again
	return newest, err
}

// leftLoads are the last loads of an account at the servers that are those that they were, 0
// where one had some and lost them. Others have none.
func (s Sink) leftLoads(ctx context.Context, account string) (map[uint16]uint32, error) {
	left := map[uint16]uint32{}
	for _, shard := range s.cluster.Shards() {
		if _, err := s.cluster.Shard(ctx, shard.Number); conn.IsRefusal(err) {
			continue
		} else if err != nil {
			return nil, err
		}
		last, err := smalltables.LastWrites(ctx, shard, account)
		if err != nil {
			return nil, err
		}
		if number, has := last[account]; has {
			left[shard.Number] = number
		}
	}
	return left, nil
}

// requireLost makes sure that the loads of an account are not where it is placed.
func (s Sink) requireLost(ctx context.Context, account string, at uint16, left map[uint16]uint32) error {
	if !slices.ContainsFunc(s.cluster.Shards(), func(shard *cluster.Shard) bool { return shard.Number == at }) {
		return nil
	}
	if _, err := s.cluster.Shard(ctx, at); err != nil {
		if conn.IsRefusal(err) {
			return nil
		}
		return err
	}
	loaded, err := directory.LoadedAccounts(ctx, s.cluster.Home(), account)
	if _, has := left[at]; err == nil && (has || len(loaded)+len(left) == 0) {
		err = fmt.Errorf("account %s is on shard %d, which is there and lost nothing that is known: nothing was changed", account, at)
	}
	return err
}

// keepWhole returns the load that a shard has of an account which is given up, 0 for none, and
// clears what is left of it elsewhere, and there where it is half. A newer load that is whole
// elsewhere is an error.
func (s Sink) keepWhole(ctx context.Context, account string, to uint16, left map[uint16]uint32, wait func(time.Duration)) (newest uint32, err error) {
	whole := map[uint16]uint32{}
	for number, last := range left {
		if last == 0 || last == manifest.Closed {
			continue
		}
		faults, err := loader.Verify(cluster.OnShard(ctx, number), s.loads, account)
		if err != nil && adlens.KindOf(err) != adlens.Damaged {
			return 0, err
		}
		if err == nil && len(faults) == 0 {
			whole[number] = last
		}
	}
	for _, shard := range s.cluster.Shards() {
		if last := whole[shard.Number]; last > whole[to] {
			return 0, fmt.Errorf("shard %d has all of account %s (commit %d): nothing was changed; adlens account move %s --shard %d --lost takes that", shard.Number, account, last, account, shard.Number)
		}
	}
	for _, shard := range s.cluster.Shards() {
		if shard.Number == to && whole[to] > 0 {
			continue
		}
		if err := s.clearUntil(ctx, shard, account, wait); err != nil {
			return 0, shard.Name(err)
		}
	}
	return whole[to], nil
}

// clearUntil deletes what a shard has of an account, each table only while the lock is held.
// Another server in its place has nothing.
func (s Sink) clearUntil(ctx context.Context, shard *cluster.Shard, account string, wait func(time.Duration)) error {
	if _, err := s.cluster.Shard(ctx, shard.Number); conn.IsRefusal(err) {
		return nil
	} else if err != nil {
		return err
	}
	held, err := shard.TablesWith(ctx, tables.OfShards(), account)
	if err != nil {
		return err
	}
	for _, table := range held {
		until, err := shard.HeldUntil(ctx, account)
		if err != nil {
			return err
		}
		if err := shard.ClearTableUntil(ctx, table, account, until); err != nil {
			wait(until.Running - until.Since) // as in a move: until it is taken no more
			return err
		}
	}
	return nil
}
