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

// DayTotals runs a statement of day totals.
func (db *DB) DayTotals(ctx context.Context, s query.Statement) ([]query.DayTotal, error) {
	return collect(ctx, db, s.SQL, s.Params, func(scan func(...any) error) (query.DayTotal, error) {
		var row query.DayTotal
		var day time.Time
		places := []any{&row.Generation, &day}
		for i := range row.Sums {
			places = append(places, &row.Sums[i][0], &row.Sums[i][1])
		}
		err := scan(places...)
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

// Ranked runs the statement of a page of products, which has the sums of two
// periods where they are compared.
func (db *DB) Ranked(ctx context.Context, s query.Statement, compared bool) ([]query.RankedRow, int, error) {
	var total uint64
	page, err := collect(ctx, db, s.SQL, s.Params, func(scan func(...any) error) (query.RankedRow, error) {
		var row query.RankedRow
		places := append([]any{&row.ID, &row.Title, &row.Marketplaces}, fiveSums(&row.Sums)...)
		if compared {
			places = append(places, fiveSums(&row.Earlier)...)
		}
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
