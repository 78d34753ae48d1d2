package clickhouse

import (
	"fmt"
	"testing"
	"time"

	"adlens"
	"adlens/internal/clickhouse/audit"
	"adlens/internal/clickhouse/conn"
	"adlens/internal/query"

	"github.com/google/go-cmp/cmp"
)

// The newest day is of what is live: not of a load that died before its commit, of a commit
// that is in no chain, or of what was there before a restore. The last commits, 11 and 13, ended
// earlier writers, and are no loads.
func TestAllAccountsSayHowFarTheyAreLoaded(t *testing.T) {
	t.Parallel()
	db := pair(t, &asShard{startEngine(t, t.TempDir())}, &asShard{startEngine(t, t.TempDir())})
	accounts := onEach(t, db) // with one commit each, number 7
	insert := func(account, rows string) {
		t.Helper()
		if err := db.Cluster.Exec(t.Context(), "INSERT INTO "+rows, conn.Params{"account": query.Text(account)}); err != nil {
			t.Fatal(err)
		}
	}
	for _, commit := range []string{"3, 0, '2020-01-01 01:00:00'", "4, 3, '2020-01-01 02:00:00'", "8, 7, '2020-01-02 03:00:00'", "9, 0, '2020-01-04 03:00:00'", "11, 10, '2020-01-05 03:00:00'", "12, 10, '2020-01-06 03:00:00'", "13, 11, '2020-01-07 03:00:00'", "10, 8, '2020-01-03 03:00:00'"} {
		insert(accounts[0], "commits (account_id, number, base, committed_at) VALUES ({account:String}, "+commit+")")
	}
	unit := func(number int, start, days string) {
		t.Helper()
		insert(accounts[0], fmt.Sprintf("commit_units (account_id, number, kind, marketplace_key, ad_product, start, report_days) VALUES ({account:String}, %d, 1, %d, 1, '%s', %s)", number, number, start, days))
	}
	unit(3, "2020-12-01", "[7]") // before a restore
	unit(7, "2020-10-01", "[7]")
	unit(8, "2020-11-01", fmt.Sprintf("[%d, %d]", 1<<28, 1<<28-1))
	unit(9, "2020-11-01", fmt.Sprint("[", 1<<29, "]")) // in no chain
	unit(10, "2020-11-01", "[1]")
	unit(10, "2020-12-01", "[]")
	unit(12, "2020-12-01", "[1]") // in no chain either
	unit(14, "2020-12-01", "[1]") // of a load that is under way
	insert(accounts[1], "commits (account_id, number, base, committed_at) VALUES ({account:String}, 8, 7, '2020-02-03 04:00:00')")
	insert(accounts[1], "commit_units (account_id, number, kind) VALUES ({account:String}, 8, 2)")
	got, err := db.Audit.Loaded(t.Context())
	want := map[string]audit.Loaded{
		accounts[0]: {LastLoad: time.Date(2020, 1, 3, 3, 0, 0, 0, time.UTC), NewestDay: adlens.Date(2020, 11, 29)},
		accounts[1]: {LastLoad: time.Date(2020, 2, 3, 4, 0, 0, 0, time.UTC)},
	}
	if err != nil || !cmp.Equal(want, got) {
		t.Errorf("they are %v, expected %v: %v", got, want, err)
	}
}
