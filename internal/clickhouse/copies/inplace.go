package copies

import (
	"context"
	"time"

	"adlens/internal/clickhouse/cluster"
	"adlens/internal/clickhouse/conn"
	"adlens/internal/commits"
	"adlens/internal/query"
)

// MakeRoom closes an account and clears it where it is, or, if its shard was lost,
// where it is going to be. The caller is the account's only writer.
func (s Sink) MakeRoom(ctx context.Context, account string, wait func(time.Duration)) error {
	shard, err := s.cluster.Holder(ctx, query.Text(account))
	lost := conn.IsRefusal(err)
	if lost { // its shard is another server now
		shard, err = s.cluster.Placements().Choose(ctx, account)
	}
	if err != nil {
		return err
	}
	there := conn.Inspecting(cluster.OnShard(ctx, shard.Number))
	if err := commits.Close(there, s.port, account); err != nil {
		return err
	}
	if lost {
		if err := s.cluster.Placements().Put(ctx, account, shard); err != nil {
			return err
		}
	}
	wait(commits.Leaving)
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(commits.Leaving):
	}
	if err := s.cluster.RequireHeld(account); err != nil {
		return err
	}
	return commits.ClearClosed(there, s.port, account)
}

// Reopen has an account answered again after MakeRoom.
func (s Sink) Reopen(ctx context.Context, account string) error { return s.port.Reopen(ctx, account) }
