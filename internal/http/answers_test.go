package http

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"testing/synctest"

	"adlens"
	"adlens/internal/answer"
	"adlens/internal/exact"
	"adlens/internal/manifest"
	"adlens/internal/query"

	"pgregory.net/rapid"
)

// books is a store of accounts whose figures follow from their name and from
// how often they were loaded. Every second load changes no figure.
type books struct {
	*world
	mu       sync.Mutex
	versions map[string]uint32
}

func newBooks() *books { return &books{world: newWorld(), versions: map[string]uint32{}} }

func (b *books) load(account string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.versions[account]++
}

func (b *books) version(account string) uint32 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.versions[account]
}

func (b *books) View(_ context.Context, account string) (query.View, error) {
	v := b.world.view
	v.Account = account
	month := v.Manifest.Of(manifest.Month)[0]
	month.Generation = 1 + b.version(account)
	v.Manifest = v.Manifest.With(b.version(account), month)
	return v, nil
}

// generationOf reads the generation of a statement's rows, and which state of the
// account that is.
func generationOf(s query.Statement) (generation, state uint64) {
	fmt.Sscanf(s.Params["days"]+s.Params["months"], "[%d]", &generation)
	return generation, 1 + generation/2
}

// figures are those of a statement, which names account and generation.
func (b *books) figures(s query.Statement) exact.Sums {
	_, state := generationOf(s)
	return sums(1000*state, uint64(len(s.Params["account"])), 1, 5_000_000*state, 1_000_000)
}

func (b *books) DayTotals(_ context.Context, s query.Statement) ([]query.DayTotal, error) {
	generation, state := generationOf(s)
	return []query.DayTotal{{Generation: uint32(generation), Day: adlens.Date(2026, 3, 8),
		Sums: wide(1000*state, uint64(len(s.Params["account"])), 1, 5_000_000*state, 1_000_000)}}, nil
}

func (*books) BucketCounts(context.Context, query.Statement) ([]query.BucketCount, error) {
	return nil, nil
}

func (b *books) Ranked(_ context.Context, s query.Statement, _ int, _ bool) ([]query.RankedRow, int, error) {
	items := []query.RankedRow{{ID: "B0LAMP", Title: lampTitle, Marketplaces: []uint16{1}, Sums: b.figures(s)}, {ID: "B0ROPE", Marketplaces: []uint16{2}, Sums: b.figures(s)}}
	return pageOf(s, items), len(items), nil
}

// serving answers from a store, with a memory of so many bytes.
func serving(store stored, account string, answers int) http.Handler {
	c := testConfig(store, keys{account})
	c.Answers = answersOf(store, answers, 0)
	return New(c).Handler()
}

// Two accounts, each with a server that remembers and one that does not, and
// loads between the questions: answers are the same to the byte, and so are
// the headers that say something of them. The memory is so small that answers
// are dropped and computed again. A tag is the same exactly where the body is, and
// a client that holds one gets 304 exactly while that is so.
func TestRememberedAnswersAreThoseOfNow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b, bodies := newBooks(), map[string]map[string]string{} // by question, then by tag
		accounts := []string{"acme-active", "another-active"}
		fresh, remembering := map[string]http.Handler{}, map[string]http.Handler{}
		memory := rapid.SampledFrom([]int{0, 20_000, 1 << 20}).Draw(t, "memory")
		// All accounts have one memory, as they do in a server.
		shared := answersOf(b, memory, 0)
		for _, account := range accounts {
			fresh[account] = serving(b, account, 0)
			remembering[account] = sharing(b, account, shared)
		}
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			account := rapid.SampledFrom(accounts).Draw(t, "account")
			if rapid.IntRange(0, 3).Draw(t, "load") == 0 {
				b.load(account)
			}
			path := "/api/v1/" + rapid.SampledFrom([]string{"summary", "timeline", "reports/products", "reports/products?page_size=1", "reports/products?page_size=1&page=2",
				"summary?marketplaces=UK", "summary?marketplaces=UK,US", "timeline?granularity=month", "summary?format=csv", "summary?format=xlsx",
				"timeline?format=ndjson", "reports/products?format=parquet", "account"}).Draw(t, "path")
			want, got := ask(fresh[account], path), ask(remembering[account], path)
			if want.Code != 200 || got.Code != 200 || !bytes.Equal(want.Body.Bytes(), got.Body.Bytes()) {
				t.Fatalf("%s of %s: status %d and %d\n%s\n%s", path, account, want.Code, got.Code, want.Body, got.Body)
			}
			for _, name := range []string{"ETag", "Link", "X-Total-Rows", "Content-Length", "Content-Type", "Cache-Control"} {
				if want.Header().Get(name) != got.Header().Get(name) {
					t.Fatalf("%s of %s: %s is %q, want %q", path, account, name, got.Header().Get(name), want.Header().Get(name))
				}
			}
			if path == "/api/v1/account" {
				continue
			}
			tag, body, known := got.Header().Get("ETag"), got.Body.String(), bodies[account+path]
			if known == nil {
				known = map[string]string{}
				bodies[account+path] = known
			}
			known[tag] = body
			for held, before := range known {
				if (held == tag) != (before == body) {
					t.Fatalf("%s of %s: tags %s and %s of\n%s\n%s", path, account, held, tag, before, body)
				}
				for _, h := range []http.Handler{fresh[account], remembering[account]} {
					if again := ask(h, path, "If-None-Match", held); (again.Code == http.StatusNotModified) != (held == tag) || again.Header().Get("ETag") != tag {
						t.Fatalf("%s of %s: who holds %s is answered with %d and %s", path, account, held, again.Code, again.Header().Get("ETag"))
					}
				}
			}
			for question, others := range bodies {
				if _, same := others[tag]; same && question != account+path {
					t.Fatalf("%s of %s has the tag of %s", path, account, question)
				}
			}
		}
	})
}

