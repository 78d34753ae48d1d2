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

// KeyStore is the keys of a database.
type KeyStore struct{ Cluster *cluster.Cluster }

// KeyByHash finds a key by the hash of its text.
func (k KeyStore) KeyByHash(ctx context.Context, hash [32]byte) (auth.Record, bool, error) {
	return readByHash(ctx, k.Cluster, keyRecords, hash)
}

// KeyByID finds a key by its id.
func (k KeyStore) KeyByID(ctx context.Context, id string) (auth.Record, bool, error) {
	return firstOf(readUsedRecords(ctx, k.Cluster, keyRecords, "key_id = {key:String}", conn.Params{"key": query.Text(id)}))
}

// Keys reads the keys of an account, oldest first.
func (k KeyStore) Keys(ctx context.Context, account string) ([]auth.Record, error) {
	return readUsedRecords(ctx, k.Cluster, keyRecords, "account_id = {account:String}", conn.Params{"account": query.Text(account)})
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

// readUsedRecords is readRecords with the last uses.
func readUsedRecords(ctx context.Context, c *cluster.Cluster, t recordTable, filter string, params conn.Params) ([]auth.Record, error) {
	all, err := readRecords(ctx, c, t, filter, params)
	if err != nil || len(all) == 0 {
		return all, err
	}
	used, err := lastUses(ctx, c, "SELECT "+t.id+" FROM "+t.name+" WHERE "+filter, params)
	for i, r := range all {
		all[i].LastUsedAt = used[r.ID]
	}
	return all, err
}

// readRecords reads keys or feed links as their newest rows say. The filter narrows by what
// never changes of one.
func readRecords(ctx context.Context, c *cluster.Cluster, t recordTable, filter string, params conn.Params) ([]auth.Record, error) {
	return conn.Collect(ctx, c.Home(), `
SELECT k.sha256, k.`+t.id+`, k.account_id, k.name, k.start, `+t.read+`, k.marketplaces, k.created_at, k.expires_at, k.revoked_at
FROM (SELECT * FROM `+t.name+` WHERE `+filter+` ORDER BY updated_at DESC LIMIT 1 BY sha256) AS k
ORDER BY k.created_at, k.`+t.id, params, func(scan conn.Scan) (auth.Record, error) {
		var r auth.Record
		var hash string
		var minute, day uint32
		err := scan(&hash, &r.ID, &r.AccountID, &r.Name, &r.Start, &r.Scopes, &minute, &day, &r.Successor, &r.Request, &r.Marketplaces, &r.CreatedAt, &r.ExpiresAt, &r.RevokedAt)
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

// milliseconds writes an instant for a parameter of type Int64, 0 for none.
func milliseconds(t *time.Time) string {
	if t == nil || t.IsZero() {
		return "0"
	}
	return strconv.FormatInt(t.UnixMilli(), 10)
}
