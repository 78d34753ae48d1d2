package oauth

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"adlens"
	"adlens/internal/auth"
)

const (
	grantCode    = "authorization_code"
	grantRefresh = "refresh_token"
	maxAccess    = 4 // access tokens of a connection that are valid at once
	// refreshesAllowed bounds the refreshes of a connection in any minute: each is stored,
	// and makes all servers read connections again. A client needs one an hour.
	refreshesAllowed = 10
)

// tokenError is an error of the token endpoint, as RFC 6749 has it.
type tokenError struct {
	status            int
	code, description string
}

func invalidGrant(text string) *tokenError {
	return &tokenError{http.StatusBadRequest, "invalid_grant", text}
}

func invalidRequest(text string) *tokenError {
	return &tokenError{http.StatusBadRequest, "invalid_request", text}
}

// errGuessed is of a secret that was wrong, or not even looked up, beyond a bound.
var errGuessed = &tokenError{http.StatusTooManyRequests, "temporarily_unavailable", "too many secrets that belong to no connection were sent: try again later"}

// errHasty is of a connection that is refreshed all the time. Its token stays valid.
var errHasty = &tokenError{http.StatusTooManyRequests, "temporarily_unavailable", fmt.Sprintf("the connection was refreshed %d times within a minute: try again later", refreshesAllowed)}

var errStore = &tokenError{http.StatusServiceUnavailable, "server_error", "the connection could not be read or stored: try again"}

type tokenResponse struct {
	AccessToken  string `json:"access_token"`
	TokenType    string `json:"token_type"`
	ExpiresIn    int    `json:"expires_in"`
	RefreshToken string `json:"refresh_token"`
	Scope        string `json:"scope"`
}

// serveToken exchanges a code, or a refresh token, for tokens.
func (s *Server) serveToken(w http.ResponseWriter, r *http.Request, _ string) {
	p, refused := readPublicForm(w, r)
	if refused != nil {
		s.refuseTokens(w, r, p, refused)
		return
	}
	var response tokenResponse
	switch grant := p["grant_type"]; grant {
	case grantCode:
		response, refused = s.exchangeCode(r, p)
	case grantRefresh:
		response, refused = s.refreshTokens(r, p)
	default:
		refused = &tokenError{http.StatusBadRequest, "unsupported_grant_type", fmt.Sprintf("grant_type is %q, expected %s or %s", adlens.CleanText(grant, 50), grantCode, grantRefresh)}
	}
	if refused != nil {
		s.refuseTokens(w, r, p, refused)
		return
	}
	w.Header().Set("Pragma", "no-cache")
	writeJSON(w, http.StatusOK, response)
}

// refuseTokens writes an error of the token endpoint, and lets the log have it.
func (s *Server) refuseTokens(w http.ResponseWriter, r *http.Request, p params, refused *tokenError) {
	s.log(Event{Kind: EventRefused, Client: adlens.CleanText(p["client_id"], 200), Remote: remoteAddress(r), Code: refused.code, Err: errors.New(refused.description)})
	if refused.status == http.StatusTooManyRequests {
		writeRetryAfter(w, time.Minute)
	}
	writeOAuthError(w, refused.status, refused.code, refused.description)
}

// readPublicForm reads a form of a client that has no secret. One that shows a
// secret is refused before its code is looked at: some clients try the header
// first, and then repeat the request without it.
func readPublicForm(w http.ResponseWriter, r *http.Request) (params, *tokenError) {
	if len(r.Header.Values("Authorization")) > 0 {
		w.Header().Set("WWW-Authenticate", `Basic realm="adlens"`)
		return nil, &tokenError{http.StatusUnauthorized, "invalid_client", "clients have no secret here: send client_id in the body, without a header Authorization"}
	}
	p, err := readForm(w, r, maxTokenBody)
	switch {
	case err != nil:
		return nil, &tokenError{statusOf(err), "invalid_request", err.Error()}
	case p["client_secret"] != "" || p["client_assertion"] != "":
		return p, &tokenError{http.StatusUnauthorized, "invalid_client", "clients have no secret here: send client_id alone"}
	}
	return p, nil
}

