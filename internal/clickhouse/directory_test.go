package clickhouse

import (
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"adlens"
	"adlens/internal/clickhouse/conn"
	"adlens/internal/clickhouse/directory"
	"adlens/internal/engine"
	"adlens/internal/query"
	"adlens/internal/tables"
	"adlens/schema"
)

// sealed makes an account with a row in each table of the directory that is
// sealed.
func sealed(t *testing.T, d *database) {
	t.Helper()
	for _, c := range changeables(t) {
		if isSealed(c.table) {
			if err := c.put(t.Context(), d, false); err != nil {
				t.Fatal(c.table, err)
			}
		}
	}
}

func isSealed(table string) bool {
	d, _ := tables.Find(table)
	return d.Sealed
}

// lose deletes rows of a table as a lost part would, and merges the others.
func lose(t *testing.T, db *Database, table, filter string) {
	t.Helper()
	for _, sql := range []string{"ALTER TABLE " + table + " DELETE WHERE " + filter, "OPTIMIZE TABLE " + table + " FINAL"} {
		if err := db.Cluster.Home().Exec(t.Context(), sql, conn.Params{"account": query.Text(t.Name())}); err != nil {
			t.Fatal(err)
		}
	}
}

func unheard(string) {}

// isLost demands that the account is refused for a table, or is whole for "".
func isLost(t *testing.T, what string, db *Database, account, table string) {
	t.Helper()
	losses, err := db.Inspector.Losses(t.Context(), account)
	if err != nil {
		t.Fatal(what, err)
	}
	switch {
	case table == "" && len(losses) > 0:
		t.Errorf("%s: lost are %v, expected none", what, losses)
	case table != "" && (len(losses) != 1 || !strings.HasPrefix(losses[0].What, table+" lost 1 of its rows")):
		t.Errorf("%s: lost are %v, expected a row of %s", what, losses, table)
	}
	if err := db.Inspector.RequireDirectory(t.Context(), account); (adlens.KindOf(err) == adlens.Damaged) != (table != "") {
		t.Errorf("%s: a backup of the account meets %v", what, err)
	}
}

// A row that was stored and is not found is lost, not unknown: no client is told
// that its key is wrong, and no command makes the account again.
func TestALostRowOfTheDirectoryIsNotUnknown(t *testing.T) {
	d := openShared(t)
	sealed(t, d)
	account, key, feed, app := t.Name(), recordNamed(t, 1), recordNamed(t, 2), appNamed(t, 3)
	finds := map[string]func(account string, hash [32]byte) (found bool, err error){
		"accounts": func(account string, _ [32]byte) (bool, error) {
			_, found, err := d.Accounts.Account(t.Context(), account)
			return found, err
		},
		"api_keys": func(_ string, hash [32]byte) (bool, error) {
			_, found, err := d.Keys.KeyByHash(t.Context(), hash)
			return found, err
		},
		"feeds": func(_ string, hash [32]byte) (bool, error) {
			_, found, err := d.Feeds.KeyByHash(t.Context(), hash)
			return found, err
		},
		"apps": func(account string, _ [32]byte) (bool, error) {
			_, found, err := d.Apps.AppByID(t.Context(), strings.Replace(app.ID, t.Name(), account, 1))
			return found, err
		},
		"connections": func(account string, _ [32]byte) (bool, error) {
			all, err := d.Connections.Connections(t.Context(), account)
			return len(all) > 0, err
		},
	}
	hashes := map[string][32]byte{"api_keys": key.Hash, "feeds": feed.Hash}
	for table, find := range finds {
		if found, err := find(account, hashes[table]); !found || err != nil {
			t.Errorf("%s: found is %t before: %v", table, found, err)
		}
		if found, err := find("unknown", recordNamed(t, "unknown").Hash); found || err != nil {
			t.Errorf("%s: an unknown row: %t, %v", table, found, err)
		}
		// Where a first look-up came before the row, and the next after its seal.
		hash := hashes[table]
		key := map[string]string{"accounts": account, "apps": app.ID, "api_keys": hex.EncodeToString(hash[:]), "feeds": hex.EncodeToString(hash[:])}[table]
		if err := directory.RequireNew(t.Context(), d.Cluster.Home().Server, table, key); err != nil {
			t.Errorf("%s: a row that came between two look-ups is not lost: %v", table, err)
		}
		lose(t, d.Database, table, "account_id = {account:String}")
		if found, err := find(account, hashes[table]); found || adlens.KindOf(err) != adlens.Damaged || !strings.Contains(err.Error(), table+" lost ") {
			t.Errorf("%s: the lost row: found is %t, %v", table, found, err)
		}
	}
	d.Inspector.Calmer()()
	if all, err := d.Source.Shown(t.Context(), account); err != nil || !slices.Equal(all, []string{account}) {
		t.Errorf("a backup would be of %v: %v", all, err)
	}
	if err := d.Inspector.MendDirectory(t.Context(), account, unheard); err != nil { // else tokens of other tests are not unknown
		t.Fatal(err)
	}
}

