package api

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
)

// token is an access token; it lives an hour.
type token struct {
	text Secret
	best time.Time // until then it is used; a margin before its end
}

// tokens keeps the access token and renews it, one renewal at a time.
type tokens struct {
	client  *Client
	address *url.URL
	turn    chan struct{} // held by the one that renews

	mu       sync.Mutex
	current  *token
	renewals int   // that ended, whatever came of them
	failure  error // of the last renewal

	refused     *Error // the platform's word that the credentials are not good
	refusedTill time.Time
}

func newTokens(c *Client, address *url.URL) *tokens {
	return &tokens{client: c, address: address, turn: make(chan struct{}, 1)}
}

// getToken returns a token to use now. A token that the platform did not take is
// given as stale, and another one is returned.
func (t *tokens) getToken(ctx context.Context, stale *token) (*token, error) {
	good, seen := t.usableToken(stale)
	if good != nil {
		return good, nil
	}
	select {
	case t.turn <- struct{}{}:
		defer func() { <-t.turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if good, err := t.sharedResult(stale, seen); good != nil || err != nil {
		return good, err
	}
	fresh, err := t.renewToken(ctx)
	t.storeResult(fresh, err)
	return fresh, err
}

// usableToken returns the current token where it may be used, and how many renewals
// there have been.
func (t *tokens) usableToken(stale *token) (*token, int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.current == stale {
		t.current = nil
	}
	if t.current != nil && t.client.cfg.Now().Before(t.current.best) {
		return t.current, t.renewals
	}
	return nil, t.renewals
}

// sharedResult returns what another's renewal brought while this one waited for
// its turn: its failure too, because repeating it at once would be hammering.
func (t *tokens) sharedResult(stale *token, seen int) (*token, error) {
	if good, _ := t.usableToken(stale); good != nil {
		return good, nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.refused != nil && t.client.cfg.Now().Before(t.refusedTill) {
		return nil, t.refused
	}
	var failure *Error
	if t.renewals != seen && errors.As(t.failure, &failure) {
		return nil, failure
	}
	return nil, nil
}

func (t *tokens) storeResult(fresh *token, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.renewals++
	t.failure = err
	if err == nil {
		t.current = fresh
	}
	var e *Error
	if errors.As(err, &e) && e.Kind == Unauthorized {
		t.refused, t.refusedTill = e, t.client.cfg.Now().Add(t.client.limits.refusedRest)
	}
}

// renewToken asks the platform for a new token.
func (t *tokens) renewToken(ctx context.Context) (*token, error) {
	c := t.client
	name := t.callName()
	var fresh *token
	err := c.retryCall(ctx, name, func() error {
		began := c.cfg.Now() // its life is counted from before it was issued
		a, err := c.doRequest(ctx, name, t.tokenRequest(url.Values{"grant_type": {"refresh_token"}, "refresh_token": {c.cfg.RefreshToken.Reveal()}}))
		if err != nil {
			return err
		}
		if err := t.tokenAnswerError(name, a); err != nil {
			return err
		}
		fresh, err = t.parseToken(a.body, began)
		if err != nil {
			// Not badAnswer: this answer may be half a token, so none of it is shown.
			return &again{err: &Error{Kind: BadAnswer, Call: name, Status: a.status, Reason: t.describeBadAnswer(a.body, err)}}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return fresh, nil
}

// describeBadAnswer says what is wrong with an answer that has no token. Only what is
// clearly no JSON is shown: anything else may be half a token.
func (t *tokens) describeBadAnswer(body []byte, err error) string {
	if text := strings.TrimSpace(string(body)); strings.HasPrefix(text, "<") {
		return `it is no JSON; it begins "` + t.client.bodyExcerpt(body) + `"`
	}
	return err.Error()
}

func (t *tokens) callName() string { return "POST " + cmp.Or(t.address.Path, "/") }

// tokenRequest asks for a token by a grant, which is the application's own.
func (t *tokens) tokenRequest(grant url.Values) *http.Request {
	grant.Set("client_id", t.client.cfg.ClientID)
	grant.Set("client_secret", t.client.cfg.ClientSecret.Reveal())
	r, _ := http.NewRequest(http.MethodPost, t.address.String(), strings.NewReader(grant.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Accept", "application/json")
	r.Header.Set("Accept-Encoding", "identity")
	r.Header.Set("User-Agent", userAgent)
	return r
}

// grantErrors are the words by which the platform says that the credentials
// themselves are not good: the permission was withdrawn, or id and secret do
// not belong together.
var grantErrors = []string{"invalid_grant", "invalid_client", "unauthorized_client"}

// tokenAnswerError is the client's, but a refused grant is told apart by its word: which
// status comes with it is not documented.
func (t *tokens) tokenAnswerError(name string, a *answer) error {
	if e := t.grantError(name, a); e != nil {
		return addReconnectHint(e)
	}
	return t.client.answerError(name, a)
}

// grantError returns the error of an answer that refuses a grant, nil for others.
func (t *tokens) grantError(name string, a *answer) *Error {
	var o struct {
		Error string `json:"error"`
	}
	if a.status < 400 || json.Unmarshal(a.body, &o) != nil || !slices.Contains(grantErrors, o.Error) {
		return nil
	}
	e := t.client.refusalError(Unauthorized, name, a)
	e.Reason = o.Error + ": " + e.Reason
	return e
}

// maxTokenLife bounds what a token says of its own life.
const maxTokenLife = 24 * time.Hour

// parseToken takes the token out of an answer. It never repeats the answer.
func (t *tokens) parseToken(body []byte, began time.Time) (*token, error) {
	var o struct {
		AccessToken string  `json:"access_token"`
		ExpiresIn   float64 `json:"expires_in"`
	}
	if json.Unmarshal(body, &o) != nil {
		return nil, errors.New("it is damaged JSON, expected an access token")
	}
	if !visible.MatchString(o.AccessToken) {
		return nil, errors.New("it has no access token of visible characters")
	}
	life := clampDuration(o.ExpiresIn*float64(time.Second), maxTokenLife)
	if life == 0 {
		life = t.client.limits.tokenLife
	}
	fresh := &token{text: NewSecret(o.AccessToken)}
	// A short life keeps half of it, or such a token would never be used.
	fresh.best = began.Add(life - min(t.client.limits.tokenMargin, life/2))
	t.client.scrub.addToken(fresh.text)
	return fresh, nil
}
