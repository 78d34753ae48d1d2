package connector

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"adlens"
	"adlens/internal/platform"
	"adlens/loader"
)

// reads counts reads that take a minute each.
type reads struct {
	mu    sync.Mutex
	began map[string][]time.Time // by account and marketplace
	fails error
}

func (r *reads) read(ctx context.Context, account, marketplaceID string) error {
	r.mu.Lock()
	key := account + "/" + marketplaceID
	r.began[key] = append(r.began[key], time.Now())
	fails := r.fails
	r.mu.Unlock()
	select {
	case <-time.After(time.Minute):
	case <-ctx.Done():
		return ctx.Err()
	}
	return fails
}

var errOutOfOrder = errors.New("the platform is out of order")

func (r *reads) of(key string) []time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.began[key])
}

func server(ctx context.Context, m *memory, r *reads) *Lists {
	l := NewLists(ctx, New(Config{Store: m, Locks: m}), func(string, string, time.Duration, error) {})
	l.read = func(ctx context.Context, account, marketplaceID string) error {
		err := r.read(ctx, account, marketplaceID)
		failed := ListWork(account, marketplaceID, adGroupsOfBrands)
		before, _, _ := m.Attempt(ctx, failed)
		failures := 0
		if unread := (*UnreadLists)(nil); errors.As(err, &unread) {
			failures = before.Failures + 1
		}
		return errors.Join(err, m.BeginAttempt(ctx, failed, failures))
	}
	return l
}

// adGroupsOfBrands is the list that is not read where some are not.
var adGroupsOfBrands = loader.ListName{Entity: platform.AdGroups, AdProduct: adlens.SponsoredBrands}

func ask(t *testing.T, l *Lists, account, market string, listed *time.Time) bool {
	t.Helper()
	syncing, _, err := l.Asked(t.Context(), account, market, listed)
	if err != nil {
		t.Error(err)
	}
	return syncing
}

func TestOfAListOfTheTimeBeforeAReadingItIsKnownThatOneEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, r := newMemory("acct"), &reads{began: map[string][]time.Time{}}
		ctx, stop := context.WithCancel(t.Context())
		reader, other := server(ctx, m, r), server(ctx, m, r)
		want := func(l *Lists, account string, listed *time.Time, syncing, ended bool) {
			t.Helper()
			if s, e, err := l.Asked(t.Context(), account, "1", listed); s != syncing || e != ended || err != nil {
				t.Errorf("%s of %v: syncing %v, ended %v, %v; expected %v and %v", account, listed, s, e, err, syncing, ended)
			}
		}
		want(reader, "acct", nil, true, false)
		want(other, "acct", nil, true, false)
		time.Sleep(2 * time.Minute) // the reading takes one
		read := time.Now().Add(-time.Minute)
		for _, l := range []*Lists{reader, other} {
			for range 2 { // a look, and what it found
				want(l, "acct", nil, false, true)
				want(l, "acct", &read, false, false)
				want(l, "unconnected", nil, false, false)
			}
		}
		stop()
		reader.Wait()
		other.Wait()
	})
}

func TestAListIsReadOnceHoweverManyAskWherever(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, r := newMemory("acct"), &reads{began: map[string][]time.Time{}}
		ctx, stop := context.WithCancel(t.Context())
		servers := []*Lists{server(ctx, m, r), server(ctx, m, r), server(ctx, m, r)}
		var all sync.WaitGroup
		for i := range 300 {
			all.Go(func() {
				time.Sleep(time.Duration(i) * 100 * time.Millisecond)
				if !ask(t, servers[i%3], "acct", "1", nil) {
					t.Errorf("call %d: not reported to be read", i)
				}
			})
		}
		all.Wait()
		if n := len(r.of("acct/1")); n != 1 {
			t.Errorf("%d reads, expected 1", n)
		}
		time.Sleep(time.Minute)
		for i, s := range servers {
			if ask(t, s, "acct", "1", nil) {
				t.Errorf("server %d: said to be read after the end", i)
			}
		}
		if ask(t, servers[0], "stranger", "1", nil) || len(r.of("stranger/1")) > 0 {
			t.Error("an account without a connection is read")
		}
		if !ask(t, servers[0], "acct", "2", nil) {
			t.Error("another marketplace waits for the first")
		}
		stop()
		for _, s := range servers {
			s.Wait()
		}
	})
}

