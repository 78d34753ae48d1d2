package clickhouse

import (
	"errors"
	"testing"

	"adlens"
	"adlens/internal/clickhouse/cluster"
	"adlens/internal/clickhouse/conn"
)

// What a shard has is not known while it is away: that it answers nothing is no loss.
func TestAnAccountWhoseShardIsAwayHasNotLostItsLoads(t *testing.T) {
	t.Parallel()
	second := &switched{Source: &asShard{startEngine(t, t.TempDir())}}
	db, err := openCluster(t.Context(), cluster.Config{Name: "ads", Sources: []conn.Source{&asShard{startEngine(t, t.TempDir())}, second}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	accounts := onEach(t, db)
	if err := errors.Join(db.Inspector.Begin(t.Context()), db.Inspector.SealDirectory(t.Context())); err != nil {
		t.Fatal(err)
	}
	second.away.Store(true)
	db.Cluster.Shards()[1].Disconnect()
	if err := errors.Join(db.Inspector.InspectAll(t.Context()), db.Inspector.SealDirectory(t.Context())); err != nil {
		t.Error(err)
	}
	if lost := db.Inspector.Damage().Lost; len(lost) > 0 {
		t.Errorf("withheld are %v", lost)
	}
	if err := db.Inspector.RequireDirectory(t.Context(), accounts[1]); adlens.KindOf(err) == adlens.Damaged {
		t.Errorf("its directory is damaged: %v", err)
	}
}