// exchangeCode exchanges an authorization code for the first tokens. A code that
// comes twice, from another client, with another redirect URI or without its
// verifier is in wrong hands: that ends the connection.
func (s *Server) exchangeCode(r *http.Request, p params) (response tokenResponse, refused *tokenError) {
	for _, name := range []string{"code", "client_id", "redirect_uri", "code_verifier", "resource"} {
		if p[name] == "" {
			if name == "resource" {
				return response, &tokenError{http.StatusBadRequest, "invalid_target", "parameter resource is missing: it must be that of the authorization request"}
			}
			return response, invalidRequest("parameter " + name + " is missing")
		}
	}
	if !isVerifier(p["code_verifier"]) {
		return response, invalidRequest("code_verifier has not 43 to 128 letters, digits and -._~")
	}
	code, ok := auth.ParseCode(p["code"])
	if !ok {
		return response, invalidGrant("code is no authorization code")
	}
	return s.changeApp(r, code, func(app *auth.App, now time.Time) (tokenResponse, *tokenError) {
		switch {
		case !auth.EqualHashes(app.Code.Hash, code.Hash()):
			return s.endMisused(r, app, "the code was used before: the connection is ended")
		case !now.Before(app.Code.ExpiresAt):
			return response, invalidGrant("the code is older than a minute: begin again")
		case !equalTexts(app.ClientID, p["client_id"]):
			return s.endMisused(r, app, "the code was given to another client: the connection is ended")
		case !equalTexts(app.RedirectURI, p["redirect_uri"]):
			return s.endMisused(r, app, "redirect_uri is not that of the authorization request: the connection is ended")
		case !equalTexts(app.Challenge, challengeOf(p["code_verifier"])):
			return s.endMisused(r, app, "code_verifier does not fit the challenge: the connection is ended")
		case app.Resource != p["resource"]:
			return response, &tokenError{http.StatusBadRequest, "invalid_target", "resource is not that of the authorization request"}
		}
		app.Code = auth.Secret{}
		app.ConnectedAt = &now
		return s.giveTokens(r, app, code, now, EventConnect)
	})
}

// refreshTokens exchanges a refresh token for new tokens. One that was replaced
// is in two hands, and which are the right ones cannot be known: that ends the
// connection. Some clients do not repeat the resource here, which changes nothing:
// the tokens are for that of the authorization in any case.
func (s *Server) refreshTokens(r *http.Request, p params) (response tokenResponse, refused *tokenError) {
	for _, name := range []string{"refresh_token", "client_id"} {
		if p[name] == "" {
			return response, invalidRequest("parameter " + name + " is missing")
		}
	}
	token, ok := auth.ParseRefreshToken(p["refresh_token"])
	if !ok {
		return response, invalidGrant("refresh_token is no refresh token")
	}
	if !isReadScope(p["scope"]) {
		return response, &tokenError{http.StatusBadRequest, "invalid_scope", fmt.Sprintf("scope is %q, expected read", adlens.CleanText(p["scope"], 50))}
	}
	return s.changeApp(r, token, func(app *auth.App, now time.Time) (tokenResponse, *tokenError) {
		switch {
		case !auth.EqualHashes(app.Refresh.Hash, token.Hash()):
			return s.endMisused(r, app, "the refresh token was used before: the connection is ended")
		case !now.Before(app.Refresh.ExpiresAt):
			return response, invalidGrant("the refresh token is expired: connect again")
		case !equalTexts(app.ClientID, p["client_id"]):
			return s.endMisused(r, app, "the refresh token was given to another client: the connection is ended")
		case p["resource"] != "" && app.Resource != p["resource"]:
			return response, &tokenError{http.StatusBadRequest, "invalid_target", "resource is not that of the authorization request"}
		case strings.HasPrefix(app.ClientID, registeredPrefix) && !s.registers:
			return response, invalidGrant("clients cannot register themselves with this server any more: connect with one that is described at its own address")
		case s.publicURL != "" && app.Resource != Resource(s.publicURL): // its access tokens are refused there
			return response, invalidGrant("the connection is to another address of this server: connect again, to " + Resource(s.publicURL))
		}
		if !s.refreshes.Allow(app.ID, now).Allowed {
			return response, errHasty
		}
		return s.giveTokens(r, app, token, now, EventRefresh)
	})
}

