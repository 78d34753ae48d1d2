package oauth

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"adlens/internal/auth"
)

func TestACodeThatIsUsedTwiceEndsTheConnection(t *testing.T) {
	w := newWorld(t)
	invite := w.invite("acme")
	code := w.consent(invite)
	got := w.token(exchange(code))
	w.mustRefuse(w.token(exchange(code)), "invalid_grant", "used before")
	w.mustBeEnded(invite, true)
	if at := slices.IndexFunc(w.events, func(e Event) bool { return e.Kind == EventReuse }); at < 0 || w.events[at].AccountID != "acme" {
		t.Errorf("the log has %+v", w.events)
	}
	w.mustRefuse(w.token(refresh(got.Refresh)), "invalid_grant", "ended")
	if last := w.events[len(w.events)-1]; last.Kind != EventRefused || last.Code != "invalid_grant" || !strings.Contains(last.Err.Error(), "ended") {
		t.Errorf("the log has %+v", last)
	}
}

func TestACodeOfAnotherClientEndsTheConnection(t *testing.T) {
	w := newWorld(t)
	invite := w.invite("acme")
	w.mustRefuse(w.token(exchange(w.consent(invite), "client_id", "https://example.com/other.json")), "invalid_grant", "another client")
	w.mustBeEnded(invite, true)
}

func TestAWrongRedirectAtTheTokenEndpointEndsTheConnection(t *testing.T) {
	w := newWorld(t)
	for _, redirect := range []string{"https://example.com/cb", "http://127.0.0.1:33419/callback", testRedirect + "/"} {
		invite := w.invite("acme")
		w.mustRefuse(w.token(exchange(w.consent(invite), "redirect_uri", redirect)), "invalid_grant", "redirect_uri is not that")
		w.mustBeEnded(invite, true)
	}
	w.mustRefuse(w.token(exchange("x", "redirect_uri", "")), "invalid_request", "redirect_uri is missing")
}

func TestAReplacedRefreshTokenEndsTheConnection(t *testing.T) {
	w := newWorld(t)
	invite, first := w.connected()
	second := w.token(refresh(first.Refresh))
	w.mustRefuse(w.token(refresh(first.Refresh)), "invalid_grant", "used before")
	w.mustBeEnded(invite, true)
	w.mustRefuse(w.token(refresh(second.Refresh)), "invalid_grant", "ended")
}

func TestARefreshTokenOfAnotherClientEndsTheConnection(t *testing.T) {
	w := newWorld(t)
	invite, got := w.connected()
	w.mustRefuse(w.token(refresh(got.Refresh, "client_id", "")), "invalid_request", "client_id is missing")
	w.mustBeEnded(invite, false)
	w.mustRefuse(w.token(refresh(got.Refresh, "client_id", "https://example.com/other.json")), "invalid_grant", "another client")
	w.mustBeEnded(invite, true)
}

func TestNoTokenIsTakenForOneOfAnotherKind(t *testing.T) {
	w := newWorld(t)
	invite, got := w.connected()
	code := w.consent(w.invite("acme"))
	for name, text := range map[string]string{"access": got.Access, "code": code, "key": auth.NewKey().Reveal(), "feed": auth.Feed.NewToken().Reveal(), "invite": auth.NewInvite().Reveal()} {
		w.mustRefuse(w.token(refresh(text)), "invalid_grant", "is no refresh token")
		if _, ok := auth.ParseAccessToken(text); ok != (name == "access") {
			t.Errorf("%s as access token: %t", name, ok)
		}
	}
	for _, text := range []string{got.Access, got.Refresh, auth.NewKey().Reveal()} {
		w.mustRefuse(w.token(exchange(text)), "invalid_grant", "is no authorization code")
	}
	// The same secret with another prefix, and its right checksum, is another one.
	if _, ok := auth.ParseRefreshToken(strings.Replace(got.Access, "adlens_at_", "adlens_rt_", 1)); ok {
		t.Error("a prefix was exchanged")
	}
	w.mustBeEnded(invite, false)
	w.mustRefuse(w.token(url.Values{"grant_type": {"client_credentials"}, "client_id": {testDocument}}), "unsupported_grant_type", "client_credentials")
	w.mustRefuse(w.token(url.Values{"grant_type": {"password"}, "username": {"a"}, "password": {"b"}}), "unsupported_grant_type", "password")
	w.mustRefuse(w.token(refresh(auth.NewRefreshToken(auth.NewCode()).Reveal())), "invalid_grant", "belongs to no connection")
}

