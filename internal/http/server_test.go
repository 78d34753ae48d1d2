package http

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"adlens"
	"adlens/internal/answer"
	"adlens/internal/auth"
	"adlens/internal/exact"
	"adlens/internal/manifest"
	"adlens/internal/query"

	"go.uber.org/zap"
)

var update = flag.Bool("update", false, "write the golden files again")

// world is a store of a few rows: what the server makes of them is checked
// here, where the rows come from is checked on the real engine.
type world struct {
	view  query.View
	days  []query.DayTotal
	items []query.RankedRow
	fails error
	mu    sync.Mutex
	asked int // statements
}

func (w *world) View(context.Context, string) (query.View, error) { return w.view, w.fails }

func (w *world) DayTotals(context.Context, query.Statement) ([]query.DayTotal, error) {
	w.countStatement()
	return w.days, w.fails
}

// countStatement is called by several at once.
func (w *world) countStatement() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked++
}

// Ranked cuts a page of the items, which are in order.
func (*world) BucketCounts(context.Context, query.Statement) ([]query.BucketCount, error) {
	return nil, nil
}

func (w *world) Ranked(_ context.Context, s query.Statement, _ int, _ bool) ([]query.RankedRow, int, error) {
	w.countStatement()
	return pageOf(s, w.items), len(w.items), w.fails
}

func pageOf(s query.Statement, items []query.RankedRow) []query.RankedRow {
	offset, _ := strconv.Atoi(s.Params["offset"])
	limit, _ := strconv.Atoi(s.Params["limit"])
	offset = min(offset, len(items))
	return items[offset:min(offset+limit, len(items))]
}

func (w *world) ProductIDs(context.Context, string, uint32) (map[uint32]string, error) {
	return nil, nil
}

func (w *world) Entities(context.Context, string, uint32) ([]query.NamedEntity, error) {
	return nil, nil
}

func (w *world) ListedNames(context.Context, string, []uint32) ([]query.ListedName, error) {
	return nil, nil
}

func (w *world) HeldKeys(context.Context, query.Statement) ([]query.HeldKey, error) { return nil, nil }

func (w *world) Titles(context.Context, string, uint32) (map[string]string, error) { return nil, nil }

const lampTitle = `Lamp "Nº 1" <b>`

func (w *world) Connections(context.Context, string) ([]adlens.Connection, error) { return nil, nil }

func (w *world) Account(_ context.Context, id string) (adlens.Account, bool, error) {
	return adlens.Account{ID: id, Name: "Acme", Subscription: strings.TrimPrefix(id, "acme-")}, true, nil
}

var (
	now = time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)
	key = auth.NewKey()
)

// keys finds the one key of the tests, which belongs to the account.
type keys struct{ account string }

func (k keys) KeyByHash(_ context.Context, hash [32]byte) (auth.Record, bool, error) {
	used := now.Add(-time.Hour)
	record := auth.Record{ID: "k_1", AccountID: k.account, Name: "sheet", Start: "key_live_abcd", Hash: key.Hash(),
		Scopes: []string{auth.ScopeRead}, CreatedAt: now.Add(-48 * time.Hour), LastUsedAt: &used}
	return record, hash == key.Hash(), nil
}

func sums(measures ...uint64) (s exact.Sums) {
	for _, n := range measures {
		s = append(s, exact.Whole(n))
	}
	return s
}

func wide(measures ...uint64) (w [5]exact.Uint128) {
	for i, m := range measures {
		w[i].Lo = m
	}
	return w
}

func newWorld() *world {
	us := manifest.Slice{Marketplace: 1, AdProduct: adlens.SponsoredProducts}
	month := manifest.Unit{Kind: manifest.Month, Slice: us, Start: adlens.Date(2026, 3, 1)}
	return &world{
		view: query.View{Account: "acme-active",
			Manifest:     manifest.New(7, manifest.Entry{Unit: month, Generation: 5, Sources: []manifest.Source{{Days: 0xff}}}),
			Marketplaces: []query.Marketplace{{Key: 2, ID: "202", Country: "UK"}, {Key: 1, ID: "101", Country: "US"}}},
		days: []query.DayTotal{{Generation: 5, Day: adlens.Date(2026, 3, 8), Sums: wide(1000, 10, 1, 5_005_000, 20_000_000)}},
		items: []query.RankedRow{
			{ID: "B0LAMP", Title: lampTitle, Marketplaces: []uint16{1, 2}, Sums: sums(900, 9, 1, 4_000_000, 20_000_000)},
			{Marketplaces: []uint16{1}, Sums: sums(100, 1, 0, 1_005_000, 0)},
		},
	}
}

