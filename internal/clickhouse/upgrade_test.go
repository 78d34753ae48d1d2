package clickhouse

import (
	"context"
	"fmt"
	"testing"
	"time"

	"adlens"
	"adlens/internal/clickhouse/conn"
	migrations "adlens/internal/clickhouse/schema"
	"adlens/internal/engine"
	"adlens/internal/manifest"
	"adlens/schema"
)

// Steps of the schema that brought commits, revisions, seals of the directory,
// connections of assistants, several connections to the platform, and keys for some
// marketplaces.
const (
	commitsStep     = 18
	revisionsStep   = 19
	sealsStep       = 21
	appsStep        = 23
	connectionsStep = 26
	keysStep        = 28
)

// before makes a database as a release had it whose schema ended before a step.
func before(t *testing.T, dir string, step uint32) *database {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	e, err := engine.Open(ctx, dir)
	if err != nil {
		t.Fatal(err)
	}
	db := Look(conn.Embedded{Engine: e})
	home := db.Cluster.Home()
	all, err := schema.Migrations()
	if err != nil {
		t.Fatal(err)
	}
	if err := home.CreateDatabase(ctx); err != nil {
		t.Fatal(err)
	}
	statements := []string{`CREATE TABLE migrations (number UInt32, name String, applied_at DateTime64(3, 'UTC') DEFAULT now64(3)) ENGINE = ReplacingMergeTree ORDER BY number`}
	for _, step := range all[:step-1] {
		statements = append(append(statements, step.Statements...), fmt.Sprintf("INSERT INTO migrations (number, name) VALUES (%d, '%s')", step.Number, step.Name))
	}
	for _, statement := range statements {
		if err := home.Exec(ctx, statement, nil); err != nil {
			t.Fatal(statement, err)
		}
	}
	// What is put by today's program is sealed, and may be the connection of an
	// assistant, or to the platform. Keys and feed links have all columns of today.
	later := []string{all[sealsStep-1].Statements[0], all[appsStep-1].Statements[0]}
	if step < connectionsStep {
		later = append(later, all[connectionsStep-1].Statements...)
	}
	if step < keysStep {
		later = append(later, all[keysStep-1].Statements...)
	}
	for _, statement := range later {
		if err := home.Exec(ctx, statement, nil); err != nil {
			t.Fatal(err)
		}
	}
	return &database{db, e}
}

