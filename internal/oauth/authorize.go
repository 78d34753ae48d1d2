package oauth

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"adlens"
	"adlens/internal/auth"
)

const scopeRead = auth.ScopeRead

// authorization is a request for access, checked.
type authorization struct {
	client       client
	redirect     string
	redirectKind redirectKind
	redirectURL  *url.URL
	state        string
	challenge    string
	resource     string
}

// refusal is why a request for access leads to no code. One without a code stays
// on a page of this server: the client or where it wants the answer is unknown,
// and an answer that goes there would make this server an open redirector.
type refusal struct {
	status int
	code   string // of RFC 6749, for the client
	text   string
	wait   time.Duration
}

func refuseHere(status int, text string) *refusal { return &refusal{status: status, text: text} }

func refuseThere(code, text string) *refusal {
	return &refusal{status: http.StatusBadRequest, code: code, text: text}
}

// readAuthorization checks the parameters of a request for access: first those
// that say who asks and where the answer goes.
func (s *Server) readAuthorization(ctx context.Context, p params, base string, remote netip.Addr) (authorization, *refusal) {
	found, err := s.findClient(ctx, p["client_id"], remote)
	var busy *busyError
	switch {
	case errors.As(err, &busy):
		return authorization{}, &refusal{status: http.StatusServiceUnavailable, text: err.Error(), wait: busy.wait}
	case err != nil:
		if strings.HasPrefix(p["client_id"], "https://") {
			s.log(Event{Kind: EventDocument, Client: adlens.CleanText(p["client_id"], 200), Remote: remote, Err: err})
		}
		return authorization{}, refuseHere(http.StatusBadRequest, err.Error())
	case p["redirect_uri"] == "":
		return authorization{}, refuseHere(http.StatusBadRequest, "parameter redirect_uri is missing")
	}
	a := authorization{client: found, redirect: p["redirect_uri"], challenge: p["code_challenge"], resource: p["resource"]}
	if a.redirectKind, a.redirectURL, err = found.redirectOf(a.redirect); err != nil {
		return authorization{}, refuseHere(http.StatusBadRequest, err.Error())
	}
	if len(p["state"]) > maxState {
		return a, refuseThere("invalid_request", fmt.Sprintf("state is longer than %d bytes", maxState))
	}
	a.state = p["state"]
	return a, checkAuthorization(p, base)
}

// checkAuthorization checks the other parameters of a request for access.
func checkAuthorization(p params, base string) *refusal {
	switch {
	case p["request"] != "":
		return refuseThere("request_not_supported", "parameter request is not supported")
	case p["request_uri"] != "":
		return refuseThere("request_uri_not_supported", "parameter request_uri is not supported")
	case p["response_type"] != "code":
		return refuseThere("unsupported_response_type", fmt.Sprintf("response_type is %q, expected code", adlens.CleanText(p["response_type"], 50)))
	case p["response_mode"] != "" && p["response_mode"] != "query":
		return refuseThere("invalid_request", fmt.Sprintf("response_mode is %q, expected query", adlens.CleanText(p["response_mode"], 50)))
	case p["code_challenge_method"] != "S256":
		return refuseThere("invalid_request", fmt.Sprintf("code_challenge_method is %q, expected S256", adlens.CleanText(p["code_challenge_method"], 50)))
	case !isChallenge(p["code_challenge"]):
		return refuseThere("invalid_request", "code_challenge is no SHA-256 in base64url without padding (43 characters)")
	case !isReadScope(p["scope"]):
		return refuseThere("invalid_scope", fmt.Sprintf("scope is %q, expected read", adlens.CleanText(p["scope"], 50)))
	case p["resource"] != Resource(base):
		return refuseThere("invalid_target", fmt.Sprintf("resource is %q, expected %s", adlens.CleanText(p["resource"], 100), Resource(base)))
	}
	return nil
}

// isChallenge reports whether a text is a SHA-256 in base64url, in its one
// spelling.
func isChallenge(text string) bool {
	sum, err := base64.RawURLEncoding.Strict().DecodeString(text)
	return err == nil && len(sum) == 32 && len(text) == 43 // the decoder skips line ends
}

// isReadScope reports whether all scopes are read. None asks for the default.
func isReadScope(scope string) bool {
	for name := range strings.SplitSeq(scope, " ") {
		if name != "" && name != scopeRead {
			return false
		}
	}
	return true
}

