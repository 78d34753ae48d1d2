package clickhouse

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"adlens"
	"adlens/internal/commits"
	"adlens/internal/query"
)

// The directory has no generations whose rows could be counted. Each change of
// a row has a greater number than the one before instead, and is sealed in a
// table of its own once it is there: what is older than its seal was lost.

// sealedTable is a table of the directory of which a lost row would be a wrong
// answer, an account or a key that is unknown, or a revoked key that works.
// What was asked of the platform is not: it is asked for again.
type sealedTable struct{ name, key, revision string }

const ofUpdate = "toUInt64(toUnixTimestamp64Nano(updated_at))"

var sealedTables = []sealedTable{
	{"accounts", "account_id", ofUpdate}, {"api_keys", "lower(hex(sha256))", ofUpdate}, {"feeds", "lower(hex(sha256))", ofUpdate},
	{"connections", "account_id", ofUpdate}, {"placements", "account_id", "version"},
}

// rows reads how far the table's rows have come, and every value on the way:
// the engine finds bytes that changed where it reads them.
func (t sealedTable) rows() string {
	return fmt.Sprintf("SELECT account_id, '%s' AS name, %s AS row_key, max(%s) AS newest, toUInt64(ifNull(sum(cityHash64(*)), 0)) AS content FROM %s WHERE {account:String} IN ('', account_id) GROUP BY account_id, row_key",
		t.name, t.key, t.revision, t.name)
}

// seal acknowledges what the table has now, of all writers.
func (s *server) seal(ctx context.Context, t sealedTable) error {
	return s.exec(ctx, fmt.Sprintf(`
INSERT INTO directory_seals (account_id, table_name, key, revision)
SELECT account_id, name, row_key, newest FROM (%s)
WHERE (row_key, newest) NOT IN (SELECT key, revision FROM directory_seals WHERE table_name = '%s')`, t.rows(), t.name), Params{"account": ""})
}

func (s *server) sealAll(ctx context.Context) error {
	for _, t := range sealedTables {
		if err := s.seal(ctx, t); err != nil {
			return err
		}
	}
	return nil
}

// change runs a statement that changes rows of a table of the directory, and
// seals them.
func (s *server) change(ctx context.Context, table, sql string, params Params) error {
	if err := s.exec(ctx, sql, params); err != nil {
		return err
	}
	return s.sealTable(ctx, table)
}

// sealTable seals the rows of a table, where it is one of those that are sealed.
func (s *server) sealTable(ctx context.Context, table string) error {
	for _, t := range sealedTables {
		if t.name == table {
			return s.seal(ctx, t)
		}
	}
	return nil
}

// directoryFaults returns what an account lost of the directory, or each of all
// where it is "". at is the server that has the directory.
func directoryFaults(ctx context.Context, at querier, account string) (map[string][]string, error) {
	d, err := readDirectory(ctx, at, account)
	if err != nil {
		return nil, err
	}
	return d.Faults(), nil
}

func readDirectory(ctx context.Context, at querier, account string) (d commits.Directory, err error) {
	// Seals first: what was sealed by then is in what is read afterwards.
	d.Sealed, err = directoryRows(ctx, at, account, "SELECT account_id, table_name, key, revision, toUInt64(0) FROM directory_seals WHERE {account:String} IN ('', account_id)")
	if err != nil {
		return d, err
	}
	all := make([]string, len(sealedTables))
	for i, t := range sealedTables {
		all[i] = t.rows()
	}
	d.Held, err = directoryRows(ctx, at, account, all...)
	if adlens.KindOf(err) != adlens.Damaged {
		return d, err
	}
	d.Unreadable = map[string]error{}
	for _, t := range sealedTables {
		rows, err := directoryRows(ctx, at, account, t.rows())
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

// DirectoryFaults returns what each account lost of the directory.
func (db *DB) DirectoryFaults(ctx context.Context) (map[string][]string, error) {
	return directoryFaults(ctx, db.home, "")
}

func directoryLosses(ctx context.Context, at querier, account string) (all []Loss, err error) {
	faults, err := directoryFaults(ctx, at, account)
	for _, account := range slices.Sorted(maps.Keys(faults)) {
		for _, fault := range faults[account] {
			all = append(all, Loss{account, fault})
		}
	}
	return all, err
}

func directoryRows(ctx context.Context, at querier, account string, selects ...string) ([]commits.DirectoryRow, error) {
	return collect(ctx, at, strings.Join(selects, "\nUNION ALL\n"), Params{"account": query.Text(account)}, func(scan func(...any) error) (r commits.DirectoryRow, err error) {
		var content uint64
		err = scan(&r.Account, &r.Table, &r.Key, &r.Revision, &content)
		return r, err
	})
}

// RequireDirectory returns an error of kind adlens.Damaged where an account lost
// something of the directory.
func (db *DB) RequireDirectory(ctx context.Context, account string) error {
	faults, err := directoryFaults(ctx, db.home, account)
	if err == nil && len(faults[account]) > 0 {
		err = damaged(account, faults[account])
	}
	return err
}

// found is first for a row of the directory. One that was there once and is not
// found is an error of kind adlens.Damaged: it is not unknown, it was lost.
func found[T any](ctx context.Context, home *server, table, key string, all []T, err error) (T, bool, error) {
	one, is, err := first(all, err)
	if err == nil && !is {
		err = home.requireNew(ctx, table, key)
	}
	return one, is, err
}

// requireNew makes sure that a row which is not there never was.
func (s *server) requireNew(ctx context.Context, table, key string) error {
	var accounts []string
	err := s.readOnce(ctx, "SELECT groupUniqArray(account_id) FROM directory_seals WHERE table_name = {table:String} AND key = {key:String}",
		Params{"table": table, "key": key}, each(func(scan func(...any) error) error { return scan(&accounts) }))
	if err != nil || len(accounts) == 0 {
		return err
	}
	err = damaged(accounts[0], Faults{"its row of " + table + " is gone"})
	if ctx.Value(inspecting{}) == nil {
		s.guard.sound(err)
	}
	return err
}
