package clickhouse

import (
	"slices"
	"testing"

	"adlens/internal/backup"
	"adlens/internal/clickhouse/cluster"
	"adlens/internal/tables"
	"adlens/loader"
)

// notCopied are the tables that a backup does not hold, and why.
var notCopied = map[string]string{
	"month_products":  "derived from facts",
	"year_products":   "derived from month_products",
	"month_ad_groups": "derived from facts",
	"year_ad_groups":  "derived from month_ad_groups",

	"accounted":        "follows from the number blocks, as no dead rows are restored",
	"commits":          "made again of the live units",
	"dead_generations": "no dead rows are restored",
	"identities":       "of the database itself",
	"directory_seals":  "made again of the rows that they are of",
	"leases":           "of the moment",
	"loaded_accounts":  "made again of the loads that there are",
	"migrations":       "of the database itself",
	"restoring":        "of a restore itself",
	"seals":            "made again of the live units",
	"placements":       "of the cluster; chosen again",
	"shard":            "of the cluster itself",
}

// A new table has to say whether it belongs into backups.
func TestEveryTableIsInABackupOrSaysWhyNot(t *testing.T) {
	d := openShared(t)
	if _, err := d.Sink.Began(t.Context(), ""); err != nil { // makes its table
		t.Fatal(err)
	}
	all, err := d.Cluster.Home().ReadTexts(t.Context(), "SELECT name FROM system.tables WHERE database = currentDatabase() AND NOT startsWith(name, 'bench_') ORDER BY name")
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range all {
		_, left := notCopied[table]
		if backup.Holds(table) == left {
			t.Errorf("table %s: say in internal/tables/list.go that backups hold it, or here why not", table)
		}
		columns, err := d.Source.Columns(t.Context(), table)
		if err != nil || len(columns) == 0 {
			t.Errorf("table %s: %v, %v", table, columns, err)
		}
		ofAccounts := columns.Index("account_id") >= 0 || cluster.RowsOf(table) != "account_id = {account:String}"
		if _, listed := tables.Find(table); listed != (ofAccounts && !slices.Contains([]string{"leases", "restoring", "placements"}, table)) {
			t.Errorf("table %s: rows of accounts: %v, in internal/tables/list.go: %v", table, ofAccounts, listed)
		}
	}
}

// The clocks of two machines may differ, and a statement takes its time.
func TestRowsStayLongerThanABackupRelies(t *testing.T) {
	if backup.Patience > loader.CollectAfter*2/3 {
		t.Errorf("a backup relies on rows for %v, they are deleted after %v", backup.Patience, loader.CollectAfter)
	}
}
