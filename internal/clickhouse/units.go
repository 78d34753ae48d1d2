package clickhouse

import (
	"context"

	"adlens"
	"adlens/internal/query"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

var _ query.UnitStore = (*DB)(nil)

// UnitSizes counts the rows of generations.
func (db *DB) UnitSizes(ctx context.Context, s query.Statement) (map[uint32]int, error) {
	sizes := map[uint32]int{}
	err := db.readBeside(ctx, s, each(func(scan func(...any) error) error {
		var generation uint32
		var rows uint64
		err := scan(&generation, &rows)
		sizes[generation] = int(rows)
		return err
	}))
	return sizes, err
}

// UnitRows visits the rows of generations.
func (db *DB) UnitRows(ctx context.Context, s query.Statement, visit func(*query.UnitRow)) error {
	var row query.UnitRow
	var day uint16
	places := []any{&row.Generation, &day, &row.Marketplace, &row.Key}
	for i := range row.Measures {
		places = append(places, &row.Measures[i])
	}
	return db.readBeside(ctx, s, each(func(scan func(...any) error) error {
		if err := scan(places...); err != nil {
			return err
		}
		row.Day = adlens.Day(day)
		visit(&row)
		return nil
	}))
}

// readBeside runs a reading statement that takes no turn from a request. Its
// one caller runs one at a time, on one thread of the engine. It is not
// repeated: what it visited already would be visited twice.
func (db *DB) readBeside(ctx context.Context, s query.Statement, read func(driver.Rows) error) error {
	return db.readOnce(ctx, s.SQL, s.Params, read)
}