// serveAuthorize shows the consent page, and takes its answer.
func (s *Server) serveAuthorize(w http.ResponseWriter, r *http.Request, base string) {
	if r.Method == http.MethodPost {
		s.takeConsent(w, r, base)
		return
	}
	if len(r.URL.RawQuery) > maxQuery {
		writeRefusal(w, refuseHere(http.StatusRequestURITooLong, fmt.Sprintf("the query is longer than %d bytes", maxQuery)), nil)
		return
	}
	p, err := parseParams(r.URL.RawQuery)
	if err != nil {
		writeRefusal(w, refuseHere(http.StatusBadRequest, err.Error()), nil)
		return
	}
	a, refused := s.readAuthorization(r.Context(), p, base, remoteAddress(r))
	if refused != nil {
		s.answerRefusal(w, a, refused, base)
		return
	}
	writeConsent(w, http.StatusOK, a, "")
}

// answerRefusal tells the client why it gets no code. Before a person has acted,
// only a program on this computer is told by a redirect. Anyone may name any
// other address, so there the person decides whether to go on (RFC 9700, section
// 4.11.2).
func (s *Server) answerRefusal(w http.ResponseWriter, a authorization, refused *refusal, base string) {
	if refused.code == "" {
		writeRefusal(w, refused, nil)
		return
	}
	target := formatRedirect(a.redirect, answerTo(a, base, url.Values{"error": {refused.code}, "error_description": {errorText(refused.text)}}))
	if a.redirectKind == redirectLoopback {
		redirectTo(w, target)
		return
	}
	writeRefusal(w, refused, &returnLink{URL: target, To: describeRedirect(a)})
}

// answerTo adds what every answer to a client has: its state, and who answers
// (RFC 9207).
func answerTo(a authorization, base string, values url.Values) url.Values {
	values.Set("iss", base)
	if a.state != "" {
		values.Set("state", a.state)
	}
	return values
}

// redirectTo answers a form or a request. 303 turns a POST into a GET, so that
// what a form had is not sent on.
func redirectTo(w http.ResponseWriter, target string) {
	setPageHeaders(w, formless)
	w.Header().Set("Location", target)
	w.WriteHeader(http.StatusSeeOther)
}

// takeConsent takes the answer of the consent page. All of the request is checked
// from scratch: what a form brings back is no more trusted than a query.
func (s *Server) takeConsent(w http.ResponseWriter, r *http.Request, base string) {
	if err := checkSameOrigin(r, base); err != nil {
		writeRefusal(w, refuseHere(http.StatusForbidden, err.Error()), nil)
		return
	}
	p, err := readForm(w, r, maxConsentBody)
	if err != nil {
		writeRefusal(w, refuseHere(statusOf(err), err.Error()), nil)
		return
	}
	a, refused := s.readAuthorization(r.Context(), p, base, remoteAddress(r))
	if refused != nil {
		s.answerRefusal(w, a, refused, base)
		return
	}
	switch p["action"] {
	case "deny":
		redirectTo(w, formatRedirect(a.redirect, answerTo(a, base, url.Values{"error": {"access_denied"}, "error_description": {"the person refused"}})))
	case "allow":
		code, refused := s.grantCode(r, a, p["invite"])
		if refused != nil {
			if refused.wait > 0 {
				writeRetryAfter(w, refused.wait)
			}
			writeConsent(w, refused.status, a, refused.text)
			return
		}
		redirectTo(w, formatRedirect(a.redirect, answerTo(a, base, url.Values{"code": {code.Reveal()}})))
	default:
		writeRefusal(w, refuseHere(http.StatusBadRequest, "parameter action is neither allow nor deny"), nil)
	}
}

// checkSameOrigin refuses forms of other sites. They could not know the one-time
// code; but a person could be made to enter it on a page that hides this one, or
// to cancel.
func checkSameOrigin(r *http.Request, base string) error {
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" {
		return fmt.Errorf("the form came from another site (Sec-Fetch-Site: %s)", adlens.CleanText(site, 30))
	}
	origins := r.Header.Values("Origin")
	if len(origins) > 1 || len(origins) == 1 && !strings.EqualFold(origins[0], base) {
		return fmt.Errorf("the form came from %s, expected %s", adlens.CleanText(strings.Join(origins, ", "), 100), base)
	}
	return nil
}

