package clickhouse

import (
	"context"

	"adlens/internal/auth"
	"adlens/internal/query"
)

// Feeds finds feed links as auth looks for keys.
type Feeds struct{ *DB }

// KeyByHash finds a feed link by the hash of its token.
func (f Feeds) KeyByHash(ctx context.Context, hash [32]byte) (auth.Record, bool, error) {
	all, err := f.feeds(ctx, "sha256 = unhex({hash:String})", Params{"hash": hexText(hash[:])})
	return found(ctx, f.home, "feeds", hexText(hash[:]), all, err)
}

// FeedByID finds a feed link by its id.
func (db *DB) FeedByID(ctx context.Context, id string) (auth.Record, bool, error) {
	return first(db.feeds(ctx, "feed_id = {feed:String}", Params{"feed": query.Text(id)}))
}

// Feeds reads the feed links of an account, oldest first.
func (db *DB) Feeds(ctx context.Context, account string) ([]auth.Record, error) {
	return db.feeds(ctx, "account_id = {account:String}", Params{"account": query.Text(account)})
}

func (db *DB) feeds(ctx context.Context, filter string, params Params) ([]auth.Record, error) {
	return collect(ctx, db.home, `
SELECT f.sha256, f.feed_id, f.account_id, f.name, f.start, f.request, f.created_at, f.expires_at, f.revoked_at, nullIf(u.used, toDateTime64(0, 3, 'UTC'))
FROM (SELECT * FROM feeds WHERE `+filter+` ORDER BY updated_at DESC LIMIT 1 BY sha256) AS f
LEFT JOIN (SELECT key_id, max(last_used_at) AS used FROM api_key_uses
           WHERE key_id IN (SELECT feed_id FROM feeds WHERE `+filter+`) GROUP BY key_id) AS u ON u.key_id = f.feed_id
ORDER BY f.created_at, f.feed_id`, params, func(scan func(...any) error) (auth.Record, error) {
		r := auth.Record{Scopes: []string{auth.ScopeRead}}
		var hash string
		err := scan(&hash, &r.ID, &r.AccountID, &r.Name, &r.Start, &r.Request, &r.CreatedAt, &r.ExpiresAt, &r.RevokedAt, &r.LastUsedAt)
		copy(r.Hash[:], hash)
		return r, err
	})
}

// PutFeed adds a feed link, or changes the one that has its hash.
func (db *DB) PutFeed(ctx context.Context, r auth.Record) error {
	return db.putRecord(ctx, "feeds", "feed_id", "request", "{own:String}", query.Text(r.Request), r)
}
