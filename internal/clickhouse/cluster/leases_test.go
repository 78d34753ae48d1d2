package cluster_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"adlens"
	"adlens/internal/backup"
	"adlens/internal/clickhouse"
	"adlens/internal/clickhouse/cluster"
	"adlens/internal/clickhouse/conn"
	"adlens/internal/commits"
	"adlens/internal/engine"
	"adlens/internal/manifest"
	"adlens/loader"
)

func TestMain(m *testing.M) {
	engine.RunIfAsked("test")
	os.Exit(m.Run())
}

// open opens a database of its own for a test.
func open(t *testing.T) *clickhouse.Database {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	e, err := engine.Open(ctx, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	d, err := clickhouse.Open(ctx, conn.Embedded{Engine: e})
	if err != nil {
		t.Fatal(errors.Join(err, e.Close()))
	}
	t.Cleanup(func() {
		if err := errors.Join(d.Close(), e.Close()); err != nil {
			t.Error(err)
		}
	})
	return d
}

func TestOfTwoClaimantsNeverBothHoldTheLease(t *testing.T) {
	d := open(t)
	var holders, held atomic.Int32
	done := make(chan error)
	for range 2 {
		go func() {
			for range 2 {
				release, err := cluster.Leases{Cluster: d.Cluster}.Lock(t.Context(), t.Name(), func(string) {})
				if err != nil {
					done <- err
					return
				}
				if holders.Add(1) != 1 {
					t.Error("two hold the lease")
				}
				held.Add(1)
				time.Sleep(20 * time.Millisecond) // long enough for the other to look
				holders.Add(-1)
				if err := release(); err != nil {
					t.Error(err)
				}
			}
			done <- nil
		}()
	}
	for range 2 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if held.Load() != 4 {
		t.Errorf("the lease was had %d times, expected 4", held.Load())
	}
}

// At another place an account may have loads of the numbers of others: what is kept of it is
// dropped. So it is where it moved twice since, and is where it was.
func TestAChangedPlaceIsTold(t *testing.T) {
	places := open(t).Cluster.Placements()
	var told []string
	places.OnMove(func(account string) { told = append(told, account) })
	find := func(what string, want uint16, tells int) {
		t.Helper()
		shard, err := places.Find(t.Context(), "acme")
		if err != nil || shard != want || len(told) != tells {
			t.Errorf("%s: shard %d, told of %q: %v", what, shard, told, err)
		}
		places.AgePlaces()
	}
	move := func(to ...uint16) {
		t.Helper()
		for _, shard := range to {
			if err := places.Move(t.Context(), "acme", shard); err != nil {
				t.Fatal(err)
			}
		}
	}
	find("without a place", 0, 0)
	find("the same", 0, 0)
	move(2)
	find("at another", 2, 1)
	find("the same", 2, 1)
	move(3, 2)
	find("back", 2, 2)
	find("the same", 2, 2)
}

func TestAReleasedLeaseIsFreeAtOnceAndAHeldOneIsNot(t *testing.T) {
	d := open(t)
	unheard := func(holder string) { t.Errorf("a free lease is reported to be held by %s", holder) }
	for range 3 {
		release, err := cluster.Leases{Cluster: d.Cluster}.Lock(t.Context(), t.Name(), unheard)
		if err != nil {
			t.Fatal(err)
		}
		if err := release(); err != nil {
			t.Fatal(err)
		}
	}
	release, err := cluster.Leases{Cluster: d.Cluster}.Lock(t.Context(), t.Name(), unheard)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	holder := ""
	_, err = cluster.Leases{Cluster: d.Cluster}.Lock(ctx, t.Name(), func(h string) { holder = h; cancel() })
	if want := holderOf(t, d, t.Name()); !errors.Is(err, context.Canceled) || holder != want {
		t.Errorf("a held lease was had again, or %q is not the holder, %q: %v", holder, want, err)
	}
	if err := release(); err != nil {
		t.Fatal(err)
	}
}

// A lease is held also after its caller had to wait for it.
func TestALeaseThatWasWaitedForIsHeld(t *testing.T) {
	d := open(t)
	leases := cluster.Leases{Cluster: d.Cluster}
	first, err := leases.Lock(t.Context(), t.Name(), func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	released := make(chan error, 1)
	second, err := leases.Lock(t.Context(), t.Name(), func(string) { released <- first() })
	if err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-released:
		if err != nil {
			t.Fatal(err)
		}
	default:
		t.Fatal("a lease that is held was had again")
	}
	_, again, err := leases.Try(t.Context(), t.Name())
	if again {
		t.Error("a lease that was waited for is free to others")
	}
	if err := errors.Join(err, second()); err != nil {
		t.Error(err)
	}
}

// A process that is stopped while it claims leaves nothing that holds, whenever it is.
func TestAClaimantThatIsStoppedLocksNothing(t *testing.T) {
	d := open(t)
	leases := cluster.Leases{Cluster: d.Cluster}
	for i := range 24 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i)*time.Millisecond/2)
		release, err := leases.Lock(ctx, t.Name(), func(string) {})
		stopped := ctx.Err() != nil
		cancel()
		if err == nil {
			err = release()
		} else if stopped {
			err = nil
		}
		if err != nil {
			t.Fatal(err)
		}
		if held, err := leases.Held(t.Context(), t.Name()); held || err != nil {
			t.Fatalf("stopped after %d half milliseconds, the name is held: %v", i, err)
		}
	}
}

