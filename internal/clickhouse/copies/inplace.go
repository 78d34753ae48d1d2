package copies

import (
	"context"
	"fmt"
	"time"

	"adlens/internal/clickhouse/cluster"
	"adlens/internal/clickhouse/conn"
	"adlens/internal/manifest"
	"adlens/internal/query"
	"adlens/internal/tables"
)

// MakeRoom has nothing of an account answered or loaded from now on, until
// Reopen, and whatever becomes of the caller. Then it clears what a backup brings
// back, once no request can be reading it any more: wait hears how long that
// takes. The caller is the account's only writer.
func (s Sink) MakeRoom(ctx context.Context, account string, wait func(time.Duration)) error {
	shard, err := s.cluster.Holder(ctx, query.Text(account))
	lost := conn.IsRefusal(err)
	if lost { // its shard is another server now
		shard, err = s.cluster.Placements().Choose(ctx, account)
	}
	if err != nil {
		return err
	}
	age, err := s.closeAccount(ctx, shard, account)
	if err == nil && lost {
		err = s.cluster.Placements().Put(ctx, account, shard)
	}
	if err != nil {
		return err
	}
	// Notes of what is dead go first: a deletion that has read one is over when
	// rows are restored under its number.
	if err := clearForRestore(ctx, shard, "dead_generations", account); err != nil {
		return shard.Name(err)
	}
	if age < leaving {
		wait(leaving - age)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(leaving - age):
		}
	}
	if err := s.cluster.RequireHeld(account); err != nil {
		return err
	}
	left, err := shard.TablesWith(ctx, tables.OfShards(), account)
	if err != nil {
		return err
	}
	for _, table := range left {
		if d, _ := tables.Find(table); d.InPlace != tables.Merged {
			if err := clearForRestore(ctx, shard, table, account); err != nil {
				return shard.Name(err)
			}
		}
	}
	// What was read of the platform goes with what was loaded: it is fetched again.
	replaced := tables.Names(func(d tables.Description) bool {
		return d.Directory && d.Backup != tables.Never && d.InPlace == tables.Replaced
	})
	for _, table := range replaced {
		if err := clearForRestore(ctx, s.cluster.Home(), table, account); err != nil {
			return err
		}
	}
	return nil
}

// closeAccount makes sure that the record of commits says that the account is
// being restored, and returns for how long it has done so.
func (s Sink) closeAccount(ctx context.Context, shard *cluster.Shard, account string) (age time.Duration, err error) {
	params := conn.Params{"account": query.Text(account), "closed": conn.Number(uint32(manifest.Closed))}
	var rows uint64
	var seconds int64
	err = shard.ReadOnce(conn.Inspecting(ctx), "SELECT count(), dateDiff('second', min(committed_at), now64(3)) FROM commits WHERE account_id = {account:String} AND number = {closed:UInt32}",
		params, conn.ScanInto(&rows, &seconds))
	if err != nil || rows > 0 {
		return time.Duration(seconds) * time.Second, err
	}
	return 0, s.cluster.Announce(account, func() error {
		return shard.Exec(ctx, "INSERT INTO commits (account_id, number) SELECT {account:String}, {closed:UInt32}", params)
	})
}

// clearForRestore clears a table of the rows of an account that a backup brings back.
func clearForRestore(ctx context.Context, shard *cluster.Shard, table, account string) error {
	params := conn.Params{"account": query.Text(account)}
	sql := "ALTER TABLE " + table + " DELETE WHERE " + cluster.RowsOf(table)
	if table == "commits" {
		sql, params["closed"] = sql+" AND number != {closed:UInt32}", conn.Number(uint32(manifest.Closed))
	}
	if err := shard.Exec(ctx, sql, params); err != nil {
		return fmt.Errorf("clearing %s: %w", table, err)
	}
	return nil
}

// Reopen has an account answered again after MakeRoom.
func (s Sink) Reopen(ctx context.Context, account string) error {
	if err := s.cluster.RequireHeld(account); err != nil {
		return err
	}
	return s.cluster.Announce(account, func() error {
		return s.cluster.Exec(ctx, "ALTER TABLE commits DELETE WHERE account_id = {account:String} AND number = {closed:UInt32}",
			conn.Params{"account": query.Text(account), "closed": conn.Number(uint32(manifest.Closed))})
	})
}