func handler(w *world, account string) http.Handler {
	c := testConfig(w, keys{account})
	c.Admission, c.Ping = admissionOf(w, keys{account}, auth.NewLimiter(60, 10_000)), func(context.Context) error { return w.fails }
	return New(c).Handler()
}

// stored is all that a server of the tests reads.
type stored interface {
	query.Store
	auth.AccountStore
	answer.ConnectionStore
}

// testConfig is that of a server without limits.
func testConfig(store stored, keys auth.Store) Config {
	return Config{Answers: answersOf(store, 0, 0), Admission: admissionOf(store, keys, auth.NewLimiter(0, 0)),
		Observe: func(string, int, string, time.Duration) {}, Ping: func(context.Context) error { return nil }, Log: zap.NewNop(), Now: func() time.Time { return now }}
}

// answersOf answers from a store, with a cache and a bound of so many bytes.
func answersOf(store stored, cache, memory int) *answer.Service {
	return answer.New(answer.Config{Figures: query.NewService(store, nil), Connections: store, Cache: cache, Memory: memory, Now: func() time.Time { return now }})
}

// answersWith answers from a store with connections of assistants.
func answersWith(store stored, apps answer.AppStore) *answer.Service {
	return answer.New(answer.Config{Figures: query.NewService(store, nil), Connections: store, Apps: apps, Now: func() time.Time { return now }})
}

func admissionOf(accounts auth.AccountStore, keys auth.Store, limits auth.Limits) *auth.Admission {
	return auth.NewAdmission(auth.NewAuthenticator(keys), nil, limits, auth.NewUsage(), accounts)
}

func ask(h http.Handler, path string, headers ...string) *httptest.ResponseRecorder {
	request := httptest.NewRequest(http.MethodGet, path, nil)
	request.Header.Set("Authorization", "Bearer "+key.Reveal())
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	recorder := httptest.NewRecorder()
	h.ServeHTTP(recorder, request)
	return recorder
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	goldenFile(t, name+".golden.json", got)
}

func goldenFile(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != got {
		t.Errorf("%s:\ngot  %s\nwant %s", path, got, want)
	}
}

func TestAnswersAreWrittenAsTheContractSays(t *testing.T) {
	for name, path := range map[string]string{
		"account":  "/api/v1/account",
		"summary":  "/api/v1/summary?range=this_month&marketplaces=us,GB",
		"timeline": "/api/v1/timeline?start_date=2026-03-01&end_date=2026-03-31&timezone=Asia/Tokyo",
		"products": "/api/v1/reports/products?range=this_month&page_size=1&sort=acos&order=asc",
	} {
		got := ask(handler(newWorld(), "acme-active"), path)
		if got.Code != http.StatusOK {
			t.Errorf("%s: status %d, %s", path, got.Code, got.Body)
		}
		golden(t, name, got.Body.String())
	}
}

func TestTheNextPageIsTheSameQuestion(t *testing.T) {
	const path = "/api/v1/reports/products?page=1&range=this_month&page_size=1"
	h := handler(newWorld(), "acme-active")
	got := ask(h, path)
	// A client that holds this page still has to find the next one.
	for _, got := range []*httptest.ResponseRecorder{got, ask(h, path, "If-None-Match", got.Header().Get("ETag"))} {
		if link := got.Header().Get("Link"); link != `</api/v1/reports/products?range=this_month&page_size=1&page=2>; rel="next"` {
			t.Errorf("%d: Link is %q", got.Code, link)
		}
		if total := got.Header().Get("X-Total-Rows"); total != "2" {
			t.Errorf("%d: X-Total-Rows is %q", got.Code, total)
		}
	}
}

