package clickhouse

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"adlens"
	"adlens/internal/clickhouse/cluster"
	"adlens/internal/clickhouse/conn"
	"adlens/internal/commits"
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

// What is left on another shard may be half of a move. It is no loss of the account, whose
// own losses are found on its shard, and in the directory.
func TestWhatAMoveHasLeftIsNoLoss(t *testing.T) {
	t.Parallel()
	m := newMoving(t)
	m.putLoaded(t, "acme", 1)
	m.interrupt(t, "acme", 2)
	missed := func() []commits.Loss {
		t.Helper()
		if err := m.Inspector.InspectAll(t.Context()); err != nil {
			t.Fatal(err)
		}
		all, err := m.Inspector.Losses(conn.Inspecting(t.Context()), "")
		if lost := m.Inspector.Damage().Lost; err != nil || len(lost) > 0 != (len(all) > 0) {
			t.Errorf("withheld are %v, and lost %v: %v", lost, all, err)
		}
		return all
	}
	m.Inspector.Start()
	for i, at := range m.Cluster.Shards() {
		if err := at.Exec(t.Context(), "DELETE FROM product_titles WHERE account_id = 'acme'", nil); err != nil {
			t.Fatal(err)
		}
		if got := missed(); len(got) != i {
			t.Errorf("after rows of shard %d went, it misses %v", at.Number, got)
		}
	}
	if err := m.Cluster.Home().Exec(t.Context(), "INSERT INTO directory_seals (table_name, key, account_id, revision) VALUES ('api_keys', 'aa', 'acme', 1)", nil); err != nil {
		t.Fatal(err)
	}
	if got := missed(); !slices.ContainsFunc(got, func(l commits.Loss) bool { return strings.Contains(l.What, "api_keys lost 1 of its rows") }) {
		t.Errorf("after a key of the directory went too, it misses %v", got)
	}
}

// Where accounts are placed cannot be read: they are withheld, and the server that has the
// directory answers.
func TestPlacesThatCannotBeReadKeepNoServerAway(t *testing.T) {
	t.Parallel()
	first, second := &asShard{startEngine(t, t.TempDir())}, &asShard{startEngine(t, t.TempDir())}
	db := pair(t, first, second)
	accounts := onEach(t, db)
	home := db.Cluster.Home()
	parts, err := home.ReadTexts(t.Context(), "SELECT path FROM system.parts WHERE database = currentDatabase() AND active AND table = 'placements' ORDER BY name DESC LIMIT 1")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(parts[0], "data.bin")
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	raw[len(raw)/2] ^= 0x10
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := db.Inspector.Begin(t.Context()); err != nil {
		t.Error(err)
	}
	home.Disconnect()
	if err := db.Cluster.Ping(t.Context()); err != nil {
		t.Errorf("the first shard: %v", err)
	}
	if lost := db.Inspector.Damage().Lost; len(lost) != len(accounts) {
		t.Errorf("withheld are %v", lost)
	}
}