// A caller that asks every ten seconds for three days, of servers that come
// and go, sees a read every half an hour at most, and more and more seldom
// while they fail.
func TestReadsKeepTheirDistance(t *testing.T) {
	for _, fails := range []bool{false, true} {
		t.Run(fmt.Sprint("failing: ", fails), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m, r := newMemory("acct"), &reads{began: map[string][]time.Time{}}
				if fails {
					r.fails = errOutOfOrder
				}
				ctx, stop := context.WithCancel(t.Context())
				l := server(ctx, m, r)
				var listed *time.Time
				for i := range 3 * 24 * 360 {
					syncing := ask(t, l, "acct", "1", listed)
					if begun := r.of("acct/1"); !fails && !syncing && len(begun) > 0 {
						end := begun[len(begun)-1].Add(time.Minute)
						listed = &end
					}
					if i%1000 == 999 { // a restart, in the middle of a read at times
						stop()
						l.Wait()
						ctx, stop = context.WithCancel(t.Context())
						l = server(ctx, m, r)
					}
					time.Sleep(10 * time.Second)
				}
				stop()
				l.Wait()
				distances(t, r.of("acct/1"), fails)
			})
		})
	}
}

// Without a client the lists are read once a day by whichever server looks first, and
// sooner, but more and more seldom, while all or some of them fail.
func TestListsThatNoClientAsksForAreReadDaily(t *testing.T) {
	for name, of := range map[string]struct {
		fails         error
		reads, most   int // in four days
		nearest, last time.Duration
	}{
		"well":         {nil, 4, 5, listDay, listDay + time.Hour},
		"all fail":     {errOutOfOrder, 15, 22, listLife, longestRest + time.Hour},
		"some are not": {&UnreadLists{errOutOfOrder}, 15, 30, listLife, longestRest + time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m, r := newMemory("acct"), &reads{began: map[string][]time.Time{}, fails: of.fails}
				ctx, stop := context.WithCancel(t.Context())
				both := []*Lists{server(ctx, m, r), server(ctx, m, r)}
				for i := range 4 * 24 * 6 {
					if err := both[i%2].ReadDaily(ctx, "acct", "1"); err != nil {
						t.Fatal(err)
					}
					if err := both[i%2].ReadDaily(ctx, "stranger", "1"); err != nil {
						t.Fatal(err)
					}
					time.Sleep(10 * time.Minute)
				}
				stop()
				for _, l := range both {
					l.Wait()
				}
				begun := r.of("acct/1")
				if len(begun) < of.reads || len(begun) > of.most || len(r.of("stranger/1")) > 0 {
					t.Errorf("%d reads in four days, expected %d to %d, and none of a stranger", len(begun), of.reads, of.most)
				}
				for i := 1; i < len(begun); i++ {
					if distance := begun[i].Sub(begun[i-1]); distance < of.nearest || distance > of.last {
						t.Errorf("read %d began %v after the one before", i, distance)
					}
				}
			})
		})
	}
}

// Lists that lack a campaign of a report are read once they have rested, however often that
// is told, and until they are read whole.
func TestListsThatLackACampaignAreReadOnceTheyHaveRested(t *testing.T) {
	for name, of := range map[string]struct {
		fails error
		reads []time.Duration // after the first
	}{
		"well":         {nil, []time.Duration{listLife}},
		"some are not": {&UnreadLists{errOutOfOrder}, []time.Duration{listLife, 2 * listLife, 4 * listLife}},
		"all fail":     {errOutOfOrder, []time.Duration{listLife, 2 * listLife, 4 * listLife}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m, r := newMemory("acct"), &reads{began: map[string][]time.Time{}}
				l := server(t.Context(), m, r)
				start, told := time.Now(), 0
				for time.Since(start) < 8*listLife-time.Minute {
					read := l.ReadMissing
					switch {
					case told == 0:
						read = l.ReadDaily
					case told < 5: // as a pull that is tried again
						read = l.ReadAgain
					}
					if err := read(t.Context(), "acct", "1"); err != nil {
						t.Fatal(err)
					}
					told++
					time.Sleep(4 * time.Minute)
					r.mu.Lock()
					r.fails = of.fails
					r.mu.Unlock()
				}
				l.Wait()
				begun := r.of("acct/1")
				if len(begun) != 1+len(of.reads) {
					t.Fatalf("%d readings, want %d: %v", len(begun), 1+len(of.reads), begun)
				}
				for i, want := range of.reads {
					if after := begun[i+1].Sub(start); after < want || after > want+time.Duration(i+1)*8*time.Minute {
						t.Errorf("reading %d began after %s, want %s", i+2, after, want)
					}
				}
			})
		})
	}
}

