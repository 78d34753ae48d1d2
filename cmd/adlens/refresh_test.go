package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"adlens"
	"adlens/internal/metrics"
	"adlens/loader"

	"go.uber.org/zap"
)

// waits is the progress of a load that tells when it waits for another one.
type waits struct {
	quiet
	waiting chan string
}

func (w waits) Notice(text string) { w.waiting <- text }

func TestALockThatIsHeldKeepsNoOtherAccountWaiting(t *testing.T) {
	d, o := home(t)
	for _, account := range []string{"held", "free", "queued"} {
		if out, err := run(o, "account", "add", account, "--name", account); err != nil {
			t.Fatal(out, err)
		}
	}
	profiles := filepath.Join(t.TempDir(), "profiles.json")
	err := os.WriteFile(profiles, []byte(`[{"profileId": 701, "countryCode": "US", "currencyCode": "USD", "timezone": "America/Los_Angeles",
		"accountInfo": {"marketplaceStringId": "A", "id": "A1", "type": "seller", "name": "x"}}]`), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	watched := waits{quiet{zap.NewNop()}, make(chan string, 8)}
	loads := d.loadsInTurn(watched, metrics.New(limitNames, fileStatuses))
	load := func(ctx context.Context, account string) error {
		result, err := loads.Load(ctx, account, []string{profiles})
		if err == nil && (len(result.Files) != 1 || result.Files[0].Status != loader.Loaded) {
			t.Errorf("loading %s: %v", account, result.Files)
		}
		return err
	}

	release, err := d.locker.Lock(t.Context(), "held", func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	held := make(chan error, 1)
	go func() { held <- load(t.Context(), "held") }()
	<-watched.waiting
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	free := make(chan error, 1)
	go func() { free <- load(ctx, "free") }()
	select {
	case err = <-free:
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err != nil {
		t.Errorf("while the lock of another account is held: %v", err)
	}
	if err := release(); err != nil {
		t.Fatal(err)
	}
	if err := <-held; err != nil {
		t.Error(err)
	}

	// One that waits for its turn keeps the account from no other process. Where that has
	// the lock when the turn comes, it waits for it without the turn.
	loads.turn <- struct{}{}
	queued := make(chan error, 1)
	go func() { queued <- load(ctx, "queued") }()
	lockWhileItQueues(t, d, loads.turn)
	if err := <-queued; err != nil {
		t.Errorf("a load whose account was locked while it queued: %v", err)
	}

	// It begins nothing, and where it is stopped keeps no lock.
	loads.turn <- struct{}{}
	short, stop := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer stop()
	if err := load(short, "free"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a load was not kept waiting by another one: %v", err)
	}
	if isHeld, err := d.locker.Held(t.Context(), "free"); isHeld || err != nil {
		t.Errorf("a load that was stopped keeps its lock: %v", err)
	}
}

// lockWhileItQueues takes the lock of an account for which a load waits for its turn, gives
// the turn up, and sees that the load passes it on.
func lockWhileItQueues(t *testing.T, d *data, turn chan struct{}) {
	t.Helper()
	release, err := d.locker.Lock(t.Context(), "queued", func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	<-turn
	select {
	case turn <- struct{}{}:
		<-turn
	case <-time.After(30 * time.Second):
		t.Error("a load that waits for a lock keeps its turn")
	}
	if err := release(); err != nil {
		t.Fatal(err)
	}
}

// freeLock is a store whose locks are free. It tells when one is given back.
type freeLock struct {
	loader.Store
	released chan struct{}
}

func (f freeLock) Lock(context.Context, string, func(string)) (func() error, error) {
	return func() error {
		f.released <- struct{}{}
		return nil
	}, nil
}

func TestALoadThatWaitedForItsTurnGivesAllBack(t *testing.T) {
	turn, released := make(chan struct{}, 1), make(chan struct{}, 2)
	turn <- struct{}{}
	locked := make(chan func() error, 1)
	go func() {
		release, err := turnStore{freeLock{released: released}, turn, func() {}}.Lock(t.Context(), "any", nil)
		if err != nil {
			t.Error(err)
		}
		locked <- release
	}()
	<-released // it waits for its turn without the lock
	<-turn
	release := <-locked
	if len(turn) != 1 || len(released) != 0 {
		t.Errorf("it has %d turns, and gave back %d locks", len(turn), len(released))
	}
	if err := release(); err != nil || len(turn) != 0 || len(released) != 1 {
		t.Errorf("%v; %d turns are left, %d locks given back", err, len(turn), len(released))
	}
}

func TestTheLoadsOfAServerAreCounted(t *testing.T) {
	d, o := home(t)
	if out, err := run(o, "account", "add", "acme", "--name", "Acme"); err != nil {
		t.Fatal(out, err)
	}
	rates := filepath.Join(t.TempDir(), "rates.csv")
	if err := os.WriteFile(rates, []byte("date,currency,usd\n2026-01-02,EUR,1.1\n2026-01-05,EUR,1.1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	counts := metrics.New(limitNames, fileStatuses)
	loads := d.loadsInTurn(quiet{zap.NewNop()}, counts)
	for _, ctx := range []context.Context{t.Context(), t.Context(), ended(t)} {
		if _, err := loads.Load(ctx, "acme", []string{rates}); !errors.Is(err, ctx.Err()) {
			t.Errorf("the load ends with %v, expected %v", err, ctx.Err())
		}
	}
	text := metricsShown(t, counts)
	for _, want := range []string{`loads_total{result="done"} 2`, `loads_total{result="failed"} 1`, "loaded_rows_total 4",
		`loaded_files_total{status="loaded"} 1`, `loaded_files_total{status="unchanged"} 1`} {
		if !strings.Contains(text, "\nadlens_"+want+"\n") {
			t.Errorf("the metrics have no %s", want)
		}
	}
	d.Inspector.Withhold("acme", "it is placed on the wrong shard")
	_, err := loads.Load(t.Context(), "acme", []string{rates})
	for _, err := range []error{err, loads.ReplaceLists(t.Context(), "acme", loader.Lists{})} {
		if adlens.KindOf(err) != adlens.Damaged {
			t.Errorf("a server loads by itself into an account that is withheld: %v", err)
		}
	}
}
