package clickhouse

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"adlens/internal/backup"
	"adlens/internal/commits"
	"adlens/internal/manifest"
	"adlens/internal/query"
	"adlens/loader"

	"github.com/ClickHouse/ch-go/proto"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

var _ backup.Sink = (*DB)(nil)

// accountTables are all tables that hold rows of accounts, but for those of the
// moment: what another process holds, and how many requests were let in.
var accountTables = []string{
	"directory_seals", "accounts", "api_keys", "api_key_uses", "feeds", "connections", "report_requests", "refreshed", "attempts",
	"commits", "commit_units", "seals", "number_blocks", "accounted", "ledger", "products", "dead_generations",
	"manifest", "reservations", "product_keys", // of the time before there were commits
	"marketplaces", "rates", "product_titles", "facts", "day_totals", "month_products", "year_products",
	"campaigns", "ad_groups", "ads", "rules", "rule_runs", "activity", "day_uses",
}

// rowsOf filters the rows of an account in a table.
func rowsOf(table string) string {
	if filter, own := ownRows[table]; own {
		return filter
	}
	return "account_id = {account:String}"
}

// Shown returns the ids of the accounts that are there, or were and are lost: of
// all, or of the one that is asked for.
func (db *DB) Shown(ctx context.Context, account string) ([]string, error) {
	return collect(ctx, db.home, `
SELECT DISTINCT account_id
FROM (SELECT account_id FROM accounts UNION ALL SELECT account_id FROM directory_seals WHERE table_name = 'accounts')
WHERE {account:String} IN ('', account_id)
ORDER BY account_id`, Params{"account": query.Text(account)}, func(scan func(...any) error) (id string, err error) {
		err = scan(&id)
		return id, err
	})
}

// Left returns the tables that hold rows of an account; of any for "".
func (db *DB) Left(ctx context.Context, account string) ([]string, error) {
	all, err := tablesWith(ctx, db.home, directory, account)
	if err != nil {
		return nil, err
	}
	left, err := gather(ctx, db, func(s *server) ([]string, error) { return s.left(ctx, account) })
	all = slices.Concat(append(left, all)...)
	slices.Sort(all)
	return slices.Compact(all), err
}

// The note of what is being restored is a table of its own, which is there
// while something is. Rows are deleted only where it says that they were
// written by a restore.
const createRestoring = `CREATE TABLE IF NOT EXISTS restoring (
    account_id String,
    backup String
) ENGINE = MergeTree
ORDER BY account_id
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1`

// Began says which backup is noted as being restored, of the account or of all.
func (db *DB) Began(ctx context.Context, account string) (id string, err error) {
	if err := db.home.exec(ctx, db.home.making(createRestoring), nil); err != nil {
		return "", err
	}
	err = db.home.reading(ctx, "SELECT max(backup) FROM restoring WHERE {account:String} = '' OR account_id IN ('', {account:String})", Params{"account": query.Text(account)},
		each(func(scan func(...any) error) error { return scan(&id) }))
	return id, err
}

// Begin notes that a backup is being restored.
func (db *DB) Begin(ctx context.Context, account, id string) error {
	if err := db.Done(ctx, account); err != nil {
		return err
	}
	if err := db.home.exec(ctx, db.home.making(createRestoring), nil); err != nil {
		return err
	}
	return db.home.insert(ctx, "INSERT INTO restoring (account_id, backup)", func(batch driver.Batch) error { return batch.Append(account, id) })
}

// Done takes the note of an account away, or all notes.
func (db *DB) Done(ctx context.Context, account string) error {
	return db.home.exec(ctx, "ALTER TABLE restoring DELETE WHERE {account:String} = '' OR account_id = {account:String}", Params{"account": query.Text(account)})
}

// Clear takes away all rows of an account, or all rows. Where all go, nothing
// of them was ever visible.
func (db *DB) Clear(ctx context.Context, account string) error {
	left, err := tablesWith(ctx, db.home, directory, account)
	if err != nil {
		return err
	}
	for _, table := range left {
		if err := db.home.clearTable(ctx, table, account); err != nil {
			return err
		}
	}
	return db.everywhere(ctx, func(s *server) error { return s.clear(ctx, account) })
}

// Insert writes the rows of a block, in columns as the server gets them.
func (db *DB) Insert(ctx context.Context, account, table string, block *backup.Block) error {
	s, err := db.keeper(ctx, table, query.Text(account))
	if err != nil {
		return err
	}
	names := make([]string, len(block.Header))
	for i, c := range block.Header {
		names[i] = identifier(c.Name)
	}
	err = s.insert(ctx, "INSERT INTO "+table+" ("+strings.Join(names, ", ")+")", func(batch driver.Batch) error {
		for i, c := range block.Header {
			if err := appendColumn(batch, block, i); err != nil {
				return fmt.Errorf("column %s: %w", c.Name, err)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return s.sealTable(ctx, table)
}

// appendColumn fills a column. One with a dictionary is built by the driver.
func appendColumn(batch driver.Batch, block *backup.Block, i int) error {
	if block.Header[i].Words {
		return batch.Column(i).Append(block.Words(i))
	}
	return batch.Columns()[i].Decode(proto.NewReader(bytes.NewReader(block.Native(i))), block.Rows)
}

// derivedAtOnce is how many generations one statement derives rollups of: it
// holds their products in memory.
const derivedAtOnce = 32

// Complete derives the products of months and years, and holds everything
// against the manifest.
func (db *DB) Complete(ctx context.Context, account string, m manifest.Manifest) ([]string, error) {
	for some := range slices.Chunk(m.Of(manifest.Month), derivedAtOnce) {
		if err := db.deriveMonthProducts(ctx, account, some); err != nil {
			return nil, err
		}
	}
	for some := range slices.Chunk(loader.PartsOf(m.Of(manifest.Year), m.Of(manifest.Month)), max(1, derivedAtOnce/12)) {
		if err := db.DeriveYears(ctx, account, some); err != nil {
			return nil, err
		}
	}
	return loader.VerifyRestored(ctx, LoadStore{DB: db}, account, m)
}

// Publish makes the live units of a restored account visible by one commit that
// builds on nothing. What the account may reserve next begins behind the leap,
// and no number below is unsettled: dead rows were not restored.
func (db *DB) Publish(ctx context.Context, account string, live *backup.Block) error {
	if live.Former() {
		return db.publishFormer(ctx, account, live)
	}
	number := live.Renumber()
	if err := db.Insert(ctx, account, backup.UnitTable, live); err != nil {
		return err
	}
	return commits.PublishRestored(ctx, db.Tables(), account, number)
}

// publishFormer puts live units where they were before there were commits, and
// has the schema's own step take them over.
func (db *DB) publishFormer(ctx context.Context, account string, live *backup.Block) error {
	if err := db.Insert(ctx, account, "manifest", live); err != nil {
		return err
	}
	if err := db.stillHeld(account); err != nil {
		return err
	}
	s, err := db.holder(ctx, query.Text(account))
	if err != nil {
		return err
	}
	if err := db.announced(account, func() error { return s.takeOver(ctx) }); err != nil {
		return err
	}
	return commits.Leap(ctx, db.Tables(), account)
}