func TestAnUnchangedAnswerIsNotComputed(t *testing.T) {
	w := newWorld()
	h := handler(w, "acme-active")
	first := ask(h, "/api/v1/summary?range=this_month")
	tag, asked := first.Header().Get("ETag"), w.asked
	for _, held := range []string{tag, "W/" + tag, `"other", ` + tag, "*"} {
		again := ask(h, "/api/v1/summary?range=this_month", "If-None-Match", held)
		if again.Code != http.StatusNotModified || again.Body.Len() != 0 || again.Header().Get("ETag") != tag || w.asked != asked {
			t.Errorf("If-None-Match %s: status %d, body %q, %d statements", held, again.Code, again.Body, w.asked-asked)
		}
	}
	w.view.Manifest = w.view.Manifest.With(8)
	if same := ask(h, "/api/v1/summary?range=this_month", "If-None-Match", tag); same.Code != http.StatusNotModified || same.Header().Get("ETag") != tag {
		t.Errorf("after a load that changes nothing: status %d, %v", same.Code, same.Header())
	}
}

func TestFailuresOfTheStoreHaveTheirStatusAndKeepTheirWords(t *testing.T) {
	for kind, want := range map[adlens.Kind]int{
		adlens.EngineUnavailable: 503, adlens.Overloaded: 503, adlens.DiskFull: 503, adlens.QueryTimeout: 504, adlens.Internal: 500, adlens.Cancelled: 499,
	} {
		w := newWorld()
		w.fails = &adlens.Error{Kind: kind, Err: errors.New("DB::Exception: SELECT secret FROM /var/lib")}
		got := ask(handler(w, "acme-active"), "/api/v1/summary")
		if got.Code != want || strings.Contains(got.Body.String(), "secret") {
			t.Errorf("%s: status %d, %s", kind, got.Code, got.Body)
		}
		if retry := got.Header().Get("Retry-After"); (want == 503) != (retry != "") {
			t.Errorf("%s: Retry-After %q", kind, retry)
		}
	}
}

func TestACanceledSubscriptionAnswersTheAccountAlone(t *testing.T) {
	h := handler(newWorld(), "acme-canceled")
	if got := ask(h, "/api/v1/summary"); got.Code != http.StatusForbidden || !strings.Contains(got.Body.String(), `"subscription_inactive"`) {
		t.Errorf("summary: status %d, %s", got.Code, got.Body)
	}
	if got := ask(h, "/api/v1/account"); got.Code != http.StatusOK {
		t.Errorf("account: status %d, %s", got.Code, got.Body)
	}
}

func TestThe61stRequestOfAMinuteIsRefusedTruthfully(t *testing.T) {
	h := handler(newWorld(), "acme-active")
	for range 60 {
		if got := ask(h, "/api/v1/account"); got.Code != http.StatusOK {
			t.Fatalf("status %d", got.Code)
		}
	}
	got := ask(h, "/api/v1/account")
	if got.Code != http.StatusTooManyRequests || got.Header().Get("Retry-After") != "60" || !strings.Contains(got.Body.String(), `"limit":"minute"`) {
		t.Errorf("status %d, Retry-After %q, %s", got.Code, got.Header().Get("Retry-After"), got.Body)
	}
	if policy := got.Header().Get("RateLimit-Policy"); policy != `"minute";q=60;w=60, "day";q=10000;w=86400` {
		t.Errorf("RateLimit-Policy is %s", policy)
	}
}

func TestEveryProblemHasAPageAndAStatus(t *testing.T) {
	h := handler(newWorld(), "acme-active")
	for _, kind := range problemKinds {
		got := ask(h, docsOfErrors+string(kind.Code))
		body, _ := io.ReadAll(got.Body)
		if got.Code != http.StatusOK || !strings.Contains(string(body), kind.Title) {
			t.Errorf("%s: status %d, %s", kind.Code, got.Code, body)
		}
	}
	if got := ask(h, docsOfErrors+"nonsense"); got.Code != http.StatusNotFound {
		t.Errorf("an unknown code: status %d", got.Code)
	}
}

