package clickhouse

import (
	"slices"
	"strings"
	"testing"
	"time"

	"adlens/internal/clickhouse/conn"
)

// What a shard has is not known while it is away: it may be all of the account.
func TestNothingIsGivenUpWhileAShardIsAway(t *testing.T) {
	t.Parallel()
	db, second := switchedPair(t)
	accounts := onEach(t, db)
	execAt(t, db, 1, "INSERT INTO loaded_accounts SELECT '"+accounts[0]+"'", "DELETE FROM commits WHERE account_id = '"+accounts[0]+"'")
	second.away.Store(true)
	db.Cluster.Shards()[1].Disconnect()
	for i, id := range accounts {
		_, err := db.Sink.GiveUp(t.Context(), id, 1, func(time.Duration) { t.Errorf("%s has another place", id) })
		if err == nil || conn.IsRefusal(err) {
			t.Errorf("account %s of shard %d is given up: %v", id, i+1, err)
		}
	}
	blocks, err := conn.Value[uint64](t.Context(), db.Cluster.Home(), "SELECT count() FROM number_blocks WHERE account_id = '"+accounts[0]+"'", nil)
	if err != nil || blocks != 1 {
		t.Errorf("%d of what its shard has of the account are left: %v", blocks, err)
	}
}

// What is half of an account goes from all shards, and with it what says that reports were read
// for it: they would not be read again. The lock is kept until others have read its new place.
func TestAnAccountThatIsGivenUpBeginsAgain(t *testing.T) {
	t.Parallel()
	m := newMoving(t)
	for _, id := range []string{"acme", "gone", "other"} {
		m.putLoaded(t, id, 1)
		for _, table := range []string{"report_requests", "refreshed"} {
			execAt(t, m.Database, 1, "INSERT INTO "+table+" (account_id) VALUES ('"+id+"')")
		}
	}
	m.putLoaded(t, "new", 0)
	for _, id := range []string{"new", "other"} {
		if _, err := m.Sink.GiveUp(t.Context(), id, 2, func(time.Duration) {}); err == nil || !strings.Contains(err.Error(), id+" is on shard 1, which is there and lost nothing that is known") {
			t.Errorf("account %s is given up: %v", id, err)
		}
	}
	for id, place := range map[string]uint16{"acme": 2, "gone": 3} { // a disk that was put back; a shard that left the list
		execAt(t, m.Database, 1, "DELETE FROM product_titles WHERE account_id = '"+id+"'")
		if err := m.Cluster.Placements().Move(t.Context(), id, place); err != nil {
			t.Fatal(err)
		}
		var waits []time.Duration
		newest, err := m.Sink.GiveUp(t.Context(), id, 2, func(d time.Duration) {
			if waits = append(waits, d); m.placeOf(t, id) != 2 {
				t.Errorf("account %s is on shard %d when others read its place", id, m.placeOf(t, id))
			}
		})
		if left, titles := m.rowsAt(t, 1, id); err != nil || newest != 0 || left+titles != 0 {
			t.Errorf("account %s begins with load %d, and %d commits and %d titles are left: %v", id, newest, left, titles, err)
		}
		wantWaits(t, "an account that is given up", waits, settling)
	}
	for _, table := range []string{"report_requests", "refreshed"} {
		left, err := m.Cluster.Home().ReadTexts(t.Context(), "SELECT DISTINCT account_id FROM "+table)
		if err != nil || !slices.Equal(left, []string{"other"}) {
			t.Errorf("%s has rows of %q: %v", table, left, err)
		}
	}
}
