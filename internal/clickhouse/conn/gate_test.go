package conn

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"adlens"

	"pgregory.net/rapid"
)

func mustEnter(t *testing.T, g *gate, account string) (leave func()) {
	t.Helper()
	leave, err := g.acquirePlace(t.Context(), account)
	if err != nil {
		t.Fatalf("%s: %v", account, err)
	}
	return leave
}

// flood lets an account ask for more than there is, each statement for as long
// as given.
func flood(t *testing.T, g *gate, account string, n int, each time.Duration) {
	for range n {
		go func() {
			if leave, err := g.acquirePlace(t.Context(), account); err == nil {
				time.Sleep(each)
				leave()
			}
		}()
	}
	synctest.Wait()
}

func TestOneAccountDoesNotStarveAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(4)
		flood(t, g, "heavy", 200, time.Second)
		began := time.Now()
		mustEnter(t, g, "small")()
		if waited := time.Since(began); waited > 0 {
			t.Errorf("beside one heavy account a small one waited %s", waited)
		}
		flood(t, g, "heavy too", 200, time.Second)
		time.Sleep(500 * time.Millisecond)
		began = time.Now()
		mustEnter(t, g, "small")()
		if waited := time.Since(began); waited > time.Second {
			t.Errorf("beside two heavy accounts a small one waited %s, longer than one statement", waited)
		}
		time.Sleep(time.Hour)
	})
}

func TestAccountsTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(1)
		leave := mustEnter(t, g, "first")
		var order string
		for _, account := range []string{"a", "a", "a", "b", "b", "c"} {
			go func() {
				leave := mustEnter(t, g, account)
				order += account
				time.Sleep(time.Second)
				leave()
			}()
			synctest.Wait()
		}
		leave()
		time.Sleep(time.Minute)
		synctest.Wait()
		if order != "abcaba" {
			t.Errorf("the order was %s", order)
		}
	})
}

func TestBeyondTheQueueIsSaidAtOnceAndAfterTheWaitAsWell(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(2)
		flood(t, g, "heavy", 1+maxAccountQueue, time.Hour)
		began := time.Now()
		_, err := g.acquirePlace(t.Context(), "heavy")
		if adlens.KindOf(err) != adlens.Overloaded || time.Since(began) > 0 {
			t.Errorf("beyond the queue: %v after %s", err, time.Since(began))
		}
		mustEnter(t, g, "small")()
		time.Sleep(queuePatience)
		synctest.Wait()
		if g.queued != 0 {
			t.Errorf("%d still wait", g.queued)
		}
		flood(t, g, "small", 1, 2*time.Hour)
		_, err = g.acquirePlace(t.Context(), "third")
		if adlens.KindOf(err) != adlens.Overloaded || time.Since(began) != 2*queuePatience {
			t.Errorf("no turn: %v after %s", err, time.Since(began))
		}
		time.Sleep(3 * time.Hour)
	})
}

// Many accounts together have a queue that is full as well, and one that is rejected leaves
// nothing behind.
func TestBeyondTheQueueOfAllAccountsIsSaidAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(2)
		for account := range maxQueue/maxAccountQueue + 1 {
			flood(t, g, fmt.Sprint(account), maxAccountQueue, time.Hour)
		}
		if g.queued != maxQueue {
			t.Errorf("%d wait, expected %d", g.queued, maxQueue)
		}
		began, lines := time.Now(), len(g.lines)
		_, err := g.acquirePlace(t.Context(), "small")
		if adlens.KindOf(err) != adlens.Overloaded || time.Since(began) > 0 || len(g.lines) != lines {
			t.Errorf("beyond the queue: %v after %s, with %d accounts instead of %d", err, time.Since(began), len(g.lines), lines)
		}
		time.Sleep(3 * time.Hour)
	})
}

// An account that has two places waits for one that has none, though it came before.
func TestTheAccountWithTheFewestPlacesIsNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(4)
		for range 2 {
			defer mustEnter(t, g, "a")()
		}
		defer mustEnter(t, g, "b")()
		leave := mustEnter(t, g, "b")
		flood(t, g, "a", 1, time.Hour)
		flood(t, g, "c", 1, time.Hour)
		leave()
		if g.lines["a"].running != 2 || g.lines["c"].running != 1 {
			t.Errorf("%d statements of the account with two places run, and %d of that with none", g.lines["a"].running, g.lines["c"].running)
		}
		time.Sleep(3 * time.Hour)
	})
}

// A caller that goes away while its turn comes gives it back.
func TestATurnThatCameTooLateIsGivenBack(t *testing.T) {
	g := newGate(1)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 40 { // which of the two the caller sees is chance
		if leave, err := g.acquirePlace(ctx, "a"); err == nil {
			leave()
		}
	}
	if running, queued := g.countStatements(); running+queued > 0 {
		t.Errorf("%d statements run and %d wait that are gone", running, queued)
	}
}

func TestWhoGoesAwayLeavesTheLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(1)
		leave := mustEnter(t, g, "a")
		ctx, cancel := context.WithCancel(t.Context())
		gone := make(chan error)
		go func() {
			_, err := g.acquirePlace(ctx, "b")
			gone <- err
		}()
		synctest.Wait()
		cancel()
		if err := <-gone; adlens.KindOf(err) != adlens.Cancelled {
			t.Errorf("got %v", err)
		}
		leave()
		mustEnter(t, g, "c")()
	})
}

// However callers come and go: places are never exceeded, no caller waits next to a
// place that could be had, and at the end nothing is left.
func TestAGateNeitherOverflowsNorLeaks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		places := rapid.IntRange(1, 5).Draw(t, "places")
		g := newGate(places)
		running := map[string]int{}
		turns := map[string][]chan struct{}{}
		for range rapid.IntRange(0, 80).Draw(t, "steps") {
			account := fmt.Sprint(rapid.IntRange(0, 3).Draw(t, "account"))
			switch rapid.IntRange(0, 2).Draw(t, "step") {
			case 0:
				turn, err := g.joinQueue(account)
				if err != nil {
					t.Fatal(err)
				}
				turns[account] = append(turns[account], turn)
			case 1:
				if running[account] > 0 {
					running[account]--
					g.freePlace(account)
				}
			case 2:
				if n := len(turns[account]); n > 0 {
					if !g.leaveQueue(account, turns[account][n-1]) {
						t.Fatal("a turn that has come was waited for")
					}
					turns[account] = turns[account][:n-1]
				}
			}
			sum, could := 0, false
			for a := range 4 {
				account := fmt.Sprint(a)
				for len(turns[account]) > 0 && came(turns[account][0]) {
					turns[account] = turns[account][1:]
					running[account]++
				}
				sum += running[account]
				could = could || len(turns[account]) > 0 && running[account] < max(1, places-1)
			}
			if sum != g.running || sum > places || (could && sum < places) {
				t.Fatalf("%d of %d run, the gate counts %d; running %v, waiting %v", sum, places, g.running, running, turns)
			}
		}
		for _, account := range slices.Sorted(maps.Keys(turns)) {
			for _, turn := range turns[account] {
				if !g.leaveQueue(account, turn) {
					t.Fatal("a turn that has come was waited for")
				}
			}
		}
		for account, n := range running {
			for range n {
				g.freePlace(account)
			}
		}
		if g.running+g.queued+len(g.lines)+len(g.waiting) != 0 {
			t.Fatalf("left behind: %+v", g)
		}
	})
}

func came(turn chan struct{}) bool {
	select {
	case <-turn:
		return true
	default:
		return false
	}
}
