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
	"adlens/internal/moves"
	"adlens/internal/query"
	"adlens/internal/tables"
	"adlens/loader"
)

// notes of the directory say that an account has loads, and how far the platform was read for
// it: of what its lost shard had, nothing counts as read.
var notes = []string{"report_requests", "refreshed", "loaded_accounts"}

// GiveUp has an account whose loads are lost begin on a shard with what that has of it, nothing
// as a rule: its shard is another server now, or not in the list any more, or was put back as
// it was before all its loads, and of what was lost there is no backup. newest is the newest
// load that a move has left there, 0 for none. The caller is the account's only writer. wait is
// time.Sleep, which tests replace.
func (s Sink) GiveUp(ctx context.Context, account string, to uint16, wait func(time.Duration)) (newest uint32, err error) {
	ctx = conn.Inspecting(ctx)
	from, _, err := s.cluster.Placements().Read(ctx, query.Text(account))
	if err == nil {
		err = s.requireLost(ctx, account, from)
	}
	if err != nil {
		return 0, err
	}
	target, err := s.cluster.Shard(ctx, to)
	if err != nil {
		return 0, err
	}
	held := func() error { return s.cluster.RequireHeld(account) }
	newest, err = smalltables.NewestCommit(ctx, target, account)
	if err == nil && newest > 0 {
		var faults []string
		faults, err = loader.Verify(cluster.OnShard(ctx, to), s.loads, account)
		if adlens.KindOf(err) == adlens.Damaged || err == nil && len(faults) > 0 {
			newest, err = 0, nil
		}
	}
	if err == nil && newest == 0 { // half a move
		err = target.ClearTables(ctx, tables.OfShards(), account, held)
	}
	if err != nil {
		return 0, target.Name(err)
	}
	home := s.cluster.Home()
	if err := home.Announce(conn.Directory, func() error { return home.ClearTables(ctx, notes, account, held) }); err != nil {
		return 0, err
	}
	if err := held(); err != nil {
		return 0, err
	}
	err = s.cluster.Placements().Put(ctx, account, target)
	wait(moves.Settling) // until every process has read the place again
	return newest, err
}

// requireLost makes sure that the loads of an account are not where it is placed.
func (s Sink) requireLost(ctx context.Context, account string, at uint16) error {
	if !slices.ContainsFunc(s.cluster.Shards(), func(shard *cluster.Shard) bool { return shard.Number == at }) {
		return nil
	}
	shard, err := s.cluster.Shard(ctx, at)
	if err != nil {
		if conn.IsRefusal(err) {
			return nil
		}
		return err
	}
	last, err := smalltables.LastWrites(ctx, shard, account)
	if err != nil {
		return err
	}
	loaded, err := directory.LoadedAccounts(ctx, s.cluster.Home(), account)
	if _, has := last[account]; err == nil && (has || len(loaded) == 0) {
		err = fmt.Errorf("account %s is on shard %d, which is there and lost nothing that is known: nothing was changed", account, at)
	}
	return err
}
