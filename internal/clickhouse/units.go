package clickhouse

import (
	"context"

	"adlens"
	"adlens/internal/query"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

var _ query.UnitStore = (*DB)(nil)

// UnitRows visits the rows of generations, when it is the account's turn.
func (db *DB) UnitRows(ctx context.Context, s query.Statement, begin func() (visit func(*query.UnitRow))) error {
	return db.reading(ctx, s.SQL, s.Params, unitRows(begin))
}

// UnitRowsBeside takes no turn from a request. Its one caller runs one at a
// time, on one thread of the engine.
func (db *DB) UnitRowsBeside(ctx context.Context, s query.Statement, begin func() (visit func(*query.UnitRow))) error {
	return db.readOnce(ctx, s.SQL, s.Params, unitRows(begin))
}

// unitRows reads what a statement of units returns.
func unitRows(begin func() (visit func(*query.UnitRow))) func(driver.Rows) error {
	return func(rows driver.Rows) error {
		var row query.UnitRow
		var day uint16
		places := []any{&row.Generation, &day, &row.Key}
		for i := range row.Measures {
			places = append(places, &row.Measures[i])
		}
		visit := begin()
		return each(func(scan func(...any) error) error {
			if err := scan(places...); err != nil {
				return err
			}
			row.Day = adlens.Day(day)
			visit(&row)
			return nil
		})(rows)
	}
}