func TestExpiredSecretsAreRefused(t *testing.T) {
	w := newWorld(t)
	code := w.consent(w.invite("acme"))
	w.sleep(codeLifetime)
	w.mustRefuse(w.token(exchange(code)), "invalid_grant", "older than a minute")
	invite, got := w.connected()
	w.sleep(refreshLifetime)
	w.mustRefuse(w.token(refresh(got.Refresh)), "invalid_grant", "expired")
	if app := w.app(invite); app.Connected(w.now()) {
		t.Error("an expired connection counts as connected")
	}
	late := w.invite("acme")
	w.sleep(InviteLifetime)
	w.mustStay(w.submit(w.fill(request(), late.Reveal())), 400, "older than ten minutes")
}

func TestOneCodeGivesTokensOnceHoweverManyAskAtOnce(t *testing.T) {
	w := newWorld(t)
	for _, first := range []func() (auth.Invite, url.Values){
		func() (auth.Invite, url.Values) {
			invite := w.invite("acme")
			return invite, exchange(w.consent(invite))
		},
		func() (auth.Invite, url.Values) { invite, got := w.connected(); return invite, refresh(got.Refresh) },
	} {
		invite, form := first()
		w.apps.takes = 2 * time.Millisecond
		answers := make([]*httptest.ResponseRecorder, 8)
		var all sync.WaitGroup
		for i := range answers {
			all.Go(func() { answers[i] = w.send("POST", pathToken, form.Encode()) })
		}
		all.Wait()
		w.apps.takes = 0
		given := 0
		for _, answer := range answers {
			if answer.Code == 200 {
				given++
			}
		}
		if given != 1 {
			t.Errorf("%d of 8 got tokens, expected 1", given)
		}
		w.mustBeEnded(invite, true)
	}
}

// Of two servers that change a row at once the last write wins: the tokens of the
// other are of the family, but not of the row.
func TestTokensThatAnotherServersWriteReplacedEndTheConnection(t *testing.T) {
	w := newWorld(t)
	invite, got := w.connected()
	before := w.app(invite)
	lost := w.token(refresh(got.Refresh))
	w.apps.rows[before.ID] = before // as the other server read it
	kept := w.token(refresh(got.Refresh))
	if lost.Status != 200 || kept.Status != 200 {
		t.Fatalf("got %+v and %+v", lost, kept)
	}
	w.mustRefuse(w.token(refresh(lost.Refresh)), "invalid_grant", "used before")
	w.mustBeEnded(invite, true)
}

func TestARevokedTokenEndsTheConnection(t *testing.T) {
	w := newWorld(t)
	for _, kind := range []string{"access", "refresh", "replaced"} {
		invite, got := w.connected()
		token := map[string]string{"access": got.Access, "refresh": got.Refresh, "replaced": got.Refresh}[kind]
		if kind == "replaced" {
			w.token(refresh(got.Refresh))
		}
		for range 2 { // the second time it is unknown
			if r := w.send("POST", pathRevoke, url.Values{"token": {token}, "client_id": {testDocument}, "token_type_hint": {"access_token"}}.Encode()); r.Code != 200 || r.Body.Len() != 0 {
				t.Errorf("%s: %d %s", kind, r.Code, r.Body)
			}
		}
		w.mustBeEnded(invite, true)
	}
	puts := w.apps.puts
	for _, unknown := range []string{"x", auth.NewRefreshToken(auth.NewCode()).Reveal(), auth.NewKey().Reveal(), auth.NewCode().Reveal(), strings.Repeat("a", 4000)} {
		if r := w.send("POST", pathRevoke, url.Values{"token": {unknown}}.Encode()); r.Code != 200 {
			t.Errorf("an unknown token: %d", r.Code)
		}
	}
	if w.apps.puts != puts {
		t.Error("an unknown token changed something")
	}
	w.mustRefuse(w.parse(w.send("POST", pathRevoke, "")), "invalid_request", "token is missing")
}

