package http

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"adlens/internal/auth"
	"adlens/internal/query"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"
)

// panicking is a store that panics, as a bug would.
type panicking struct{ *world }

func (panicking) View(context.Context, string) (query.View, error) {
	panic(fmt.Sprintf("a bug at %s", time.Now()))
}

// watched is a server whose log can be read.
func watched(store stored, keys auth.Store) (http.Handler, *observer.ObservedLogs) {
	core, logs := observer.New(zapcore.DebugLevel)
	return server(store, keys, zap.New(core)), logs
}

func server(store stored, keys auth.Store, log *zap.Logger) http.Handler {
	c := testConfig(store, keys)
	c.Answers, c.Log = answersOf(store, 1<<20, 0), log
	return New(c).Handler()
}

// everythingLogged is the whole log as text.
func everythingLogged(logs *observer.ObservedLogs) string {
	var all strings.Builder
	for _, entry := range logs.All() {
		fmt.Fprintf(&all, "%s %v\n", entry.Message, entry.ContextMap())
	}
	return all.String()
}

func TestAPanicIsAnsweredWithoutItsTextAndLoggedWithoutTheKey(t *testing.T) {
	h, logs := watched(panicking{newWorld()}, keys{"acme-active"})
	got := ask(h, "/api/v1/summary?api_key="+key.Reveal())
	if body := got.Body.String(); got.Code != http.StatusInternalServerError || strings.Contains(body, "a bug") || strings.Contains(body, ".go:") {
		t.Errorf("status %d: %s", got.Code, body)
	}
	said := everythingLogged(logs)
	if !strings.Contains(said, "a bug at") || !strings.Contains(said, ".go:") {
		t.Errorf("the log does not help to find the bug: %s", said)
	}
	if strings.Contains(said, key.Reveal()) {
		t.Error("the log holds the key")
	}
}

func TestNoErrorRepeatsASecret(t *testing.T) {
	code := auth.NewCode()
	for _, secret := range []auth.Key{key, auth.Feed.NewToken(), auth.Share.NewToken(), code, auth.NewAccessToken(code), auth.NewRefreshToken(code)} {
		text := secret.Reveal()
		for path, status := range map[string]int{
			"/api/v1/summary?api_key=" + text: 400, "/api/v1/summary?" + text: 400, "/api/v1/summary?range=" + text: 400, "/api/v1/summary?timezone=" + text: 400,
			"/api/v1/summary?marketplaces=US," + text: 400, "/api/v1/summary?x=%zz" + text: 400, "/api/v1/reports/products?page=" + text: 400,
			"/api/v1/" + text: 404, "/" + text: 404, "/docs/errors/" + text: 404, "/api/v1/summary/" + text + "?api_key=" + text: 404,
		} {
			h, logs := watched(newWorld(), keys{"acme-active"})
			got := ask(h, path)
			shown := text[:len(secret.Start())+1] // a character more than may be shown
			if got.Code != status || strings.Contains(got.Body.String(), shown) || strings.Contains(fmt.Sprint(got.Header()), shown) {
				t.Errorf("%s: status %d, %s", path, got.Code, got.Body)
			}
			if strings.Contains(everythingLogged(logs), shown) {
				t.Errorf("%s: the log holds the secret: %s", path, everythingLogged(logs))
			}
		}
	}
}

func TestAKeyInTheAddressIsCalledLost(t *testing.T) {
	text := key.Reveal()
	h, _ := watched(newWorld(), keys{"acme-active"})
	got := httptest.NewRecorder()
	h.ServeHTTP(got, httptest.NewRequest(http.MethodGet, "/api/v1/summary?api_key="+text, nil))
	if body := got.Body.String(); got.Code != http.StatusUnauthorized || !strings.Contains(body, "missing_key") || !strings.Contains(body, "revoke it") || strings.Contains(body, text) {
		t.Errorf("status %d, %s", got.Code, body)
	}
}

// strangers counts what wrong keys cost the store.
type strangers struct{ asked int }

func (s *strangers) KeyByHash(context.Context, [32]byte) (auth.Record, bool, error) {
	s.asked++
	return auth.Record{}, false, nil
}

func TestWrongKeysFromManyAddressesCostLittleMemoryAndOneLookUpEachAtMost(t *testing.T) {
	const many = 100_000
	store := &strangers{}
	h := server(newWorld(), store, zap.NewNop())
	send := func(i int, text string) int {
		w := &discarded{header: http.Header{}}
		h.ServeHTTP(w, wrongKeyOf(i, text))
		return w.status
	}
	warm, unknown := many/10, auth.NewKey().Reveal()
	var before, after runtime.MemStats
	for i := range many {
		if i == warm {
			runtime.GC()
			runtime.ReadMemStats(&before)
		}
		// A key with a wrong checksum is refused without the store.
		text := unknown
		if i%2 == 1 {
			text = unknown[:len(unknown)-1] + "-"
		}
		if status := send(i, text); status != http.StatusUnauthorized {
			t.Fatalf("request %d: status %d", i, status)
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if store.asked > many/2 {
		t.Errorf("%d of %d wrong keys were looked up, expected those with a right checksum alone", store.asked, many)
	}
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 16<<20 {
		t.Errorf("the heap grew by %d bytes over %d wrong keys", grown, many-warm)
	}
}

func wrongKeyOf(i int, text string) *http.Request {
	r, err := http.NewRequest(http.MethodGet, "/api/v1/summary", nil)
	if err != nil {
		panic(err)
	}
	r.Body = http.NoBody
	r.RequestURI, r.RemoteAddr = "/api/v1/summary", fmt.Sprintf("10.%d.%d.%d:999", i>>16&255, i>>8&255, i&255)
	r.Header.Set("Authorization", "Bearer "+text)
	return r
}

// discarded is an answer of which the status alone is kept.
type discarded struct {
	header http.Header
	status int
}

func (d *discarded) Header() http.Header         { return d.header }
func (d *discarded) Write(p []byte) (int, error) { return len(p), nil }
func (d *discarded) WriteHeader(status int)      { d.status = status }
