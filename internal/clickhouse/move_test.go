package clickhouse

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"adlens"
	"adlens/internal/clickhouse/cluster"
	"adlens/internal/clickhouse/conn"
	"adlens/internal/commits"
	"adlens/internal/manifest"
	"adlens/internal/moves"
	"adlens/internal/query"
	"adlens/internal/tables"
	"adlens/loader"
)

const settling = moves.Settling

// moving is a database on two shards, and a mover whose waits take no time.
type moving struct {
	*Database
	waits  []time.Duration
	during func(ctx context.Context) // nil, or called by each wait
	copied func()                    // nil, or called once rows of a table were read, before they are written
}

func newMoving(t *testing.T) *moving {
	m := &moving{Database: pair(t, &asShard{startEngine(t, t.TempDir())}, &asShard{startEngine(t, t.TempDir())})}
	m.Mover.Wait = func(ctx context.Context, d time.Duration) error {
		m.waits = append(m.waits, d)
		if m.during != nil {
			m.during(ctx)
		}
		return ctx.Err()
	}
	return m
}

// putLoaded makes an account on the first shard with so many loads of an hour ago.
func (m *moving) putLoaded(t *testing.T, id string, loads int) {
	t.Helper()
	err := m.Accounts.PutAccount(t.Context(), adlens.Account{ID: id, Name: id, Subscription: "active", CreatedAt: time.Now()})
	if err == nil {
		err = m.Cluster.Placements().Put(t.Context(), id, m.Cluster.Home())
	}
	if err != nil {
		t.Fatal(err)
	}
	for range loads {
		m.load(t, id)
	}
	err = m.Cluster.Shards()[0].Exec(t.Context(), "ALTER TABLE commits UPDATE committed_at = committed_at - INTERVAL 1 HOUR WHERE account_id = {account:String}", conn.Params{"account": id})
	if err != nil {
		t.Fatal(err)
	}
}

// load puts a title into an account, where its place is for this process.
func (m *moving) load(t *testing.T, id string) {
	t.Helper()
	if err := m.prepareLoad(t, id)(); err != nil {
		t.Fatal(err)
	}
}

// prepareLoad does what a load does before its commit.
func (m *moving) prepareLoad(t *testing.T, id string) (commit func() error) {
	t.Helper()
	s := beginWriter(t, m.Database, id)
	number := beginCommit(t, s)
	err := m.Cluster.Exec(t.Context(), "INSERT INTO product_titles (account_id, generation, product_id, title) VALUES ({account:String}, {generation:UInt32}, 'B0A', 'Lamp')",
		conn.Params{"account": id, "generation": conn.Number(number)})
	if err != nil {
		t.Fatal(err)
	}
	return func() error {
		err := s.Commit(t.Context(), number, []manifest.Entry{{Unit: manifest.Unit{Kind: manifest.Titles}, Generation: number, Rows: 1}})
		return errors.Join(err, s.End(t.Context()))
	}
}

// move brings an account to a shard under its lock, and returns how long Move waited.
func (m *moving) move(ctx context.Context, t *testing.T, id string, to uint16) ([]time.Duration, error) {
	t.Helper()
	release, err := cluster.Leases{Cluster: m.Cluster}.Lock(t.Context(), id, func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	m.waits = nil
	_, err = m.Mover.Move(ctx, id, to, func(uint64, uint64) {
		if m.copied != nil {
			m.copied()
		}
	})
	if failed := release(); failed != nil {
		t.Error(failed)
	}
	return m.waits, err
}

// rowsAt returns how many commits and titles of an account a shard has.
func (m *moving) rowsAt(t *testing.T, shard uint16, id string) (commits, titles uint64) {
	t.Helper()
	err := m.Cluster.Shards()[shard-1].ReadOnce(t.Context(), `
SELECT (SELECT count() FROM commits WHERE account_id = {account:String}), (SELECT count() FROM product_titles WHERE account_id = {account:String})`,
		conn.Params{"account": id}, conn.ScanInto(&commits, &titles))
	if err != nil {
		t.Fatal(err)
	}
	return commits, titles
}

func (m *moving) placeOf(t *testing.T, id string) uint16 {
	t.Helper()
	number, _, err := m.Cluster.Placements().Read(t.Context(), query.Text(id))
	if err != nil {
		t.Fatal(err)
	}
	return number
}

func wantWaits(t *testing.T, what string, got []time.Duration, want ...time.Duration) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s waited %v, expected %v", what, got, want)
	}
}

