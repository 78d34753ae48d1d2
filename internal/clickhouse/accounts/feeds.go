package accounts

import (
	"context"
	"encoding/hex"

	"adlens/internal/auth"
	"adlens/internal/clickhouse/cluster"
	"adlens/internal/clickhouse/conn"
	"adlens/internal/clickhouse/directory"
	"adlens/internal/query"
)

// FeedStore is the feed and share links of a database, which auth finds as it finds
// keys.
type FeedStore struct{ Cluster *cluster.Cluster }

// KeyByHash finds a link by the hash of its token.
func (f FeedStore) KeyByHash(ctx context.Context, hash [32]byte) (auth.Record, bool, error) {
	all, err := f.readFeeds(ctx, "sha256 = unhex({hash:String})", conn.Params{"hash": hex.EncodeToString(hash[:])})
	return directory.Found(ctx, f.Cluster.Home().Server, "feeds", hex.EncodeToString(hash[:]), all, err)
}

// FeedByID finds a link by its id.
func (f FeedStore) FeedByID(ctx context.Context, id string) (auth.Record, bool, error) {
	return firstOf(f.readFeeds(ctx, "feed_id = {feed:String}", conn.Params{"feed": query.Text(id)}))
}

// Feeds reads the links of an account, of all kinds, oldest first.
func (f FeedStore) Feeds(ctx context.Context, account string) ([]auth.Record, error) {
	return f.readFeeds(ctx, "account_id = {account:String}", conn.Params{"account": query.Text(account)})
}

func (f FeedStore) readFeeds(ctx context.Context, filter string, params conn.Params) ([]auth.Record, error) {
	return conn.Collect(ctx, f.Cluster.Home(), `
SELECT f.sha256, f.feed_id, f.account_id, f.name, f.start, f.request, f.marketplaces, f.created_at, f.expires_at, f.revoked_at, nullIf(u.used, toDateTime64(0, 3, 'UTC'))
FROM (SELECT * FROM feeds WHERE `+filter+` ORDER BY updated_at DESC LIMIT 1 BY sha256) AS f
LEFT JOIN (`+lastUses+`
           WHERE key_id IN (SELECT feed_id FROM feeds WHERE `+filter+`) GROUP BY key_id) AS u ON u.key_id = f.feed_id
ORDER BY f.created_at, f.feed_id`, params, func(scan conn.Scan) (auth.Record, error) {
		r := auth.Record{Scopes: []string{auth.ScopeRead}}
		var hash string
		err := scan(&hash, &r.ID, &r.AccountID, &r.Name, &r.Start, &r.Request, &r.Marketplaces, &r.CreatedAt, &r.ExpiresAt, &r.RevokedAt, &r.LastUsedAt)
		copy(r.Hash[:], hash)
		r.Marketplaces = nilIfEmpty(r.Marketplaces)
		return r, err
	})
}

var feedRecords = recordTable{"feeds", "feed_id", "request", "{request:String}"}

// PutFeed adds a link, or changes the one that has its hash.
func (f FeedStore) PutFeed(ctx context.Context, r auth.Record) error {
	return putRecord(ctx, f.Cluster, feedRecords, r)
}