// The last change of a row is lost, and an older one is there: a key that was
// revoked, or an account that was canceled.
func TestALostChangeOfTheDirectoryIsMissed(t *testing.T) {
	d := openShared(t)
	sealed(t, d)
	account := t.Name()
	isLost(t, "at first", d.Database, account, "")
	done := map[string]bool{}
	for _, c := range changeables(t) {
		if done[c.table] || !isSealed(c.table) {
			continue
		}
		done[c.table] = true
		// The row before the change is put aside, as a part of its own is.
		aside := c.table + "_aside"
		for _, sql := range []string{"DROP TABLE IF EXISTS " + aside, "CREATE TABLE " + aside + " ENGINE = MergeTree ORDER BY tuple() AS SELECT * FROM " + c.table + " WHERE " + c.filter} {
			if err := d.Cluster.Home().Exec(t.Context(), sql, conn.Params{"account": account}); err != nil {
				t.Fatal(err)
			}
		}
		if err := c.put(t.Context(), d, true); err != nil {
			t.Fatal(err)
		}
		lose(t, d.Database, c.table, c.filter)
		for _, sql := range []string{"INSERT INTO " + c.table + " SELECT * FROM " + aside, "DROP TABLE " + aside} {
			if err := d.Cluster.Home().Exec(t.Context(), sql, nil); err != nil {
				t.Fatal(err)
			}
		}
		isLost(t, c.table, d.Database, account, c.table)
		if err := d.Keys.PutKey(t.Context(), recordNamed(t, "later "+c.table)); err != nil { // whatever is stored and sealed later
			t.Fatal(err)
		}
		isLost(t, c.table+", after another change", d.Database, account, c.table)
		if changed, err := c.isChanged(t.Context(), d); changed || err != nil {
			t.Errorf("%s: the change is there: %v", c.table, err)
		}
		var told []string
		before := sealsOf(t, d.Database, account)
		if err := d.Inspector.MendDirectory(t.Context(), account, func(text string) { told = append(told, text) }); err != nil {
			t.Fatal(err)
		}
		names := map[string]string{
			"accounts": "as in the backup: account " + account + ";", "connections": "as in the backup: connection NA;",
			"api_keys": "revoked: key " + recordNamed(t, 1).ID + ";", "feeds": "revoked: link " + recordNamed(t, 2).ID + ";", "apps": "revoked: assistant " + appNamed(t, 3).ID + ";",
		}
		if len(told) != 1 || !strings.Contains(told[0], names[c.table]) {
			t.Errorf("%s: the repair tells %q, expected %q", c.table, told, names[c.table])
		}
		isLost(t, c.table+", mended", d.Database, account, "")
		after := sealsOf(t, d.Database, account)
		for row, revision := range before { // killed on the way, it would leave rows that are not watched
			if after[row] < revision {
				t.Errorf("%s: mending takes away the seal %d of %s, and leaves %d", c.table, revision, row, after[row])
			}
		}
		// What can be revoked is. Anything else is as it was before.
		if changed, err := c.isChanged(t.Context(), d); changed != slices.Contains([]string{"api_keys", "feeds", "apps"}, c.table) || err != nil {
			t.Errorf("%s: the change is there after mending: %t, %v", c.table, changed, err)
		}
	}
}