// Connecting again forgives lists that failed, and the server that met that need not be
// restarted.
func TestListsThatAreForgivenAreReadSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, r := newMemory("acct"), &reads{began: map[string][]time.Time{}, fails: &UnreadLists{errOutOfOrder}}
		l := server(t.Context(), m, r)
		work, failures := ListWork("acct", "1", adGroupsOfBrands), 0
		readUntil := func(done func() bool) {
			for end := time.Now().Add(4 * listDay); !done() && time.Now().Before(end); time.Sleep(time.Minute) {
				if err := l.ReadDaily(t.Context(), "acct", "1"); err != nil {
					t.Fatal(err)
				}
				l.running.Wait()
			}
		}
		readUntil(func() bool {
			a, _, _ := m.Attempt(t.Context(), work)
			failures = a.Failures
			return failures == 6
		})
		if err := m.EndAttempt(t.Context(), work, 1); err != nil {
			t.Fatal(err)
		}
		forgiven, before := time.Now(), len(r.of("acct/1"))
		readUntil(func() bool { return len(r.of("acct/1")) > before })
		if soon := time.Since(forgiven); failures != 6 || soon > listLife+5*time.Minute {
			t.Errorf("after %d failures that were forgiven, lists were read %s later", failures, soon)
		}
	})
}

// Lists that failed rest for as long after a restart as before it. The first reading fails too.
func TestListsThatFailedDoNotRestLongerForARestart(t *testing.T) {
	for failures, rest := range map[int]time.Duration{0: listDay, 1: listLife, 3: 4 * listLife, 9: longestRest} {
		t.Run(fmt.Sprintf("%d failures", failures), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m, r := newMemory("acct"), &reads{began: map[string][]time.Time{}}
				if failures > 0 {
					r.fails = &UnreadLists{errOutOfOrder}
				}
				if err := m.BeginAttempt(t.Context(), ListWork("acct", "1", adGroupsOfBrands), max(0, failures-1)); err != nil {
					t.Fatal(err)
				}
				start := time.Now()
				for _, look := range []struct {
					after time.Duration
					reads int
				}{{0, 1}, {rest - time.Second, 1}, {rest, 2}} {
					time.Sleep(time.Until(start.Add(look.after)))
					ctx, stop := context.WithCancel(t.Context())
					l := server(ctx, m, r)
					if err := l.ReadDaily(ctx, "acct", "1"); err != nil {
						t.Fatal(err)
					}
					l.running.Wait() // a reading takes a minute
					stop()
					if n := len(r.of("acct/1")); n != look.reads {
						t.Errorf("%s after the first reading there were %d, want %d", look.after, n, look.reads)
					}
				}
			})
		})
	}
}

// A server that is stopped while it reads lists has not read them that day.
func TestListsOfAReadingThatWasStoppedAreReadAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, r := newMemory("acct"), &reads{began: map[string][]time.Time{}}
		for _, looks := range []int{1, 6} { // of the first server, and of the one after it
			ctx, stop := context.WithCancel(t.Context())
			l := server(ctx, m, r)
			for range looks {
				if err := l.ReadDaily(ctx, "acct", "1"); err != nil {
					t.Fatal(err)
				}
				time.Sleep(10 * time.Second) // a reading takes a minute
				if looks > 1 {
					time.Sleep(10 * time.Minute)
				}
			}
			stop()
			l.Wait()
		}
		if begun := r.of("acct/1"); len(begun) != 2 || begun[1].Sub(begun[0]) > time.Hour {
			t.Errorf("read at %v, want a second time within an hour", begun)
		}
	})
}

func distances(t *testing.T, begun []time.Time, failing bool) {
	t.Helper()
	longest := time.Duration(0)
	for i := 1; i < len(begun); i++ {
		distance := begun[i].Sub(begun[i-1])
		longest = max(longest, distance)
		if distance < listLife {
			t.Errorf("read %d began %v after the one before", i, distance)
		}
	}
	switch {
	case failing && (len(begun) > 20 || longest < longestRest || longest > longestRest+time.Minute):
		t.Errorf("%d reads in three days, %v apart at most: expected them to rest longer, up to %v", len(begun), longest, longestRest)
	case !failing && (len(begun) < 130 || longest > listLife+2*time.Minute):
		t.Errorf("%d reads in three days, %v apart at most", len(begun), longest)
	}
}

func TestAFreshListIsLeftAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, r := newMemory("acct"), &reads{began: map[string][]time.Time{}}
		l := server(t.Context(), m, r)
		fresh, old, tomorrow := time.Now().Add(-listLife), time.Now().Add(-listLife-time.Second), time.Now().AddDate(0, 0, 1)
		if ask(t, l, "acct", "1", &fresh) || len(r.of("acct/1")) > 0 {
			t.Error("a fresh list is read")
		}
		if !ask(t, l, "acct", "1", &old) {
			t.Error("an old list is not read")
		}
		if !ask(t, l, "acct", "2", &tomorrow) {
			t.Error("a list of tomorrow is taken for fresh")
		}
		l.Wait()
	})
}
