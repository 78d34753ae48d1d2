package accounts

import (
	"context"
	"strconv"
	"time"

	"adlens"
	"adlens/internal/clickhouse/cluster"
	"adlens/internal/clickhouse/conn"
	"adlens/internal/query"
)

// LastServed lists the accounts whose keys or connections of assistants were used
// last, the most recent first.
func (k KeyStore) LastServed(ctx context.Context, most int) ([]string, error) {
	return unlessUnreadable(conn.CollectValues[string](conn.Inspecting(ctx), k.Cluster.Home(), `
SELECT k.account_id
FROM (SELECT DISTINCT key_id, account_id FROM api_keys UNION ALL SELECT DISTINCT app_id, account_id FROM apps) AS k
INNER JOIN (SELECT key_id, max(last_used_at) AS used FROM api_key_uses GROUP BY key_id) AS u ON u.key_id = k.key_id
GROUP BY k.account_id
ORDER BY max(u.used) DESC
LIMIT {most:UInt32}`, conn.Params{"most": strconv.Itoa(most)}))
}

// lastUses reads when keys, links or connections of assistants were last used, by their
// ids. A use of the future was noted by a clock that was ahead.
func lastUses(ctx context.Context, c *cluster.Cluster, ids string, params conn.Params) (map[string]*time.Time, error) {
	return unlessUnreadable(conn.CollectMap[string, *time.Time](conn.Inspecting(ctx), c.Home(), `
SELECT key_id, maxOrNull(last_used_at)
FROM api_key_uses
WHERE key_id IN (`+ids+`) AND last_used_at <= now64(3)
GROUP BY key_id`, params))
}

// unlessUnreadable returns nothing where last uses cannot be read: no answer but they depends
// on them. They are read as an inspection reads, which raises no alarm.
func unlessUnreadable[T any](read T, err error) (T, error) {
	if adlens.KindOf(err) == adlens.Damaged {
		var none T
		return none, nil
	}
	return read, err
}

// PutKeyUses notes the last uses of keys, feed links and connections of assistants.
func (k KeyStore) PutKeyUses(ctx context.Context, uses map[string]time.Time) error {
	if err := k.deleteFutureUses(ctx); err != nil {
		return err
	}
	return k.Cluster.Home().Insert(ctx, "INSERT INTO api_key_uses (key_id, last_used_at)", func(batch conn.Batch) error {
		for id, at := range uses {
			if err := batch.Append(id, at.UTC()); err != nil {
				return err
			}
		}
		return nil
	})
}

// deleteFutureUses deletes what a clock noted that was ahead: the table keeps the latest use
// of each key, and no later one would be kept before that time.
func (k KeyStore) deleteFutureUses(ctx context.Context) error {
	home := k.Cluster.Home()
	ahead, err := unlessUnreadable(conn.Value[int64](conn.Inspecting(ctx), home, "SELECT if(max(last_used_at) > now64(3) + INTERVAL 1 MINUTE, toUnixTimestamp64Milli(now64(3)), toInt64(0)) FROM api_key_uses", nil))
	if err != nil || ahead == 0 {
		return err
	}
	return home.Exec(ctx, "ALTER TABLE api_key_uses DELETE WHERE last_used_at > fromUnixTimestamp64Milli({now:Int64}, 'UTC')", conn.Params{"now": strconv.FormatInt(ahead, 10)})
}

// LastUse reads when a key was last used before a time, zero for never.
func (k KeyStore) LastUse(ctx context.Context, id string, before time.Time) (time.Time, error) {
	return unlessUnreadable(conn.Value[time.Time](conn.Inspecting(ctx), k.Cluster.Home(), `
SELECT max(last_used_at)
FROM api_key_uses
WHERE key_id = {id:String} AND last_used_at < fromUnixTimestamp64Milli({before:Int64}, 'UTC')
HAVING count() > 0`, conn.Params{"id": query.Text(id), "before": milliseconds(&before)}))
}