// Each look-up reads the store: beyond a bound guesses take turns, and what is valid
// gets in from the same address.
func TestGuessingTokensIsBounded(t *testing.T) {
	w := newWorld(t)
	_, kept := w.connected()
	ended, gone := w.connected()
	code := w.consent(w.invite("acme"))
	guess := func() url.Values { return refresh(auth.NewRefreshToken(auth.NewCode()).Reveal()) }
	revoke := func(token string) *httptest.ResponseRecorder {
		return w.send("POST", pathRevoke, url.Values{"token": {token}}.Encode())
	}
	for range guessesAllowed {
		w.mustRefuse(w.token(guess()), "invalid_grant", "belongs to no connection")
	}
	for _, r := range []*httptest.ResponseRecorder{w.send("POST", pathToken, guess().Encode()), w.send("POST", pathToken, exchange(auth.NewCode().Reveal()).Encode()), revoke(guess().Get("refresh_token"))} {
		if r.Code != 429 || r.Header().Get("Retry-After") != "60" || !strings.Contains(r.Body.String(), "try again later") {
			t.Errorf("a guess beyond the bound: %d, %v, %s", r.Code, r.Header(), r.Body)
		}
	}
	w.apps.takes, w.apps.most = 2*time.Millisecond, 0
	var all sync.WaitGroup
	for range 40 {
		all.Go(func() { w.send("POST", pathToken, guess().Encode()) })
	}
	for _, valid := range []url.Values{refresh(kept.Refresh), exchange(code)} {
		if got := w.token(valid); got.Status != 200 {
			t.Errorf("a valid secret: %+v", got)
		}
	}
	if r := revoke(gone.Refresh); r.Code != 200 {
		t.Errorf("a valid token is not revoked: %d %s", r.Code, r.Body)
	}
	all.Wait()
	if w.apps.most != 1 {
		t.Errorf("%d look-ups at once, expected 1", w.apps.most)
	}
	w.mustBeEnded(ended, true)
	w.sleep(time.Minute)
	w.mustRefuse(w.token(guess()), "invalid_grant", "belongs to no connection")
}

// Each refresh is stored and makes all servers read again: one too many is refused
// before anything is used up.
func TestRefreshesOfAConnectionAreBounded(t *testing.T) {
	w := newWorld(t)
	_, got := w.connected()
	_, other := w.connected()
	for i := range refreshesAllowed {
		if got = w.token(refresh(got.Refresh)); got.Status != 200 {
			t.Fatalf("refresh %d: %+v", i, got)
		}
	}
	puts := w.apps.puts
	for range 3 {
		r := w.send("POST", pathToken, refresh(got.Refresh).Encode())
		if w.mustRefuse(w.parse(r), "temporarily_unavailable", "10 times within a minute"); r.Code != 429 || r.Header().Get("Retry-After") != "60" {
			t.Errorf("one too many: %d, %v", r.Code, r.Header())
		}
	}
	if w.apps.puts != puts {
		t.Error("a refused refresh changed something")
	}
	if next := w.token(refresh(other.Refresh)); next.Status != 200 {
		t.Errorf("another connection: %+v", next)
	}
	w.sleep(time.Minute)
	if got = w.token(refresh(got.Refresh)); got.Status != 200 {
		t.Errorf("a minute later: %+v", got)
	}
}

// The command that ends a connection writes the time, and may leave the secrets.
func TestAnEndedConnectionGivesNoTokens(t *testing.T) {
	w := newWorld(t)
	invite, got := w.connected()
	consented := w.invite("acme")
	code := w.consent(consented)
	for _, ended := range []auth.Invite{invite, consented} {
		app, now := w.app(ended), w.now()
		app.RevokedAt = &now
		w.apps.rows[app.ID] = app
	}
	w.mustRefuse(w.token(refresh(got.Refresh)), "invalid_grant", "the connection is ended: connect again")
	w.mustRefuse(w.token(exchange(code)), "invalid_grant", "the connection is ended: connect again")
}

// mixedUp is a store that finds the same row whatever it is asked for.
type mixedUp struct {
	*memoryApps
	row auth.App
}

func (m mixedUp) AppByInvite(context.Context, [32]byte) (auth.App, bool, error) {
	return m.row, true, nil
}

