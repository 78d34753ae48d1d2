package accounts

import (
	"context"

	"adlens/internal/auth"
	"adlens/internal/clickhouse/cluster"
	"adlens/internal/clickhouse/conn"
	"adlens/internal/query"
)

// FeedStore is the feed and share links of a database, which auth finds as it finds
// keys.
type FeedStore struct{ Cluster *cluster.Cluster }

// KeyByHash finds a link by the hash of its token.
func (f FeedStore) KeyByHash(ctx context.Context, hash [32]byte) (auth.Record, bool, error) {
	return readByHash(ctx, f.Cluster, feedRecords, hash)
}

// FeedByID finds a link by its id.
func (f FeedStore) FeedByID(ctx context.Context, id string) (auth.Record, bool, error) {
	return firstOf(readUsedRecords(ctx, f.Cluster, feedRecords, "feed_id = {feed:String}", conn.Params{"feed": query.Text(id)}))
}

// Feeds reads the links of an account, of all kinds, oldest first.
func (f FeedStore) Feeds(ctx context.Context, account string) ([]auth.Record, error) {
	return readUsedRecords(ctx, f.Cluster, feedRecords, "account_id = {account:String}", conn.Params{"account": query.Text(account)})
}

// feedRecords have one scope and no limits of their own.
var feedRecords = recordTable{"feeds", "feed_id", "request", "{request:String}",
	"['" + auth.ScopeRead + "'], toUInt32(0), toUInt32(0), '', k.request"}

// PutFeed adds a link, or changes the one that has its hash.
func (f FeedStore) PutFeed(ctx context.Context, r auth.Record) error {
	return putRecord(ctx, f.Cluster, feedRecords, r)
}