// A server goes on with the statement of a client that has left: a claim is written after
// it was withdrawn.
func TestAClaimThatWasWithdrawnStaysSo(t *testing.T) {
	d, leases, release := holdName(t)
	renew := d.Cluster.RenewalOf(t.Name())
	if err := errors.Join(release(), renew(t.Context())); err != nil {
		t.Fatal(err)
	}
	wantFree(t, leases, "a claim that was withdrawn")
	// Moves of accounts and earlier versions look at the last beat alone.
	alive, err := conn.Value[bool](t.Context(), d.Cluster, "SELECT argMax(expires_at, beat) > now64(3) FROM leases WHERE account_id = {account:String}", conn.Params{"account": t.Name()})
	if alive || err != nil {
		t.Errorf("the last beat of a claim that was withdrawn is alive: %v", err)
	}
	// A statement that had looked before the claim was withdrawn, and is merged with it.
	writeClaim(t, d, "now64(3) + 60, now64(9)")
	wantFree(t, leases, "a claim that was withdrawn")
}

// The clock of the database is set back while a lease is held: what was written by it
// before is of the future then.
func TestALeaseIsReleasedAlthoughTheClockWasSetBack(t *testing.T) {
	d, leases, release := holdName(t)
	writeClaim(t, d, "max(expires_at) + INTERVAL 1 HOUR, max(beat) + INTERVAL 1 HOUR")
	if held, err := leases.Held(t.Context(), t.Name()); !held || err != nil {
		t.Errorf("the lease is not held: %v", err)
	}
	if err := release(); err != nil {
		t.Fatal(err)
	}
	wantFree(t, leases, "a lease that was released")
	// Or it is set back after the release, by more than a lease lives.
	writeClaim(t, d, "max(expires_at) + INTERVAL 1 HOUR, max(beat)")
	wantFree(t, leases, "a lease that was released before the clock was set back")
}

