package http

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"adlens/internal/auth"
)

// appShelf is a store of connections in memory.
type appShelf struct {
	mu    sync.Mutex
	apps  []auth.App
	asked int
	put   int
}

func (s *appShelf) Apps(_ context.Context, account string) (all []auth.App, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked++
	for _, a := range s.apps {
		if a.AccountID == account {
			all = append(all, a)
		}
	}
	return all, nil
}

func (s *appShelf) AppByID(_ context.Context, id string) (auth.App, bool, error) {
	for _, a := range s.apps {
		if a.ID == id {
			return a, true, nil
		}
	}
	return auth.App{}, false, nil
}

func (s *appShelf) PutApp(_ context.Context, app auth.App) error {
	s.put++
	for i := range s.apps {
		if s.apps[i].ID == app.ID {
			s.apps[i] = app
		}
	}
	return nil
}

// connections are two live ones of the account of the tests, two that are not, and
// one of another account.
func connections() *appShelf {
	app := func(id, account string, connected time.Duration) auth.App {
		at := now.Add(-connected)
		return auth.App{ID: id, AccountID: account, Name: "Claude\u202e <b>", RedirectURI: "https://claude.example/back", ConnectedAt: &at, LastUsedAt: &at,
			Refresh: auth.Secret{ExpiresAt: now.Add(time.Hour)}}
	}
	invited, expired, revoked := app("a_1", "acme-active", 0), app("a_2", "acme-active", 0), app("a_3", "acme-active", 0)
	invited.ConnectedAt, invited.Refresh = nil, auth.Secret{}
	expired.Refresh.ExpiresAt = now
	revoked.RevokedAt = &now
	other := app("a_6", "acme-other", 0)
	other.Name = "stranger"
	older := app("a_5", "acme-active", 2*time.Hour)
	older.Name = "older"
	return &appShelf{apps: []auth.App{invited, expired, revoked, app("a_4", "acme-active", time.Hour), older, other}}
}

// withApps is a server of an account with connections.
func withApps(apps *appShelf, account string) http.Handler {
	w := newWorld()
	c := testConfig(w, keys{account})
	c.Apps, c.Answers = apps, answersWith(w, apps)
	return New(c).Handler()
}

func TestTheAccountNamesTheNewestLiveConnection(t *testing.T) {
	apps := connections()
	h := withApps(apps, "acme-active")
	for range 3 {
		if got := ask(h, "/api/v1/account").Body.String(); !strings.Contains(got, `"connected_app":{"name":"Claude`+"\u202e"+` <b>","connected_at":"2026-03-10T11:00:00.000Z"}`) {
			t.Errorf("got %s", got)
		}
	}
	if apps.asked != 1 {
		t.Errorf("the store was asked %d times", apps.asked)
	}
	for i := range apps.apps {
		apps.apps[i].RevokedAt = &now
	}
	if got := ask(withApps(apps, "acme-active"), "/api/v1/account").Body.String(); !strings.Contains(got, `"connected_app":null`) {
		t.Errorf("with all ended: %s", got)
	}
}

// askBy sends a request by a method, with the key of the tests or without it.
func askBy(h http.Handler, method, path string, withKey bool) *httptest.ResponseRecorder {
	request := httptest.NewRequest(method, path, nil)
	if withKey {
		request.Header.Set("Authorization", "Bearer "+key.Reveal())
	}
	recorder := httptest.NewRecorder()
	h.ServeHTTP(recorder, request)
	return recorder
}

func TestThePageListsAndEndsConnections(t *testing.T) {
	for _, account := range []string{"acme-active", "acme-canceled"} {
		apps := connections()
		for i := range apps.apps[:5] {
			apps.apps[i].AccountID = account
		}
		h := withApps(apps, account)
		first := askBy(h, "GET", "/apps", true)
		if want := `{"data":[{"app_id":"a_4","name":"Claude` + "\u202e" + ` <b>","redirect_uri":"https://claude.example/back","connected_at":"2026-03-10T11:00:00.000Z","last_used_at":"2026-03-10T11:00:00.000Z",` +
			`"expires_at":"2026-03-10T13:00:00.000Z","revoked_at":null},{"app_id":"a_5"`; first.Code != 200 || !strings.HasPrefix(first.Body.String(), want) || strings.Count(first.Body.String(), "app_id") != 2 ||
			first.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("%d %v %s", first.Code, first.Header(), first.Body)
		}
		for range 2 {
			if got := askBy(h, "POST", "/apps/a_4/revoke", true); got.Code != 200 || !strings.Contains(got.Body.String(), `"revoked_at":"2026-03-10T12:00:00.000Z"`) {
				t.Errorf("%d %s", got.Code, got.Body)
			}
		}
		if apps.put != 2 { // the first may have failed after the row, and before what has its loss noticed
			t.Errorf("what is ended twice was stored %d times", apps.put)
		}
		if got := askBy(h, "GET", "/apps", true).Body.String(); strings.Contains(got, "a_4") || !strings.Contains(got, "a_5") {
			t.Errorf("afterwards: %s", got)
		}
	}
}

