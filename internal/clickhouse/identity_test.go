package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"adlens"
	"adlens/internal/clickhouse/cluster"
	"adlens/internal/clickhouse/conn"
	"adlens/internal/clickhouse/schema"
	"adlens/internal/engine"
	"adlens/internal/query"
)

// asShard is the engine of a data directory that looks like a server, in whose
// place another one may come.
type asShard struct{ engine *engine.Engine }

func (a *asShard) Target(ctx context.Context) (conn.Target, error) {
	return conn.Embedded{Engine: a.engine}.Target(ctx)
}

func (a *asShard) Marks() conn.Marks { return nil }

func startEngine(t *testing.T, dir string) *engine.Engine {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	e, err := engine.Open(ctx, dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

// pair is a database on two shards.
// An account that was to be made and was not has a place alone, which keeps no backup from
// being restored.
func TestAPlaceAloneIsNothingThatIsLeft(t *testing.T) {
	first, second := &asShard{startEngine(t, t.TempDir())}, &asShard{startEngine(t, t.TempDir())}
	db := pair(t, first, second)
	if err := db.Cluster.Placements().Place(t.Context(), "acme"); err != nil {
		t.Fatal(err)
	}
	for _, account := range []string{"", "acme"} {
		if left, err := db.Sink.Left(t.Context(), account); err != nil || len(left) > 0 {
			t.Errorf("%q: left are %v: %v", account, left, err)
		}
	}
	if err := db.Accounts.PutAccount(t.Context(), adlens.Account{ID: "acme", Name: "A", Subscription: "active", CreatedAt: time.Now()}); err != nil {
		t.Fatal(err)
	}
	if left, err := db.Sink.Left(t.Context(), "acme"); err != nil || !slices.Contains(left, "directory_seals") {
		t.Errorf("left are %v: %v", left, err)
	}
	if err := db.Cluster.Placements().Place(t.Context(), "other"); err != nil {
		t.Fatal(err)
	}
	if left, err := db.Sink.Left(t.Context(), "other"); err != nil || len(left) > 0 {
		t.Errorf("left of an account that was not made, next to one that was, are %v: %v", left, err)
	}
}

func pair(t *testing.T, first, second *asShard) *Database {
	t.Helper()
	db, err := openPair(t.Context(), first, second)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

func openPair(ctx context.Context, first, second *asShard) (*Database, error) {
	return openCluster(ctx, cluster.Config{Name: "ads", Sources: []conn.Source{first, second}})
}

// onEach makes accounts until there is one on each shard, with a load in it.
func onEach(t *testing.T, db *Database) (accounts [2]string) {
	t.Helper()
	for i := 0; accounts[0] == "" || accounts[1] == ""; i++ {
		id := fmt.Sprintf("account-%d", i)
		if err := db.Accounts.PutAccount(t.Context(), adlens.Account{ID: id, Name: id, Subscription: "active", CreatedAt: time.Now()}); err != nil {
			t.Fatal(err)
		}
		number, _, err := db.Cluster.Placements().Read(t.Context(), query.Text(id))
		if err != nil {
			t.Fatal(err)
		}
		accounts[number-1] = id
		for _, statement := range []string{
			"INSERT INTO commits (account_id, number) VALUES ({account:String}, 7)",
			"INSERT INTO number_blocks VALUES ({account:String}, 1, 9, '')",
		} {
			if err := db.Cluster.Exec(t.Context(), statement, conn.Params{"account": query.Text(id)}); err != nil {
				t.Fatal(err)
			}
		}
	}
	return accounts
}

// answers demands that the account of the first shard is read, and that of the
// second where whole is true; else it is refused for what says contains.
func answers(t *testing.T, what string, db *Database, accounts [2]string, whole bool, says ...string) {
	t.Helper()
	for i, id := range accounts {
		v, err := db.Figures.View(t.Context(), id)
		if i == 0 || whole {
			if err != nil || v.Manifest.Version != 7 {
				t.Errorf("%s: account %s has version %d: %v", what, id, v.Manifest.Version, err)
			}
			continue
		}
		if adlens.KindOf(err) != adlens.Damaged {
			t.Errorf("%s: account %s has version %d, expected that it is refused: %v", what, id, v.Manifest.Version, err)
			continue
		}
		for _, text := range append(says, "shard 2") {
			if !strings.Contains(err.Error(), text) {
				t.Errorf("%s: account %s is refused with %q, which lacks %q", what, id, err, text)
			}
		}
	}
	if refused := db.Inspector.Damage().Refused; (len(refused) == 0) != whole {
		t.Errorf("%s: refused are %v", what, refused)
	}
	if wrong := db.Cluster.Recognize(t.Context()); (len(wrong) == 0) != whole {
		t.Errorf("%s: not recognized are %v", what, wrong)
	}
}

func TestAShardThatIsEmptyOrAnotherOneTakesItsOwnAccountsAlone(t *testing.T) {
	t.Parallel()
	first, second := &asShard{startEngine(t, t.TempDir())}, &asShard{startEngine(t, t.TempDir())}
	running := pair(t, first, second)
	accounts := onEach(t, running)
	answers(t, "at first", running, accounts, true)

	right := second.engine
	blank := startEngine(t, t.TempDir())
	other := startEngine(t, t.TempDir()) // the second shard of another cluster
	onEach(t, pair(t, &asShard{startEngine(t, t.TempDir())}, &asShard{other}))
	for _, c := range []struct {
		what, says string
		engine     *engine.Engine
	}{{"an empty server", "is empty", blank}, {"another cluster's server", "put the right servers there", other}} {
		second.engine = c.engine
		opened := pair(t, first, second)
		answers(t, c.what+", opened", opened, accounts, false, c.says)
		if _, err := opened.Audit.Schema(t.Context()); !conn.IsRefusal(err) {
			t.Errorf("a backup would begin with %s: %v", c.what, err)
		}
		// The server that runs notices when its connections end.
		running.Cluster.Shards()[1].Disconnect()
		answers(t, c.what+", under a running server", running, accounts, false, "put that one back")
		second.engine = right
		answers(t, "the right server instead of "+c.what, running, accounts, true)
		answers(t, "the right server instead of "+c.what+", opened before", opened, accounts, true)
	}
	tables, err := schema.ReadTables(t.Context(), conn.NewServer(&asShard{blank}, conn.Checks{}))
	if err == nil && len(tables) > 0 || err != nil && !conn.IsUnknown(err) {
		t.Errorf("the empty server got the tables %v, %v", tables, err)
	}

	// New accounts do not go to a shard that is refused.
	second.engine = blank
	opened := pair(t, first, second)
	for i := range 8 {
		id := fmt.Sprintf("later-%d", i)
		if left, err := opened.Sink.LeftUnknown(t.Context(), id); err != nil || len(left) > 0 {
			t.Errorf("account %s has rows in %v: %v", id, left, err)
		}
		if err := opened.Cluster.Placements().Place(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		if number, _, err := opened.Cluster.Placements().Read(t.Context(), id); err != nil || number != 1 {
			t.Errorf("account %s is on shard %d, %v; expected the one that is there", id, number, err)
		}
	}
	// An account of it is restored to one that is there.
	lost := accounts[1]
	if faults, err := opened.Inspector.Faults(t.Context(), lost); err != nil || len(faults) == 0 {
		t.Errorf("account %s of the shard that was lost has the faults %v, %v", lost, faults, err)
	}
	// Where it is found late that it cannot be restored there, it stays closed: opened, it
	// would be answered as one without figures.
	keeper := opened.Cluster.Shards()[0]
	const stuck = "ALTER TABLE facts DELETE WHERE throwIf(generation = 7, 'stuck') = 1"
	if err := keeper.Exec(t.Context(), "INSERT INTO facts (account_id, generation, day) VALUES ('another', 7, '2026-01-01')", nil); err != nil {
		t.Fatal(err)
	}
	if _, err := opened.Sink.MakeRoom(t.Context(), lost, func(time.Duration) {
		if err := keeper.Exec(t.Context(), stuck, nil); err == nil {
			t.Error("a deletion that was to fail ended")
		}
	}); err == nil || !strings.Contains(err.Error(), "an earlier deletion in facts fails") || !strings.Contains(err.Error(), "stays closed") || strings.Contains(err.Error(), "nothing was changed") {
		t.Errorf("room was made beside a deletion that fails: %v", err)
	}
	if v, err := opened.Figures.View(t.Context(), lost); adlens.KindOf(err) != adlens.Damaged {
		t.Errorf("an account of a lost shard has %d units: %v", v.Manifest.Len(), err)
	}
	if err := keeper.Exec(t.Context(), "KILL MUTATION WHERE database = currentDatabase() AND table = 'facts' SYNC", nil); err != nil {
		t.Fatal(err)
	}
	waited := false
	room, err := opened.Sink.MakeRoom(t.Context(), lost, func(time.Duration) { waited = true })
	if err != nil || !waited {
		t.Errorf("an account of a lost shard cannot be restored: %v, waited %v", err, waited)
	}
	if _, err := opened.Figures.View(t.Context(), lost); adlens.KindOf(err) != adlens.Damaged || !strings.Contains(err.Error(), "it is being restored from a backup") {
		t.Errorf("an account that is being restored is read: %v", err)
	}
	if err := room.Reopen(t.Context()); err != nil {
		t.Error(err)
	}
	if v, err := opened.Figures.View(t.Context(), lost); err != nil || v.Manifest.Len() != 0 {
		t.Errorf("the account has %d units, expected none of what was lost: %v", v.Manifest.Len(), err)
	}
	// Once no account is on it, it is a new one.
	for _, id := range accountsOf(t, opened) {
		if err := opened.Cluster.Placements().Move(t.Context(), id, 1); err != nil {
			t.Fatal(err)
		}
	}
	if err := opened.Cluster.Shards()[1].MakeReady(t.Context()); err != nil {
		t.Errorf("an empty server without accounts is refused: %v", err)
	}
	if wrong := opened.Cluster.Recognize(t.Context()); len(wrong) > 0 {
		t.Errorf("an empty server without accounts is refused: %v", wrong)
	}
}

// A clock that was ahead when a shard was noted first has no later one forgotten.
func TestTheIdentityThatWasNotedLastCounts(t *testing.T) {
	t.Parallel()
	first, second := &asShard{startEngine(t, t.TempDir())}, &asShard{startEngine(t, t.TempDir())}
	home := pair(t, first, second).Cluster.Home()
	if err := home.Exec(t.Context(), "INSERT INTO identities SELECT number, id, made_at + INTERVAL 1 YEAR FROM identities WHERE number = 2", nil); err != nil {
		t.Fatal(err)
	}
	second.engine = startEngine(t, t.TempDir()) // it had no account
	is, err := conn.Value[string](t.Context(), pair(t, first, second).Cluster.Shards()[1], "SELECT id FROM identities WHERE number = 0", nil)
	if err != nil {
		t.Fatal(err)
	}
	if noted, err := conn.Value[string](t.Context(), home, "SELECT argMax(id, made_at) FROM identities WHERE number = 2", nil); err != nil || noted != is {
		t.Errorf("the second shard is known as %s, and is %s: %v", noted, is, err)
	}
}

func accountsOf(t *testing.T, db *Database) (ids []string) {
	t.Helper()
	all, err := db.Accounts.Accounts(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range all {
		ids = append(ids, a.ID)
	}
	return ids
}

// A cluster that was made before there were identities gets them where its shards
// have what they should.
func TestAnOldClusterGetsItsIdentities(t *testing.T) {
	t.Parallel()
	first, second := &asShard{startEngine(t, t.TempDir())}, &asShard{startEngine(t, t.TempDir())}
	old := pair(t, first, second)
	accounts := onEach(t, old)
	forget := func() {
		for _, s := range old.Cluster.Shards() {
			if err := s.Exec(t.Context(), "TRUNCATE TABLE identities", nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	forget()
	answers(t, "an old cluster", pair(t, first, second), accounts, true)

	forget()
	right := second.engine
	second.engine = startEngine(t, t.TempDir())
	answers(t, "an old cluster with an empty server", pair(t, first, second), accounts, false, "is empty")
	// It was emptied, and an older program made its tables.
	emptied := conn.NewServer(second, conn.Checks{})
	defer emptied.Close()
	if err := errors.Join(schema.Migrate(t.Context(), emptied), emptied.Exec(t.Context(), "INSERT INTO shard VALUES (2, 'ads')", nil)); err != nil {
		t.Fatal(err)
	}
	answers(t, "an old cluster with a server that was emptied", pair(t, first, second), accounts, false, "no row of any account")
	second.engine = right
	answers(t, "the right server", pair(t, first, second), accounts, true)
}

// Of servers that open a new database at once, each may see its own identity alone; after
// a moment they all have the one that counts, or limits in Redis would be two.
func TestServersThatOpenADatabaseAtOnceAgreeWhichItIs(t *testing.T) {
	t.Parallel()
	server := &asShard{startEngine(t, t.TempDir())}
	open := func() *Database {
		db, err := openCluster(t.Context(), cluster.Config{Sources: []conn.Source{server}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = db.Close() })
		return db
	}
	first := open()
	own := first.Cluster.Identity()
	for _, id := range []string{"ZZZZ", "0000"} { // of others, which were on their way
		if err := first.Cluster.Home().Exec(t.Context(), "INSERT INTO identities VALUES (0, '"+id+"', now64(9))", nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := first.Cluster.SettleIdentity(t.Context()); err != nil {
		t.Fatal(err)
	}
	if one, other := first.Cluster.Identity(), open().Cluster.Identity(); one != other || one != "0000" {
		t.Errorf("the database is %s to a server that was %s to it, and %s to another one", one, own, other)
	}
}

func putAccount(t *testing.T, dir, id string) {
	t.Helper()
	d, err := openDatabase(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(d.Accounts.PutAccount(t.Context(), adlens.Account{ID: id, Name: id, Subscription: "active", CreatedAt: time.Now()}), d.close()); err != nil {
		t.Fatal(err)
	}
}

func storeOf(dir string) string { return filepath.Join(dir, "engine", "store") }

func move(t *testing.T, from, to string) {
	t.Helper()
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
}

func TestADataDirectoryRefusesAnEmptyStoreAndAnotherOnes(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	dir, other := filepath.Join(root, "one"), filepath.Join(root, "two")
	putAccount(t, dir, "acme")
	putAccount(t, other, "other")
	refused := func(what, says string) {
		t.Helper()
		d, err := openDatabase(dir)
		if err == nil {
			d.close()
		}
		if !conn.IsRefusal(err) || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), filepath.Join(dir, conn.MemoryFile)) || !strings.Contains(err.Error(), "restore a backup into a new data directory") {
			t.Errorf("%s: %v", what, err)
		}
	}
	has := func(what, dir, account string) {
		t.Helper()
		d, err := openDatabase(dir)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if ids := accountsOf(t, d.Database); len(ids) != 1 || ids[0] != account {
			t.Errorf("%s has the accounts %v, expected %s", what, ids, account)
		}
		if err := d.close(); err != nil {
			t.Error(err)
		}
	}
	right := filepath.Join(root, "right")
	move(t, storeOf(dir), right)
	refused("an empty store", "is empty")
	refused("an empty store, again", "is empty")
	if err := os.RemoveAll(storeOf(dir)); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(storeOf(dir), os.DirFS(storeOf(other))); err != nil {
		t.Fatal(err)
	}
	refused("the store of another directory", "is another one")
	if err := os.RemoveAll(storeOf(dir)); err != nil {
		t.Fatal(err)
	}
	move(t, right, storeOf(dir))
	has("the right store", dir, "acme")
	elsewhere := filepath.Join(root, "elsewhere")
	move(t, dir, elsewhere)
	has("a directory that was moved", elsewhere, "acme")

	// Made before there were identities, it gets one.
	d, err := openDatabase(elsewhere)
	if err != nil {
		t.Fatal(err)
	}
	err = errors.Join(d.Cluster.Exec(t.Context(), "TRUNCATE TABLE identities", nil), d.close(), os.Remove(filepath.Join(elsewhere, conn.MemoryFile)))
	if err != nil {
		t.Fatal(err)
	}
	has("an old directory", elsewhere, "acme")
	if _, err := os.Stat(filepath.Join(elsewhere, conn.MemoryFile)); err != nil {
		t.Error(err)
	}
}

// A server can answer while the database in it answers nothing: it was dropped, or its
// reader lost the rights.
func TestADatabaseThatShowsNoAccountsIsNotReady(t *testing.T) {
	source := &asShard{startEngine(t, t.TempDir())}
	before := Look(source)
	db, err := openCluster(t.Context(), alone(source))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(before.Cluster.Ping(t.Context()), db.Cluster.Ping(t.Context())); err != nil {
		t.Errorf("a database that is whole: %v", err)
	}
	if err := db.Cluster.Home().Exec(t.Context(), "DROP TABLE placements", nil); err != nil {
		t.Fatal(err)
	}
	if s, err := before.Cluster.Holder(t.Context(), "acme"); err != nil || s != before.Cluster.Home() {
		t.Errorf("a server of a version without shards does not hold its accounts: %v", err)
	}
	if err := db.Cluster.Home().Exec(t.Context(), "DROP TABLE accounts", nil); err != nil {
		t.Fatal(err)
	}
	if err := db.Cluster.Ping(t.Context()); err == nil {
		t.Error("a database without accounts is ready")
	}
	// It is no database of adlens yet that a command has not opened.
	if err := before.Cluster.Ping(t.Context()); err != nil {
		t.Errorf("a server that answers: %v", err)
	}
	if err := errors.Join(before.Close(), db.Close()); err != nil {
		t.Error(err)
	}
}
