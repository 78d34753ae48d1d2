package clickhouse

import (
	"context"
	"time"

	"adlens"
	"adlens/internal/query"
)

var _ query.Store = (*DB)(nil)

// View is what is known about an account now.
func (db *DB) View(ctx context.Context, account string) (query.View, error) {
	return db.views.now(ctx, account)
}

// fiveSums are the places that a statement's sums are read into.
func fiveSums(s *query.Sums) []any {
	return []any{&s.Impressions, &s.Clicks, &s.Purchases, &s.Spend, &s.Sales}
}

// Slices runs a summary's statement.
func (db *DB) Slices(ctx context.Context, s query.Statement) ([]query.SliceRow, error) {
	return collect(ctx, db, s.SQL, s.Params, func(scan func(...any) error) (query.SliceRow, error) {
		var row query.SliceRow
		var product uint8
		err := scan(append([]any{&row.Marketplace, &product}, fiveSums(&row.Sums)...)...)
		row.AdProduct = adlens.AdProduct(product)
		return row, err
	})
}

// Points runs a timeline's statement.
func (db *DB) Points(ctx context.Context, s query.Statement) ([]query.PointRow, error) {
	return collect(ctx, db, s.SQL, s.Params, func(scan func(...any) error) (query.PointRow, error) {
		var row query.PointRow
		var day time.Time
		err := scan(append([]any{&day}, fiveSums(&row.Sums)...)...)
		row.Day = adlens.DayOf(day)
		return row, err
	})
}

// Products runs a product report's statement.
func (db *DB) Products(ctx context.Context, s query.Statement) ([]query.ProductRow, error) {
	return collect(ctx, db, s.SQL, s.Params, func(scan func(...any) error) (query.ProductRow, error) {
		var row query.ProductRow
		err := scan(append([]any{&row.Key, &row.Marketplaces}, fiveSums(&row.Sums)...)...)
		return row, err
	})
}

// Ranked runs the statement of a page of products.
func (db *DB) Ranked(ctx context.Context, s query.Statement) ([]query.RankedRow, int, error) {
	var total uint64
	page, err := collect(ctx, db, s.SQL, s.Params, func(scan func(...any) error) (query.RankedRow, error) {
		var row query.RankedRow
		places := append([]any{&row.ID, &row.Title, &row.Marketplaces}, fiveSums(&row.Sums)...)
		err := scan(append(places, &total)...)
		return row, err
	})
	return page, int(total), err
}

// LastProductKey is the greatest key of the account's products, 0 without any.
func (db *DB) LastProductKey(ctx context.Context, account string) (last uint32, err error) {
	err = db.reading(ctx, "SELECT max(product_key) FROM product_keys WHERE account_id = {account:String}",
		Params{"account": query.Text(account)}, each(func(scan func(...any) error) error { return scan(&last) }))
	return last, err
}
