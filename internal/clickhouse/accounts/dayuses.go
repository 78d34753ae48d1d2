package accounts

import (
	"context"
	"time"

	"adlens"
	"adlens/internal/auth"
	"adlens/internal/clickhouse/cluster"
	"adlens/internal/clickhouse/conn"
)

// DayStore is how many requests were let in on a day.
type DayStore struct{ Cluster *cluster.Cluster }

// PutDayUses notes how many requests a server has let in or reserved, in place of
// what it noted at an earlier time. One server alone writes under its name.
func (d DayStore) PutDayUses(ctx context.Context, server string, uses []auth.DayUse, at time.Time) error {
	return d.Cluster.Home().Insert(ctx, "INSERT INTO day_uses (account_id, key_id, day, server, used, updated_at)", func(batch conn.Batch) error {
		for _, u := range uses {
			if err := batch.Append(u.Account, u.Key, u.Day.Time(), server, uint32(u.Used), at.UTC()); err != nil {
				return err
			}
		}
		return nil
	})
}

// DayUses reads how many requests all other servers have let in on a day. Counts that cannot
// be read are in no answer, and raise no alarm.
func (d DayStore) DayUses(ctx context.Context, server string, day adlens.Day) ([]auth.DayUse, error) {
	return conn.Collect(conn.Inspecting(ctx), d.Cluster.Home(), `
SELECT account_id, key_id, toUInt64(sum(newest))
FROM (
    SELECT account_id, key_id, server, argMax(used, updated_at) AS newest
    FROM day_uses
    WHERE day = {day:Date} AND server != {server:String}
    GROUP BY account_id, key_id, server
)
GROUP BY account_id, key_id`, conn.Params{"day": day.String(), "server": server}, func(scan conn.Scan) (auth.DayUse, error) {
		u := auth.DayUse{Day: day}
		var used uint64
		err := scan(&u.Account, &u.Key, &used)
		u.Used = int(used)
		return u, err
	})
}
