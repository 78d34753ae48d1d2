package connector

import (
	"context"
	"errors"
	"maps"
	"testing"
	"testing/synctest"
	"time"

	"adlens"
	"adlens/integration/standin"
	"adlens/loader"
)

// lockedOut is a loader that waits for the lock of one account.
type lockedOut struct {
	account string
	waiting chan struct{} // has a value for each load that waits
}

func (l lockedOut) Load(ctx context.Context, account string, _ []string) (loader.Result, error) {
	if account == l.account {
		l.waiting <- struct{}{}
		<-ctx.Done()
	}
	return loader.Result{}, ctx.Err()
}

func (l lockedOut) ReplaceLists(ctx context.Context, account string, _ loader.Lists) error {
	_, err := l.Load(ctx, account, nil)
	return err
}

func TestAnAccountThatWaitsForItsLockStopsNoOther(t *testing.T) {
	t.Parallel()
	held := lockedOut{"held", make(chan struct{}, 2)}
	c := New(Config{Loader: held})
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := c.load(ctx, "held", nil)
		ended <- err
	}()
	<-held.waiting
	others := make(chan error, 1)
	go func() {
		_, err := c.load(t.Context(), "free", nil)
		others <- errors.Join(err, c.storeLists(t.Context(), "free", loader.Lists{}))
	}()
	select {
	case err := <-others:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Error("another account waits for a lock that is not its own")
	}
	short, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if err := c.storeLists(short, "held", loader.Lists{}); !errors.Is(err, context.DeadlineExceeded) || len(held.waiting) > 0 {
		t.Errorf("two of one account wait for its lock together: %v", err)
	}
	stop()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// Lists that wait for an account's lock were given by the platform, and keep no place
// among those that it gives.
func TestListsThatWaitForALockStopNoReading(t *testing.T) {
	t.Parallel()
	p := standin.New(standin.Config{Profiles: []standin.Profile{{ID: 7, Country: "US"}}})
	defer p.Close()
	held := lockedOut{"one", make(chan struct{}, 1)}
	c, _ := connectedTo(t, p, &noting{})
	c.Loader = held
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- c.ReadLists(ctx, "one", "7") }()
	<-held.waiting
	if n := len(c.reads); n != 0 {
		t.Errorf("%d places are taken by lists that wait for a lock", n)
	}
	stop()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// A connection that is removed, or has other credentials, is used no more by what is
// under way.
func TestWhatIsUnderWayThroughARemovedConnectionStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, r := newMemory("kept", "gone"), &reads{began: map[string][]time.Time{}}
		ctx, stop := context.WithCancel(t.Context())
		d := &Daily{Lists: server(ctx, m, r), looks: map[string]look{}}
		stopped := map[string]bool{}
		old := adlens.Connection{Account: "renewed", Name: "NA"}
		for _, c := range []adlens.Connection{{Account: "kept", Name: "NA"}, {Account: "gone", Name: "NA"}, old} {
			key := lookKey(c)
			d.looks[key] = look{sealed: c.Sealed, busy: true, waiting: 1, stop: func() { stopped[key] = true }}
		}
		for _, account := range []string{"kept", "gone"} {
			if !ask(t, d.Lists, account, "1", nil) {
				t.Fatalf("the lists of %s are not read", account)
			}
		}
		m.accounts["gone"] = false
		kept, err := m.Connections(ctx, "kept")
		if err != nil {
			t.Fatal(err)
		}
		old.Sealed = "renewed"
		d.stopOthers(append(kept, old))
		synctest.Wait()
		if want := map[string]bool{"gone/NA": true, "renewed/NA": true}; !maps.Equal(stopped, want) {
			t.Errorf("stopped are the looks of %v, want %v", stopped, want)
		}
		if ask(t, d.Lists, "gone", "1", nil) || !ask(t, d.Lists, "kept", "1", nil) {
			t.Error("the lists of a removed connection are read, or those of another one are not")
		}
		for key, l := range d.looks { // they have ended
			l.busy = false
			d.looks[key] = l
		}
		d.stopOthers(append(kept, old))
		if n := d.Waiting(); n != 2 {
			t.Errorf("%d reports wait, want those of the two connections that there are", n)
		}
		stop()
		d.Lists.Wait()
	})
}

// Who connects again after the platform refused reports is told to, and they are
// requested then.
func TestWhatWasRefusedIsRequestedOnceAnAccountIsConnectedAgain(t *testing.T) {
	before := adlens.Connection{Account: "acme", Name: "NA"}
	today := adlens.Date(2026, 11, 26)
	d := &Daily{Connector: New(Config{}), looks: map[string]look{lookKey(before): {sealed: before.Sealed}},
		refused: map[string]refusal{"acme 1 spAdvertisedProduct": {today, 5}, "acmes 2 spAdvertisedProduct": {today, 5}}}
	full := make(chan struct{}) // nothing begins
	d.startRefresh(t.Context(), full, before)
	if len(d.refused) != 2 {
		t.Errorf("refused are %v before", d.refused)
	}
	before.Sealed = "renewed"
	d.startRefresh(t.Context(), full, before)
	if want := map[string]refusal{"acmes 2 spAdvertisedProduct": {today, 5}}; !maps.Equal(d.refused, want) {
		t.Errorf("refused are %v, want %v", d.refused, want)
	}
}
