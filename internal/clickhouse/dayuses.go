package clickhouse

import (
	"context"
	"time"

	"adlens"
	"adlens/internal/auth"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// PutDayUses notes how many requests a server has let in or reserved, in place of
// what it noted at an earlier time. One server alone writes under its name.
func (db *DB) PutDayUses(ctx context.Context, server string, uses []auth.DayUse, at time.Time) error {
	return db.home.insert(ctx, "INSERT INTO day_uses (account_id, day, server, used, updated_at)", func(batch driver.Batch) error {
		for _, u := range uses {
			if err := batch.Append(u.Account, u.Day.Time(), server, uint32(u.Used), at.UTC()); err != nil {
				return err
			}
		}
		return nil
	})
}

// DayUses reads how many requests all other servers have let in on a day.
func (db *DB) DayUses(ctx context.Context, server string, day adlens.Day) ([]auth.DayUse, error) {
	return collect(ctx, db.home, `
SELECT account_id, toUInt64(sum(newest))
FROM (
    SELECT account_id, server, argMax(used, updated_at) AS newest
    FROM day_uses
    WHERE day = {day:Date} AND server != {server:String}
    GROUP BY account_id, server
)
GROUP BY account_id`, Params{"day": day.String(), "server": server}, func(scan func(...any) error) (auth.DayUse, error) {
		u := auth.DayUse{Day: day}
		var used uint64
		err := scan(&u.Account, &used)
		u.Used = int(used)
		return u, err
	})
}