// unsent is a connection with exchanges of which it was not known whether they were stored.
// Their tokens never left the server: as long as the row has a refresh token of theirs,
// or one that they replaced, the connection is as it stands here, and the client may repeat
// what it sent. A store may run what was cut off later, even after an exchange that is known.
type unsent struct {
	stands   auth.App
	possible [][32]byte // the newest last
}

// unsentKept bounds the connections with such exchanges, and possibleKept the tokens of one.
const (
	unsentKept   = 1_000
	possibleKept = 100
)

// addPossible adds refresh tokens that the row may have.
func (u *unsent) addPossible(hashes ...[32]byte) {
	u.possible = slices.Concat(u.possible, hashes)
	u.possible = u.possible[max(0, len(u.possible)-possibleKept):]
}

// changeApp runs a step of the connection that a secret belongs to, one at a time
// in this process.
func (s *Server) changeApp(r *http.Request, secret auth.Key, step func(app *auth.App, now time.Time) (tokenResponse, *tokenError)) (tokenResponse, *tokenError) {
	family, unlock := secret.Family(), func() {}
	defer func() { unlock() }()
	var app auth.App
	// The lock is taken in turn too: guesses that wait hold none.
	right, wait, err := s.wrongSecrets.guard(r.Context(), remoteAddress(r), s.now(), func() (found bool, err error) {
		locked, err := s.locks.lock(r.Context(), family)
		if err != nil {
			return false, err
		}
		unlock = locked
		app, found, err = s.apps.AppByFamily(r.Context(), family)
		return found && auth.EqualHashes(app.Family, family), err
	})
	switch {
	case err != nil:
		s.logFailure(r, fmt.Errorf("look up a connection: %w", err))
		return tokenResponse{}, errStore
	case wait > 0:
		return tokenResponse{}, errGuessed
	case !right:
		return tokenResponse{}, invalidGrant("the secret belongs to no connection")
	case app.RevokedAt != nil:
		return tokenResponse{}, invalidGrant("the connection is ended: connect again")
	}
	held := app.Refresh.Hash
	known, doubted := s.unsent.Get(family)
	if doubted && slices.Contains(known.possible, held) {
		app = known.stands
	}
	known.stands = app
	response, refused := step(&app, s.now())
	switch {
	case refused == errStore && app.RevokedAt == nil:
		known.addPossible(held, app.Refresh.Hash)
		s.unsent.Put(family, known)
	case refused == nil && doubted:
		known.stands = app
		s.unsent.Put(family, known)
	}
	return response, refused
}