// sealsOf are the numbers that an account's rows of the directory are sealed with.
func sealsOf(t *testing.T, d *Database, account string) map[string]uint64 {
	t.Helper()
	seals, err := conn.CollectMap[string, uint64](t.Context(), d.Cluster.Home(), "SELECT concat(table_name, ' ', key), max(revision) FROM directory_seals WHERE account_id = {account:String} GROUP BY 1",
		conn.Params{"account": query.Text(account)})
	if err != nil {
		t.Fatal(err)
	}
	return seals
}

// Changes that were killed before their seals are sealed with the next one.
func TestTheNextChangeSealsWhatWasLeftUnsealed(t *testing.T) {
	d := openShared(t)
	sealed(t, d)
	lose(t, d.Database, "directory_seals", "account_id = {account:String}")
	if err := d.Accounts.PutAccount(t.Context(), adlens.Account{ID: t.Name() + "-other", Name: "other", Subscription: "active", CreatedAt: time.Now()}); err != nil {
		t.Fatal(err)
	}
	lose(t, d.Database, "accounts", "account_id = {account:String}")
	isLost(t, "the account", d.Database, t.Name(), "accounts")
	if err := directory.SealAll(t.Context(), d.Cluster.Home().Server); err != nil {
		t.Fatal(err)
	}
	isLost(t, "sealing again", d.Database, t.Name(), "accounts")
}

// Commands that failed between a change and its seal, and are not repeated, are made up
// for by a server's inspection, and by the end of a restore.
func TestWhatWasLeftUnsealedIsSealedLater(t *testing.T) {
	d := openShared(t)
	for name, seal := range map[string]func() error{
		"an inspection": func() error { return d.Inspector.SealDirectory(t.Context()) },
		"a restore": func() error {
			_, err := d.Sink.Began(t.Context(), t.Name())
			return errors.Join(err, d.Sink.Done(t.Context(), t.Name()))
		},
	} {
		sealed(t, d)
		lose(t, d.Database, "directory_seals", "account_id = {account:String}")
		if err := seal(); err != nil {
			t.Fatal(err)
		}
		lose(t, d.Database, "accounts", "account_id = {account:String}")
		isLost(t, name, d.Database, t.Name(), "accounts")
	}
}

// Rows that were there before there were seals are sealed by the upgrade.
func TestTheDirectoryOfTheSchemaBeforeIsSealed(t *testing.T) {
	dir := t.TempDir()
	old := before(t, dir, sealsStep)
	sealed(t, old)
	if err := old.Cluster.Home().Exec(t.Context(), "TRUNCATE TABLE directory_seals", nil); err != nil {
		t.Fatal(err)
	}
	d := upgrade(t, old, dir)
	for _, table := range []string{"accounts", "feeds", "apps", "connections"} {
		isLost(t, table+" before", d.Database, t.Name(), "")
		lose(t, d.Database, table, "account_id = {account:String}")
		isLost(t, table, d.Database, t.Name(), table)
		if err := d.Inspector.MendDirectory(t.Context(), t.Name(), unheard); err != nil {
			t.Fatal(err)
		}
	}
}

