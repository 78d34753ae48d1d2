package integrity

import (
	"context"
	"maps"
	"slices"

	"adlens"
	"adlens/internal/clickhouse/conn"
	"adlens/internal/clickhouse/directory"
	smalltables "adlens/internal/clickhouse/tables"
	"adlens/internal/commits"
	"adlens/internal/query"
	"adlens/internal/tables"
)

// database is what a session reads when it is inspected.
type database struct {
	smalltables.Port
	session *conn.Session
}

var _ commits.Database = database{}

func databaseOf(c *conn.Session) database { return database{smalltables.OfSession(c), c} }

// Accounts reads of which accounts anything was loaded.
func (d database) Accounts(ctx context.Context) ([]string, error) {
	accounts := map[string]bool{}
	for _, table := range []string{"commits", "seals"} {
		err := d.session.Read(ctx, "SELECT DISTINCT account_id FROM "+table, nil, conn.EachRow(func(scan conn.Scan) error {
			var account string
			err := scan(&account)
			accounts[account] = true
			return err
		}))
		if err != nil && adlens.KindOf(err) != adlens.Damaged {
			return nil, err
		}
	}
	return slices.Sorted(maps.Keys(accounts)), nil
}

// CountAll counts the rows of all generations. Those of facts are counted by a
// projection, which has files of its own: where the parts say that they have another
// number of rows, one of the two changed on the disk, and rows are counted as answers
// read them.
func (d database) CountAll(ctx context.Context) ([]tables.Count, error) {
	const stored = "SELECT count() FROM facts"
	var before, after, counted uint64
	if err := d.session.ReadAll(ctx, stored, conn.ScanInto(&before)); err != nil {
		return nil, err
	}
	counts, err := d.CountRows(ctx, "", tables.OfGenerations()...)
	if err != nil {
		return nil, err
	}
	if err := d.session.ReadAll(ctx, stored, conn.ScanInto(&after)); err != nil {
		return nil, err
	}
	for _, c := range counts {
		if c.Table == "facts" {
			counted += c.Rows
		}
	}
	if counted == before || counted == after { // a load may have added or deleted some meanwhile
		return counts, nil
	}
	read, err := d.readFacts(ctx, "true", nil)
	if adlens.KindOf(err) == adlens.Damaged {
		return counts, nil // the alarm is raised: reading all figures shows whose rows they are
	}
	counts = slices.DeleteFunc(counts, func(c tables.Count) bool { return c.Table == "facts" })
	return append(counts, read...), err
}

// CountAnswered counts the rows of a table as answers read them.
func (d database) CountAnswered(ctx context.Context, account, table string) ([]tables.Count, error) {
	switch {
	case table != "facts":
		return d.CountRows(ctx, account, table)
	case account == "":
		return d.readFacts(ctx, "true", nil)
	}
	return d.readFacts(ctx, "account_id = {account:String}", conn.Params{"account": query.Text(account)})
}

// readFacts counts the facts of some accounts as answers read them.
func (d database) readFacts(ctx context.Context, of string, params conn.Params) (read []tables.Count, err error) {
	err = d.session.Read(ctx, `
SELECT account_id, generation, count()
FROM facts
WHERE `+of+`
GROUP BY account_id, generation
SETTINGS optimize_use_projections = 0, optimize_use_implicit_projections = 0, optimize_aggregation_in_order = 1`, params, conn.EachRow(func(scan conn.Scan) error {
		count := tables.Count{Table: "facts"}
		err := scan(&count.Account, &count.Generation, &count.Rows)
		read = append(read, count)
		return err
	}))
	return read, err
}

// DirectoryLosses are what accounts lost of the directory.
func (d database) DirectoryLosses(ctx context.Context) ([]commits.Loss, error) {
	return directoryLosses(ctx, d.session, "")
}

func directoryLosses(ctx context.Context, at conn.Reader, account string) (all []commits.Loss, err error) {
	faults, err := directory.FindFaults(ctx, at, account)
	for _, account := range slices.Sorted(maps.Keys(faults)) {
		for _, fault := range faults[account] {
			all = append(all, commits.Loss{Account: account, What: fault})
		}
	}
	return all, err
}
