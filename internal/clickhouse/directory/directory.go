// Package directory seals the tables that the first shard has for the accounts of
// all: a row that was changed is acknowledged, and what is older than its seal was
// lost.
package directory

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"adlens"
	"adlens/internal/clickhouse/conn"
	"adlens/internal/commits"
	"adlens/internal/query"
	"adlens/internal/tables"
)

// The directory has no generations whose rows could be counted. Each change of
// a row has a greater number than the one before instead, and is sealed in a
// table of its own once it is there: what is older than its seal was lost.

// sealedTable is a table whose changes are sealed: which column tells its rows
// apart, and which number is greater after each change.
type sealedTable struct{ name, key, revision string }

var sealedTables = append(ofDirectory(), sealedTable{"placements", "account_id", "version"})

func ofDirectory() (all []sealedTable) {
	for _, name := range tables.Names(func(d tables.Description) bool { return d.Sealed }) {
		all = append(all, sealedTable{name, KeyOf(name), "toUInt64(toUnixTimestamp64Nano(updated_at))"})
	}
	return all
}

// KeyOf returns the expression that tells the rows of a table of the directory
// apart: the account, except where an account has several.
func KeyOf(table string) string {
	switch table {
	case "api_keys", "feeds":
		return "lower(hex(sha256))"
	case "apps":
		return "app_id"
	case "connections": // those from before connections had names are sealed by their account
		return "if(name = '', account_id, concat(account_id, '/', name))"
	default:
		return "account_id"
	}
}

// selectRows reads how far the table's rows have come, and every value on the way:
// the engine finds bytes that changed where it reads them.
func (t sealedTable) selectRows() string {
	return fmt.Sprintf("SELECT account_id, '%s' AS of_table, %s AS row_key, max(%s) AS newest, toUInt64(ifNull(sum(cityHash64(*)), 0)) AS content FROM %s WHERE {account:String} IN ('', account_id) GROUP BY account_id, row_key",
		t.name, t.key, t.revision, t.name)
}

// seal acknowledges what the table has now, of all writers.
func seal(ctx context.Context, s *conn.Server, t sealedTable) error {
	return s.Exec(ctx, fmt.Sprintf(`
INSERT INTO directory_seals (account_id, table_name, key, revision)
SELECT account_id, of_table, row_key, newest FROM (%s)
WHERE (row_key, newest) NOT IN (SELECT key, revision FROM directory_seals WHERE table_name = '%s')`, t.selectRows(), t.name), conn.Params{"account": ""})
}

// SealAll acknowledges what all tables of the directory have now.
func SealAll(ctx context.Context, s *conn.Server) error {
	for _, t := range sealedTables {
		if err := seal(ctx, s, t); err != nil {
			return err
		}
	}
	return nil
}

// Change runs a statement that changes rows of a table of the directory, and
// seals them.
func Change(ctx context.Context, s *conn.Server, table, sql string, params conn.Params) error {
	return s.Announce(conn.Directory, func() error {
		if err := s.Exec(ctx, sql, params); err != nil {
			return err
		}
		return SealTable(ctx, s, table)
	})
}

// SealTable seals the rows of a table, where it is one of those that are sealed.
func SealTable(ctx context.Context, s *conn.Server, table string) error {
	for _, t := range sealedTables {
		if t.name == table {
			return seal(ctx, s, t)
		}
	}
	return nil
}

// FindFaults returns what an account lost of the directory, or each of all
// where it is "". at is the server that has the directory.
func FindFaults(ctx context.Context, at conn.Reader, account string) (map[string][]string, error) {
	d, err := Read(ctx, at, account)
	if err != nil {
		return nil, err
	}
	return d.Faults(), nil
}