func (m mixedUp) AppByFamily(context.Context, [32]byte) (auth.App, bool, error) {
	return m.row, true, nil
}

func TestARowThatTheStoreMixedUpIsNotUsed(t *testing.T) {
	w := newWorld(t)
	invite, got := w.connected()
	w.server.apps = mixedUp{w.apps, w.app(invite)}
	w.mustRefuse(w.token(refresh(auth.NewRefreshToken(auth.NewCode()).Reveal())), "invalid_grant", "belongs to no connection")
	w.server.apps = mixedUp{w.apps, w.app(w.invite("acme"))}
	w.mustStay(w.submit(w.fill(request(), auth.NewInvite().Reveal())), 400, "not valid")
	w.server.apps = w.apps
	if next := w.token(refresh(got.Refresh)); next.Status != 200 {
		t.Errorf("the connection was changed: %+v", next)
	}
}

func TestATokenIsNotRevokedByAnotherClient(t *testing.T) {
	w := newWorld(t)
	invite, got := w.connected()
	w.mustRefuse(w.parse(w.send("POST", pathRevoke, url.Values{"token": {got.Access}, "client_id": {"https://example.com/other.json"}}.Encode())), "invalid_client", "another client")
	w.mustBeEnded(invite, false)
}

func TestASecretInTheAddressIsRefusedAndNotUsed(t *testing.T) {
	w := newWorld(t)
	invite := w.invite("acme")
	code := w.consent(invite)
	for _, target := range []string{pathToken + "?" + exchange(code).Encode(), pathToken + "?code=" + code, pathToken + "?"} {
		got := w.parse(w.send("POST", target, exchange(code).Encode()))
		w.mustRefuse(got, "invalid_request", "belong into the body")
		if strings.Contains(got.Description, code) {
			t.Error("the answer repeats the code")
		}
	}
	w.mustRefuse(w.parse(w.send("POST", pathRevoke+"?token=x", "token=x")), "invalid_request", "belong into the body")
	if r := w.ask(request("invite", w.invite("acme").Reveal(), "action", "allow")); r.Code != 200 || r.Header().Get("Location") != "" {
		t.Errorf("an invitation in the address was used: %d", r.Code)
	}
	if got := w.token(exchange(code)); got.Status != 200 {
		t.Errorf("the code was spent: %+v", got)
	}
}

func TestLargeBodiesAreRefused(t *testing.T) {
	w := newWorld(t)
	for path, most := range map[string]int{pathToken: maxTokenBody, pathRevoke: maxTokenBody, pathAuthorize: maxConsentBody} {
		for _, extra := range []int{1, 1 << 20} {
			body := "a=" + strings.Repeat("x", most-2+extra)
			for _, announced := range []bool{true, false} {
				r := httptest.NewRequest("POST", path, strings.NewReader(body))
				r.RemoteAddr, r.Host = "127.0.0.1:1", testHost
				r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
				if !announced {
					r.ContentLength = -1
				}
				out := httptest.NewRecorder()
				w.handler.ServeHTTP(out, r)
				if out.Code != 413 {
					t.Errorf("%s, %d bytes beyond, announced %t: %d", path, extra, announced, out.Code)
				}
			}
		}
	}
	if r := w.send("POST", pathRegister, `{"client_name":"`+strings.Repeat("x", maxRegisterBody)+`"}`, "-", "Content-Type", "Content-Type", "application/json"); r.Code != 413 {
		t.Errorf("a registration: %d", r.Code)
	}
	if r := w.send("GET", pathAuthorize+"?a="+strings.Repeat("x", maxQuery), ""); r.Code != 414 {
		t.Errorf("a query: %d", r.Code)
	}
	if _, answer := w.answerOf(w.ask(request("state", strings.Repeat("s", maxState+1)))); answer.Get("error") != "invalid_request" || answer.Has("state") {
		t.Errorf("a long state: %v", answer)
	}
}

