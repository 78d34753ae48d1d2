package copies

import (
	"context"
	"fmt"
	"time"

	"adlens/internal/clickhouse/conn"
	smalltables "adlens/internal/clickhouse/tables"
	"adlens/internal/moves"
	"adlens/internal/query"
	"adlens/internal/tables"
)

// notes of the directory say that an account has loads, and how far the platform was read for
// it: of what its lost shard had, nothing counts as read.
var notes = []string{"report_requests", "refreshed", "loaded_accounts"}

// GiveUp has an account whose shard is another server now begin on a shard with what that has
// of it, nothing as a rule: of what was lost there is no backup. newest is the newest load
// that a move has left there, 0 for none. The caller is the account's only writer.
func (s Sink) GiveUp(ctx context.Context, account string, to uint16) (newest uint32, err error) {
	id := query.Text(account)
	from, _, err := s.cluster.Placements().Read(conn.Inspecting(ctx), id)
	if err != nil {
		return 0, err
	}
	if _, err := s.cluster.Shard(ctx, from); !conn.IsRefusal(err) {
		if err == nil {
			err = fmt.Errorf("account %s is on shard %d, which is there: nothing was changed", account, from)
		}
		return 0, err
	}
	target, err := s.cluster.Shard(ctx, to)
	if err != nil {
		return 0, err
	}
	held := func() error { return s.cluster.RequireHeld(account) }
	newest, err = smalltables.NewestCommit(ctx, target, account)
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
	time.Sleep(moves.Settling) // until every process has read the place again
	return newest, err
}
