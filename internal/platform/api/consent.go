package api

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"github.com/go-json-experiment/json"
)

// consentScope is what an advertiser consents to (authorization guide of the Ads
// API). The platform knows no narrower one; adlens only reads.
const consentScope = "advertising::campaign_management"

// ConsentURL is the address of the page where an advertiser consents that an
// application reads the region's profiles. Afterwards the platform sends the browser
// to the redirect address, which is one of those that are registered with the
// application, with a code and the state (authorization code grant of Login with
// Amazon).
func ConsentURL(region Region, clientID, redirect, state string) string {
	return addresses[region].consent + "?" + url.Values{
		"client_id": {clientID}, "scope": {consentScope}, "response_type": {"code"}, "redirect_uri": {redirect}, "state": {state},
	}.Encode()
}

// exchangeCode buys the refresh token for a code of the consent page. A code lives
// for 5 minutes and is good once, so a request whose answer was lost is not repeated.
// Of the configuration no refresh token is needed.
func exchangeCode(ctx context.Context, cfg Config, code Secret, redirect string) (refresh Secret, err error) {
	cfg.RefreshToken = code // which must be shown no more than one
	c, err := New(cfg)
	if err != nil {
		return refresh, err
	}
	name := c.tokens.callName()
	err = c.retryCall(ctx, name, func() error {
		refresh, err = c.tokens.exchange(ctx, name, code, redirect)
		var lost *again
		if errors.As(err, &lost) && !lost.throttled {
			return lost.err
		}
		return err
	})
	return refresh, err
}

func (t *tokens) exchange(ctx context.Context, name string, code Secret, redirect string) (refresh Secret, err error) {
	a, err := t.client.doRequest(ctx, name, t.tokenRequest(url.Values{
		"grant_type": {"authorization_code"}, "code": {code.Reveal()}, "redirect_uri": {redirect},
	}))
	if err != nil {
		return refresh, err
	}
	if e := t.grantError(name, a); e != nil {
		e.Reason += "; a code is good once and for 5 minutes, with the redirect address and the application of its consent: run `adlens connect` again"
		return refresh, e
	}
	if err := t.client.answerError(name, a); err != nil {
		return refresh, err
	}
	var o struct {
		RefreshToken string `json:"refresh_token"`
	}
	if json.Unmarshal(a.body, &o) != nil || !visible.MatchString(o.RefreshToken) {
		return refresh, &Error{Kind: BadAnswer, Call: name, Status: http.StatusOK, Reason: "it has no refresh token of visible characters"}
	}
	return NewSecret(o.RefreshToken), nil
}
