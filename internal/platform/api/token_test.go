package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestTheTokenIsAskedForAsDocumented(t *testing.T) {
	r := newRig(t, say(200, `[]`))
	var form string
	r.onToken = func(w http.ResponseWriter, q *http.Request) {
		body, _ := io.ReadAll(q.Body)
		form = q.Method + " " + q.Header.Get("Content-Type") + " " + string(body)
		_, _ = io.WriteString(w, `{"access_token":"Atza|x","expires_in":3600}`)
	}
	_, err := r.client.Profiles(ctx)
	r.succeeds(err)
	want := "POST application/x-www-form-urlencoded client_id=amzn1.application-oa2-client.0&client_secret=canary-client-secret" +
		"&grant_type=refresh_token&refresh_token=Atzr%7Ccanary-refresh"
	if form != want {
		t.Errorf("asked %s, expected %s", form, want)
	}
}

func TestATokenIsRenewedBeforeItsEnd(t *testing.T) {
	for _, c := range []struct {
		life   string
		good   time.Duration // still used
		renews time.Duration // renewed
	}{
		{"3600", 54 * time.Minute, 56 * time.Minute},
		{"60", 29 * time.Second, 31 * time.Second},
		{"0", 54 * time.Minute, 56 * time.Minute},
		{"-1", 54 * time.Minute, 56 * time.Minute},
		{"1e300", 23 * time.Hour, 24 * time.Hour},
	} {
		r := newRig(t, say(200, `[]`))
		r.onToken = say(200, `{"access_token":"Atza|x","expires_in":`+c.life+`}`)
		start := r.now
		for i, at := range []time.Duration{0, c.good, c.renews} {
			r.now = start.Add(at)
			_, err := r.client.Profiles(ctx)
			r.succeeds(err)
			if want := max(1, i); r.tokens != want {
				t.Errorf("life %s, after %v: %d tokens requested, expected %d", c.life, at, r.tokens, want)
			}
		}
	}
}

func TestARefusedTokenIsRenewedOnceAndTheCallGoesOn(t *testing.T) {
	r := newRig(t, nil)
	var good atomic.Value
	r.server.Config.Handler = handlerWithTokens(r, func(w http.ResponseWriter, q *http.Request) {
		if q.Header.Get("Authorization") != "Bearer "+canaryAccess+"-2" {
			say(401, `{"message":"Invalid token: `+q.Header.Get("Authorization")+`"}`)(w, q)
			return
		}
		good.Store(true)
		_, _ = io.WriteString(w, `[]`)
	})
	_, err := r.client.Profiles(ctx)
	r.succeeds(err)
	if r.tokens != 2 || good.Load() == nil || len(r.sleeps) != 0 {
		t.Errorf("%d tokens, slept %v", r.tokens, r.sleeps)
	}
}

func handlerWithTokens(r *rig, api http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if q.URL.Path == "/token" {
			r.token(w, q)
			return
		}
		api(w, q)
	})
}

func TestAConnectionThatStaysRefusedSaysToConnectAgain(t *testing.T) {
	r := newRig(t, say(401, `{"message":"Unauthorized `+canaryRefresh+`"}`))
	_, err := r.client.Profiles(ctx)
	r.fails(err, Unauthorized, "401", "`adlens connect`")
	if r.tokens != 2 || len(r.calls) != 2 {
		t.Errorf("%d tokens, %d calls", r.tokens, len(r.calls))
	}
}

func TestAProfileThatStaysRefusedIsNotTheConnection(t *testing.T) {
	r := newRig(t, say(401, `{"code":"401","details":"Not authorized to access scope","requestId":"ABC"}`))
	_, err := r.client.reportStatus(ctx, "77", "r-1")
	r.fails(err, Refused, "Not authorized to access scope", "profile 77", "`adlens connect`", "ABC")
	if r.tokens != 2 || len(r.calls) != 2 {
		t.Errorf("%d tokens, %d calls", r.tokens, len(r.calls))
	}
}

// A 403 may be about the call alone: it is refused for the day, and names the way out.
func TestAForbiddenProfileNamesTheWayOut(t *testing.T) {
	r := newRig(t, say(403, `{"code":"403","details":"Forbidden scope","requestId":"ABC"}`))
	_, err := r.client.reportStatus(ctx, "77", "r-1")
	r.fails(err, Refused, "Forbidden scope; profile 77 may not be open to the stored connection, if it should be, run `adlens connect` again (request ABC)")
	if errors.Is(err, Closed) || r.tokens != 1 || len(r.calls) != 1 {
		t.Errorf("%v, %d tokens, %d calls", err, r.tokens, len(r.calls))
	}
}

