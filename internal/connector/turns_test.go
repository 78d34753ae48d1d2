package connector

import (
	"context"
	"errors"
	"testing"
	"time"

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