// The caller gives the lock back when Move returns: a process that still believed the
// old place would load there.
func TestAMoveReturnsOnlyOnceOthersHaveReadTheNewPlace(t *testing.T) {
	t.Parallel()
	m := newMoving(t)
	m.putLoaded(t, "empty", 0)
	waits, err := m.move(t.Context(), t, "empty", 2)
	if err != nil || m.placeOf(t, "empty") != 2 {
		t.Errorf("an account without rows is on shard %d: %v", m.placeOf(t, "empty"), err)
	}
	wantWaits(t, "the move of an account without rows", waits, settling)

	m.putLoaded(t, "whole", 1)
	if err := m.Loads.InsertLedger(t.Context(), "whole", []loader.LedgerLine{{LedgerKey: loader.LedgerKey{ReportID: "r"}}}); err != nil {
		t.Fatal(err)
	}
	tablesAt := func(shard uint16) []string {
		t.Helper()
		all, err := m.Cluster.Shards()[shard-1].TablesWith(t.Context(), tables.OfShards(), "whole")
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	before := tablesAt(1)
	waits, err = m.move(t.Context(), t, "whole", 2)
	if commits, titles := m.rowsAt(t, 1, "whole"); err != nil || commits+titles != 0 {
		t.Errorf("a whole account left %d commits and %d titles: %v", commits, titles, err)
	}
	// Without its seals a later loss would not be noticed, without its ledger reports would be loaded again.
	if after := tablesAt(2); len(before) < 7 || !slices.Equal(after, before) {
		t.Errorf("moved were rows of %v, expected %v", after, before)
	}
	wantWaits(t, "a move", waits, settling, commits.Leaving)

	// Ctrl-C once the placement is written.
	m.putLoaded(t, "interrupted", 1)
	ctx, cancel := context.WithCancel(t.Context())
	m.during = func(waiting context.Context) {
		cancel()
		if waiting.Err() != nil {
			t.Error("the wait for other processes ends with the context")
		}
	}
	waits, err = m.move(ctx, t, "interrupted", 2)
	if n, _ := m.rowsAt(t, 1, "interrupted"); !errors.Is(err, context.Canceled) || n == 0 {
		t.Errorf("an interrupted move left %d commits: %v", n, err)
	}
	wantWaits(t, "an interrupted move", waits, settling)
	m.during = nil

	// The placement is there, and its seal cannot be written.
	m.putLoaded(t, "unsealed", 1)
	if err := m.Cluster.Home().Exec(t.Context(), "RENAME TABLE directory_seals TO away", nil); err != nil {
		t.Fatal(err)
	}
	waits, err = m.move(t.Context(), t, "unsealed", 2)
	if err == nil || m.placeOf(t, "unsealed") != 2 {
		t.Errorf("a placement without a seal is on shard %d: %v", m.placeOf(t, "unsealed"), err)
	}
	wantWaits(t, "a move whose seal failed", waits, settling)
}

// What a load superseded is not copied, and is what a request reads that began before it.
func TestAMoveWaitsForRequestsFromBeforeTheNewestLoad(t *testing.T) {
	t.Parallel()
	m := newMoving(t)
	m.putLoaded(t, "acme", 1)
	m.load(t, "acme")
	m.during = func(context.Context) {
		if _, titles := m.rowsAt(t, 1, "acme"); len(m.waits) == 1 && (titles != 2 || m.placeOf(t, "acme") != 1) {
			t.Errorf("%d titles are left while they may be read, and the account is on shard %d", titles, m.placeOf(t, "acme"))
		}
	}
	waits, err := m.move(t.Context(), t, "acme", 2)
	wantWaits(t, "a move right after a load", waits, commits.Leaving, settling, commits.Leaving)
	if _, titles := m.rowsAt(t, 2, "acme"); err != nil || titles != 1 || m.placeOf(t, "acme") != 2 {
		t.Errorf("%d titles were moved, and the account is on shard %d: %v", titles, m.placeOf(t, "acme"), err)
	}
}

// interrupt begins a move that ends once the account has its new place.
func (m *moving) interrupt(t *testing.T, id string, to uint16) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	m.during = func(context.Context) {
		if m.placeOf(t, id) == to {
			cancel()
		}
	}
	if _, err := m.move(ctx, t, id, to); !errors.Is(err, context.Canceled) || m.placeOf(t, id) != to {
		t.Fatalf("the account is on shard %d: %v", m.placeOf(t, id), err)
	}
	m.during = nil
}

