package auth

import (
	"context"
	"encoding/binary"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"adlens"
)

func TestAnAddressWaitsAfterTooManyWrongKeys(t *testing.T) {
	f := NewFailures()
	guesser, neighbour := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")
	for i := range failuresAllowed {
		if wait := f.Wait(guesser, at(i/10)); wait != 0 {
			t.Fatalf("failure %d has to wait %v", i, wait)
		}
		f.Note(guesser, at(i/10))
	}
	if wait := f.Wait(guesser, at(30)); wait != 30*time.Second {
		t.Errorf("the wait is %v, expected 30s", wait)
	}
	if wait := f.Wait(guesser, at(60)); wait != 0 {
		t.Errorf("a minute after the first failure the wait is %v", wait)
	}
	if wait := f.Wait(neighbour, at(30)); wait != 0 {
		t.Errorf("the neighbour has to wait %v", wait)
	}
}

func TestWhatCountsAsOneAddress(t *testing.T) {
	for _, same := range [][2]string{{"2001:db8::1", "2001:db8::ffff:1"}, {"::ffff:192.0.2.1", "192.0.2.1"}, {"fe80::1%eth0", "fe80::1%eth1"}} {
		if networkOf(netip.MustParseAddr(same[0])) != networkOf(netip.MustParseAddr(same[1])) {
			t.Errorf("%s and %s are two", same[0], same[1])
		}
	}
	for _, apart := range [][2]string{{"2001:db8::1", "2001:db8:0:1::1"}, {"192.0.2.1", "192.0.2.3"}} {
		if networkOf(netip.MustParseAddr(apart[0])) == networkOf(netip.MustParseAddr(apart[1])) {
			t.Errorf("%s and %s are one", apart[0], apart[1])
		}
	}
}

func TestAMillionAddressesNeedNoMoreMemoryThanTenThousand(t *testing.T) {
	f := NewFailures()
	for i := range 1_000_000 {
		var ip [4]byte
		binary.BigEndian.PutUint32(ip[:], uint32(i))
		f.Note(netip.AddrFrom4(ip), at(0))
	}
	if n := len(f.addresses); n > failuresSize {
		t.Errorf("%d addresses are remembered", n)
	}
}

// crowded is a store that is asked by many at once; each look-up takes a second.
type crowded struct {
	*shelf
	busy, most atomic.Int32
}

func (c *crowded) KeyByHash(ctx context.Context, hash [32]byte) (Record, bool, error) {
	if busy := c.busy.Add(1); busy > c.most.Load() {
		c.most.Store(busy)
	}
	defer c.busy.Add(-1)
	return c.shelf.KeyByHash(ctx, hash)
}

func TestASuspectsKeysAreLookedUpOneAtATimeAndValidOnesGetIn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		valid, feed := NewKey(), Feed.NewToken()
		store := &crowded{shelf: newShelf(valid, feed)}
		store.takes = time.Second
		a := NewAuthenticator(store)
		var all sync.WaitGroup
		for range 100 {
			guess := NewKey()
			all.Go(func() {
				if _, err := a.Authenticate(t.Context(), bearer(guess), true, noon); err != ErrInvalidKey {
					t.Errorf("a guess: %v", err)
				}
			})
		}
		synctest.Wait() // all of them are before the valid ones
		if _, err := a.Authenticate(t.Context(), bearer(valid), true, noon); err != nil {
			t.Errorf("a valid key: %v", err)
		}
		if _, err := a.Link(t.Context(), Feed, feed.Reveal(), true, noon); err != nil {
			t.Errorf("a valid feed link: %v", err)
		}
		all.Wait()
		if most := store.most.Load(); most != 1 {
			t.Errorf("%d keys of suspects were looked up at once, expected 1", most)
		}
		asked := store.asked
		for _, text := range []string{"key_live_1", valid.Reveal()[:44] + "-"} {
			if _, err := a.Authenticate(t.Context(), []string{"Bearer " + text}, true, noon); err != ErrInvalidKey || store.asked != asked {
				t.Errorf("%s: %v, looked up %d times", text, err, store.asked-asked)
			}
		}
		// One that cannot wait is refused, and takes no turn from others.
		hurried, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		all.Go(func() { a.Authenticate(t.Context(), bearer(NewKey()), true, noon) })
		synctest.Wait()
		if _, err := a.Authenticate(hurried, bearer(NewKey()), true, noon); adlens.KindOf(err) != adlens.Overloaded {
			t.Errorf("without the time to wait: %v", err)
		}
		// One that was valid lately needs no turn.
		if _, err := a.Authenticate(hurried, bearer(valid), true, noon); err != nil {
			t.Errorf("a known key: %v", err)
		}
		all.Wait()
	})
}