func TestOnlyAKeyOfTheAccountEndsAConnection(t *testing.T) {
	apps := connections()
	h := withApps(apps, "acme-active")
	for _, c := range []struct {
		method, path string
		withKey      bool
		status       int
		words        string
	}{
		{"POST", "/apps/a_6/revoke", true, 404, `there is no connection \"a_6\"`},
		{"POST", "/apps/none/revoke", true, 404, "not_found"},
		{"POST", "/apps/a_4/revoke", false, 401, "missing_key"},
		{"GET", "/apps", false, 401, "missing_key"},
		{"GET", "/apps?account=acme-other", true, 400, "unknown_parameter"},
		{"GET", "/apps/a_4/revoke", true, 405, "GET is not allowed here; expected POST"},
		{"DELETE", "/apps", true, 405, "DELETE is not allowed"},
		{"OPTIONS", "/apps/a_4/revoke", true, 405, "method_not_allowed"},
	} {
		got := askBy(h, c.method, c.path, c.withKey)
		if got.Code != c.status || !strings.Contains(got.Body.String(), c.words) || strings.Contains(got.Body.String(), "stranger") {
			t.Errorf("%s %s: %d %s", c.method, c.path, got.Code, got.Body)
		}
		if allow := got.Header().Get("Allow"); c.status == 405 && (allow == "POST") != strings.HasSuffix(c.path, "revoke") {
			t.Errorf("%s %s: Allow %q", c.method, c.path, allow)
		}
	}
	for _, app := range apps.apps {
		if app.RevokedAt != nil && app.ID != "a_3" {
			t.Errorf("%s was ended", app.ID)
		}
	}
}

// limitedKeys is a store of keys for some marketplaces.
type limitedKeys struct{ keys }

func (k limitedKeys) KeyByHash(ctx context.Context, hash [32]byte) (auth.Record, bool, error) {
	record, found, err := k.keys.KeyByHash(ctx, hash)
	record.Marketplaces = []string{"US"}
	return record, found, err
}

func TestAKeyForSomeMarketplacesKnowsNoConnection(t *testing.T) {
	apps, w := connections(), newWorld()
	c := testConfig(w, limitedKeys{keys{"acme-active"}})
	c.Apps, c.Answers = apps, answersWith(w, apps)
	h := New(c).Handler()
	if got := askBy(h, "GET", "/apps", true); got.Code != 200 || got.Body.String() != `{"data":[]}` {
		t.Errorf("it lists %d %s", got.Code, got.Body)
	}
	if got := askBy(h, "POST", "/apps/a_4/revoke", true); got.Code != 404 || !strings.Contains(got.Body.String(), `there is no connection \"a_4\"`) {
		t.Errorf("it ends one: %d %s", got.Code, got.Body)
	}
	if apps.apps[3].RevokedAt != nil {
		t.Error("a connection was ended")
	}
}

// The token that lets the owner count calls goes to the server of the data directory alone.
func TestTheOwnersTokenGoesToNoOtherAddress(t *testing.T) {
	var sent []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if sent = append(sent, r.URL.Path); r.URL.Path == ownersPath {
			http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
		}
	}))
	defer server.Close()
	if running, err := CountOwnersCall(t.Context(), server.URL, "token", "acme"); running || err != nil {
		t.Errorf("a server that redirects: %t, %v", running, err)
	}
	if len(sent) != 1 {
		t.Errorf("the token was sent to %v", sent)
	}
	if transport, ok := ownersClient.Transport.(*http.Transport); !ok || transport.Proxy != nil {
		t.Error("the token is sent through a proxy of the environment")
	}
}

// A server that was killed leaves its address, whose port another program may have then.
func TestOnlyAServerOfItsOwnRefusesTheOwnersCalls(t *testing.T) {
	for body, refusal := range map[string]string{
		`<h1>Unsupported method ('POST')</h1>`:                                 "",
		`{"detail":"Method Not Allowed"}`:                                      "",
		`{"code":"E17","detail":"of another program"}`:                         "",
		`{"code":"not_found","detail":"/mcp/calls does not exist here"}`:       "",
		`{"code":"rate_limited","detail":"the limit of a minute is reached"}`:  "the limit of a minute is reached",
		`{"code":"engine_unavailable","detail":"the database is unreachable"}`: "the database is unreachable",
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusNotImplemented)
			io.WriteString(w, body)
		}))
		running, err := CountOwnersCall(t.Context(), server.URL, "token", "acme")
		if running != (refusal != "") || (err != nil) != running || err != nil && err.Error() != refusal {
			t.Errorf("%s: %t, %v", body, running, err)
		}
		server.Close()
	}
}
