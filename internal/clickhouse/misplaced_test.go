package clickhouse

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"adlens"
	"adlens/internal/clickhouse/cluster"
	"adlens/internal/clickhouse/conn"
	"adlens/internal/commits"
	"adlens/internal/manifest"
	"adlens/internal/query"
	"adlens/internal/tables"
)

// switchedPair is a database on two shards, of which the second may be away.
func switchedPair(t *testing.T) (*Database, *switched) {
	t.Helper()
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
	return db, second
}

// What a shard has is not known while it is away: that it answers nothing is no loss.
func TestAnAccountWhoseShardIsAwayHasNotLostItsLoads(t *testing.T) {
	t.Parallel()
	db, second := switchedPair(t)
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
	// A new account goes where it can be loaded now.
	for i := range 8 {
		id := fmt.Sprintf("later-%d", i)
		if err := db.Cluster.Placements().Place(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		if number, _, err := db.Cluster.Placements().Read(t.Context(), id); err != nil || number != 1 {
			t.Errorf("account %s is on shard %d, which is away: %v", id, number, err)
		}
	}
	if opened, err := openCluster(t.Context(), cluster.Config{Name: "ads", Sources: []conn.Source{second, &asShard{startEngine(t, t.TempDir())}}}); err == nil {
		t.Error("a cluster is opened whose first shard is away", opened.Close())
	}
}

// What of one account cannot be read keeps no other from being looked at, restored or served.
func TestAShardThatCannotBeReadHidesNoMisplacedAccount(t *testing.T) {
	t.Parallel()
	db := pair(t, &asShard{startEngine(t, t.TempDir())}, &asShard{startEngine(t, t.TempDir())})
	accounts := onEach(t, db)
	execAt(t, db, 1, "INSERT INTO loaded_accounts SELECT 'forgotten'", "INSERT INTO loaded_accounts SELECT '"+accounts[0]+"'",
		"ALTER TABLE commits DELETE WHERE account_id = '"+accounts[0]+"' SETTINGS mutations_sync = 1")
	execAt(t, db, 2, "INSERT INTO commits (account_id, number) VALUES ('forgot', 1), ('forgotten-too', 1)") // one part, which may have 'forgotten' by its first and last row
	spoilParts(t, db, 2, "commits")
	if err := db.Inspector.Begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	if lost := db.Inspector.Damage().Lost; len(lost[accounts[0]]) != 1 || !strings.Contains(lost[accounts[0]][0], "had some") {
		t.Errorf("withheld are %v, expected %s", lost, accounts[0])
	}
	if left, err := db.Sink.LeftUnknown(t.Context(), "forgotten"); err != nil || len(left) > 0 {
		t.Errorf("left of an account whose loads are noted are rows in %q: %v", left, err)
	}
	spoilParts(t, db, 1, "accounts")
	spoilParts(t, db, 1, "placements")
	if err := db.Inspector.InspectAll(t.Context()); err != nil {
		t.Errorf("with a directory that cannot be read: %v", err)
	}
}

// spoilParts changes bytes of each column in each part of a table.
func spoilParts(t *testing.T, db *Database, shard uint16, table string) {
	t.Helper()
	changeParts(t, db.Cluster.Shards()[shard-1], table, func(raw []byte) {
		for i := range raw {
			raw[i] ^= 0x10
		}
	})
}

// That the row of an account is lost makes no new server of its shard.
func TestAShardOfALostAccountIsNotTakenForANewOne(t *testing.T) {
	t.Parallel()
	first, second := &asShard{startEngine(t, t.TempDir())}, &asShard{startEngine(t, t.TempDir())}
	db := pair(t, first, second)
	accounts := onEach(t, db)
	for _, account := range accountsOf(t, db) {
		if number, _, err := db.Cluster.Placements().Read(t.Context(), account); err != nil || number == 2 && account != accounts[1] {
			t.Fatalf("account %s is on shard %d: %v", account, number, err)
		}
	}
	lose(t, db, "accounts", "account_id = '"+accounts[1]+"'")
	second.engine = startEngine(t, t.TempDir())
	if wrong := pair(t, first, second).Cluster.Recognize(t.Context()); len(wrong) != 1 || !strings.Contains(wrong[0].Error(), "the account "+accounts[1]+" is on shard 2") {
		t.Errorf("not recognized are %v", wrong)
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
	spoilParts(t, db, 1, "placements")
	if err := db.Inspector.Begin(t.Context()); err != nil {
		t.Error(err)
	}
	home.Disconnect()
	if err := db.Cluster.Ping(t.Context()); err != nil {
		t.Errorf("the first shard: %v", err)
	}
	for _, account := range accounts {
		if lost := db.Inspector.Damage().Lost; len(lost[account]) == 0 {
			t.Errorf("account %s is answered; withheld are %v", account, lost)
		}
	}
}

// setPlace has an account on a shard, whatever is there, as an older copy of the directory does.
func setPlace(t *testing.T, db *Database, account string, shard uint16) {
	t.Helper()
	if err := db.Cluster.Placements().Put(t.Context(), account, db.Cluster.Shards()[shard-1]); err != nil {
		t.Fatal(err)
	}
}

// execAt runs statements at a shard.
func execAt(t *testing.T, db *Database, shard uint16, statements ...string) {
	t.Helper()
	for _, statement := range statements {
		if err := db.Cluster.Shards()[shard-1].Exec(t.Context(), statement, nil); err != nil {
			t.Fatal(statement, err)
		}
	}
}

// An account that is not where its loads are is damaged to each look at it, until it is there again.
func TestAMisplacedAccountIsDamagedHoweverItIsLookedAt(t *testing.T) {
	t.Parallel()
	db := pair(t, &asShard{startEngine(t, t.TempDir())}, &asShard{startEngine(t, t.TempDir())})
	ctx := conn.Inspecting(t.Context())
	accounts := onEach(t, db)
	account := accounts[1]
	for _, c := range []struct {
		name  string
		place func()
	}{
		{"placed before it moved", func() { setPlace(t, db, account, 1) }},
		{"without a place, as before there were shards", func() {
			execAt(t, db, 1, "DELETE FROM placements WHERE account_id = '"+account+"'", "DELETE FROM directory_seals WHERE account_id = '"+account+"' AND table_name = 'placements'")
			db.Cluster.Placements().Note(query.Text(account), 1)
			if err := db.Cluster.Placements().Place(t.Context(), account); err != nil {
				t.Error(err)
			}
			if _, placed, err := db.Cluster.Placements().Read(t.Context(), account); err != nil || placed {
				t.Errorf("an account that was there gets a place: %v", err)
			}
		}},
	} {
		c.place()
		const says = "it is placed on shard 1, which has no load of it, and shard 2 has (commit 7)"
		if err := db.Inspector.Begin(t.Context()); err != nil {
			t.Fatal(err)
		}
		if lost := db.Inspector.Damage().Lost; len(lost) != 1 || !slices.Equal(lost[account], []string{says}) {
			t.Errorf("%s: withheld are %v", c.name, lost)
		}
		for _, of := range []string{"", account} {
			losses, err := db.Inspector.Losses(ctx, of)
			if want := []commits.Loss{{Account: account, What: says}}; err != nil || !slices.Equal(losses, want) {
				t.Errorf("%s: lost of %q are %v: %v", c.name, of, losses, err)
			}
		}
		if whole, err := db.Inspector.LookAgain(t.Context(), account); whole || err != nil {
			t.Errorf("%s: it is whole: %t, %v", c.name, whole, err)
		}
		setPlace(t, db, account, 2)
		if whole, err := db.Inspector.LookAgain(t.Context(), account); !whole || err != nil {
			t.Errorf("%s, and placed where it is: it is whole: %t, %v", c.name, whole, err)
		}
	}
	setPlace(t, db, account, 1)
	execAt(t, db, 2, fmt.Sprintf("INSERT INTO commits (account_id, number) VALUES ('%s', %d)", account, uint32(manifest.Closed)))
	if err := db.Inspector.RequireDirectory(ctx, account); err == nil || !strings.Contains(err.Error(), "which has no load of it, and is being restored on shard 2") {
		t.Errorf("while it is being restored where it was: %v", err)
	}
}

// What is closed, or has lost what it had, is no newer and no older load.
func TestOnlyLoadsAreNewerElsewhereAndNoted(t *testing.T) {
	t.Parallel()
	db := pair(t, &asShard{startEngine(t, t.TempDir())}, &asShard{startEngine(t, t.TempDir())})
	accounts := onEach(t, db)
	for i, id := range accounts {
		other := uint16(2 - i)
		execAt(t, db, other, fmt.Sprintf("INSERT INTO commits (account_id, number) VALUES ('%s', %d)", id, uint32(manifest.Closed)))
	}
	if newer, err := db.Inspector.NewerElsewhere(t.Context()); err != nil || len(newer) > 0 {
		t.Errorf("newer elsewhere are %q: %v", newer, err)
	}
	execAt(t, db, 1, fmt.Sprintf("INSERT INTO commits (account_id, number) VALUES ('%s', %d)", accounts[0], uint32(manifest.Closed)))
	execAt(t, db, 2, "DELETE FROM commits WHERE account_id = '"+accounts[0]+"'", "INSERT INTO commits (account_id, number) VALUES ('"+accounts[0]+"', 8)")
	if newer, err := db.Inspector.NewerElsewhere(t.Context()); err != nil || len(newer) > 0 {
		t.Errorf("newer than a closed account are %q: %v", newer, err)
	}
	execAt(t, db, 1, "DELETE FROM commits WHERE account_id = '"+accounts[1]+"'", "INSERT INTO commits (account_id, number) VALUES ('"+accounts[1]+"', 7)")
	for range 2 { // the second time, all is noted
		if err := db.Inspector.SealDirectory(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	noted, err := conn.CollectValues[string](t.Context(), db.Cluster.Home(), "SELECT account_id FROM loaded_accounts WHERE account_id IN ('"+accounts[0]+"', '"+accounts[1]+"')", nil)
	if err != nil || !slices.Equal(noted, accounts[1:]) {
		t.Errorf("noted are the loads of %q, expected %q: %v", noted, accounts[1:], err)
	}
	execAt(t, db, 2, "DELETE FROM commits WHERE account_id = '"+accounts[1]+"'")
	if newer, err := db.Inspector.NewerElsewhere(t.Context()); err != nil || len(newer) > 0 {
		t.Errorf("newer than nothing are %q: %v", newer, err)
	}
}

// A shard that is put back from a copy of its disk, which is older than a move to it or than
// all loads of an account, has nothing of it, and no other has.
func TestAnAccountIsNotReadWhereAnOldDiskHasNothingOfIt(t *testing.T) {
	t.Parallel()
	m := newMoving(t)
	ctx := conn.Inspecting(t.Context())
	for _, id := range []string{"moved", "loaded", "later", "new"} {
		m.putLoaded(t, id, map[bool]int{true: 1}[id == "moved" || id == "loaded"])
	}
	if _, err := m.move(t.Context(), t, "moved", 2); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(m.Inspector.Begin(t.Context()), m.Inspector.SealDirectory(t.Context())); err != nil {
		t.Fatal(err)
	}
	m.load(t, "later") // what came since is not known to be missing
	for id, at := range map[string]*cluster.Shard{"moved": m.Cluster.Shards()[1], "loaded": m.Cluster.Home(), "later": m.Cluster.Home()} {
		if err := at.ClearTables(t.Context(), tables.OfShards(), id, func() error { return nil }); err != nil {
			t.Fatal(err)
		}
	}
	if err := m.Inspector.InspectAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	lost := m.Inspector.Damage().Lost
	if len(lost) != 2 || len(lost["moved"]) != 1 || !strings.Contains(lost["moved"][0], "placed on shard 2, which has no load of it, and had some") || len(lost["loaded"]) != 1 {
		t.Errorf("withheld are %v", lost)
	}
	if err := m.Inspector.RequireDirectory(ctx, "moved"); adlens.KindOf(err) != adlens.Damaged {
		t.Errorf("it would be backed up: %v", err)
	}
	for id, to := range map[string]uint16{"moved": 1, "loaded": 1} { // of which there is no backup
		if newest, err := m.Sink.GiveUp(t.Context(), id, to, func(time.Duration) {}); err != nil || newest > 0 {
			t.Errorf("%s is given up with its load %d: %v", id, newest, err)
		}
		if whole, err := m.Inspector.LookAgain(t.Context(), id); !whole || err != nil || m.placeOf(t, id) != to {
			t.Errorf("%s, given up, is not whole: %v", id, err)
		}
	}
}

// Of an account that is given up, what a move has left counts where it is whole, and nothing is
// given up whose loads are there.
func TestAnAccountIsGivenUpForWhatIsLeftOfIt(t *testing.T) {
	t.Parallel()
	m := newMoving(t)
	give := func(id string) (uint32, error) {
		return m.Sink.GiveUp(t.Context(), id, 1, func(time.Duration) {})
	}
	for _, id := range []string{"whole", "half"} {
		m.putLoaded(t, id, 1)
		m.interrupt(t, id, 2)
		if newest, err := give(id); err == nil || newest > 0 || m.placeOf(t, id) != 2 || !strings.Contains(err.Error(), "is on shard 2, which is there and lost nothing that is known") {
			t.Errorf("%s is given up while it is there: %v", id, err)
		}
		if err := m.Cluster.Shards()[1].ClearTables(t.Context(), tables.OfShards(), id, func() error { return nil }); err != nil {
			t.Fatal(err)
		}
	}
	if err := m.Cluster.Home().Exec(t.Context(), "DELETE FROM product_titles WHERE account_id = 'half'", nil); err != nil {
		t.Fatal(err)
	}
	_, err := m.Sink.GiveUp(t.Context(), "whole", 2, func(time.Duration) {})
	if err == nil || !strings.Contains(err.Error(), "shard 1 has all of account whole (commit 1): nothing was changed") {
		t.Errorf("an account is given up beside the whole of it: %v", err)
	}
	for id, want := range map[string]uint32{"whole": 1, "half": 0} {
		if newest, err := give(id); err != nil || newest != want || m.placeOf(t, id) != 1 {
			t.Errorf("%s is given up with its load %d, and is on shard %d: %v", id, newest, m.placeOf(t, id), err)
		}
		if left, titles := m.rowsAt(t, 1, id); left != titles || left != uint64(want) {
			t.Errorf("%s has %d commits and %d titles left", id, left, titles)
		}
	}
}

// What a move has left on the old shard takes the place of nothing: an account whose loads
// were lost where it is, or that is being restored there, stays there.
func TestAnAccountStaysWhereItsLoadsWereLost(t *testing.T) {
	t.Parallel()
	m := newMoving(t)
	ctx := conn.Inspecting(t.Context())
	for id, left := range map[string]string{"lost": "", "restored": fmt.Sprintf("INSERT INTO commits (account_id, number) VALUES ('restored', %d)", uint32(manifest.Closed))} {
		m.putLoaded(t, id, 1)
		m.interrupt(t, id, 2)
		at := m.Cluster.Shards()[1]
		if err := at.Exec(t.Context(), "DELETE FROM commits WHERE account_id = '"+id+"'", nil); err != nil {
			t.Fatal(err)
		}
		if left != "" {
			if err := errors.Join(at.Exec(t.Context(), left, nil), at.Exec(t.Context(), "DELETE FROM seals WHERE account_id = '"+id+"'", nil)); err != nil {
				t.Fatal(err)
			}
		}
		if err := m.Inspector.RequireDirectory(ctx, id); err != nil {
			t.Errorf("%s: its directory is damaged: %v", id, err)
		}
		if err := m.Inspector.MendDirectory(t.Context(), id, unheard); err != nil || m.placeOf(t, id) != 2 {
			t.Errorf("%s: repaired, it is on shard %d: %v", id, m.placeOf(t, id), err)
		}
	}
	// What the list of this process lacks may have all of it.
	if err := m.Cluster.Placements().Move(t.Context(), "lost", 3); err != nil {
		t.Fatal(err)
	}
	if err := m.Inspector.MendDirectory(t.Context(), "lost", unheard); err != nil || m.placeOf(t, "lost") != 3 {
		t.Errorf("repaired by a process that knows two shards, it is on shard %d: %v", m.placeOf(t, "lost"), err)
	}
}
