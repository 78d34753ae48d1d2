package http

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"adlens"
	"adlens/internal/query"
)

// gauged has products, and notes how much memory is counted when it is asked.
type gauged struct {
	*world
	gauge func() int
	mu    sync.Mutex
	most  int
	asked int
}

func (*gauged) BucketCounts(context.Context, query.Statement) ([]query.BucketCount, error) {
	return nil, nil
}

func (g *gauged) Ranked(context.Context, query.Statement, int, bool) ([]query.RankedRow, int, error) {
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

// sendBlocked sends a request whose client takes nothing of the answer yet.
func sendBlocked(h http.Handler, path string) *blocked {
	b := &blocked{httptest.NewRecorder(), make(chan struct{}), make(chan struct{})}
	request := httptest.NewRequest(http.MethodGet, path, nil)
	request.Header.Set("Authorization", "Bearer "+key.Reveal())
	go h.ServeHTTP(b, request)
	<-b.writing
	return b
}

func TestMemoryOfAnAnswerIsCountedUntilItWasWritten(t *testing.T) {
	g := &gauged{world: newWorld()}
	config := testConfig(g, keys{"acme-active"})
	config.Answers = answersOf(g, 1<<20, 1<<20)
	s := New(config)
	used := config.Answers.MemoryInUse
	g.gauge = used
	h := s.Handler()
	const path = "/api/v1/reports/products?range=this_month&page_size=10"
	var clients []*blocked
	for range 3 { // computed, and then remembered
		clients = append(clients, sendBlocked(h, path))
	}
	if body := used(); g.asked != 1 || g.most < 10<<10 || body < 100 || body > 10<<10 {
		t.Errorf("%d statements; %d bytes while the answer was made, %d while it is sent", g.asked, g.most, body)
	}
	for _, c := range clients {
		close(c.read)
	}
	eventually(t, "all memory given back", func() bool { return used() == 0 })
	g.fails = &adlens.Error{Kind: adlens.QueryTimeout, Err: errors.New("slow")}
	if got := ask(h, path+"&page=2"); got.Code != http.StatusGatewayTimeout || used() != 0 {
		t.Errorf("a failure: %d, %d bytes", got.Code, used())
	}
}

// An answer that is too large for the cache is computed for each request: those that have
// ended count nothing, though a slow client has the same answer.
func TestRequestsThatEndedCountNothingWhileASlowClientHasTheirAnswer(t *testing.T) {
	g := &gauged{world: newWorld()}
	config := testConfig(g, keys{"acme-active"})
	config.Answers = answersOf(g, 0, 1<<20)
	used := config.Answers.MemoryInUse
	g.gauge = used
	h := New(config).Handler()
	const path = "/api/v1/reports/products?range=this_month&page_size=10"
	slow := sendBlocked(h, path)
	body := used()
	for range 3 {
		if got := ask(h, path); got.Code != http.StatusOK {
			t.Fatalf("%d %s", got.Code, got.Body)
		}
	}
	if g.asked != 4 || body < 100 || used() != body {
		t.Errorf("%d statements; %d bytes while one client is slow, want the %d of its body", g.asked, used(), body)
	}
	close(slow.read)
	eventually(t, "all memory given back", func() bool { return used() == 0 })
}

// Writers and codings leave room in their bodies.
func TestTheCacheCountsTheMemoryOfItsAnswers(t *testing.T) {
	g := &gauged{world: newWorld(), gauge: func() int { return 0 }}
	g.items = slices.Repeat(g.items[:1], 200)
	for i := range g.items {
		g.items[i].ID = fmt.Sprintf("B%X", i*i*i) // compressed to a fraction, as answers are
	}
	for format, coded := range map[string][]string{"json": {"", "zstd", "gzip"}, "csv": {""}, "ndjson": {""}, "xlsx": {""}, "parquet": {""}} {
		config := testConfig(g, keys{"acme-active"})
		config.Answers = answersOf(g, 64<<20, 0)
		h := New(config).Handler()
		send := func(page int) (bytes int) {
			for _, coding := range coded {
				got := ask(h, fmt.Sprintf("/api/v1/reports/products?range=this_month&format=%s&page_size=200&page=%d", format, page), "Accept-Encoding", coding)
				if got.Code != http.StatusOK || got.Header().Get("Content-Encoding") != coding {
					t.Fatalf("%d %s", got.Code, got.Body)
				}
				bytes += got.Body.Len()
			}
			return bytes
		}
		send(1) // makes what is made once
		heap, counted, sent := heapBytes(), config.Answers.Remembered(), 0
		for page := range 100 {
			sent += send(2 + page)
		}
		grown, kept := heapBytes()-heap, config.Answers.Remembered()
		weight, answers := kept.Weight-counted.Weight, kept.Values-counted.Values
		if answers != 100*len(coded) || 10*grown > 11*weight || 10*weight > 11*sent+answers*5000 {
			t.Errorf("%s: %d answers of %d bytes take %d, and count as %d", format, answers, sent, grown, weight)
		}
	}
}

// heapBytes returns how many bytes are in use.
func heapBytes() int {
	var m runtime.MemStats
	for range 2 { // a pool keeps what it has for one collection
		runtime.GC()
	}
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Second); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("not within five seconds: ", what)
		}
	}
}
