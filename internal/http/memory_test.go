package http

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"adlens"
	"adlens/internal/query"
)

// takes begins to wait for memory, and says which answer got it.
func takes(ctx context.Context, m *answerMemory, account string, bytes int, name string, got chan<- string) {
	go func() {
		ctx, done := patiently(ctx)
		defer done()
		if err := m.reserve(ctx, account, bytes); err == nil {
			got <- name
		}
	}()
	synctest.Wait()
}

func mustGet(t *testing.T, got chan string, want ...string) {
	t.Helper()
	synctest.Wait()
	for _, name := range want {
		select {
		case first := <-got:
			if first != name {
				t.Fatalf("%s got memory, want %s", first, name)
			}
		default:
			t.Fatalf("%s did not get memory", name)
		}
	}
	select {
	case more := <-got:
		t.Fatalf("%s got memory too", more)
	default:
	}
}

func TestAnswersBeyondTheMemoryWaitInTheirOrderAndNoAccountHasAllOfIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const mb = 1 << 20
		m, got := newAnswerMemory(80*mb), make(chan string, 10)
		takes(t.Context(), m, "a", 30*mb, "a1", got)
		mustGet(t, got, "a1")
		takes(t.Context(), m, "a", 30*mb, "a2", got) // half is 40
		takes(t.Context(), m, "b", 40*mb, "b1", got)
		mustGet(t, got, "b1") // 70 of 80, all that large ones have
		takes(t.Context(), m, "c", 5*mb, "c1", got)
		takes(t.Context(), m, "d", mb, "d1", got) // a small one passes
		mustGet(t, got, "d1")
		m.add("b", -40*mb)
		mustGet(t, got, "c1")
		m.add("a", -30*mb)
		mustGet(t, got, "a2")
		takes(t.Context(), m, "e", 200*mb, "e1", got) // more than there is: alone
		for account, bytes := range map[string]int{"a": 30, "c": 5, "d": 1} {
			m.add(account, -bytes*mb)
		}
		mustGet(t, got, "e1")
		m.add("e", -200*mb)
		if m.used != 0 || len(m.accounts) != 0 || len(m.waiting) != 0 {
			t.Errorf("%d bytes, %v, %d wait", m.used, m.accounts, len(m.waiting))
		}
	})
}

func TestAnAnswerThatWaitsTooLongIsRefusedAndOneThatNobodyWantsIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newAnswerMemory(1 << 20)
		m.add("a", 1<<20)
		ctx, done := patiently(t.Context())
		defer done()
		began := time.Now()
		err := m.reserve(ctx, "b", 1<<19)
		if p := problemOf(err); p.code != codeOverloaded || p.retry == 0 || time.Since(began) != memoryPatience {
			t.Errorf("%v after %s: %+v", err, time.Since(began), p)
		}
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		if err := m.reserve(gone, "b", 1<<19); adlens.KindOf(err) != adlens.Cancelled {
			t.Errorf("a client that went away: %v", err)
		}
		if m.used != 1<<20 || len(m.waiting) != 0 {
			t.Errorf("%d bytes, %d wait", m.used, len(m.waiting))
		}
	})
}

// gauged has products, and notes how much memory is counted when it is asked.
type gauged struct {
	*world
	gauge func() int
	mu    sync.Mutex
	most  int
	asked int
}

func (g *gauged) Ranked(context.Context, query.Statement, bool) ([]query.RankedRow, int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.asked++
	g.most = max(g.most, g.gauge())
	if g.fails != nil {
		return nil, 0, g.fails
	}
	return g.world.items, len(g.world.items), nil
}

// blocked is an answer's way to a client that does not read.
type blocked struct {
	*httptest.ResponseRecorder
	writing, read chan struct{}
}

func (b *blocked) Write(p []byte) (int, error) {
	close(b.writing)
	<-b.read
	return b.ResponseRecorder.Write(p)
}

func TestMemoryOfAnAnswerIsCountedUntilItWasWritten(t *testing.T) {
	g := &gauged{world: newWorld()}
	config := testConfig(g, keys{"acme-active"})
	config.AnswerCache, config.AnswerMemory = 1<<20, 1<<20
	s := New(config)
	used := func() int {
		s.answers.memory.mu.Lock()
		defer s.answers.memory.mu.Unlock()
		return s.answers.memory.used
	}
	g.gauge = used
	h := s.Handler()
	send := func(path string) *blocked {
		b := &blocked{httptest.NewRecorder(), make(chan struct{}), make(chan struct{})}
		request := httptest.NewRequest(http.MethodGet, path, nil)
		request.Header.Set("Authorization", "Bearer "+key.Reveal())
		go h.ServeHTTP(b, request)
		<-b.writing
		return b
	}
	const path = "/api/v1/reports/products?range=this_month&page_size=10"
	var clients []*blocked
	for range 3 { // computed, and then remembered
		clients = append(clients, send(path))
	}
	if body := used(); g.asked != 1 || g.most < 10*rowBytes || body < 100 || body > 10*rowBytes {
		t.Errorf("%d statements; %d bytes while the answer was made, %d while it is sent", g.asked, g.most, body)
	}
	for _, c := range clients {
		close(c.read)
	}
	eventually(t, "all memory given back", func() bool { return used() == 0 })
	g.fails = &adlens.Error{Kind: adlens.QueryTimeout, Err: errors.New("slow")}
	if got := ask(h, path+"&page=2"); got.Code != http.StatusGatewayTimeout || used() != 0 || len(s.answers.uses) != 0 {
		t.Errorf("a failure: %d, %d bytes", got.Code, used())
	}
}

func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Second); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("not within five seconds: ", what)
		}
	}
}
