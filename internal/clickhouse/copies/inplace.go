package copies

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"adlens/internal/backup"
	"adlens/internal/clickhouse/cluster"
	"adlens/internal/clickhouse/conn"
	"adlens/internal/commits"
	"adlens/internal/manifest"
	"adlens/internal/query"
)

// MakeRoom closes an account and clears it where it is, or, if its shard was lost,
// where it is going to be. Parts that cannot be read are set aside before, where they
// have rows of no other account; else nothing is done. The caller is the account's only
// writer.
func (s Sink) MakeRoom(ctx context.Context, account string, wait func(time.Duration)) (backup.Room, error) {
	shard, err := s.cluster.Holder(ctx, query.Text(account))
	lost := conn.IsRefusal(err)
	if lost { // its shard is another server now
		shard, err = s.cluster.Placements().Choose(ctx, account)
	}
	if err != nil {
		return nil, err
	}
	there := conn.Inspecting(cluster.OnShard(ctx, shard.Number))
	if _, err := s.findUnreadable(there, account); err != nil {
		return nil, fmt.Errorf("%w; nothing was changed", err)
	}
	room, err := commits.Close(there, s.port, account, rand.Uint64())
	if err != nil {
		return nil, err
	}
	if lost {
		if err := s.cluster.Placements().Put(ctx, account, shard); err != nil {
			return nil, err
		}
	}
	wait(commits.Leaving)
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-time.After(commits.Leaving):
	}
	if err := s.cluster.RequireHeld(account); err != nil {
		return nil, err
	}
	unreadable, err := s.findUnreadable(there, account) // nothing of the account was cleared yet
	switch {
	case err != nil && lost: // its new shard has nothing of it, which an open account would be answered from
		return nil, fmt.Errorf("%w; the account is on %s now, and stays closed until it is restored", err, shard.Describe())
	case err != nil:
		return nil, errors.Join(err, room.Withdraw(there))
	}
	for _, p := range unreadable {
		if err := p.setAside(there); err != nil {
			return nil, err
		}
	}
	return room, room.Clear(there)
}

// LoadedSince reads the ledger, which names no days: those are of the live units that name the
// reports.
func (s Sink) LoadedSince(ctx context.Context, account string, at time.Time) (loads backup.Loads, err error) {
	ctx = conn.Inspecting(ctx)
	reports := map[string]bool{}
	err = s.cluster.Export(ctx, `
SELECT report_id, any(file)
FROM ledger
WHERE account_id = {account:String} AND loaded_at > fromUnixTimestamp64Milli({at:Int64}, 'UTC')
GROUP BY report_id
ORDER BY min(loaded_at), report_id`, conn.Params{"account": query.Text(account), "at": strconv.FormatInt(at.UnixMilli(), 10)}, func(scan conn.Scan) error {
		var id, file string
		err := scan(&id, &file)
		reports[id], loads.Files = true, append(loads.Files, file)
		return err
	})
	if err != nil {
		return loads, err
	}
	state, err := commits.Read(ctx, s.port, account)
	if err != nil { // the record is damaged
		return loads, nil
	}
	months := slices.Clone(state.Manifest.Of(manifest.Month))
	for i, m := range months {
		months[i].Sources = slices.DeleteFunc(slices.Clone(m.Sources), func(s manifest.Source) bool { return !reports[s.ReportID] })
	}
	if first, last, ok := manifest.New(0, months...).HeldDays(manifest.Any); ok {
		loads.Days = manifest.Run{First: first, Last: last}.String()
	}
	return loads, nil
}
