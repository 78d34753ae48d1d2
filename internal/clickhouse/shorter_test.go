package clickhouse

import (
	"fmt"
	"strings"
	"testing"

	"adlens"
	"adlens/internal/clickhouse/cluster"
	"adlens/internal/clickhouse/conn"
	"adlens/internal/query"
)

// A process whose list of shards lacks one, as while a cluster grows, must not take the
// first for the only one: accounts of the other would be empty, and be loaded there.
func TestAccountsOfAShardThatIsNotInTheListAreRefused(t *testing.T) {
	t.Parallel()
	first, second := &asShard{startEngine(t, t.TempDir())}, &asShard{startEngine(t, t.TempDir())}
	short, err := openCluster(t.Context(), cluster.Config{Name: "ads", Sources: []conn.Source{first}}) // before it grows
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := short.Close(); err != nil {
			t.Error(err)
		}
	})
	accounts := onEach(t, pair(t, first, second))
	if v, err := short.Figures.View(t.Context(), accounts[0]); err != nil || v.Manifest.Version != 7 {
		t.Errorf("account %s of the first shard has version %d: %v", accounts[0], v.Manifest.Version, err)
	}
	refused := func(what string, err error) {
		t.Helper()
		if adlens.KindOf(err) != adlens.Damaged || !strings.Contains(err.Error(), "is on shard 2, and cluster \"ads\" has 1 here: put that shard back") {
			t.Errorf("%s of account %s of the second shard: %v", what, accounts[1], err)
		}
	}
	_, err = short.Figures.View(t.Context(), accounts[1])
	refused("a view", err)
	refused("a write", short.Cluster.Exec(t.Context(), "INSERT INTO commits (account_id, number) VALUES ({account:String}, 8)", conn.Params{"account": query.Text(accounts[1])}))
}

// A directory that forgot an account, as an older copy of the first shard's disk does, has it
// placed where its loads are.
func TestAForgottenAccountIsPlacedWhereItsLoadsAre(t *testing.T) {
	t.Parallel()
	m := newMoving(t)
	m.putLoaded(t, "acme", 1)
	if _, err := m.move(t.Context(), t, "acme", 2); err != nil {
		t.Fatal(err)
	}
	if err := m.Cluster.Home().Exec(t.Context(), "DELETE FROM placements WHERE account_id = 'acme'", nil); err != nil {
		t.Fatal(err)
	}
	if err := m.Sink.Recall(t.Context(), "acme"); err != nil || m.placeOf(t, "acme") != 2 {
		t.Errorf("the account is placed on shard %d: %v", m.placeOf(t, "acme"), err)
	}
	var last, units uint32
	var digest uint64
	err := m.Cluster.Shards()[1].Read(t.Context(), "SELECT number, units, digest FROM commits WHERE account_id = 'acme' ORDER BY number DESC LIMIT 1", nil, conn.ScanInto(&last, &units, &digest))
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Cluster.Home().Exec(t.Context(), fmt.Sprintf("INSERT INTO commits (account_id, number, units, digest) VALUES ('acme', %d, %d, %d)", last, units, digest), nil); err != nil {
		t.Fatal(err)
	}
	if err := m.Sink.Recall(t.Context(), "acme"); err != nil || m.placeOf(t, "acme") != 2 {
		t.Errorf("of a load that is on both, and half on one, the account is placed on shard %d: %v", m.placeOf(t, "acme"), err)
	}
	if err := m.Cluster.Shards()[1].Exec(t.Context(), "DELETE FROM product_titles WHERE account_id = 'acme'", nil); err != nil {
		t.Fatal(err)
	}
	if err := m.Sink.Recall(t.Context(), "acme"); err == nil || !strings.Contains(err.Error(), "on several shards, and whole on none") {
		t.Errorf("a load that is on both, and half on each: %v", err)
	}
	for account, want := range map[string]bool{"acme": true, "none": false} {
		if has, err := m.Sink.HasLoads(t.Context(), account); err != nil || has != want {
			t.Errorf("account %s has loads: %t, %v", account, has, err)
		}
	}
	if err := m.Cluster.Home().Exec(t.Context(), "INSERT INTO commits (account_id, number) VALUES ('acme', {number:UInt32})", conn.Params{"number": conn.Number(last + 1)}); err != nil {
		t.Fatal(err)
	}
	if err := m.Sink.Recall(t.Context(), "acme"); err != nil || m.placeOf(t, "acme") != 1 {
		t.Errorf("the newest load is not on shard %d: %v", m.placeOf(t, "acme"), err)
	}
}

// Of processes that open new servers at once, several note which shard one is.
func TestAShardThatWasNumberedTwiceIsTheSame(t *testing.T) {
	t.Parallel()
	first, second := &asShard{startEngine(t, t.TempDir())}, &asShard{startEngine(t, t.TempDir())}
	db := pair(t, first, second)
	for _, s := range db.Cluster.Shards() {
		if err := s.Exec(t.Context(), "INSERT INTO shard SELECT number, cluster FROM shard", nil); err != nil {
			t.Fatal(err)
		}
	}
	again, err := openPair(t.Context(), first, second)
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Close(); err != nil {
		t.Error(err)
	}
	for i, s := range db.Cluster.Shards() { // each knows itself and the other
		if known, err := conn.Value[uint64](t.Context(), s, "SELECT count() FROM identities", nil); err != nil || known != 2 {
			t.Errorf("shard %d has noted %d identities, want 2: %v", i+1, known, err)
		}
	}
}
