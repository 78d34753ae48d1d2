package accounts

import (
	"context"
	"encoding/hex"
	"strconv"
	"strings"
	"time"

	"adlens/internal/auth"
	"adlens/internal/clickhouse/cluster"
	"adlens/internal/clickhouse/conn"
	"adlens/internal/clickhouse/directory"
	"adlens/internal/query"
)

// lastUses reads when keys, links and connections of assistants were last used. A use of
// the future was noted by a clock that was ahead.
const lastUses = "SELECT key_id, maxIf(last_used_at, last_used_at <= now64(3)) AS used FROM api_key_uses"

// KeyStore is the keys of a database.
type KeyStore struct{ Cluster *cluster.Cluster }

// KeyByHash finds a key by the hash of its text.
func (k KeyStore) KeyByHash(ctx context.Context, hash [32]byte) (auth.Record, bool, error) {
	return readByHash(ctx, k.Cluster, keyRecords, hash)
}

// KeyByID finds a key by its id.
func (k KeyStore) KeyByID(ctx context.Context, id string) (auth.Record, bool, error) {
	return firstOf(readRecords(ctx, k.Cluster, keyRecords, "key_id = {key:String}", conn.Params{"key": query.Text(id)}))
}

// Keys reads the keys of an account, oldest first.
func (k KeyStore) Keys(ctx context.Context, account string) ([]auth.Record, error) {
	return readRecords(ctx, k.Cluster, keyRecords, "account_id = {account:String}", conn.Params{"account": query.Text(account)})
}

// LastServed lists the accounts whose keys or connections of assistants were used
// last, the most recent first.
func (k KeyStore) LastServed(ctx context.Context, most int) ([]string, error) {
	return conn.CollectValues[string](ctx, k.Cluster.Home(), `
SELECT k.account_id
FROM (SELECT DISTINCT key_id, account_id FROM api_keys UNION ALL SELECT DISTINCT app_id, account_id FROM apps) AS k
INNER JOIN (SELECT key_id, max(last_used_at) AS used FROM api_key_uses GROUP BY key_id) AS u ON u.key_id = k.key_id
GROUP BY k.account_id
ORDER BY max(u.used) DESC
LIMIT {most:UInt32}`, conn.Params{"most": strconv.Itoa(most)})
}

func firstOf[T any](all []T, err error) (first T, found bool, _ error) {
	if err != nil || len(all) == 0 {
		return first, false, err
	}
	return all[0], true, nil
}

// PutKey adds a key, or changes the one that has its hash.
func (k KeyStore) PutKey(ctx context.Context, r auth.Record) error {
	return putRecord(ctx, k.Cluster, keyRecords, r)
}

// recordTable is a table of keys or of feed links, with the columns that it alone has
// and their values in a statement.
type recordTable struct {
	name, id        string
	columns, values string
	read            string // terms for the columns that either table alone has
}

var keyRecords = recordTable{"api_keys", "key_id", "scopes, limit_minute, limit_day, successor",
	splitTexts("scopes") + ", {limit_minute:UInt32}, {limit_day:UInt32}, {successor:String}",
	"k.scopes, k.limit_minute, k.limit_day, k.successor, ''"}

// readRecords reads keys or feed links as their newest rows say, with their last use. The
// filter narrows by what never changes of one.
func readRecords(ctx context.Context, c *cluster.Cluster, t recordTable, filter string, params conn.Params) ([]auth.Record, error) {
	return conn.Collect(ctx, c.Home(), `
SELECT k.sha256, k.`+t.id+`, k.account_id, k.name, k.start, `+t.read+`, k.marketplaces, k.created_at, k.expires_at, k.revoked_at, nullIf(u.used, toDateTime64(0, 3, 'UTC'))
FROM (SELECT * FROM `+t.name+` WHERE `+filter+` ORDER BY updated_at DESC LIMIT 1 BY sha256) AS k
LEFT JOIN (`+lastUses+`
           WHERE key_id IN (SELECT `+t.id+` FROM `+t.name+` WHERE `+filter+`) GROUP BY key_id) AS u ON u.key_id = k.`+t.id+`
ORDER BY k.created_at, k.`+t.id, params, func(scan conn.Scan) (auth.Record, error) {
		var r auth.Record
		var hash string
		var minute, day uint32
		err := scan(&hash, &r.ID, &r.AccountID, &r.Name, &r.Start, &r.Scopes, &minute, &day, &r.Successor, &r.Request, &r.Marketplaces, &r.CreatedAt, &r.ExpiresAt, &r.RevokedAt, &r.LastUsedAt)
		copy(r.Hash[:], hash)
		r.Limits, r.Marketplaces = auth.Quotas{Minute: int(minute), Day: int(day)}, nilIfEmpty(r.Marketplaces)
		return r, err
	})
}