func TestReadinessSaysWhyNot(t *testing.T) {
	w := newWorld()
	h := handler(w, "acme-active")
	if got := ask(h, "/readyz"); got.Code != http.StatusOK {
		t.Errorf("status %d", got.Code)
	}
	w.fails = &adlens.Error{Kind: adlens.EngineUnavailable, Err: errors.New("connection refused")}
	if got := ask(h, "/readyz"); got.Code != http.StatusServiceUnavailable || !strings.Contains(got.Body.String(), "engine_unavailable") {
		t.Errorf("status %d, %s", got.Code, got.Body)
	}
	if got := ask(h, "/healthz"); got.Code != http.StatusOK {
		t.Errorf("liveness depends on the engine: status %d", got.Code)
	}
}

// A server that was started a moment ago knows no key yet.
func TestAValidKeyGetsInWhateverOthersOfItsAddressGuess(t *testing.T) {
	h := handler(newWorld(), "acme-active")
	from := fromAddress(h)
	for i := range 300 {
		from("192.0.2.1", fmt.Sprint("key_live_", i))
		if got := from("192.0.2.1", auth.NewKey().Reveal()); i >= 200 && got.Code != http.StatusTooManyRequests {
			t.Fatalf("guess %d: %d", i, got.Code)
		}
	}
	if got := from("192.0.2.1", key.Reveal()); got.Code != http.StatusOK {
		t.Errorf("the right key: %d %s", got.Code, got.Body)
	}
}

// fromAddress sends requests with a key as from an address.
func fromAddress(h http.Handler) func(address, bearer string) *httptest.ResponseRecorder {
	return func(address, bearer string) *httptest.ResponseRecorder {
		request := httptest.NewRequest(http.MethodGet, "/api/v1/account", nil)
		request.RemoteAddr = address + ":4711"
		request.Header.Set("Authorization", "Bearer "+bearer)
		request.Header.Set("X-Forwarded-For", "198.51.100.7") // of a stranger
		recorder := httptest.NewRecorder()
		h.ServeHTTP(recorder, request)
		return recorder
	}
}

func TestAnAddressThatGuessesKeysWaitsWhileItsNeighboursDoNot(t *testing.T) {
	from := fromAddress(handler(newWorld(), "acme-active"))
	if got := from("192.0.2.1", key.Reveal()); got.Code != http.StatusOK {
		t.Fatalf("the right key: %d", got.Code)
	}
	for i := range 200 {
		if got := from("192.0.2.1", fmt.Sprint("key_live_", i)); got.Code != http.StatusUnauthorized {
			t.Fatalf("wrong key %d: %d", i, got.Code)
		}
	}
	got := from("192.0.2.1", "key_live_200")
	if got.Code != http.StatusTooManyRequests || got.Header().Get("Retry-After") != "60" || !strings.Contains(got.Body.String(), `"limit":"address"`) {
		t.Errorf("after 200 wrong keys: %d, Retry-After %s, %s", got.Code, got.Header().Get("Retry-After"), got.Body)
	}
	if got := from("192.0.2.1", key.Reveal()); got.Code != http.StatusOK {
		t.Errorf("a key that is known to be right: %d", got.Code)
	}
	if got := from("192.0.2.2", "key_live_200"); got.Code != http.StatusUnauthorized {
		t.Errorf("another address: %d", got.Code)
	}
}

func TestTheNextPageCannotEndItsAddress(t *testing.T) {
	for sent, want := range map[string]string{"a=1&page=3": "a=1&page=2", "p%61ge=1&sort=a>b&x=<": "sort=a%3Eb&x=%3C&page=2", "search=größe": "search=gr%C3%B6%C3%9Fe&page=2", "": "page=2",
		"search=%C3%BC+ü&x='(a);b/?:@,*!$~": "search=%C3%BC+%C3%BC&x='(a);b/?:@,*!$~&page=2", "x=#\"\\^`{|}[]\x7f": "x=%23%22%5C%5E%60%7B%7C%7D%5B%5D%7F&page=2"} {
		if got := withPage(sent, 2); got != want {
			t.Errorf("%s: %s, want %s", sent, got, want)
		}
	}
}
