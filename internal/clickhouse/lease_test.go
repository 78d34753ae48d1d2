package clickhouse

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"adlens/internal/manifest"

	"adlens"
)

func TestOfTwoClaimantsNeverBothHoldTheLease(t *testing.T) {
	d := openShared(t)
	var holders, held atomic.Int32
	done := make(chan error)
	for range 2 {
		go func() {
			for range 2 {
				release, err := Leases{d.DB}.Lock(t.Context(), t.Name(), func(string) {})
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

func TestAReleasedLeaseIsFreeAtOnceAndAHeldOneIsNot(t *testing.T) {
	d := openShared(t)
	unheard := func(holder string) { t.Errorf("a free lease is said to be held by %s", holder) }
	for range 3 {
		release, err := Leases{d.DB}.Lock(t.Context(), t.Name(), unheard)
		if err != nil {
			t.Fatal(err)
		}
		if err := release(); err != nil {
			t.Fatal(err)
		}
	}
	release, err := Leases{d.DB}.Lock(t.Context(), t.Name(), unheard)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	holder := ""
	if _, err := (Leases{d.DB}).Lock(ctx, t.Name(), func(h string) { holder = h }); err == nil || holder != d.holderOf(t, t.Name()) {
		t.Errorf("a held lease was had again, or %q is no holder: %v", holder, err)
	}
	if err := release(); err != nil {
		t.Fatal(err)
	}
}

func (d *database) holderOf(t *testing.T, account string) string {
	t.Helper()
	return one[string](t, d.DB, "SELECT any(holder) FROM leases WHERE account_id = {account:String} AND holder != '' AND expires_at > now64(3)", Params{"account": account})
}

// A claim is as old as its last renewal: setting that back stands for half a
// minute without an answer, which a test cannot wait for.
func TestNothingIsCommittedUnderALeaseThatCouldNotBeRenewed(t *testing.T) {
	d := openShared(t)
	release, err := Leases{d.DB}.Lock(t.Context(), t.Name(), func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	entries := []manifest.Entry{{Unit: manifest.Unit{Kind: manifest.Titles}, Generation: 2}}
	s := beginWriter(t, d.DB, t.Name())
	first := beginCommit(t, s)
	if err := s.Commit(t.Context(), first, entries); err != nil {
		t.Fatalf("under a fresh claim: %v", err)
	}
	held, _ := d.claims.Load(t.Name())
	held.(*claim).renewed.Store(time.Now().Add(-leaseTrust - time.Second).UnixNano())
	if err := s.Commit(t.Context(), beginCommit(t, s), entries); err == nil {
		t.Error("a commit under a claim that may be dead")
	}
	if m, err := d.Manifest(t.Context(), t.Name()); err != nil || m.Version != first {
		t.Errorf("version %d is visible: %v", m.Version, err)
	}
	if err := release(); err != nil {
		t.Fatal(err)
	}
}

func TestAClaimThatCannotBeWrittenIsNoLease(t *testing.T) {
	broken := newDB(noServer{})
	_, err := Leases{broken}.Lock(t.Context(), t.Name(), func(string) {})
	if adlens.KindOf(err) != adlens.EngineUnavailable {
		t.Errorf("without a server: %v", err)
	}
}

type noServer struct{}

func (noServer) Marks() Marks { return nil }

func (noServer) Target(context.Context) (Target, error) {
	return Target{}, errors.New("no server")
}