// grantCode exchanges an invitation for an authorization code.
func (s *Server) grantCode(r *http.Request, a authorization, entered string) (code auth.Key, refused *refusal) {
	now, remote := s.now(), remoteAddress(r)
	invite, spelled := auth.ParseInvite(entered)
	right, wait, err := s.guesses.guard(r.Context(), remote, now, func() (bool, error) {
		if !spelled {
			return false, nil
		}
		_, open, err := s.findInvite(r.Context(), invite, now)
		return open, err
	})
	switch {
	case err != nil:
		s.logFailure(r, err)
		return code, refuseHere(http.StatusServiceUnavailable, "The code could not be looked up. Try again.")
	case wait > 0:
		return code, &refusal{status: http.StatusTooManyRequests, text: "Too many wrong codes were entered. Wait a minute, and enter the code again.", wait: wait}
	case !right:
		s.log(Event{Kind: EventGuess, Client: a.client.name, Remote: remote})
		return code, refuseHere(http.StatusBadRequest, wrongInvite)
	}
	return s.useInvite(r, a, invite, now)
}

const wrongInvite = "This code is not valid: it may be mistyped, used, or older than ten minutes. Ask for another one with adlens app invite."

// findInvite returns the connection of an invitation; open is false if there is
// none, or none that still waits for consent.
func (s *Server) findInvite(ctx context.Context, invite auth.Invite, now time.Time) (app auth.App, open bool, err error) {
	app, found, err := s.apps.AppByInvite(ctx, invite.Hash())
	if err != nil {
		return app, false, fmt.Errorf("look up an invitation: %w", err)
	}
	return app, found && isOpenInvite(app, invite.Hash(), now), nil
}

// useInvite turns an open invitation into a code, once: it reads the row again
// while no other request of this process can change it.
func (s *Server) useInvite(r *http.Request, a authorization, invite auth.Invite, now time.Time) (code auth.Key, refused *refusal) {
	unlock, err := s.locks.lock(r.Context(), invite.Hash())
	if err != nil {
		return code, refuseHere(http.StatusServiceUnavailable, "The server is busy. Try again.")
	}
	defer unlock()
	app, open, err := s.findInvite(r.Context(), invite, now)
	switch {
	case err != nil:
		s.logFailure(r, err)
		return code, refuseHere(http.StatusServiceUnavailable, "The code could not be looked up. Try again.")
	case !open:
		return code, refuseHere(http.StatusBadRequest, wrongInvite)
	}
	if refused := s.checkAccount(r, app.AccountID); refused != nil {
		return code, refused
	}
	code = auth.NewCode()
	app.Invite = auth.Secret{}
	app.Family, app.Name, app.ClientID = code.Family(), a.client.name, a.client.id
	app.RedirectURI, app.Resource, app.Challenge = a.redirect, a.resource, a.challenge
	app.Code = auth.Secret{Hash: code.Hash(), ExpiresAt: now.Add(codeLifetime)}
	if err := s.apps.PutApp(r.Context(), app); err != nil {
		s.logFailure(r, fmt.Errorf("store consent to connection %s: %w", app.ID, err))
		return code, refuseHere(http.StatusServiceUnavailable, "The consent could not be stored. Try again, with another code if this one is used.")
	}
	s.log(Event{Kind: EventConsent, AppID: app.ID, AccountID: app.AccountID, Client: app.Name, Remote: remoteAddress(r)})
	return code, nil
}

// isOpenInvite reports whether an invitation may be used. Used ones have a
// family.
func isOpenInvite(app auth.App, hash [32]byte, now time.Time) bool {
	return auth.EqualHashes(app.Invite.Hash, hash) && now.Before(app.Invite.ExpiresAt) && app.RevokedAt == nil && app.Family == [32]byte{}
}

// checkAccount refuses accounts that an assistant could not read.
func (s *Server) checkAccount(r *http.Request, id string) *refusal {
	account, found, err := s.accounts.Account(r.Context(), id)
	switch {
	case err != nil:
		s.logFailure(r, fmt.Errorf("look up account %s: %w", id, err))
		return refuseHere(http.StatusServiceUnavailable, "the account could not be looked up: try again")
	case !found:
		return refuseHere(http.StatusForbidden, "The account of this code does not exist any more.")
	case account.Subscription == adlens.Canceled:
		return refuseHere(http.StatusForbidden, "The subscription of this account is canceled: assistants cannot read its figures. The code was not used.")
	}
	return nil
}