// upgrade closes a database of before and opens its directory with this version's
// schema, until the test ends.
func upgrade(t *testing.T, old *database, dir string) *database {
	t.Helper()
	if err := old.close(); err != nil {
		t.Fatal(err)
	}
	d, err := openDatabase(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

func TestDataOfTheSchemaBeforeOpensAndIsReadAsItWas(t *testing.T) {
	dir := t.TempDir()
	old := before(t, dir, commitsStep)
	account := adlens.Account{ID: "acme", Name: "Acme Ltd", Subscription: "active", CreatedAt: time.Now()}
	if err := old.Accounts.PutAccount(t.Context(), account); err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{
		"INSERT INTO manifest (account_id, kind, marketplace_key, ad_product, start, version, generation, fact_rows, report_ids, report_times, report_hashes, report_days) VALUES ('acme', 1, 1, 1, '2026-11-01', 7, 8, 3, ['r-1'], [now64(9)], ['h'], [7])",
		"INSERT INTO facts (account_id, generation, day, product_key, marketplace_key, ad_product, impressions, spend) SELECT 'acme', 8, toDate('2026-11-01') + number, number, 1, 1, 100, 1.25 FROM numbers(3)",
		"INSERT INTO manifest (account_id, kind, marketplace_key, ad_product, start, version, generation, fact_rows, report_ids, report_times, report_hashes, report_days) VALUES ('acme', 1, 1, 1, '2026-11-01', 5, 6, 9, ['r-0'], [now64(9)], ['h'], [7])",
		"INSERT INTO day_totals SELECT account_id, generation, day, marketplace_key, ad_product, sum(impressions), 0, 0, sum(spend), 0 FROM facts GROUP BY ALL",
		"INSERT INTO product_keys (account_id, product_key, product_id) VALUES ('acme', 1, 'P-one'), ('acme', 2, 'P-two')",
		"INSERT INTO product_keys (account_id, product_key, product_id) VALUES ('acme', 1, 'P-one')",
		"INSERT INTO seals (account_id, version, units) VALUES ('acme', 7, 1)",
		"INSERT INTO reservations VALUES ('acme', 1025)",
	} {
		if err := old.Cluster.Exec(t.Context(), statement, nil); err != nil {
			t.Fatal(err)
		}
	}
	d := upgrade(t, old, dir)
	got, found, err := d.Accounts.Account(t.Context(), "acme")
	if err != nil || !found || got.Name != "Acme Ltd" {
		t.Errorf("the account is %+v, %v: %v", got, found, err)
	}
	m, err := d.Tables.Manifest(t.Context(), "acme")
	if err != nil || m.Version != 7 {
		t.Errorf("the manifest has version %d: %v", m.Version, err)
	}
	month, _ := m.Find(manifest.Unit{Kind: manifest.Month, Slice: manifest.Slice{Marketplace: 1, AdProduct: 1}, Start: adlens.Date(2026, 11, 1)})
	if month.Generation != 8 || month.Rows != 3 || month.RowsAt(1) != 3 || len(month.Sources) != 1 || month.Sources[0].ReportID != "r-1" {
		t.Errorf("the month is %+v", month)
	}
	ids, err := d.Figures.ProductIDs(t.Context(), "acme", m.Generation(manifest.Unit{Kind: manifest.Products}))
	if err != nil || len(ids) != 2 || ids[2] != "P-two" || m.Len() != 2 {
		t.Errorf("products are %v of %d units: %v", ids, m.Len(), err)
	}
	if losses, err := d.Inspector.Losses(t.Context(), ""); err != nil || len(losses) > 0 {
		t.Errorf("an account that is whole lost %v: %v", losses, err)
	}
	if number := commitUnits(t, d.Database, "acme"); number < 1025 {
		t.Errorf("number %d was given out before", number)
	}
	if err := migrations.TakeOver(t.Context(), d.Cluster.Home().Server, manifest.Closed); err != nil { // as after a restart in its middle
		t.Error(err)
	}
	if again, err := d.Tables.Manifest(t.Context(), "acme"); err != nil || again.Digest() != m.Digest() {
		t.Errorf("taking over once more changed what is live: %v", err)
	}
	// What a backup of that time brings back is taken over while the account is closed.
	for _, statement := range []string{"TRUNCATE TABLE commits", "TRUNCATE TABLE commit_units", "TRUNCATE TABLE products",
		"INSERT INTO commits (account_id, number, base, units, digest) VALUES ('acme', 4294967295, 0, 0, 11)"} {
		if err := d.Cluster.Exec(t.Context(), statement, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := migrations.TakeOver(t.Context(), d.Cluster.Home().Server, manifest.Closed); err != nil {
		t.Error(err)
	}
	if err := d.Tables.Reopen(t.Context(), "acme", []uint64{11}); err != nil {
		t.Error(err)
	}
	if again, err := d.Tables.Manifest(t.Context(), "acme"); err != nil || again.Len() != 2 {
		t.Errorf("of an account that was closed %d units were taken over, expected 2: %v", again.Len(), err)
	}
	for _, table := range []string{"facts", "day_totals"} {
		sum := one[string](t, d.Database, "SELECT concat(toString(sum(impressions)), ' ', toString(sum(spend))) FROM "+table+" WHERE account_id = 'acme' AND generation = 8", nil)
		if sum != "300 3.75" {
			t.Errorf("%s adds up to %s, expected 300 3.75", table, sum)
		}
	}
}

// Before revisions, a row of a clock that was ahead won over a revocation.
func TestRevocationsOfTheSchemaBeforeCountAgain(t *testing.T) {
	dir := t.TempDir()
	old := before(t, dir, revisionsStep)
	key, feed := recordNamed(t, "key"), recordNamed(t, "feed")
	for _, put := range []error{old.Keys.PutKey(t.Context(), key), old.Feeds.PutFeed(t.Context(), feed)} {
		if put != nil {
			t.Fatal(put)
		}
	}
	for _, table := range []string{"api_keys", "feeds"} {
		ahead(t, old, table, "account_id = {account:String}")
		sql := "INSERT INTO " + table + " SELECT * REPLACE (now64(3) AS revoked_at, now64(9) AS updated_at) FROM " + table + " LIMIT 1"
		if err := old.Cluster.Home().Exec(t.Context(), sql, nil); err != nil {
			t.Fatal(err)
		}
	}
	d := upgrade(t, old, dir)
	if got, found, err := d.Keys.KeyByHash(t.Context(), key.Hash); err != nil || !found || got.RevokedAt == nil {
		t.Errorf("the key is valid again: %+v, %v", got, err)
	}
	if got, found, err := d.Feeds.FeedByID(t.Context(), feed.ID); err != nil || !found || got.RevokedAt == nil {
		t.Errorf("the feed link is valid again: %+v, %v", got, err)
	}
}