// giveTokens stores and returns new tokens. Earlier access tokens stay valid until
// they expire, as long as there are few.
func (s *Server) giveTokens(r *http.Request, app *auth.App, from auth.Key, now time.Time, kind EventKind) (tokenResponse, *tokenError) {
	access, refresh := auth.NewAccessToken(from), auth.NewRefreshToken(from)
	var live []auth.Secret // not in place: others may read the slice of the store
	for _, earlier := range app.Access {
		if now.Before(earlier.ExpiresAt) {
			live = append(live, earlier)
		}
	}
	live = append(live, auth.Secret{Hash: access.Hash(), ExpiresAt: now.Add(accessLifetime)})
	app.Access = live[max(0, len(live)-maxAccess):]
	app.Refresh = auth.Secret{Hash: refresh.Hash(), ExpiresAt: now.Add(refreshLifetime)}
	if err := s.apps.PutApp(r.Context(), *app); err != nil {
		s.logFailure(r, fmt.Errorf("store tokens of connection %s: %w", app.ID, err))
		// Where they were stored all the same, the old token, with which the client would
		// try again, is one that was used before.
		if stored, found, err := s.apps.AppByFamily(r.Context(), app.Family); err != nil || !found || stored.Refresh.Hash != app.Refresh.Hash {
			return tokenResponse{}, errStore
		}
	}
	s.log(Event{Kind: kind, AppID: app.ID, AccountID: app.AccountID, Client: app.Name, Remote: remoteAddress(r)})
	return tokenResponse{AccessToken: access.Reveal(), TokenType: "Bearer", ExpiresIn: int(accessLifetime / time.Second), RefreshToken: refresh.Reveal(), Scope: scopeRead}, nil
}

// endMisused ends a connection one of whose secrets is in wrong hands.
func (s *Server) endMisused(r *http.Request, app *auth.App, why string) (tokenResponse, *tokenError) {
	if err := s.endApp(r, app); err != nil {
		return tokenResponse{}, errStore
	}
	s.log(Event{Kind: EventReuse, AppID: app.ID, AccountID: app.AccountID, Client: app.Name, Remote: remoteAddress(r), Err: fmt.Errorf("%s", why)})
	return tokenResponse{}, invalidGrant(why)
}

func (s *Server) endApp(r *http.Request, app *auth.App) error {
	app.RevokedAt = new(s.now())
	app.Invite, app.Code, app.Refresh, app.Access = auth.Secret{}, auth.Secret{}, auth.Secret{}, nil
	err := s.apps.PutApp(r.Context(), *app)
	if err != nil {
		s.logFailure(r, fmt.Errorf("end connection %s: %w", app.ID, err))
	}
	return err
}

// serveRevoke ends the connection of a token (RFC 7009). A token of no connection
// is revoked already.
func (s *Server) serveRevoke(w http.ResponseWriter, r *http.Request, _ string) {
	p, refused := readPublicForm(w, r)
	if refused == nil && p["token"] == "" {
		refused = invalidRequest("parameter token is missing")
	}
	if refused != nil {
		s.refuseTokens(w, r, p, refused)
		return
	}
	token, ok := auth.ParseRefreshToken(p["token"])
	if !ok {
		token, ok = auth.ParseAccessToken(p["token"])
	}
	if ok {
		_, refused := s.changeApp(r, token, func(app *auth.App, _ time.Time) (tokenResponse, *tokenError) {
			if id := p["client_id"]; id != "" && !equalTexts(app.ClientID, id) {
				return tokenResponse{}, &tokenError{http.StatusBadRequest, "invalid_client", "the token was given to another client"}
			}
			if err := s.endApp(r, app); err != nil {
				return tokenResponse{}, errStore
			}
			s.log(Event{Kind: EventRevoke, AppID: app.ID, AccountID: app.AccountID, Client: app.Name, Remote: remoteAddress(r)})
			return tokenResponse{}, nil
		})
		if refused != nil && refused.code != "invalid_grant" {
			s.refuseTokens(w, r, p, refused)
			return
		}
	}
	w.WriteHeader(http.StatusOK)
}

// isVerifier reports whether a text is a code verifier (RFC 7636, section 4.1).
func isVerifier(text string) bool {
	return len(text) >= 43 && len(text) <= 128 && strings.Trim(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~") == ""
}

// challengeOf returns the S256 challenge of a verifier.
func challengeOf(verifier string) string {
	sum := sha256.Sum256([]byte(verifier))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// equalTexts compares in constant time, except for lengths.
func equalTexts(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }
