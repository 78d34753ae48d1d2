package http

import (
	"context"
	"net/http"
	"net/http/httptest"
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

func TestACallThatTakesTooLongIsToldSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, token := stuck{newWorld()}, auth.NewAccessToken(auth.NewCode())
		c := testConfig(store, keys{"acme-active"})
		c.Admission.AdmitApps(auth.NewAuthenticator(appTokens{token}), 0)
		c.Assistants = &Assistants{Authorization: oauth.New(oauth.Config{Now: func() time.Time { return now }}),
			Tools: assistant.New(assistant.Config{Answers: c.Answers, Now: func() time.Time { return now }, Failed: func(string, error) {},
				Admit: func(ctx context.Context, extra *mcp.RequestExtra) (auth.Caller, error) {
					app, _ := AppOf(extra)
					return c.Admission.AdmitApp(ctx, app, now)
				}})}
		r := httptest.NewRequest(http.MethodPost, "http://localhost/mcp", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"rank","arguments":{}}}`))
		r.RemoteAddr = "127.0.0.1:1024"
		for name, value := range map[string]string{"Authorization": "Bearer " + token.Reveal(), "Content-Type": "application/json", "Accept": "application/json, text/event-stream"} {
			r.Header.Set(name, value)
		}
		recorder, began := httptest.NewRecorder(), time.Now()
		New(c).Handler().ServeHTTP(recorder, r)
		if got := recorder.Body.String(); recorder.Code != http.StatusOK || !strings.Contains(got, "the request took longer than 30s; ask for a shorter period") || time.Since(began) != answer.Timeout+time.Second {
			t.Errorf("%d after %s: %q", recorder.Code, time.Since(began), got)
		}
	})
}
