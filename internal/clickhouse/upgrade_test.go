package clickhouse

import (
	"context"
	"testing"
	"time"

	"adlens"
	"adlens/internal/engine"
	"adlens/internal/manifest"
	"adlens/schema"
)

// Steps of the schema that brought revisions, and seals of the directory.
const (
	revisionsStep = 19
	sealsStep     = 21
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
	db := newDB(Embedded{e})
	steps, err := schema.Migrations()
	if err != nil {
		t.Fatal(err)
	}
	if err := db.home.createDatabase(ctx); err != nil {
		t.Fatal(err)
	}
	if err := db.home.exec(ctx, createMigrations, nil); err != nil {
		t.Fatal(err)
	}
	for _, step := range steps[:step-1] {
		if err := db.home.apply(ctx, step); err != nil {
			t.Fatal(step.Name, err)
		}
	}
	// What is put by today's program is sealed.
	if err := db.home.exec(ctx, steps[sealsStep-1].Statements[0], nil); err != nil {
		t.Fatal(err)
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
	if err := old.PutAccount(t.Context(), account); err != nil {
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
		if err := old.exec(t.Context(), statement, nil); err != nil {
			t.Fatal(err)
		}
	}
	d := upgrade(t, old, dir)
	got, found, err := d.Account(t.Context(), "acme")
	if err != nil || !found || got.Name != "Acme Ltd" {
		t.Errorf("the account is %+v, %v: %v", got, found, err)
	}
	m, err := d.Manifest(t.Context(), "acme")
	if err != nil || m.Version != 7 {
		t.Errorf("the manifest has version %d: %v", m.Version, err)
	}
	month, _ := m.Find(manifest.Unit{Kind: manifest.Month, Slice: manifest.Slice{Marketplace: 1, AdProduct: 1}, Start: adlens.Date(2026, 11, 1)})
	if month.Generation != 8 || month.Rows != 3 || month.RowsAt(1) != 3 || len(month.Sources) != 1 || month.Sources[0].ReportID != "r-1" {
		t.Errorf("the month is %+v", month)
	}
	ids, err := d.ProductIDs(t.Context(), "acme", m.Generation(manifest.Unit{Kind: manifest.Products}))
	if err != nil || len(ids) != 2 || ids[2] != "P-two" || m.Len() != 2 {
		t.Errorf("products are %v of %d units: %v", ids, m.Len(), err)
	}
	if losses, err := d.Losses(t.Context(), ""); err != nil || len(losses) > 0 {
		t.Errorf("an account that is whole lost %v: %v", losses, err)
	}
	if number := commitUnits(t, d.DB, "acme"); number < 1025 {
		t.Errorf("number %d was given out before", number)
	}
	if err := d.home.takeOver(t.Context()); err != nil { // as after a restart in its middle
		t.Error(err)
	}
	if again, err := d.Manifest(t.Context(), "acme"); err != nil || again.Digest() != m.Digest() {
		t.Errorf("taking over once more changed what is live: %v", err)
	}
	for _, table := range []string{"facts", "day_totals"} {
		sum := one[string](t, d.DB, "SELECT concat(toString(sum(impressions)), ' ', toString(sum(spend))) FROM "+table+" WHERE account_id = 'acme' AND generation = 8", nil)
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
	for _, put := range []error{old.PutKey(t.Context(), key), old.PutFeed(t.Context(), feed)} {
		if put != nil {
			t.Fatal(put)
		}
	}
	for _, table := range []string{"api_keys", "feeds"} {
		ahead(t, old, table, "account_id = {account:String}")
		sql := "INSERT INTO " + table + " SELECT * REPLACE (now64(3) AS revoked_at, now64(9) AS updated_at) FROM " + table + " LIMIT 1"
		if err := old.home.exec(t.Context(), sql, nil); err != nil {
			t.Fatal(err)
		}
	}
	d := upgrade(t, old, dir)
	if got, found, err := d.KeyByHash(t.Context(), key.Hash); err != nil || !found || got.RevokedAt == nil {
		t.Errorf("the key is valid again: %+v, %v", got, err)
	}
	if got, found, err := d.FeedByID(t.Context(), feed.ID); err != nil || !found || got.RevokedAt == nil {
		t.Errorf("the feed link is valid again: %+v, %v", got, err)
	}
}