// A holder dies, and the clock by which it renewed its claim was ahead.
func TestADeadHolderOfAClockThatWasAheadLocksForALifeOfAClaim(t *testing.T) {
	d, leases, release := holdName(t)
	renew := d.Cluster.RenewalOf(t.Name())
	wantHeld := func(what string) {
		t.Helper()
		if held, err := leases.Held(t.Context(), t.Name()); !held || err != nil {
			t.Errorf("%s is not held: %v", what, err)
		}
	}
	d.Cluster.AgeClaim(t.Name()) // it is not renewed by itself
	const ahead = "max(expires_at) + INTERVAL 8 HOUR, max(beat) + INTERVAL 8 HOUR"
	writeClaim(t, d, ahead)
	wantHeld("a lease that was seen once")
	wantHeld("a lease that was seen a moment ago")
	if err := renew(t.Context()); err != nil {
		t.Fatal(err)
	}
	d.Cluster.AgeSightings()
	wantHeld("a lease that was renewed by the right clock")
	d.Cluster.AgeClaim(t.Name())
	writeClaim(t, d, ahead)
	wantHeld("a lease with another beat than a minute ago")
	d.Cluster.AgeSightings()
	wantFree(t, leases, "a lease whose holder is dead")
	if err := d.Cluster.Placements().Move(t.Context(), t.Name(), 2); err == nil {
		t.Error("a holder that stood still moves the account")
	}
	wantFree(t, leases, "a lease whose holder was found dead") // by who sees it for the first time
	if err := release(); err != nil {
		t.Fatal(err)
	}
}

// writeClaim writes the test's claim with another end and beat, and has its rows merged.
func writeClaim(t *testing.T, d *clickhouse.Database, endAndBeat string) {
	t.Helper()
	err := d.Cluster.Exec(t.Context(), "INSERT INTO leases SELECT account_id, token, holder, "+endAndBeat+" FROM leases WHERE account_id = {account:String} GROUP BY account_id, token, holder",
		conn.Params{"account": t.Name()})
	if err := errors.Join(err, d.Cluster.Exec(t.Context(), "OPTIMIZE TABLE leases FINAL", nil)); err != nil {
		t.Fatal(err)
	}
}