// A load that another process has put where the account was is nowhere else.
func TestAMoveDeletesNoNewerLoad(t *testing.T) {
	t.Parallel()
	m := newMoving(t)
	m.putLoaded(t, "acme", 1)
	m.interrupt(t, "acme", 2)
	if err := m.Cluster.Shards()[0].Exec(t.Context(), "INSERT INTO commits (account_id, number) VALUES ('acme', 5000)", nil); err != nil {
		t.Fatal(err)
	}
	newer, err := m.Inspector.NewerElsewhere(t.Context())
	if err != nil || len(newer) != 1 || newer["acme"] != "shard 1 has a newer load (commit 5000) than shard 2 (commit 1), where it is" {
		t.Errorf("newer elsewhere are %q: %v", newer, err)
	}
	before, _ := m.rowsAt(t, 1, "acme")
	for _, to := range []uint16{2, 1} { // the same move again, and one back
		_, err := m.move(t.Context(), t, "acme", to)
		if err == nil || !strings.Contains(err.Error(), "shard 1 has a newer load of account acme (commit 5000) than shard 2") {
			t.Errorf("a move to shard %d: %v", to, err)
		}
		if after, _ := m.rowsAt(t, 1, "acme"); after != before || m.placeOf(t, "acme") != 2 {
			t.Errorf("a move to shard %d left %d of %d commits, and the account is on shard %d", to, after, before, m.placeOf(t, "acme"))
		}
	}
}

// A first shard that was put back from a copy of its disk places an account where it was
// before it moved.
func TestAnAccountIsNotReadWhereAnOldDirectoryPlacesIt(t *testing.T) {
	t.Parallel()
	m := newMoving(t)
	ctx := conn.Inspecting(t.Context())
	m.putLoaded(t, "acme", 1)
	m.putLoaded(t, "stays", 1)
	m.putLoaded(t, "new", 0)
	mustBeWhole := func(what string) {
		t.Helper()
		if err := m.Inspector.Begin(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, id := range []string{"acme", "stays", "new"} {
			if faults, err := m.Inspector.Faults(ctx, id); err != nil || len(faults) > 0 {
				t.Errorf("%s, %s has the faults %q: %v", what, id, faults, err)
			}
			if err := m.Inspector.RequireDirectory(ctx, id); err != nil {
				t.Errorf("%s: %v", what, err)
			}
		}
		if lost := m.Inspector.Damage().Lost; len(lost) > 0 {
			t.Errorf("%s, withheld are %v", what, lost)
		}
	}
	mustBeWhole("before a move")
	m.interrupt(t, "acme", 2)
	mustBeWhole("after a move that was killed")
	if _, err := m.move(t.Context(), t, "acme", 2); err != nil {
		t.Fatal(err)
	}
	mustBeWhole("after a move")
	for _, table := range []string{"placements", "directory_seals"} { // as a copy of the disk has them
		column := map[string]string{"placements": "version", "directory_seals": "revision"}[table]
		filter := map[string]string{"placements": "", "directory_seals": " AND table_name = 'placements'"}[table]
		if err := m.Cluster.Home().Exec(t.Context(), "DELETE FROM "+table+" WHERE account_id = 'acme'"+filter+" AND "+column+" > 1", nil); err != nil {
			t.Fatal(err)
		}
	}
	if m.placeOf(t, "acme") != 1 {
		t.Fatalf("the account is on shard %d", m.placeOf(t, "acme"))
	}
	if err := m.Inspector.InspectAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	lost := m.Inspector.Damage().Lost
	if len(lost) != 1 || len(lost["acme"]) != 1 || !strings.Contains(lost["acme"][0], "placed on shard 1, which has no load of it, and shard 2 has") {
		t.Errorf("withheld are %v", lost)
	}
	if err := m.Inspector.RequireDirectory(ctx, "acme"); adlens.KindOf(err) != adlens.Damaged {
		t.Errorf("its directory is whole: %v", err)
	}
	if _, err := m.Tables.Manifest(t.Context(), "acme"); adlens.KindOf(err) != adlens.Damaged {
		t.Errorf("it is read: %v", err)
	}
	if err := m.Inspector.MendDirectory(t.Context(), "acme", unheard); err != nil {
		t.Error(err)
	}
	if whole, err := m.Inspector.LookAgain(t.Context(), "acme"); !whole || err != nil {
		t.Errorf("repaired, it is not whole: %v", err)
	}
	mustBeWhole("after the repair")
	if m.placeOf(t, "acme") != 2 {
		t.Errorf("repaired, it is on shard %d", m.placeOf(t, "acme"))
	}
}

// Processes that believe that the account is where it was before are reading there.
func TestAMoveBackWaitsBeforeItClearsWhatIsStillRead(t *testing.T) {
	t.Parallel()
	m := newMoving(t)
	m.putLoaded(t, "acme", 1)
	m.interrupt(t, "acme", 2)

	// A move back that is interrupted while it waits has changed nothing.
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	m.during = func(context.Context) { cancel() }
	waits, err := m.move(ctx, t, "acme", 1)
	wantWaits(t, "an interrupted move back", waits, settling+commits.Leaving)
	if n, titles := m.rowsAt(t, 1, "acme"); !errors.Is(err, context.Canceled) || n == 0 || titles == 0 || m.placeOf(t, "acme") != 2 {
		t.Errorf("%d commits and %d titles are left, and the account is on shard %d: %v", n, titles, m.placeOf(t, "acme"), err)
	}

	m.during = func(context.Context) {
		if n, titles := m.rowsAt(t, 1, "acme"); len(m.waits) == 1 && (n == 0 || titles == 0) {
			t.Errorf("%d commits and %d titles are left while they may be read", n, titles)
		}
	}
	waits, err = m.move(t.Context(), t, "acme", 1)
	wantWaits(t, "a move back", waits, settling+commits.Leaving, settling, commits.Leaving)
	if n, titles := m.rowsAt(t, 1, "acme"); err != nil || n == 0 || titles != 1 || m.placeOf(t, "acme") != 1 {
		t.Errorf("after a move back shard 1 has %d commits and %d titles: %v", n, titles, err)
	}
}

// Rows that an earlier attempt has sent may come once the copy was compared.
func TestAMoveDeletesNothingWhereItsCopyHasMoreThanWasLoaded(t *testing.T) {
	t.Parallel()
	m := newMoving(t)
	m.putLoaded(t, "acme", 1)
	m.during = func(context.Context) {
		if len(m.waits) != 1 {
			return
		}
		err := m.Cluster.Shards()[1].Exec(t.Context(), "INSERT INTO product_titles SELECT * REPLACE ('B0B' AS product_id) FROM product_titles WHERE account_id = 'acme'", nil)
		if err != nil {
			t.Error(err)
		}
	}
	if _, err := m.move(t.Context(), t, "acme", 2); err == nil || !strings.Contains(err.Error(), "does not add up") || !strings.Contains(err.Error(), "adlens restore --from PLACE --account acme") {
		t.Errorf("the move ends with %v", err)
	}
	if n, titles := m.rowsAt(t, 1, "acme"); n == 0 || titles != 1 {
		t.Errorf("%d commits and %d titles are left where the account was", n, titles)
	}
}

// After a move that was interrupted, what it left may be the only whole copy of the account.
func TestAMoveBackDeletesNothingWhereTheAccountIsNotWhole(t *testing.T) {
	t.Parallel()
	m := newMoving(t)
	m.putLoaded(t, "acme", 1)
	m.interrupt(t, "acme", 2)
	if err := m.Cluster.Shards()[1].Exec(t.Context(), "ALTER TABLE product_titles DELETE WHERE account_id = 'acme' SETTINGS mutations_sync = 1", nil); err != nil {
		t.Fatal(err)
	}
	m.during = func(context.Context) {}
	if _, err := m.move(t.Context(), t, "acme", 1); err == nil || !strings.Contains(err.Error(), "was not deleted, because what shard 2 has does not add up") {
		t.Errorf("the move back ends with %v", err)
	}
	if n, titles := m.rowsAt(t, 1, "acme"); n == 0 || titles != 1 || m.placeOf(t, "acme") != 2 {
		t.Errorf("%d commits and %d titles are left where the account was, and it is on shard %d", n, titles, m.placeOf(t, "acme"))
	}
}

// Counts and sums of figures would not tell: a copy of which a title changed is none.
func TestAMoveStopsWhereACopyIsNotAlike(t *testing.T) {
	t.Parallel()
	m := newMoving(t)
	m.putLoaded(t, "acme", 1)
	m.load(t, "acme") // so that readers of the load before are waited for, when all is copied
	m.during = func(context.Context) {
		m.during = nil
		err := m.Cluster.Shards()[1].Exec(t.Context(), "ALTER TABLE product_titles UPDATE title = 'Lump' WHERE account_id = 'acme' SETTINGS mutations_sync = 1", nil)
		if err != nil {
			t.Error(err)
		}
	}
	_, err := m.move(t.Context(), t, "acme", 2)
	if err == nil || !strings.Contains(err.Error(), "account acme stays where it is, because its rows of product_titles are not the same") || m.placeOf(t, "acme") != 1 {
		t.Errorf("the account is on shard %d: %v", m.placeOf(t, "acme"), err)
	}
	if n, titles := m.rowsAt(t, 1, "acme"); n == 0 || titles == 0 {
		t.Errorf("%d commits and %d titles are left where the account was", n, titles)
	}
}

// Each server dates its rows by its own clock, and no other says how old they are.
func TestTheClockOfAnAccountIsThatOfItsServer(t *testing.T) {
	t.Parallel()
	db, second := switchedPair(t)
	accounts := onEach(t, db)
	second.away.Store(true)
	db.Cluster.Shards()[1].Disconnect()
	if _, err := db.Tables.Now(t.Context(), accounts[0]); err != nil {
		t.Error(err)
	}
	if _, err := db.Tables.Now(t.Context(), accounts[1]); err == nil || !strings.Contains(err.Error(), "shard 2") {
		t.Errorf("another server says the time of an account whose own is away: %v", err)
	}
}

// A load comes once the live rows were listed, as where a clock that jumped has ended the lock
// of the move, and is copied with the record of commits.
func TestAMoveStopsWhereACommitCameWhileItCopied(t *testing.T) {
	t.Parallel()
	m := newMoving(t)
	m.putLoaded(t, "acme", 1)
	m.copied = func() {
		m.copied = nil
		m.load(t, "acme")
	}
	_, err := m.move(t.Context(), t, "acme", 2)
	if err == nil || !strings.Contains(err.Error(), "account acme stays where it is, because shard 1 has another load of it") || m.placeOf(t, "acme") != 1 {
		t.Errorf("the account is on shard %d: %v", m.placeOf(t, "acme"), err)
	}
	if _, err := m.move(t.Context(), t, "acme", 2); err != nil || m.placeOf(t, "acme") != 2 {
		t.Errorf("after a move again the account is on shard %d: %v", m.placeOf(t, "acme"), err)
	}
	if n, titles := m.rowsAt(t, 2, "acme"); n < 2 || titles != 1 {
		t.Errorf("%d commits and %d titles were moved", n, titles)
	}
}