func TestOtherContentTypesAreRefused(t *testing.T) {
	w := newWorld(t)
	form := exchange("x").Encode()
	for _, kind := range []string{"", "text/plain", "application/json", "multipart/form-data; boundary=x", "application/x-www-form-urlencoded, text/plain", "application/x-www-form-urlencodedx"} {
		w.mustRefuse(w.parse(w.send("POST", pathToken, form, "-", "Content-Type", "Content-Type", kind)), "invalid_request", "Content-Type")
	}
	w.mustRefuse(w.parse(w.send("POST", pathToken, form, "Content-Type", "application/x-www-form-urlencoded")), "invalid_request", "one header Content-Type")
	w.mustRefuse(w.parse(w.send("POST", pathToken, form, "Content-Encoding", "gzip")), "invalid_request", "Content-Encoding")
	w.mustRefuse(w.parse(w.send("POST", pathToken, "a=%zz")), "invalid_request", "percent encoding")
	w.mustRefuse(w.parse(w.send("POST", pathToken, "a=1;b=2")), "invalid_request", "percent encoding")
	w.mustRefuse(w.parse(w.send("POST", pathRegister, `{}`)), "invalid_client_metadata", "application/json")
	if got := w.parse(w.send("POST", pathToken, form, "-", "Content-Type", "Content-Type", "application/x-www-form-urlencoded; charset=UTF-8")); got.Error != "invalid_grant" {
		t.Errorf("with a charset: %+v", got)
	}
}

// x/oauth2 tries a header first: that must not spend the code.
func TestAClientWithASecretIsRefusedBeforeItsCodeIsUsed(t *testing.T) {
	w := newWorld(t)
	code := w.consent(w.invite("acme"))
	basic := "Basic " + base64.StdEncoding.EncodeToString([]byte(url.QueryEscape(testDocument)+":"))
	r := w.send("POST", pathToken, exchange(code).Encode(), "Authorization", basic)
	if w.mustRefuse(w.parse(r), "invalid_client", "without a header"); r.Code != 401 || r.Header().Get("WWW-Authenticate") == "" {
		t.Errorf("%d %v", r.Code, r.Header())
	}
	w.mustRefuse(w.token(exchange(code, "client_secret", "x")), "invalid_client", "no secret")
	w.mustRefuse(w.token(exchange(code, "client_assertion", "x")), "invalid_client", "no secret")
	w.mustRefuse(w.parse(w.send("POST", pathRevoke, "")), "invalid_request", "token is missing")
	var codes []string
	for _, e := range w.events {
		if e.Kind == EventRefused {
			codes = append(codes, e.Code)
		}
	}
	if want := []string{"invalid_client", "invalid_client", "invalid_client", "invalid_request"}; !slices.Equal(codes, want) {
		t.Errorf("the log has %v, expected %v", codes, want)
	}
	if got := w.token(exchange(code)); got.Status != 200 {
		t.Errorf("the code was spent: %+v", got)
	}
}

func TestNoEventHoldsASecret(t *testing.T) {
	w := newWorld(t)
	invite, got := w.connected()
	code := w.consent(w.invite("acme"))
	w.token(exchange(code, "code_verifier", strings.Repeat("a", 43)))
	next := w.token(refresh(got.Refresh))
	w.token(refresh(got.Refresh))
	wrong := auth.NewInvite()
	w.submit(w.fill(request(), wrong.Reveal()))
	key := auth.NewKey().Reveal()
	if got := w.token(url.Values{"grant_type": {key}, "client_id": {key}}); strings.Contains(fmt.Sprint(got), key) {
		t.Errorf("the answer repeats a key: %+v", got)
	}
	var log bytes.Buffer
	for _, event := range w.events {
		fmt.Fprintf(&log, "%+v %v\n", event, event.Err)
	}
	for _, secret := range []string{invite.Reveal(), code, got.Access, got.Refresh, next.Access, next.Refresh, wrong.Reveal(), key} {
		if strings.Contains(log.String(), secret) {
			t.Errorf("the log has %s: %s", secret, &log)
		}
	}
	var kinds []EventKind
	for _, event := range w.events {
		kinds = append(kinds, event.Kind)
	}
	if want := []EventKind{EventConsent, EventConnect, EventConsent, EventReuse, EventRefused, EventRefresh, EventReuse, EventRefused, EventGuess, EventRefused}; !slices.Equal(kinds, want) {
		t.Errorf("got %v, expected %v", kinds, want)
	}
}