func TestRefusedCredentialsAreNotHammered(t *testing.T) {
	for _, word := range []string{"invalid_grant", "invalid_client", "unauthorized_client"} {
		for _, status := range []int{400, 401, 403} {
			r := newRig(t, say(200, `[]`))
			r.onToken = say(status, fmt.Sprintf(`{"error":%q,"error_description":"The %s and %s are wrong"}`, word, canaryRefresh, canarySecret))
			for range 5 {
				_, err := r.client.Profiles(ctx)
				r.fails(err, Unauthorized, word, "`adlens connect`")
			}
			if r.tokens != 1 || len(r.calls) != 0 || len(r.sleeps) != 0 {
				t.Errorf("%s %d: asked %d times, %d calls, slept %v", word, status, r.tokens, len(r.calls), r.sleeps)
			}
			r.now = r.now.Add(31 * time.Minute)
			_, err := r.client.Profiles(ctx)
			r.fails(err, Unauthorized)
			if r.tokens != 2 {
				t.Errorf("after half an hour asked %d times, expected 2", r.tokens)
			}
		}
	}
}

func TestTokenFailuresThatPassAreTriedAgain(t *testing.T) {
	fresh := say(200, `{"access_token":"Atza|x","expires_in":3600}`)
	for name, bad := range map[string]http.HandlerFunc{
		"429":        say(429, `{"error":"slow_down"}`),
		"500":        say(500, `{"error":"server_error"}`),
		"HTML":       say(200, `<html>hello</html>`),
		"no token":   say(200, `{"refresh_token":"`+canaryRefresh+`"}`),
		"half":       say(200, `{"access_token":"Atza|canary`),
		"odd token":  say(200, `{"access_token":"canary\n"}`),
		"half sent":  cut(`{"access_token":"canary"`),
		"no such":    func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"other JSON": say(200, `["canary"]`),
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, say(200, `[]`))
			r.onToken = script(bad, fresh)
			_, err := r.client.Profiles(ctx)
			r.succeeds(err)
			if r.tokens != 2 {
				t.Errorf("asked %d times", r.tokens)
			}
			r.onToken = bad
			r.now = r.now.Add(2 * time.Hour)
			_, err = r.client.Profiles(ctx)
			r.errors = append(r.errors, err)
			if err == nil || r.tokens != 7 {
				t.Errorf("%v after asking %d times", err, r.tokens)
			}
		})
	}
}

func TestOtherTokenRefusalsAreFinal(t *testing.T) {
	r := newRig(t, say(200, `[]`))
	r.onToken = say(400, `{"error":"invalid_request","error_description":"missing parameter"}`)
	_, err := r.client.Profiles(ctx)
	r.fails(err, Refused, "missing parameter")
	if r.tokens != 1 {
		t.Errorf("asked %d times", r.tokens)
	}
}

// waiter is a context that tells that whose it is has begun to wait.
type waiter struct {
	context.Context
	waits func()
}

// newWaiter returns a context that calls waits once.
func newWaiter(waits func()) waiter { return waiter{ctx, sync.OnceFunc(waits)} }

func (w waiter) Done() <-chan struct{} {
	w.waits()
	return w.Context.Done()
}

func TestManyCallersRenewOnceAndShareAFailure(t *testing.T) {
	for _, works := range []bool{true, false} {
		r := newRig(t, say(200, `[]`))
		r.client.limits.tries = 1
		var arrived sync.WaitGroup // one that renews, and those who wait for their turn
		arrived.Add(8)
		r.onToken = func(w http.ResponseWriter, q *http.Request) {
			arrived.Wait()
			if works {
				_, _ = io.WriteString(w, `{"access_token":"Atza|x","expires_in":3600}`)
				return
			}
			w.WriteHeader(500)
		}
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				if _, err := r.client.tokens.getToken(newWaiter(arrived.Done), nil); (err == nil) != works {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if r.tokens != 1 {
			t.Errorf("works %v: asked %d times, expected 1", works, r.tokens)
		}
	}
}

func TestOneCallersEndIsNotTheOthersFailure(t *testing.T) {
	r := newRig(t, say(200, `[]`))
	began := make(chan struct{})
	r.onToken = script(func(_ http.ResponseWriter, q *http.Request) {
		close(began)
		_, _ = io.Copy(io.Discard, q.Body)
		<-q.Context().Done()
	}, say(200, `{"access_token":"Atza|x","expires_in":3600}`))
	stop, cancel := context.WithCancel(ctx)
	var all sync.WaitGroup
	all.Go(func() {
		if _, err := r.client.Profiles(stop); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
	<-began
	waits := make(chan struct{})
	all.Go(func() {
		if _, err := r.client.tokens.getToken(newWaiter(func() { close(waits) }), nil); err != nil {
			t.Error(err)
		}
	})
	<-waits // for its turn
	cancel()
	all.Wait()
}

func TestTheClientDoesNotPrintItsSecrets(t *testing.T) {
	r := newRig(t, say(200, `[]`))
	_, err := r.client.Profiles(ctx)
	r.succeeds(err)
	var all strings.Builder
	for _, x := range []any{r.client, *r.client, r.config(), r.client.tokens} {
		_, _ = fmt.Fprintf(&all, "%v %+v %#v\n", x, x, x)
	}
	noSecrets(t, all.String())
}
