package clickhouse

import (
	"context"
	"strconv"
	"strings"
	"time"

	"adlens/internal/auth"
	"adlens/internal/query"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// newestKeys reads keys as their newest rows say, with their last use. The
// filter narrows by what never changes of a key.
func newestKeys(filter string) string {
	return `
SELECT k.sha256, k.key_id, k.account_id, k.name, k.start, k.scopes, k.created_at, k.expires_at, k.revoked_at, nullIf(u.used, toDateTime64(0, 3, 'UTC'))
FROM (SELECT * FROM api_keys WHERE ` + filter + ` ORDER BY updated_at DESC LIMIT 1 BY sha256) AS k
LEFT JOIN (SELECT key_id, max(last_used_at) AS used FROM api_key_uses
           WHERE key_id IN (SELECT key_id FROM api_keys WHERE ` + filter + `) GROUP BY key_id) AS u ON u.key_id = k.key_id
ORDER BY k.created_at, k.key_id`
}

func (db *DB) keys(ctx context.Context, filter string, params Params) ([]auth.Record, error) {
	return collect(ctx, db.home, newestKeys(filter), params, func(scan func(...any) error) (auth.Record, error) {
		var r auth.Record
		var hash string
		err := scan(&hash, &r.ID, &r.AccountID, &r.Name, &r.Start, &r.Scopes, &r.CreatedAt, &r.ExpiresAt, &r.RevokedAt, &r.LastUsedAt)
		copy(r.Hash[:], hash)
		return r, err
	})
}

// KeyByHash finds a key by the hash of its text.
func (db *DB) KeyByHash(ctx context.Context, hash [32]byte) (auth.Record, bool, error) {
	all, err := db.keys(ctx, "sha256 = unhex({hash:String})", Params{"hash": hexText(hash[:])})
	return found(ctx, db.home, "api_keys", hexText(hash[:]), all, err)
}

// KeyByID finds a key by its id.
func (db *DB) KeyByID(ctx context.Context, id string) (auth.Record, bool, error) {
	return first(db.keys(ctx, "key_id = {key:String}", Params{"key": query.Text(id)}))
}

// Keys reads the keys of an account, oldest first.
func (db *DB) Keys(ctx context.Context, account string) ([]auth.Record, error) {
	return db.keys(ctx, "account_id = {account:String}", Params{"account": query.Text(account)})
}

// LastServed lists the accounts whose keys were used last, the most recent
// first.
func (db *DB) LastServed(ctx context.Context, most int) ([]string, error) {
	return collect(ctx, db.home, `
SELECT k.account_id
FROM (SELECT DISTINCT key_id, account_id FROM api_keys) AS k
INNER JOIN (SELECT key_id, max(last_used_at) AS used FROM api_key_uses GROUP BY key_id) AS u ON u.key_id = k.key_id
GROUP BY k.account_id
ORDER BY max(u.used) DESC
LIMIT {most:UInt32}`, Params{"most": strconv.Itoa(most)}, func(scan func(...any) error) (account string, err error) {
		err = scan(&account)
		return account, err
	})
}

func first[T any](all []T, err error) (T, bool, error) {
	var none T
	if err != nil || len(all) == 0 {
		return none, false, err
	}
	return all[0], true, nil
}

// PutKey adds a key, or changes the one that has its hash.
func (db *DB) PutKey(ctx context.Context, r auth.Record) error {
	return db.putRecord(ctx, "api_keys", "key_id", "scopes", "arrayFilter(s -> s != '', splitByChar(',', {own:String}))", query.Text(strings.Join(r.Scopes, ",")), r)
}

// putRecord writes a row of a key or a feed link, with the column that only its
// table has. One that is revoked stays as it is.
func (db *DB) putRecord(ctx context.Context, table, id, own, ownValue, ownText string, r auth.Record) error {
	revision := nextRevision + " FROM " + table + " WHERE sha256 = unhex({hash:String}) HAVING countIf(revoked_at IS NOT NULL) = 0"
	if r.RevokedAt != nil {
		revision = lastRevision
	}
	return db.home.change(ctx, table, `
INSERT INTO `+table+` (sha256, `+id+`, account_id, name, start, `+own+`, created_at, expires_at, revoked_at, updated_at)
SELECT unhex({hash:String}), {id:String}, {account:String}, {name:String}, {start:String}, `+ownValue+`, fromUnixTimestamp64Milli({created:Int64}, 'UTC'),
    if({expires:Int64} = 0, NULL, fromUnixTimestamp64Milli({expires:Int64}, 'UTC')), if({revoked:Int64} = 0, NULL, fromUnixTimestamp64Milli({revoked:Int64}, 'UTC')), `+revision,
		Params{"hash": hexText(r.Hash[:]), "id": query.Text(r.ID), "account": query.Text(r.AccountID), "name": query.Text(r.Name), "start": query.Text(r.Start), "own": ownText,
			"created": milliseconds(&r.CreatedAt), "expires": milliseconds(r.ExpiresAt), "revoked": milliseconds(r.RevokedAt)})
}

// PutKeyUses notes the last uses of keys.
func (db *DB) PutKeyUses(ctx context.Context, uses map[string]time.Time) error {
	return db.home.insert(ctx, "INSERT INTO api_key_uses (key_id, last_used_at)", func(batch driver.Batch) error {
		for id, at := range uses {
			if err := batch.Append(id, at.UTC()); err != nil {
				return err
			}
		}
		return nil
	})
}
