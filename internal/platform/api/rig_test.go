package api

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"
)

// The secrets of every test. After each test all its errors and retries are
// searched for them.
const (
	canarySecret  = "canary-client-secret"
	canaryRefresh = "Atzr|canary-refresh"
	canaryAccess  = "Atza|canary-access"
	canaryLink    = "canary-signature"
)

// rig is a client, a platform of a few lines, and a clock that only sleeping
// moves.
type rig struct {
	t      *testing.T
	client *Client
	server *httptest.Server

	mu      sync.Mutex
	now     time.Time
	sleeps  []time.Duration
	retries []Retry
	errors  []error
	calls   []string // method, path and query of what the platform was asked, tokens apart
	tokens  int      // requested
	bearer  string   // the last good access token
	onToken http.HandlerFunc
}

func newRig(t *testing.T, api http.HandlerFunc) *rig {
	t.Helper()
	r := &rig{t: t, now: time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)}
	r.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if q.URL.Path == "/token" {
			r.token(w, q)
			return
		}
		r.mu.Lock()
		r.calls = append(r.calls, q.Method+" "+q.URL.String())
		r.mu.Unlock()
		api(w, q)
	}))
	t.Cleanup(r.server.Close)
	var err error
	r.client, err = New(r.config())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.searchForSecrets)
	return r
}

func (r *rig) config() Config {
	return Config{
		ClientID: "amzn1.application-oa2-client.0", ClientSecret: NewSecret(canarySecret), RefreshToken: NewSecret(canaryRefresh),
		BaseURL: r.server.URL, TokenURL: r.server.URL + "/token",
		Now: r.time, Sleep: r.sleep, Notice: r.notice,
	}
}

func (r *rig) token(w http.ResponseWriter, q *http.Request) {
	r.mu.Lock()
	r.tokens++
	n, handler := r.tokens, r.onToken
	r.bearer = fmt.Sprintf("%s-%d", canaryAccess, n)
	text := r.bearer
	r.mu.Unlock()
	if handler != nil {
		handler(w, q)
		return
	}
	_, _ = fmt.Fprintf(w, `{"access_token":%q,"refresh_token":%q,"token_type":"bearer","expires_in":3600}`, text, canaryRefresh)
}

func (r *rig) time() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.now
}

func (r *rig) sleep(ctx context.Context, d time.Duration) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sleeps = append(r.sleeps, d)
	r.now = r.now.Add(d)
	return ctx.Err()
}

func (r *rig) notice(retry Retry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.retries = append(r.retries, retry)
}

// fails takes an error that must be of a kind and say some things.
func (r *rig) fails(err error, kind Kind, says ...string) {
	r.t.Helper()
	r.errors = append(r.errors, err)
	if !errors.Is(err, kind) {
		r.t.Fatalf("got %v, expected an error of the kind %s", err, kind)
	}
	for _, part := range says {
		if !strings.Contains(err.Error(), part) {
			r.t.Errorf("the error does not say %q: %v", part, err)
		}
	}
}

func (r *rig) succeeds(err error) {
	r.t.Helper()
	r.errors = append(r.errors, err)
	if err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) slept(t *testing.T, low, high time.Duration) {
	t.Helper()
	if len(r.sleeps) == 0 || r.sleeps[0] < low || r.sleeps[0] > high {
		t.Errorf("slept %v, expected the first between %v and %v", r.sleeps, low, high)
	}
}

func (r *rig) searchForSecrets() {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all strings.Builder
	for _, err := range r.errors {
		for ; err != nil; err = errors.Unwrap(err) {
			_, _ = fmt.Fprintf(&all, "%v %+v %#v %q\n", err, err, err, err)
		}
	}
	_, _ = fmt.Fprintf(&all, "%+v %#v\n", r.retries, r.retries)
	_, _ = fmt.Fprintf(&all, "%+v %#v %v %+v\n", r.client, r.client, r.client.cfg, struct{ hidden Config }{r.client.cfg})
	noSecrets(r.t, all.String())
}

func noSecrets(t *testing.T, text string) {
	t.Helper()
	for _, canary := range []string{canarySecret, canaryRefresh, canaryAccess, canaryLink, "canary"} {
		forms := []string{canary, url.QueryEscape(canary), base64.StdEncoding.EncodeToString([]byte(canary))}
		for _, form := range forms {
			if strings.Contains(text, form) {
				t.Errorf("a secret (%s) is in: %s", form, text)
			}
		}
	}
}

// script answers call after call; the last one answers all further ones.
func script(answers ...http.HandlerFunc) http.HandlerFunc {
	var mu sync.Mutex
	n := 0
	return func(w http.ResponseWriter, q *http.Request) {
		mu.Lock()
		answer := answers[min(n, len(answers)-1)]
		n++
		mu.Unlock()
		answer(w, q)
	}
}

func say(status int, body string, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i+1 < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// cut sends half an answer and hangs up.
func cut(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", fmt.Sprint(2*len(body)))
		_, _ = io.WriteString(w, body)
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
}

// hang answers nothing until the client leaves.
func hang(_ http.ResponseWriter, q *http.Request) { <-q.Context().Done() }
