package moves

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unsafe"

	"adlens"
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

// A server that stands still, or comes back, is asked again for as long as the caller waits.
func TestAPlaceThatIsNotAnsweredIsAskedAgain(t *testing.T) {
	slow, away, wrong := &adlens.Error{Kind: adlens.QueryTimeout}, &adlens.Error{Kind: adlens.EngineUnavailable}, errors.New("no such table")
	for name, c := range map[string]struct {
		answers []error // then one that is right
		reads   int
		want    error
	}{
		"at once":        {nil, 1, nil},
		"after a while":  {[]error{slow, slow, slow}, 4, nil},
		"back again":     {[]error{away}, 2, nil},
		"away for good":  {[]error{away, away}, 2, away},
		"another error":  {[]error{wrong}, 1, wrong},
		"still for long": {slices.Repeat([]error{slow}, 100), int(findPatience / Settling), slow},
	} {
		synctest.Test(t, func(t *testing.T) {
			reads, readied := 0, 0
			places := NewPlaces(func(ctx context.Context, _ string) (Place, error) {
				reads++
				if reads > len(c.answers) {
					return Place{Shard: 2, Version: 1}, nil
				}
				if c.answers[reads-1] == slow {
					<-ctx.Done()
				}
				return Place{}, c.answers[reads-1]
			})
			places.Ready = func(context.Context) error {
				readied++
				return nil
			}
			shard, err := places.Find(t.Context(), "acme")
			if err != c.want || reads != c.reads || readied != reads || err == nil && shard != 2 {
				t.Errorf("%s: shard %d, %v after %d reads of %d, want %d and %v", name, shard, err, reads, readied, c.reads, c.want)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), Settling+time.Second)
		defer cancel()
		places := NewPlaces(func(ctx context.Context, _ string) (Place, error) {
			<-ctx.Done()
			return Place{}, slow
		})
		began := time.Now()
		if _, err := places.Find(ctx, "acme"); adlens.KindOf(err) != adlens.QueryTimeout || time.Since(began) != Settling+time.Second {
			t.Errorf("a caller with less time: %v after %s", err, time.Since(began))
		}
	})
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

// A place is asked again after a moment, and loads of an account that came back from another
// shard may have the numbers of others. What this process has put elsewhere it need not ask.
func TestAPlaceIsBelievedForAMomentAndItsChangeIsHeard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is, took, reads := Place{Shard: 1, Version: 1}, time.Duration(0), 0
		places := NewPlaces(func(context.Context, string) (Place, error) {
			reads++
			time.Sleep(took)
			return is, nil
		})
		heard := 0
		places.OnMove(func(string) { heard++ })
		for _, c := range []struct {
			name         string
			change       func()
			shard        uint16
			reads, heard int
		}{
			{"at first", func() {}, 1, 1, 0},
			{"a moment later", func() { time.Sleep(PlaceLife - time.Nanosecond); is = Place{Shard: 2, Version: 2} }, 1, 0, 0},
			{"after that", func() { time.Sleep(time.Nanosecond) }, 2, 1, 1},
			{"unchanged", func() { time.Sleep(PlaceLife) }, 2, 1, 0},
			{"there and back", func() { time.Sleep(PlaceLife); is.Version = 4 }, 2, 1, 1},
			{"put on another one by this process", func() { places.Note("acme", 3) }, 3, 0, 1},
			{"answered late", func() { is, took = Place{Shard: 3, Version: 5}, Settling-1; time.Sleep(PlaceLife) }, 3, 1, 1},
		} {
			reads, heard = 0, 0
			c.change()
			ctx, cancel := context.WithTimeout(t.Context(), findPatience)
			defer cancel()
			if shard, err := places.Find(ctx, "acme"); err != nil || shard != c.shard || reads != c.reads || heard != c.heard {
				t.Errorf("%s: on shard %d after %d reads, and %d changes are heard of; want shard %d, %d and %d: %v", c.name, shard, reads, heard, c.shard, c.reads, c.heard, err)
			}
		}
	})
}
