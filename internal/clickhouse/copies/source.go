// Package copies reads and writes whole accounts: for backups, for restores, and for
// moves from one shard to another.
package copies

import (
	"context"
	"fmt"
	"strings"

	"adlens/internal/backup"
	"adlens/internal/clickhouse/cluster"
	"adlens/internal/clickhouse/conn"
	smalltables "adlens/internal/clickhouse/tables"
	"adlens/internal/commits"
	"adlens/internal/manifest"
	"adlens/internal/query"
	"adlens/internal/tables"
)

var _ backup.Source = Source{}

// Inspector finds out what is wrong with an account.
type Inspector interface {
	RequireDirectory(ctx context.Context, account string) error
	Faults(ctx context.Context, account string) (faults []string, err error)
	MendDirectory(ctx context.Context, account string, tell func(text string)) error
}

// Source is a database that is backed up.
type Source struct {
	Inspector
	cluster *cluster.Cluster
	port    smalltables.Port
}

// NewSource returns a database as backups read it.
func NewSource(c *cluster.Cluster, port smalltables.Port, i Inspector) Source {
	return Source{i, c, port}
}

// Shown returns the ids of the accounts that are there, or were and are lost: of
// all, or of one.
func (s Source) Shown(ctx context.Context, account string) ([]string, error) {
	return conn.CollectValues[string](ctx, s.cluster.Home(), `
SELECT DISTINCT account_id
FROM (SELECT account_id FROM accounts UNION ALL SELECT account_id FROM directory_seals WHERE table_name = 'accounts')
WHERE {account:String} IN ('', account_id)
ORDER BY account_id`, conn.Params{"account": query.Text(account)})
}

// Columns are the stored columns of a table.
func (s Source) Columns(ctx context.Context, table string) (backup.Header, error) {
	var names, types []string
	err := s.cluster.Home().Export(ctx, `SELECT name, type FROM system.columns
WHERE database = currentDatabase() AND table = {table:String} ORDER BY position`, conn.Params{"table": table},
		func(scan conn.Scan) error {
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
		names[i] = conn.QuoteIdentifier(c.Name)
	}
	return "formatRow('RowBinary', " + strings.Join(names, ", ") + ")"
}

// Live reads the live units of an account, row by row as they are stored. An
// account that lost something is refused: a backup of it would not be whole.
func (s Source) Live(ctx context.Context, account string, h backup.Header) ([]backup.Live, error) {
	state, err := commits.ReadWhole(ctx, s.port, account)
	if err != nil {
		return nil, err
	}
	rows := map[manifest.Unit]backup.Live{}
	err = s.cluster.Export(ctx, "SELECT "+smalltables.UnitColumns+", "+asRow(h)+`
FROM commit_units WHERE account_id = {account:String}`, conn.Params{"account": query.Text(account)}, func(scan conn.Scan) error {
		var row string
		u, err := smalltables.ScanUnit(func(into ...any) error { return scan(append(into, &row)...) })
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
		row, there := rows[e.Unit]
		if !there {
			return nil, fmt.Errorf("the row of %s of account %s is gone: other loads came while this process stood still; back up again", e.Unit, account)
		}
		all = append(all, row)
	}
	return all, nil
}

// Units reads what each live commit of an account made live.
func (s Source) Units(ctx context.Context, account string) ([]tables.Unit, error) {
	return commits.Units(ctx, s.port, account)
}

// LiveRows is how many facts of all accounts are live, roughly: loads may go on.
func (s Source) LiveRows(ctx context.Context) (rows uint64, err error) {
	states, _, err := commits.ReadAll(ctx, s.port)
	for _, state := range states {
		for _, e := range state.Manifest.Of(manifest.Month) {
			rows += e.Rows
		}
	}
	return rows, err
}

// Export visits the rows of a table. Rows without generations come in order
// and as their newest say, so that the same rows make the same bytes.
func (s Source) Export(ctx context.Context, e backup.Extent, h backup.Header, visit func(row []byte) error) error {
	sql, params := selectExtent(asRow(h)+" AS line", e)
	if e.Generations == nil {
		sql += " ORDER BY line"
	}
	shard, err := s.cluster.Keeper(ctx, e.Table, query.Text(e.Account))
	if err != nil {
		return err
	}
	return shard.Export(ctx, sql, params, func(scan conn.Scan) error {
		var row []byte
		if err := scan(&row); err != nil {
			return err
		}
		return visit(row)
	})
}

// selectExtent reads an expression of the rows of an extent.
func selectExtent(expression string, e backup.Extent) (sql string, params conn.Params) {
	params = conn.Params{"account": query.Text(e.Account)}
	if e.Generations == nil {
		return "SELECT " + expression + " FROM " + e.Table + " FINAL WHERE " + cluster.RowsOf(e.Table), params
	}
	params["generations"] = query.Numbers(e.Generations)
	table := e.Table
	if d, _ := tables.Find(table); d.RowKey != "" {
		table += " FINAL"
	}
	return "SELECT " + expression + " FROM " + table + " WHERE " + cluster.RowsOf(e.Table) + " AND generation IN {generations:Array(UInt32)}", params
}
