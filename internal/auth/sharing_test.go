package auth

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"adlens"
)

func TestABurstOfOneKeyAsksOnce(t *testing.T) {
	for name, known := range map[string]bool{"known": true, "unknown": false} {
		synctest.Test(t, func(t *testing.T) {
			key := NewKey()
			store := newShelf()
			if known {
				store = newShelf(key)
			}
			store.takes = time.Second
			a := NewAuthenticator(store)
			var all sync.WaitGroup
			for range 100 {
				all.Go(func() {
					if _, err := a.Authenticate(t.Context(), bearer(key), false, time.Now()); (err == nil) != known {
						t.Errorf("%s: got %v", name, err)
					}
				})
			}
			all.Wait()
			if store.asked != 1 {
				t.Errorf("%s: %d look-ups", name, store.asked)
			}
		})
	}
}

func TestACancelledRequestLeavesTheOthersTheirAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		key := NewKey()
		store := newShelf(key)
		store.takes = time.Second
		a := NewAuthenticator(store)
		first, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		all.Go(func() {
			if _, err := a.Authenticate(first, bearer(key), false, time.Now()); !errors.Is(err, context.Canceled) {
				t.Errorf("the cancelled request got %v", err)
			}
		})
		synctest.Wait()
		for range 10 {
			all.Go(func() {
				if _, err := a.Authenticate(t.Context(), bearer(key), false, time.Now()); err != nil {
					t.Errorf("another request got %v", err)
				}
			})
		}
		synctest.Wait()
		cancel()
		all.Wait()
		if store.asked != 1 {
			t.Errorf("%d look-ups", store.asked)
		}
	})
}

func TestAWaitingRequestThatEndsDoesNotWaitOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		key := NewKey()
		store := newShelf(key)
		store.takes = time.Hour
		a := NewAuthenticator(store)
		background, stop := context.WithCancel(t.Context())
		defer stop()
		go a.Authenticate(background, bearer(key), false, time.Now())
		synctest.Wait()
		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := a.Authenticate(short, bearer(key), false, time.Now()); adlens.KindOf(err) != adlens.QueryTimeout {
			t.Errorf("after its deadline: %v", err)
		}
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := a.Authenticate(gone, bearer(key), false, time.Now()); adlens.KindOf(err) != adlens.Cancelled {
			t.Errorf("after it was cancelled: %v", err)
		}
	})
}

// fragile panics at its first question, after a second.
type fragile struct{ *shelf }

func (f fragile) KeyByHash(ctx context.Context, hash [32]byte) (Record, bool, error) {
	record, found, err := f.shelf.KeyByHash(ctx, hash)
	if f.asked == 1 {
		panic("a mistake in the store")
	}
	return record, found, err
}

func TestAPanicInTheStoreIsAnErrorAndTheNextQuestionIsNew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		key := NewKey()
		store := fragile{newShelf(key)}
		store.takes = time.Second
		a := NewAuthenticator(store)
		if _, err := a.Authenticate(t.Context(), bearer(key), false, time.Now()); err == nil || adlens.KindOf(err) != adlens.Internal {
			t.Errorf("got %v", err)
		}
		if _, err := a.Authenticate(t.Context(), bearer(key), false, time.Now()); err != nil {
			t.Errorf("the next question got %v", err)
		}
	})
}
