package clickhouse

import (
	"context"
	"strings"

	"adlens/internal/backup"
	"adlens/internal/commits"
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

// Live reads the live units of an account, row by row as they are stored. An
// account that lost something is refused: a backup of it would not be whole.
func (db *DB) Live(ctx context.Context, account string, h backup.Header) ([]backup.Live, error) {
	state, err := commits.ReadWhole(ctx, db.Tables(), account)
	if err != nil {
		return nil, err
	}
	rows := map[manifest.Unit]backup.Live{}
	err = db.exporting(ctx, "SELECT number, kind, marketplace_key, ad_product, start, generation, rows, report_ids, report_times, report_hashes, report_days, "+asRow(h)+`
FROM commit_units WHERE account_id = {account:String}`, Params{"account": query.Text(account)}, func(scan func(...any) error) error {
		var row string
		u, err := scanUnit(func(into ...any) error { return scan(append(into, &row)...) })
		// A unit that was named again by a later commit is the same.
		if state.Names(u) && u.Number >= rows[u.Unit].Version {
			rows[u.Unit] = backup.Live{Entry: u.Entry, Version: u.Number, Row: []byte(row)}
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	var all []backup.Live
	for _, e := range state.Manifest.Entries() {
		all = append(all, rows[e.Unit])
	}
	return all, nil
}

// LiveRows is how many facts of all accounts are live, roughly: loads may go on.
func (db *DB) LiveRows(ctx context.Context) (rows uint64, err error) {
	states, _, err := commits.ReadAll(ctx, db.Tables())
	for _, state := range states {
		for _, e := range state.Manifest.Of(manifest.Month) {
			rows += e.Rows
		}
	}
	return rows, err
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
	table := e.Table
	if _, repeated := countedBy[table]; repeated {
		table += " FINAL"
	}
	return "SELECT " + expression + " FROM " + table + " WHERE " + rowsOf(e.Table) + " AND generation IN {generations:Array(UInt32)}", params
}
