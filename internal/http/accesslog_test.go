package http

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"adlens/internal/assistant"
	"adlens/internal/auth"
	"adlens/internal/oauth"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"
)

// oneRecord finds one secret, whose record may not be valid.
type oneRecord struct{ auth.Record }

func (o oneRecord) KeyByHash(_ context.Context, hash [32]byte) (auth.Record, bool, error) {
	return o.Record, hash == o.Hash, nil
}

// The log says which revoked key a sheet still sends. The answer does not: a key that was
// once valid must not be recognizable.
func TestTheLogAloneTellsARevokedOrExpiredKeyFromAnUnknownOne(t *testing.T) {
	earlier := now.Add(-time.Hour)
	token, feed := auth.NewAccessToken(auth.NewCode()), auth.Feed.NewToken()
	kinds := map[string]struct {
		secret auth.Key
		send   func() *http.Request
	}{
		"key": {key, func() *http.Request { return httptest.NewRequest(http.MethodGet, "/api/v1/summary", nil) }},
		"app": {token, func() *http.Request {
			return httptest.NewRequest(http.MethodPost, "http://localhost/mcp", strings.NewReader("{}"))
		}},
		"feed": {feed, func() *http.Request { return httptest.NewRequest(http.MethodGet, feedPath+feed.Reveal(), nil) }},
	}
	for kind, k := range kinds {
		answers := map[string]bool{}
		for name, record := range map[string]auth.Record{
			"unknown": {},
			"revoked": {ID: "x_1", AccountID: "acme-active", Hash: k.secret.Hash(), RevokedAt: &earlier},
			"expired": {ID: "x_1", AccountID: "acme-active", Hash: k.secret.Hash(), ExpiresAt: &earlier},
		} {
			core, logs := observer.New(zapcore.InfoLevel)
			c := testConfig(newWorld(), keys{})
			found := auth.NewAuthenticator(oneRecord{record})
			c.Log, c.Admission = zap.New(core), auth.NewAdmission(found, found, auth.NewLimiter(0, 0), auth.NewUsage(), newWorld())
			c.Admission.AdmitApps(found, 0)
			c.Assistants = &Assistants{Authorization: oauth.New(oauth.Config{}), Tools: assistant.New(assistant.Config{})}
			r, got := k.send(), httptest.NewRecorder()
			r.RemoteAddr = "127.0.0.1:1024"
			if kind != "feed" {
				r.Header.Set("Authorization", "Bearer "+k.secret.Reveal())
			}
			New(c).Handler().ServeHTTP(got, r)
			id := got.Header().Get("X-Request-Id")
			answers[strings.ReplaceAll(fmt.Sprint(got.Code, got.Header(), got.Body), id, "ID")] = true
			line := logs.FilterMessage("request").All()[0].ContextMap()
			if named := line["account"] == "acme-active" && line["key_id"] == "x_1"; named != (name != "unknown") || line["account"] == nil != (name == "unknown") {
				t.Errorf("%s, %s: the log has %v", kind, name, line)
			}
		}
		if len(answers) != 1 {
			t.Errorf("%s: the answers differ: %v", kind, answers)
		}
	}
}

func TestTheLogNamesTheAccountOfTheOwnersCalls(t *testing.T) {
	for account, token := range map[string]string{"acme-active": "token", "acme-canceled": "token", "": "another"} {
		core, logs := observer.New(zapcore.InfoLevel)
		c := testConfig(newWorld(), keys{"acme-active"})
		c.Log = zap.New(core)
		c.Assistants = &Assistants{Authorization: oauth.New(oauth.Config{}), Tools: assistant.New(assistant.Config{}), OwnerToken: "token"}
		r, got := httptest.NewRequest(http.MethodPost, ownersPath+"?account="+account, nil), httptest.NewRecorder()
		r.Header.Set("Authorization", "Bearer "+token)
		New(c).Handler().ServeHTTP(got, r)
		line := logs.FilterMessage("request").All()[0].ContextMap()
		if logged, _ := line["account"].(string); logged != account || account != "" && line["key_id"] != "mcp:"+account {
			t.Errorf("%q with status %d: the log has %v", account, got.Code, line)
		}
	}
}

// cutOff is a client that takes nothing of an answer.
type cutOff struct{ *httptest.ResponseRecorder }

func (cutOff) Write([]byte) (int, error) { return 0, errors.New("the connection was reset") }

// What a client did not take is no whole answer, what balancers ask every few seconds is
// noise, and a refusal is by one of several limits.
func TestLinesOfTheLogSayWhatBecameOfRequests(t *testing.T) {
	core, logs := observer.New(zapcore.DebugLevel)
	c := testConfig(newWorld(), keys{"acme-active"})
	c.Log, c.Admission = zap.New(core), admissionOf(newWorld(), keys{"acme-active"}, auth.NewLimiter(2, 0))
	seen := map[string]int{} // by route and status
	c.Observe = func(route string, status int, _ string, _ time.Duration) { seen[fmt.Sprint(route, " ", status)]++ }
	away := false
	c.Ping = func(context.Context) error {
		if away {
			return errors.New("away")
		}
		return nil
	}
	s := New(c)
	send := func(path string, w http.ResponseWriter) {
		r := httptest.NewRequest(http.MethodGet, path, nil)
		r.RemoteAddr = "127.0.0.1:1024"
		r.Header.Set("Authorization", "Bearer "+key.Reveal())
		s.Handler().ServeHTTP(w, r)
	}
	ready := s.IsReady()
	send("/healthz", httptest.NewRecorder())
	send("/readyz", httptest.NewRecorder())
	away = true
	if !ready || s.IsReady() {
		t.Errorf("it is ready: %t, and %t while the database is away", ready, s.IsReady())
	}
	send("/readyz", httptest.NewRecorder())
	send("/api/v1/summary", httptest.NewRecorder())
	send("/api/v1/summary", cutOff{httptest.NewRecorder()})
	send("/api/v1/summary", httptest.NewRecorder())
	var got []string
	for _, line := range logs.FilterMessage("request").All() {
		got = append(got, fmt.Sprint(line.Level, " ", line.ContextMap()["route"], " ", line.ContextMap()["status"], " ", line.ContextMap()["limit"]))
	}
	want := []string{"debug /healthz 200 <nil>", "debug /readyz 200 <nil>", "info /readyz 503 <nil>", "info /api/v1/summary 200 <nil>", "info /api/v1/summary 499 <nil>", "info /api/v1/summary 429 minute"}
	if !slices.Equal(got, want) || seen["/api/v1/summary 200"] != 1 || seen["/api/v1/summary 499"] != 1 {
		t.Errorf("the log has %q, expected %q; counted are %v", got, want, seen)
	}
}
