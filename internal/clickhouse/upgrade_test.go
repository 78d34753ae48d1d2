package clickhouse

import (
	"context"
	"testing"
	"time"

	"adlens"
	"adlens/internal/engine"
	"adlens/schema"
)

// before makes a database as a release had it whose schema ended one step
// earlier.
func before(t *testing.T, dir string) *database {
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
	for _, step := range steps[:len(steps)-1] {
		if err := db.home.apply(ctx, step); err != nil {
			t.Fatal(step.Name, err)
		}
	}
	return &database{db, e}
}

func TestDataOfTheSchemaBeforeOpensAndIsReadAsItWas(t *testing.T) {
	dir := t.TempDir()
	old := before(t, dir)
	account := adlens.Account{ID: "acme", Name: "Acme Ltd", Subscription: "active", CreatedAt: time.Now()}
	if err := old.PutAccount(t.Context(), account); err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{
		"INSERT INTO manifest (account_id, kind, marketplace_key, ad_product, start, version, generation, fact_rows, report_ids, report_times, report_hashes, report_days) VALUES ('acme', 1, 1, 1, '2026-11-01', 7, 8, 3, ['r-1'], [now64(9)], ['h'], [7])",
		"INSERT INTO facts (account_id, generation, day, product_key, marketplace_key, ad_product, impressions, spend) SELECT 'acme', 8, toDate('2026-11-01') + number, number, 1, 1, 100, 1.25 FROM numbers(3)",
		"INSERT INTO day_totals SELECT account_id, generation, day, marketplace_key, ad_product, sum(impressions), 0, 0, sum(spend), 0 FROM facts GROUP BY ALL",
	} {
		if err := old.exec(t.Context(), statement, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := old.close(); err != nil {
		t.Fatal(err)
	}
	d, err := openDatabase(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := d.close(); err != nil {
			t.Error(err)
		}
	}()
	got, found, err := d.Account(t.Context(), "acme")
	if err != nil || !found || got.Name != "Acme Ltd" {
		t.Errorf("the account is %+v, %v: %v", got, found, err)
	}
	m, err := d.Manifest(t.Context(), "acme")
	if err != nil || m.Version != 7 {
		t.Errorf("the manifest has version %d: %v", m.Version, err)
	}
	for _, table := range []string{"facts", "day_totals"} {
		sum := one[string](t, d.DB, "SELECT concat(toString(sum(impressions)), ' ', toString(sum(spend))) FROM "+table+" WHERE account_id = 'acme' AND generation = 8", nil)
		if sum != "300 3.75" {
			t.Errorf("%s adds up to %s, expected 300 3.75", table, sum)
		}
	}
}
