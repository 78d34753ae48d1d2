package moves

import (
	"context"
	"sync"
	"testing"
	"time"
	"unsafe"
)

// waiter is a context that tells that whose it is has begun to wait.
type waiter struct {
	context.Context
	waits func()
}

func (w waiter) Done() <-chan struct{} {
	w.waits()
	return w.Context.Done()
}

// A caller that waits for an answer with others has what was true a moment ago, or asks again.
func TestAPlaceThatComesLateIsNotUsed(t *testing.T) {
	now, reads := time.Now(), 0
	var clock sync.Mutex
	begun, waits, come, found := make(chan struct{}), make(chan struct{}), make(chan struct{}), make(chan uint16)
	places := NewPlaces(func(context.Context, string) (Place, error) {
		if reads++; reads > 1 {
			return Place{Shard: 2, Version: 2}, nil
		}
		close(begun)
		<-come
		return Place{Shard: 1, Version: 1}, nil
	})
	places.Now = func() time.Time {
		clock.Lock()
		defer clock.Unlock()
		return now
	}
	go places.Find(t.Context(), "acme")
	<-begun
	go func() {
		shard, err := places.Find(waiter{t.Context(), sync.OnceFunc(func() { close(waits) })}, "acme")
		if err != nil {
			t.Error(err)
		}
		found <- shard
	}()
	<-waits // for the same answer
	clock.Lock()
	now = now.Add(Settling)
	clock.Unlock()
	close(come)
	if shard := <-found; shard != 2 {
		t.Errorf("the account is looked for on shard %d", shard)
	}
}

// A machine that was suspended counts none of that time, but for its wall clock. An account
// may have moved meanwhile, and what it had at the old place may be deleted.
func TestAPlaceIsNotBelievedAfterTheMachineWasSuspended(t *testing.T) {
	places := NewPlaces(nil)
	for _, c := range []struct {
		wall, monotonic time.Duration
		want            bool
	}{
		{0, 0, true},
		{-time.Hour, 0, true},
		{PlaceLife, PlaceLife, false},
		{time.Hour, 0, false},          // suspended
		{-time.Hour, PlaceLife, false}, // set back
	} {
		if got := places.isYounger(knownPlace{asked: ago(c.wall, c.monotonic)}, PlaceLife); got != c.want {
			t.Errorf("a place of %s ago by the wall clock, of %s by the monotonic one: %t", c.wall, c.monotonic, got)
		}
	}
}

// ago returns a time so long ago by the wall clock, in whole seconds, and by the monotonic
// one: of a Time's first word, the seconds come above 30 bits of nanoseconds.
func ago(wall, monotonic time.Duration) time.Time {
	t := time.Now().Add(-monotonic)
	*(*uint64)(unsafe.Pointer(&t)) -= uint64((wall-monotonic)/time.Second) << 30
	return t
}
