package clickhouse

import (
	"context"
	"fmt"
	"math/big"
	"time"

	"adlens"
	"adlens/internal/exact"
	"adlens/internal/query"
)

var _ query.Store = (*DB)(nil)

// View is what is known about an account now.
func (db *DB) View(ctx context.Context, account string) (query.View, error) {
	return db.views.now(ctx, account)
}

// scanSums scans a row that has the measures of each of the sums between other
// columns.
func scanSums(scan func(...any) error, before, behind []any, into ...*exact.Sums) error {
	numbers := make([]big.Int, len(into)*len(query.Measures))
	places := before
	for i := range numbers {
		places = append(places, &numbers[i])
	}
	if err := scan(append(places, behind...)...); err != nil {
		return err
	}
	for i := range numbers {
		sum, ok := exact.SumOf(&numbers[i])
		if !ok {
			return fmt.Errorf("the engine sums %s up to %s", query.Measures[i%len(query.Measures)].Name, &numbers[i])
		}
		*into[i/len(query.Measures)] = append(*into[i/len(query.Measures)], sum)
	}
	return nil
}

// DayTotals runs a statement of day totals.
func (db *DB) DayTotals(ctx context.Context, s query.Statement) ([]query.DayTotal, error) {
	return collect(ctx, db, s.SQL, s.Params, func(scan func(...any) error) (query.DayTotal, error) {
		var row query.DayTotal
		var day time.Time
		places := []any{&row.Generation, &day}
		for i := range row.Sums {
			places = append(places, &row.Sums[i].Lo, &row.Sums[i].Hi)
		}
		err := scan(places...)
		row.Day = adlens.DayOf(day)
		return row, err
	})
}

// Ranked runs the statement of a page of products, which has the sums of two
// periods where they are compared.
func (db *DB) Ranked(ctx context.Context, s query.Statement, compared bool) ([]query.RankedRow, int, error) {
	var total uint64
	page, err := collect(ctx, db, s.SQL, s.Params, func(scan func(...any) error) (query.RankedRow, error) {
		var row query.RankedRow
		into := []*exact.Sums{&row.Sums, &row.Earlier}
		if !compared {
			into = into[:1]
		}
		err := scanSums(scan, []any{&row.ID, &row.Title, &row.Marketplaces}, []any{&total}, into...)
		return row, err
	})
	return page, int(total), err
}
