package clickhouse

import (
	"context"
	"strings"
	"time"

	"adlens"
	"adlens/internal/backup"
	"adlens/internal/manifest"
	"adlens/internal/query"
)

var _ backup.Source = (*DB)(nil)

// Columns are the stored columns of a table.
func (db *DB) Columns(ctx context.Context, table string) (backup.Header, error) {
	var names, types []string
	err := db.home.exporting(ctx, `SELECT name, type FROM system.columns
WHERE database = currentDatabase() AND table = {table:String} ORDER BY position`, Params{"table": table},
		func(scan func(...any) error) error {
			var name, kind string
			err := scan(&name, &kind)
			names, types = append(names, name), append(types, kind)
			return err
		})
	if err != nil {
		return nil, err
	}
	return backup.NewHeader(names, types)
}

// asRow has the server write some columns as the bytes of a row of RowBinary.
func asRow(h backup.Header) string {
	names := make([]string, len(h))
	for i, c := range h {
		names[i] = identifier(c.Name)
	}
	return "formatRow('RowBinary', " + strings.Join(names, ", ") + ")"
}

// Live reads the manifest of an account, row by row as it is stored.
func (db *DB) Live(ctx context.Context, account string, h backup.Header) (all []backup.Live, err error) {
	err = db.exporting(ctx, "SELECT kind, marketplace_key, ad_product, start, version, generation, fact_rows, "+asRow(h)+`
FROM (SELECT * FROM manifest WHERE account_id = {account:String}
      ORDER BY kind, marketplace_key, ad_product, start, version DESC
      LIMIT 1 BY kind, marketplace_key, ad_product, start)
ORDER BY kind, marketplace_key, ad_product, start`, Params{"account": query.Text(account)}, func(scan func(...any) error) error {
		l, err := scanLive(scan)
		all = append(all, l)
		return err
	})
	return all, err
}

// LiveRows is how many facts of all accounts are live, roughly: loads may go on.
func (db *DB) LiveRows(ctx context.Context) (rows uint64, err error) {
	all, err := gather(ctx, db, func(s *server) (some uint64, err error) {
		err = s.exporting(ctx, `SELECT sum(rows) FROM (SELECT argMax(fact_rows, version) AS rows FROM manifest
GROUP BY account_id, kind, marketplace_key, ad_product, start)`, nil, func(scan func(...any) error) error { return scan(&some) })
		return some, err
	})
	for _, some := range all {
		rows += some
	}
	return rows, err
}

func scanLive(scan func(...any) error) (backup.Live, error) {
	var (
		l               backup.Live
		kind, adProduct uint8
		start           time.Time
		row             string
	)
	err := scan(&kind, &l.Slice.Marketplace, &adProduct, &start, &l.Version, &l.Generation, &l.Rows, &row)
	l.Kind, l.Slice.AdProduct, l.Start, l.Row = manifest.Kind(kind), adlens.AdProduct(adProduct), adlens.DayOf(start), []byte(row)
	return l, err
}

// ownRows filter the tables that do not name their account in account_id.
var ownRows = map[string]string{
	"api_key_uses": "key_id IN (SELECT key_id FROM api_keys WHERE account_id = {account:String})",
	"attempts":     "splitByChar('/', name)[2] = {account:String}",
}

// Export visits the rows of a table. Rows without generations come in order
// and as their newest say, so that the same rows make the same bytes.
func (db *DB) Export(ctx context.Context, e backup.Extent, h backup.Header, visit func(row []byte) error) error {
	sql, params := exported(asRow(h)+" AS line", e)
	if e.Generations == nil {
		sql += " ORDER BY line"
	}
	s, err := db.keeper(ctx, e.Table, query.Text(e.Account))
	if err != nil {
		return err
	}
	return s.exporting(ctx, sql, params, func(scan func(...any) error) error {
		var row []byte
		if err := scan(&row); err != nil {
			return err
		}
		return visit(row)
	})
}

// exported reads an expression of the rows of an extent.
func exported(expression string, e backup.Extent) (sql string, params Params) {
	params = Params{"account": query.Text(e.Account)}
	if e.Generations == nil {
		return "SELECT " + expression + " FROM " + e.Table + " FINAL WHERE " + rowsOf(e.Table), params
	}
	params["generations"] = query.Numbers(e.Generations)
	return "SELECT " + expression + " FROM " + e.Table + " WHERE " + rowsOf(e.Table) + " AND generation IN {generations:Array(UInt32)}", params
}