// sharing is a server of one account that has its memory with others.
func sharing(b *books, account string, memory *answer.Service) http.Handler {
	c := testConfig(b, keys{account})
	c.Answers = memory
	return New(c).Handler()
}

func TestARepeatedQuestionIsNotComputed(t *testing.T) {
	w := newWorld()
	h := serving(w, "acme-active", 1<<20)
	first := ask(h, "/api/v1/reports/products?page_size=1&range=this_month")
	asked := w.asked
	again := ask(h, "/api/v1/reports/products?range=this_month&page_size=1&sort=SPEND")
	if w.asked != asked || first.Body.String() != again.Body.String() {
		t.Errorf("%d more statements; %s", w.asked-asked, again.Body)
	}
	// The next page is named in the words of each question.
	if link := again.Header().Get("Link"); link != `</api/v1/reports/products?range=this_month&page_size=1&sort=SPEND&page=2>; rel="next"` {
		t.Errorf("Link is %q", link)
	}
	w.view.Manifest = w.view.Manifest.With(8)
	if ask(h, "/api/v1/reports/products?page_size=1&range=this_month"); w.asked == asked {
		t.Error("not computed after a load")
	}
}

func TestAFailureIsNotRemembered(t *testing.T) {
	w := newWorld()
	h := serving(w, "acme-active", 1<<20)
	w.fails = &adlens.Error{Kind: adlens.Overloaded}
	if got := ask(h, "/api/v1/summary"); got.Code != http.StatusServiceUnavailable {
		t.Fatalf("status %d", got.Code)
	}
	w.fails = nil
	if got := ask(h, "/api/v1/summary"); got.Code != http.StatusOK {
		t.Errorf("status %d", got.Code)
	}
}

// slow is a store whose statements wait to be let go.
type slow struct {
	*books
	running chan context.Context
	letGo   chan struct{}
}

func (s slow) DayTotals(ctx context.Context, st query.Statement) ([]query.DayTotal, error) {
	s.running <- ctx
	<-s.letGo
	if ctx.Err() != nil {
		return nil, &adlens.Error{Kind: adlens.Cancelled, Err: ctx.Err()}
	}
	return s.books.DayTotals(ctx, st)
}

func TestTheSameQuestionAtOnceIsOneStatementWhoeverLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := slow{newBooks(), make(chan context.Context, 10), make(chan struct{})}
		h := serving(s, "acme-active", 0)
		first, leave := context.WithCancel(t.Context())
		codes := make(chan int, 10)
		question := func(ctx context.Context) {
			request := httptest.NewRequestWithContext(ctx, http.MethodGet, "/api/v1/summary", nil)
			request.Header.Set("Authorization", "Bearer "+key.Reveal())
			recorder := httptest.NewRecorder()
			h.ServeHTTP(recorder, request)
			codes <- recorder.Code
		}
		go question(first)
		synctest.Wait()
		for range 5 {
			go question(t.Context())
		}
		synctest.Wait()
		leave()
		if code := <-codes; code != statusClientIsGone {
			t.Errorf("who left: status %d", code)
		}
		close(s.letGo)
		for range 5 {
			if code := <-codes; code != http.StatusOK {
				t.Errorf("who stayed: status %d", code)
			}
		}
		if len(s.running) != 1 {
			t.Errorf("%d statements", len(s.running))
		}
	})
}