// readByHash finds a key or a feed link by the hash of its text.
func readByHash(ctx context.Context, c *cluster.Cluster, t recordTable, hash [32]byte) (auth.Record, bool, error) {
	all, err := readRecords(ctx, c, t, "sha256 = unhex({hash:String})", conn.Params{"hash": hex.EncodeToString(hash[:])})
	return directory.Found(ctx, c.Home().Server, t.name, hex.EncodeToString(hash[:]), all, err)
}

// putRecord writes a row of a key or a feed link. One that is revoked stays as it is.
func putRecord(ctx context.Context, c *cluster.Cluster, t recordTable, r auth.Record) error {
	params := conn.Params{
		"hash": hex.EncodeToString(r.Hash[:]), "id": query.Text(r.ID), "account": query.Text(r.AccountID), "name": query.Text(r.Name), "start": query.Text(r.Start),
		"marketplaces": query.Text(strings.Join(r.Marketplaces, ",")), "created": milliseconds(&r.CreatedAt), "expires": milliseconds(r.ExpiresAt), "revoked": milliseconds(r.RevokedAt),
		"scopes": query.Text(strings.Join(r.Scopes, ",")), "limit_minute": strconv.Itoa(r.Limits.Minute), "limit_day": strconv.Itoa(r.Limits.Day),
		"successor": query.Text(r.Successor), "request": query.Text(r.Request),
	}
	sql := `
INSERT INTO ` + t.name + ` (sha256, ` + t.id + `, account_id, name, start, ` + t.columns + `, marketplaces, created_at, expires_at, revoked_at, updated_at)
SELECT unhex({hash:String}), {id:String}, {account:String}, {name:String}, {start:String}, ` + t.values + `, ` + splitTexts("marketplaces") + `, fromUnixTimestamp64Milli({created:Int64}, 'UTC'),
    ` + instantOrNull("expires") + `, ` + instantOrNull("revoked") + `, ` + revisionOf(t.name, "sha256 = unhex({hash:String})", r.RevokedAt)
	return directory.Change(ctx, c.Home().Server, t.name, sql, params)
}

// revisionOf ends the statement that changes a row which can be revoked: it numbers
// the change, and leaves a row that is revoked as it is.
func revisionOf(table, row string, revokedAt *time.Time) string {
	if revokedAt != nil {
		return directory.LastRevision
	}
	return directory.NextRevision + " FROM " + table + " WHERE " + row + " HAVING countIf(revoked_at IS NOT NULL) = 0"
}

// instantOrNull reads the milliseconds of a parameter, of which 0 is none.
func instantOrNull(parameter string) string {
	return "if({" + parameter + ":Int64} = 0, NULL, fromUnixTimestamp64Milli({" + parameter + ":Int64}, 'UTC'))"
}

// nilIfEmpty returns nil for a list without a value.
func nilIfEmpty(marketplaces []string) []string {
	if len(marketplaces) == 0 {
		return nil
	}
	return marketplaces
}

// splitTexts takes the texts of a parameter apart at their commas.
func splitTexts(parameter string) string {
	return "arrayFilter(s -> s != '', splitByChar(',', {" + parameter + ":String}))"
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
	ahead, err := conn.Value[int64](ctx, home, "SELECT if(max(last_used_at) > now64(3) + INTERVAL 1 MINUTE, toUnixTimestamp64Milli(now64(3)), toInt64(0)) FROM api_key_uses", nil)
	if err != nil || ahead == 0 {
		return err
	}
	return home.Exec(ctx, "ALTER TABLE api_key_uses DELETE WHERE last_used_at > fromUnixTimestamp64Milli({now:Int64}, 'UTC')", conn.Params{"now": strconv.FormatInt(ahead, 10)})
}

// LastUse reads when a key was last used before a time, zero for never.
func (k KeyStore) LastUse(ctx context.Context, id string, before time.Time) (time.Time, error) {
	return conn.Value[time.Time](ctx, k.Cluster.Home(), `
SELECT max(last_used_at)
FROM api_key_uses
WHERE key_id = {id:String} AND last_used_at < fromUnixTimestamp64Milli({before:Int64}, 'UTC')
HAVING count() > 0`, conn.Params{"id": query.Text(id), "before": milliseconds(&before)})
}

// milliseconds writes an instant for a parameter of type Int64, 0 for none.
func milliseconds(t *time.Time) string {
	if t == nil || t.IsZero() {
		return "0"
	}
	return strconv.FormatInt(t.UnixMilli(), 10)
}