// Read reads what an account, or each where it is "", has of the directory and what
// was sealed of it.
func Read(ctx context.Context, at conn.Reader, account string) (d commits.Directory, err error) {
	// Seals first: what was sealed by then is in what is read afterwards.
	d.Sealed, err = readRows(ctx, at, account, "SELECT account_id, table_name, key, revision, toUInt64(0) FROM directory_seals WHERE {account:String} IN ('', account_id)")
	if err != nil {
		return d, err
	}
	at.CatchUp()
	all := make([]string, len(sealedTables))
	for i, t := range sealedTables {
		all[i] = t.selectRows()
	}
	d.Held, err = readRows(ctx, at, account, all...)
	if adlens.KindOf(err) != adlens.Damaged {
		return d, err
	}
	d.Unreadable = map[string]error{}
	for _, t := range sealedTables {
		rows, err := readRows(ctx, at, account, t.selectRows())
		switch {
		case adlens.KindOf(err) == adlens.Damaged:
			d.Unreadable[t.name] = err
		case err != nil:
			return d, err
		}
		d.Held = append(d.Held, rows...)
	}
	return d, nil
}

func readRows(ctx context.Context, at conn.Reader, account string, selects ...string) ([]commits.DirectoryRow, error) {
	return conn.Collect(ctx, at, strings.Join(selects, "\nUNION ALL\n"), conn.Params{"account": query.Text(account)}, func(scan conn.Scan) (r commits.DirectoryRow, err error) {
		var content uint64
		err = scan(&r.Account, &r.Table, &r.Key, &r.Revision, &content)
		return r, err
	})
}

// Found returns the first of some rows of the directory that have a key. A row that
// was there once and is not found is an error of kind adlens.Damaged: it is not
// unknown, it was lost.
func Found[T any](ctx context.Context, s *conn.Server, table, key string, all []T, err error) (one T, found bool, _ error) {
	if err != nil || len(all) == 0 {
		if err == nil {
			err = RequireNew(ctx, s, table, key)
		}
		return one, false, err
	}
	return all[0], true, nil
}

// RequireNew makes sure that a row which was not there never had been. It may have come
// since, sealed.
func RequireNew(ctx context.Context, s *conn.Server, table, key string) error {
	var accounts []string
	err := s.ReadOnce(ctx, "SELECT groupUniqArray(account_id) FROM directory_seals WHERE table_name = {table:String} AND key = {key:String}",
		conn.Params{"table": table, "key": key}, conn.ScanInto(&accounts))
	if err != nil || len(accounts) == 0 {
		return err
	}
	return RequireWhole(ctx, s, table, accounts[0])
}

// RequireWhole makes sure that an account, or each where it is "", lost no row of a
// table, nor its last change: for look-ups by something else than what the rows are
// sealed by.
func RequireWhole(ctx context.Context, s *conn.Server, table, account string) error {
	t := sealedTables[slices.IndexFunc(sealedTables, func(t sealedTable) bool { return t.name == table })]
	// Seals first: what was sealed by then is in what is read afterwards.
	sealed, err := readRows(ctx, s, account, "SELECT account_id, table_name, key, revision, toUInt64(0) FROM directory_seals WHERE table_name = '"+table+"' AND {account:String} IN ('', account_id)")
	if err != nil {
		return err
	}
	s.CatchUp()
	held, err := readRows(ctx, s, account, t.selectRows())
	if err != nil {
		return err
	}
	faults := commits.Directory{Sealed: sealed, Held: held}.Faults()
	for _, account := range slices.Sorted(maps.Keys(faults)) {
		err = commits.Damaged(account, faults[account])
		s.Alarm(ctx, err)
	}
	return err
}

// SelectConnections reads the newest state of connections to the platform: of an
// account, or of all where it is "", those that were removed too.
const SelectConnections = `
SELECT account_id, if(name = '', region, name) AS called, region, client_id, sealed, connected_at, accepted,
    chosen_profiles, chosen_countries, profiles, untaken, removed
FROM (SELECT * FROM connections WHERE {account:String} IN ('', account_id) ORDER BY account_id, name, updated_at DESC LIMIT 1 BY account_id, name)
ORDER BY account_id, called, updated_at DESC
LIMIT 1 BY account_id, called`
