package figures

import (
	"context"

	"adlens"
	"adlens/internal/clickhouse/conn"
	"adlens/internal/query"
)

// UnitRows visits the rows of generations, when it is the account's turn.
func (s *Store) UnitRows(ctx context.Context, st query.Statement, begin func() (visit func(*query.UnitRow))) error {
	return s.cluster.Read(ctx, st.SQL, st.Params, readUnits(begin))
}

// UnitRowsBeside takes no turn from a request. Its one caller runs one at a
// time, on one thread of the engine.
func (s *Store) UnitRowsBeside(ctx context.Context, st query.Statement, begin func() (visit func(*query.UnitRow))) error {
	return s.cluster.ReadOnce(ctx, st.SQL, st.Params, readUnits(begin))
}

// readUnits reads what a statement of units returns.
func readUnits(begin func() (visit func(*query.UnitRow))) func(conn.Rows) error {
	return func(rows conn.Rows) error {
		var row query.UnitRow
		var day uint16
		places := []any{&row.Generation, &day, &row.Key}
		for i := range row.Measures {
			places = append(places, &row.Measures[i])
		}
		visit := begin()
		return conn.EachRow(func(scan conn.Scan) error {
			if err := scan(places...); err != nil {
				return err
			}
			row.Day = adlens.Day(day)
			visit(&row)
			return nil
		})(rows)
	}
}