// An upgrade that ended before older rows were sealed seals them when it goes on.
func TestAnUpgradeThatCouldNotSealIsRepeated(t *testing.T) {
	dir := t.TempDir()
	all, err := schema.Migrations()
	if err != nil {
		t.Fatal(err)
	}
	old := before(t, dir, uint32(len(all)))
	sealed(t, old)
	for _, sql := range []string{"TRUNCATE TABLE directory_seals", "RENAME TABLE directory_seals TO seals_aside"} {
		if err := old.Cluster.Home().Exec(t.Context(), sql, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := old.close(); err != nil {
		t.Fatal(err)
	}
	if d, err := openDatabase(dir); err == nil {
		t.Fatal("an upgrade that could not seal succeeds", d.close())
	}
	e, err := engine.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	old = &database{Look(conn.Embedded{Engine: e}), e}
	if err := old.Cluster.Home().Exec(t.Context(), "RENAME TABLE seals_aside TO directory_seals", nil); err != nil {
		t.Fatal(err)
	}
	d := upgrade(t, old, dir)
	lose(t, d.Database, "accounts", "account_id = {account:String}")
	isLost(t, "accounts", d.Database, t.Name(), "accounts")
}

// An account whose place is lost is not on the first shard, where it has no rows.
func TestALostPlaceIsNoEmptyAccount(t *testing.T) {
	t.Parallel()
	first, second := &asShard{startEngine(t, t.TempDir())}, &asShard{startEngine(t, t.TempDir())}
	db := pair(t, first, second)
	accounts := onEach(t, db)
	answers(t, "at first", db, accounts, true)
	lose(t, db, "placements", "account_id = '"+accounts[1]+"'")
	db = pair(t, first, second) // which remembers no place
	for i, id := range accounts {
		v, err := db.Figures.View(t.Context(), id)
		if refused := adlens.KindOf(err) == adlens.Damaged; refused != (i == 1) || !refused && v.Manifest.Version != 7 {
			t.Errorf("account %s has version %d: %v", id, v.Manifest.Version, err)
		}
	}
	if err := db.Inspector.Begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	if lost := db.Inspector.Damage().Lost; len(lost) != 1 || !strings.Contains(strings.Join(lost[accounts[1]], "; "), "placements") {
		t.Errorf("lost is %v, expected the place of %s", lost, accounts[1])
	}
	if err := db.Cluster.Placements().Place(t.Context(), accounts[1]); adlens.KindOf(err) != adlens.Damaged {
		t.Errorf("another place was chosen: %v", err)
	}
	if err := db.Inspector.MendDirectory(conn.Inspecting(t.Context()), accounts[1], unheard); err != nil {
		t.Fatal(err)
	}
	if whole, err := db.Inspector.LookAgain(t.Context(), accounts[1]); !whole || err != nil {
		t.Errorf("after mending, the account is whole: %t, %v", whole, err)
	}
	answers(t, "mended", db, accounts, true)
}

// Bytes that changed are met by the scan, whichever column they are of, and are
// of the accounts that have rows in the table.
func TestATableOfTheDirectoryThatCannotBeReadIsNamed(t *testing.T) {
	t.Parallel()
	d, err := openDatabase(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := d.close(); err != nil {
			t.Error(err)
		}
	}()
	sealed(t, d)
	other := adlens.Account{ID: "other", Name: "other", Subscription: "active", CreatedAt: time.Now()}
	if err := d.Accounts.PutAccount(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	flipParts(t, d, "feeds")
	if err := d.Inspector.Begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	lost := d.Inspector.Damage().Lost
	if len(lost) != 1 || !strings.HasPrefix(strings.Join(lost[t.Name()], "; "), "feeds cannot be read: ") {
		t.Errorf("lost is %v, expected that feeds cannot be read", lost)
	}
	if err := d.Inspector.MendDirectory(t.Context(), t.Name(), unheard); adlens.KindOf(err) != adlens.Damaged || !strings.Contains(err.Error(), "new data directory") {
		t.Errorf("what cannot be read is mended: %v", err)
	}
	if whole, err := d.Inspector.LookAgain(t.Context(), t.Name()); whole || err != nil {
		t.Errorf("after that the account is whole: %t, %v", whole, err)
	}
	if err := d.Cluster.Ping(t.Context()); err != nil {
		t.Errorf("the engine's check: %v", err)
	}
}

// What is kept of the directory while its mark is the same is read again after each
// change: a key that is revoked, or gone, is let in no more.
func TestEachChangeOfTheDirectoryLeavesAMark(t *testing.T) {
	d := openShared(t)
	before, _ := d.DirectoryMark()
	mustBeMarked := func(what string, err error) {
		t.Helper()
		mark, settled := d.DirectoryMark()
		if err != nil || mark == before || !settled {
			t.Errorf("%s: %v; the mark is %d after %d, settled is %t", what, err, mark, before, settled)
		}
		before = mark
	}
	for _, c := range changeables(t) {
		for _, changed := range []bool{false, true} {
			if isSealed(c.table) {
				mustBeMarked(c.table, c.put(t.Context(), d, changed))
			}
		}
	}
	mustBeMarked("a repair, which revokes again", d.Inspector.MendDirectory(t.Context(), t.Name(), unheard))
	mustBeMarked("an account that is cleared", d.Sink.Clear(t.Context(), t.Name(), t.Name()))
	if _, err := d.Keys.Keys(t.Context(), t.Name()); err != nil {
		t.Error(err)
	}
	if mark, settled := d.DirectoryMark(); mark != before || !settled {
		t.Error("reading is no change")
	}
}
