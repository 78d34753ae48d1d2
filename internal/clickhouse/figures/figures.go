// Package figures runs the statements of reports and lists, and remembers what is
// visible of each account.
package figures

import (
	"context"
	"time"

	"adlens"
	"adlens/internal/clickhouse/cluster"
	"adlens/internal/clickhouse/conn"
	"adlens/internal/exact"
	"adlens/internal/manifest"
	"adlens/internal/query"
	"adlens/internal/recent"
	"adlens/loader"
)

var (
	_ query.Store     = (*Store)(nil)
	_ query.UnitStore = (*Store)(nil)
)

// Account reads what is visible of an account, and the lists by which figures are
// named.
type Account interface {
	Manifest(ctx context.Context, account string) (manifest.Manifest, error)
	Marketplaces(ctx context.Context, account string, generation uint32) ([]loader.Marketplace, error)
	Titles(ctx context.Context, account string, generation uint32) (map[string]string, error)
}

// Store runs the statements of figures. It is safe for concurrent use.
type Store struct {
	Account
	cluster *cluster.Cluster
	views   *recent.Views[query.View]
}

// NewStore returns the figures of a database.
func NewStore(c *cluster.Cluster, a Account) *Store {
	s := &Store{Account: a, cluster: c}
	s.views = newViews(s)
	return s
}

// View is what is known about an account now. What is kept of one that lost something is
// answered no more than what is stored.
func (s *Store) View(ctx context.Context, account string) (query.View, error) {
	if err := s.cluster.Home().Admit(ctx, query.Text(account)); err != nil {
		return query.View{}, err
	}
	return s.views.Current(ctx, account)
}

// Forget drops what is kept of an account, of all where it is "": their next views are read
// from the database.
func (s *Store) Forget(account string) {
	s.views.Forget(account)
}

// ProductIDs reads the ids of products by their stored numbers.
func (s *Store) ProductIDs(ctx context.Context, account string, generation uint32) (map[uint32]string, error) {
	return conn.CollectMap[uint32, string](ctx, s.cluster, `
SELECT product_key, product_id
FROM products
WHERE account_id = {account:String} AND generation = {generation:UInt32}`, conn.Params{"account": query.Text(account), "generation": conn.Number(generation)})
}

// Entities reads the campaigns and ad groups that figures are of, each with every
// marketplace that named it.
func (s *Store) Entities(ctx context.Context, account string, generation uint32) ([]query.NamedEntity, error) {
	return conn.Collect(ctx, s.cluster, `
SELECT entity_key, entity_type, entity_id, named_in, if(empty(marketplace_keys), name, given), if(empty(marketplace_keys), named_at, given_at)
FROM entities LEFT ARRAY JOIN marketplace_keys AS named_in, marketplace_names AS given, marketplace_times AS given_at
WHERE account_id = {account:String} AND generation = {generation:UInt32}`, conn.Params{"account": query.Text(account), "generation": conn.Number(generation)},
		func(scan conn.Scan) (e query.NamedEntity, err error) {
			var kind uint8
			err = scan(&e.Key, &kind, &e.ID, &e.Marketplace, &e.Text, &e.At)
			e.Type = adlens.EntityType(kind)
			return e, err
		})
}

// ListedNames reads the names in lists.
func (s *Store) ListedNames(ctx context.Context, account string, generations []uint32) ([]query.ListedName, error) {
	const of = ` WHERE account_id = {account:String} AND generation IN {generations:Array(UInt32)}`
	return conn.Collect(ctx, s.cluster, `
SELECT generation, toUInt8(1), campaign_id, name FROM campaigns`+of+`
UNION ALL
SELECT generation, toUInt8(2), ad_group_id, name FROM ad_groups`+of,
		conn.Params{"account": query.Text(account), "generations": query.Numbers(generations)},
		func(scan conn.Scan) (l query.ListedName, err error) {
			var kind uint8
			err = scan(&l.Generation, &kind, &l.ID, &l.Name)
			l.Type = adlens.EntityType(kind)
			return l, err
		})
}

// HeldKeys runs the statement that finds in which years stored numbers have rows.
func (s *Store) HeldKeys(ctx context.Context, st query.Statement) ([]query.HeldKey, error) {
	return conn.Collect(ctx, s.cluster, st.SQL, st.Params, func(scan conn.Scan) (k query.HeldKey, err error) {
		err = scan(&k.Key, &k.Generation, &k.Rows)
		return k, err
	})
}

// DayTotals runs a statement of day totals.
func (s *Store) DayTotals(ctx context.Context, st query.Statement) ([]query.DayTotal, error) {
	return conn.Collect(ctx, s.cluster, st.SQL, st.Params, func(scan conn.Scan) (query.DayTotal, error) {
		var row query.DayTotal
		var day time.Time
		places := []any{&row.Generation, &day, &row.TooWide}
		for i := range row.Sums {
			places = append(places, &row.Sums[i].Lo, &row.Sums[i].Hi)
		}
		err := scan(places...)
		row.Day = adlens.DayOf(day)
		return row, err
	})
}

// BucketCounts runs the statement that counts a report's rows by date.
func (s *Store) BucketCounts(ctx context.Context, st query.Statement) ([]query.BucketCount, error) {
	return conn.Collect(ctx, s.cluster, st.SQL, st.Params, func(scan conn.Scan) (c query.BucketCount, err error) {
		err = scan(&c.Bucket, &c.Rows)
		return c, err
	})
}

// Ranked runs the statement of a page of a report, which has so many sums, of two
// periods where they are compared.
func (s *Store) Ranked(ctx context.Context, st query.Statement, sums int, compared bool) ([]query.RankedRow, int, error) {
	var total uint64
	page, err := conn.Collect(ctx, s.cluster, st.SQL, st.Params, func(scan conn.Scan) (query.RankedRow, error) {
		var row query.RankedRow
		into := []*exact.Sums{&row.Sums, &row.Earlier}
		if !compared {
			into = into[:1]
		}
		err := conn.ScanSums(scan, sums, []any{&row.ID, &row.Title, &row.Marketplaces, &row.Bucket, &row.Marketplace, &row.AdProduct, &row.Campaign, &row.AdGroup}, []any{&total}, into...)
		return row, err
	})
	return page, int(total), err
}
