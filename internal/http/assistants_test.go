package http

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"adlens"
	"adlens/internal/answer"
	"adlens/internal/assistant"
	"adlens/internal/auth"
	"adlens/internal/oauth"
	"adlens/internal/query"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// stuck is a store that answers nothing until the deadline of the request.
type stuck struct{ *world }

func (stuck) View(ctx context.Context, _ string) (query.View, error) {
	<-ctx.Done()
	return query.View{}, &adlens.Error{Kind: adlens.QueryTimeout, Err: ctx.Err()}
}

// appTokens finds the one access token of the tests, in a second.
type appTokens struct{ token auth.Key }

func (a appTokens) KeyByHash(_ context.Context, hash [32]byte) (auth.Record, bool, error) {
	time.Sleep(time.Second)
	expires := now.Add(time.Hour)
	return auth.Record{ID: "a_1", AccountID: "acme-active", Name: "assistant", Request: "http://localhost/mcp", Hash: a.token.Hash(), Scopes: []string{auth.ScopeRead},
		CreatedAt: now.Add(-time.Hour), ExpiresAt: &expires}, hash == a.token.Hash(), nil
}

// newAssistants returns a server, and what sends a body to its assistants with
// the header of a client of one revision, unless that is changed.
func newAssistants(store stored) (s *Server, send func(body, revision string, changes ...func(*http.Request)) *httptest.ResponseRecorder) {
	token := auth.NewAccessToken(auth.NewCode())
	c := testConfig(store, keys{"acme-active"})
	c.Admission.AdmitApps(auth.NewAuthenticator(appTokens{token}), 0)
	c.Assistants = &Assistants{Authorization: oauth.New(oauth.Config{Now: func() time.Time { return now }}),
		Tools: assistant.New(assistant.Config{Answers: c.Answers, Now: func() time.Time { return now }, Failed: func(*mcp.RequestExtra, string, error) {},
			Admit: func(ctx context.Context, extra *mcp.RequestExtra) (auth.Caller, error) {
				app, _ := AppOf(extra)
				return c.Admission.AdmitApp(ctx, app, now)
			}})}
	s = New(c)
	handler := s.Handler()
	return s, func(body, revision string, changes ...func(*http.Request)) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodPost, "http://localhost/mcp", strings.NewReader(body))
		r.RemoteAddr = "127.0.0.1:1024"
		for name, value := range map[string]string{"Authorization": "Bearer " + token.Reveal(), "Content-Type": "application/json", "Accept": "application/json, text/event-stream", "MCP-Protocol-Version": revision,
			"Mcp-Method": "subscriptions/listen"} { // which only the revisions from 2026-07-28 read
			r.Header.Set(name, value)
		}
		for _, change := range changes {
			change(r)
		}
		recorder := httptest.NewRecorder()
		handler.ServeHTTP(recorder, r)
		return recorder
	}
}

func TestACallThatTakesTooLongIsToldSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, send := newAssistants(stuck{newWorld()})
		var failed []string // with the account and the id of the request
		s.Assistants.Tools.Failed = func(extra *mcp.RequestExtra, tool string, _ error) {
			app, _ := AppOf(extra)
			failed = append(failed, tool, app.AccountID, RequestIDOf(extra))
		}
		began := time.Now()
		a := send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"rank","arguments":{}}}`, "2025-06-18")
		if got := a.Body.String(); a.Code != http.StatusOK || !strings.Contains(got, "the request took longer than 30s; ask for a shorter period") || time.Since(began) != answer.Timeout+time.Second {
			t.Errorf("%d after %s: %q", a.Code, time.Since(began), got)
		}
		if want := []string{"rank", "acme-active", a.Header().Get("X-Request-Id")}; !slices.Equal(failed, want) {
			t.Errorf("what failed is %q, expected %q", failed, want)
		}
	})
}

// The protocol's library keeps connections and lets answers be stored, unless it is kept
// from that.
func TestAnAssistantsConnectionEndsWithItsServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, send := newAssistants(newWorld())
		s.Drain()
		a := send(`{"jsonrpc":"2.0","id":1,"method":"ping"}`, "2025-06-18")
		if h := a.Header(); a.Code != http.StatusOK || h.Get("Connection") != "close" || h.Get("Cache-Control") != "no-store" {
			t.Errorf("%d with Connection %q and Cache-Control %q", a.Code, h.Get("Connection"), h.Get("Cache-Control"))
		}
	})
}

// A token is for the address that its owner consented to, sent once and by no page of
// another site.
func TestAnAccessTokenIsForOneServerAndItsClients(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, send := newAssistants(newWorld())
		for name, c := range map[string]struct {
			change func(*http.Request)
			status int
			said   string // by WWW-Authenticate
		}{
			"as it is": {func(*http.Request) {}, 200, ""},
			"the scheme in letters of any size": {func(r *http.Request) {
				r.Header.Set("Authorization", strings.Replace(r.Header.Get("Authorization"), "Bearer", "bEARER", 1))
			}, 200, ""},
			"to another address": {func(r *http.Request) { r.Host = "127.0.0.1" }, 401, `error="invalid_token"`},
			"with another token": {func(r *http.Request) { r.Header.Add("Authorization", "Bearer another") }, 401, `error="invalid_token"`},
			"by another scheme": {func(r *http.Request) {
				r.Header.Set("Authorization", strings.Replace(r.Header.Get("Authorization"), "Bearer", "Basic", 1))
			}, 401, `error="invalid_token"`},
			"without it":                {func(r *http.Request) { r.Header.Del("Authorization") }, 401, "resource_metadata="},
			"by a page of another site": {func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }, 403, ""},
			"from another machine":      {func(r *http.Request) { r.RemoteAddr = "192.0.2.7:1024" }, 403, ""},
		} {
			a := send(`{"jsonrpc":"2.0","id":1,"method":"ping"}`, "2025-06-18", c.change)
			if said := a.Header().Get("WWW-Authenticate"); a.Code != c.status || !strings.Contains(said, c.said) || (said == "") != (c.said == "") {
				t.Errorf("%s: %d, WWW-Authenticate %q: %s", name, a.Code, said, a.Body)
			}
		}
	})
}

// The protocol's library answers all messages of a batch at once, and each answer takes
// memory until a client has read those before it.
func TestABodyHasFewMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, send := newAssistants(newWorld())
		batch := func(messages int) string {
			var all []string
			for i := range messages {
				all = append(all, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"ping"}`, i))
			}
			return "[" + strings.Join(all, ",") + "]"
		}
		pingOf := func(id string) string { return `{"jsonrpc":"2.0","id":` + id + `,"method":"ping"}` }
		ping := pingOf("1")
		for body, want := range map[string]string{
			ping:                                     "200 event: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}",
			batch(20):                                "200 event: message\n",
			batch(21):                                `400 {"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"the batch has more than 20 messages"}}`,
			" \n" + batch(1000):                      `400 {"jsonrpc":"2.0","id":null,"error":{"code":-32600,`,
			ping + ping:                              `400 {"jsonrpc":"2.0","id":null,"error":{"code":-32700,`,
			batch(2) + batch(21):                     `400 {"jsonrpc":"2.0","id":null,"error":{"code":-32700,`,
			"":                                       `400 {"jsonrpc":"2.0","id":null,"error":{"code":-32700,`,
			"[" + ping + "," + pingOf("1.5") + "]":   `400 {"jsonrpc":"2.0","id":1.5,"error":{"code":-32600,"message":"the id is 1.5; expected `,
			pingOf("1732659840123456789"):            `400 {"jsonrpc":"2.0","id":1732659840123456789,"error":{"code":-32600,"message":"the id is 1732659840123456789; expected `,
			"[" + ping + "," + ping + "]":            `400 {"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"the id 1 is that of two requests of the batch"}}`,
			"[" + ping + "," + pingOf("1.0") + "]":   `400 {"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"the id 1 is that of two requests of the batch"}}`,
			`"` + strings.Repeat("x", maxCall) + `"`: "413 request body exceeds 65536 bytes",
		} {
			a := send(body, "2025-03-26")
			if got := fmt.Sprintf("%d %s", a.Code, a.Body); !strings.HasPrefix(got, want) {
				t.Errorf("%.60q is answered %.200s, want %s", body, got, want)
			}
		}
	})
}

// Nothing of what an assistant could listen to changes, and a request that never ends
// keeps a server from stopping.
func TestListeningEndsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, send := newAssistants(newWorld())
		began := time.Now()
		a := send(`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true,"promptsListChanged":true,"resourcesListChanged":true,"resourceSubscriptions":["adlens://freshness"]},
			"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"test","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`, "2026-07-28")
		if took := time.Since(began); a.Code != http.StatusOK || !strings.Contains(a.Body.String(), `"id":1,"result":`) || took > 2*time.Second {
			t.Errorf("%d after %s: %s", a.Code, took, a.Body)
		}
	})
}

func TestOnlyPostIsAllowedOfAssistants(t *testing.T) {
	c := testConfig(newWorld(), keys{"acme-active"})
	c.Assistants = &Assistants{Authorization: oauth.New(oauth.Config{}), Tools: assistant.New(assistant.Config{})}
	recorder := httptest.NewRecorder()
	New(c).Handler().ServeHTTP(recorder, httptest.NewRequest("FOO", assistantPath, nil))
	if allow := recorder.Header().Get("Allow"); recorder.Code != http.StatusMethodNotAllowed || allow != "POST" || !strings.Contains(recorder.Body.String(), "FOO is not allowed here; expected POST") {
		t.Errorf("%d, Allow %q: %s", recorder.Code, allow, recorder.Body)
	}
}