// holdName locks the test's own name.
func holdName(t *testing.T) (d *clickhouse.Database, leases cluster.Leases, release func() error) {
	t.Helper()
	d = open(t)
	leases = cluster.Leases{Cluster: d.Cluster}
	release, err := leases.Lock(t.Context(), t.Name(), func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	return d, leases, release
}

// wantFree fails where the test's own name is held.
func wantFree(t *testing.T, leases cluster.Leases, what string) {
	t.Helper()
	if held, err := leases.Held(t.Context(), t.Name()); held || err != nil {
		t.Errorf("%s is held: %v", what, err)
	}
}

// holderOf returns the holder of the one claim that was not withdrawn.
func holderOf(t *testing.T, d *clickhouse.Database, account string) string {
	t.Helper()
	holder, err := conn.Value[string](t.Context(), d.Cluster, `
SELECT any(holder)
FROM leases
WHERE account_id = {account:String}
GROUP BY token
HAVING max(beat) < toDateTime64('2262-01-01', 9, 'UTC')`, conn.Params{"account": account})
	if err != nil {
		t.Fatal(err)
	}
	return holder
}

// A claim is as old as its last renewal: setting that back stands for half a
// minute without an answer, which a test cannot wait for. Another process may hold the
// lock by then, and have loaded, restored or moved other rows.
func TestNothingIsCommittedUnderALeaseThatCouldNotBeRenewed(t *testing.T) {
	d := open(t)
	err := d.Accounts.PutAccount(t.Context(), adlens.Account{ID: t.Name(), Name: t.Name(), Subscription: "active", CreatedAt: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	release, err := cluster.Leases{Cluster: d.Cluster}.Lock(t.Context(), t.Name(), func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	entries := []manifest.Entry{{Unit: manifest.Unit{Kind: manifest.Titles}, Generation: 2}}
	s, err := commits.Begin(t.Context(), d.Tables, t.Name(), "token")
	if err != nil {
		t.Fatal(err)
	}
	begin := func() uint32 {
		number, err := s.BeginCommit(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return number
	}
	first := begin()
	if err := s.Commit(t.Context(), first, entries); err != nil {
		t.Fatalf("under a fresh claim: %v", err)
	}
	d.Cluster.AgeClaim(t.Name())
	if err := s.Commit(t.Context(), begin(), entries); err == nil {
		t.Error("a commit under a claim that may be dead")
	}
	if err := d.Loads.InsertLedger(t.Context(), t.Name(), []loader.LedgerLine{{LedgerKey: loader.LedgerKey{ReportID: "r"}}}); err == nil {
		t.Error("a report is noted under a claim that may be dead")
	}
	month := manifest.Entry{Unit: manifest.Unit{Kind: manifest.Month, Start: adlens.Date(2026, 3, 1)}, Generation: 2}
	for what, err := range map[string]error{
		"a block of a restore or a move": d.Sink.Insert(t.Context(), t.Name(), "product_titles", &backup.Block{}),
		"what a restore has left":        d.Sink.Clear(t.Context(), t.Name(), t.Name()),
		"what is derived": func() error {
			_, err := d.Sink.Complete(t.Context(), t.Name(), manifest.New(1, month), func(context.Context) error { return nil })
			return err
		}(),
		"what a restore in place clears":  d.Tables.Clear(t.Context(), t.Name(), "product_titles"),
		"what a restore in place reopens": d.Tables.Reopen(t.Context(), t.Name(), nil),
	} {
		if err == nil || !strings.Contains(err.Error(), "could not be renewed") {
			t.Errorf("%s under a claim that may be dead: %v", what, err)
		}
	}
	if noted, err := d.Loads.Ledger(t.Context(), t.Name()); err != nil || len(noted) > 0 {
		t.Errorf("%v are noted: %v", noted, err)
	}
	if m, err := d.Tables.Manifest(t.Context(), t.Name()); err != nil || m.Version != first {
		t.Errorf("version %d is visible: %v", m.Version, err)
	}
	if err := release(); err != nil {
		t.Fatal(err)
	}
}

// A process that stood still after it had looked at its lock writes no placement: the
// account may have been moved since.
func TestNoPlacementIsWrittenUnderALeaseThatHasEnded(t *testing.T) {
	d := open(t)
	placements := d.Cluster.Placements()
	put := func(shard uint16) error { return placements.Move(t.Context(), t.Name(), shard) }
	release, err := cluster.Leases{Cluster: d.Cluster}.Lock(t.Context(), t.Name(), func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	mustBeOn := func(want uint16) {
		t.Helper()
		if is, placed, err := placements.Read(t.Context(), t.Name()); err != nil || !placed || is != want {
			t.Errorf("the account is on shard %d, placed %t, expected %d: %v", is, placed, want, err)
		}
	}
	for _, shard := range []uint16{2, 3} {
		if err := put(shard); err != nil {
			t.Errorf("under a lock that is held: %v", err)
		}
		mustBeOn(shard)
	}
	d.Cluster.AgeClaim(t.Name()) // it is not renewed any more
	err = d.Cluster.Exec(t.Context(), "INSERT INTO leases SELECT account_id, token, holder, now64(3) + 9, now64(9) FROM leases WHERE account_id = {account:String}",
		conn.Params{"account": t.Name()})
	if err != nil {
		t.Fatal(err)
	}
	if err := put(4); err == nil || !strings.Contains(err.Error(), "is on shard 3 and not on 4") {
		t.Errorf("under a lock that ends: %v", err)
	}
	mustBeOn(3)
	if err := release(); err != nil {
		t.Fatal(err)
	}
	if err := put(5); err != nil {
		t.Errorf("without a claim: %v", err)
	}
	mustBeOn(5)
}

func TestAClaimThatCannotBeWrittenIsNoLease(t *testing.T) {
	broken := cluster.New(cluster.Config{Sources: []conn.Source{noServer{}}})
	_, err := cluster.Leases{Cluster: broken}.Lock(t.Context(), t.Name(), func(string) {})
	if adlens.KindOf(err) != adlens.EngineUnavailable {
		t.Errorf("without a server: %v", err)
	}
}

type noServer struct{}

func (noServer) Marks() conn.Marks { return nil }

func (noServer) Target(context.Context) (conn.Target, error) {
	return conn.Target{}, errors.New("no server")
}
