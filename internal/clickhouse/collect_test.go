package clickhouse

import (
	"slices"
	"testing"
	"time"

	"adlens/internal/clickhouse/conn"
	"adlens/internal/commits"
	"adlens/internal/tables"

	"github.com/google/go-cmp/cmp"
)

// settle waits until a table has deleted what it was told to.
func settle(t *testing.T, db *Database, table string) {
	t.Helper()
	if err := db.Cluster.Exec(t.Context(), "ALTER TABLE "+table+" DELETE WHERE 0 SETTINGS mutations_sync = 2", nil); err != nil {
		t.Fatal(err)
	}
}

// Generations are never reused and die with every load, so their list may
// have grown long when nothing was loaded for a while after many loads.
func TestACollectionCopesWithAnyNumberOfDeadGenerations(t *testing.T) {
	d := openShared(t)
	params := conn.Params{"account": t.Name()}
	err := d.Cluster.Exec(t.Context(), "INSERT INTO dead_generations SELECT {account:String}, 'facts', number + 1000000, now64(3) - 3600 FROM numbers(150000)", params)
	if err != nil {
		t.Fatal(err)
	}
	if err := commits.DeleteDead(t.Context(), d.Tables, t.Name(), 0, 0); err != nil {
		t.Fatal(err)
	}
	settle(t, d.Database, "dead_generations")
	if left := one[uint64](t, d.Database, "SELECT count() FROM dead_generations WHERE account_id = {account:String}", params); left != 0 {
		t.Errorf("%d are still noted", left)
	}
}

func TestDeadRowsOfAllAccountsAreDeletedTogetherAndOnlyThey(t *testing.T) {
	d := openShared(t)
	params := conn.Params{"account": t.Name()}
	for _, statement := range []string{
		"INSERT INTO rates (account_id, generation, currency, day, usd) SELECT concat({account:String}, toString(number % 250)), number % 3, 'EUR', '2026-01-01', 1 FROM numbers(750)",
		"INSERT INTO dead_generations SELECT concat({account:String}, toString(number)), 'rates', 1, now64(3) - 3600 FROM numbers(250)",
		"INSERT INTO dead_generations SELECT concat({account:String}, toString(number)), 'rates', 2, now64(3) FROM numbers(250)",
	} {
		if err := d.Cluster.Exec(t.Context(), statement, params); err != nil {
			t.Fatal(err)
		}
	}
	if err := commits.DeleteDead(t.Context(), d.Tables, "", 30*time.Minute, 30*time.Minute); err != nil {
		t.Fatal(err)
	}
	settle(t, d.Database, "rates")
	for generation, want := range []uint64{250, 0, 250} {
		params["generation"] = conn.Number(uint32(generation))
		got := one[uint64](t, d.Database, "SELECT count() FROM rates WHERE startsWith(account_id, {account:String}) AND generation = {generation:UInt32}", params)
		if got != want {
			t.Errorf("%d rows of generation %d are left, expected %d", got, generation, want)
		}
	}
}

// A table that is forgotten here would keep its dead rows for ever.
func TestEveryTableWithGenerationsIsCollected(t *testing.T) {
	d := openShared(t)
	all, err := conn.Collect(t.Context(), d.Cluster, "SELECT table FROM system.columns WHERE database = currentDatabase() AND name = 'generation' AND table NOT IN ('commit_units', 'manifest', 'dead_generations') ORDER BY table", nil,
		func(scan conn.Scan) (table string, err error) {
			err = scan(&table)
			return table, err
		})
	if err != nil || len(all) == 0 {
		t.Fatal(all, err)
	}
	if diff := cmp.Diff(all, slices.Sorted(slices.Values(tables.OfGenerations()))); diff != "" {
		t.Errorf("tables with generations, and those that are collected (-all +collected):\n%s", diff)
	}
}
