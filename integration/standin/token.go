package standin

import (
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"
)

const formMedia = "application/x-www-form-urlencoded"

// TokenPlan is how access tokens are given out.
type TokenPlan struct {
	// Life is how long an access token is good; an hour where zero.
	Life time.Duration
	// SaysLife is what expires_in claims, where the claim should differ.
	SaysLife time.Duration
	// The statuses of refusals, which no source confirms; 401 and 400 as in
	// RFC 6749 where zero.
	InvalidClientStatus, InvalidGrantStatus int
}

func (t TokenPlan) withDefaults() TokenPlan {
	if t.Life == 0 {
		t.Life = time.Hour
	}
	if t.SaysLife == 0 {
		t.SaysLife = t.Life
	}
	if t.InvalidClientStatus == 0 {
		t.InvalidClientStatus = http.StatusUnauthorized
	}
	if t.InvalidGrantStatus == 0 {
		t.InvalidGrantStatus = http.StatusBadRequest
	}
	return t
}

type accessToken struct {
	grant   Grant
	expires time.Time
}

// tokens knows the application, its grants, and the access tokens given out.
type tokens struct {
	mu        sync.Mutex
	secret    string
	grants    []Grant
	access    map[string]accessToken
	refreshes int

	returns  []string               // return addresses of the application
	codes    map[string]consentCode // by code
	consents int                    // that became grants
}

func (t *tokens) applyConfig(config Config) {
	t.secret = config.ClientSecret
	t.grants = slices.Clone(config.Grants)
	t.access = map[string]accessToken{}
	t.codes = map[string]consentCode{}
}

// Revoke ends a grant as the customer would: its refresh token and its access
// tokens are refused from now on.
func (p *Platform) Revoke(refreshToken string) {
	p.tokens.mu.Lock()
	defer p.tokens.mu.Unlock()
	p.tokens.grants = slices.DeleteFunc(p.tokens.grants, func(g Grant) bool { return g.RefreshToken == refreshToken })
	for text, token := range p.tokens.access {
		if token.grant.RefreshToken == refreshToken {
			delete(p.tokens.access, text)
		}
	}
}

// SetGrant adds a grant, or changes what an existing one sees.
func (p *Platform) SetGrant(grant Grant) {
	p.Revoke(grant.RefreshToken)
	p.tokens.mu.Lock()
	defer p.tokens.mu.Unlock()
	p.tokens.grants = append(p.tokens.grants, grant)
}

// SetClientSecret changes the application's secret.
func (p *Platform) SetClientSecret(secret string) {
	p.tokens.mu.Lock()
	defer p.tokens.mu.Unlock()
	p.tokens.secret = secret
}

// ExpireTokens ends every access token now; refresh tokens stay good.
func (p *Platform) ExpireTokens() {
	p.tokens.mu.Lock()
	defer p.tokens.mu.Unlock()
	clear(p.tokens.access)
}

// Refreshes counts the access tokens that were given out.
func (p *Platform) Refreshes() int {
	p.tokens.mu.Lock()
	defer p.tokens.mu.Unlock()
	return p.tokens.refreshes
}

// issueToken answers the refresh-token flow, and the one by which a consent's code
// becomes a refresh token.
func (p *Platform) issueToken(q *query) reply {
	if q.Method != http.MethodPost {
		return refuseToken(http.StatusMethodNotAllowed, "invalid_request", "The request must be a POST")
	}
	if media, _, _ := mime.ParseMediaType(q.Header.Get("Content-Type")); media != formMedia {
		return refuseToken(http.StatusBadRequest, "invalid_request", "The content type must be "+formMedia)
	}
	form, err := url.ParseQuery(string(q.body))
	if err != nil {
		return refuseToken(http.StatusBadRequest, "invalid_request", "The body is not a form")
	}
	fields := []string{"grant_type", "client_id", "client_secret", "refresh_token"}
	if form.Get("grant_type") == "authorization_code" {
		fields = []string{"grant_type", "client_id", "client_secret", "code", "redirect_uri"}
	}
	for _, field := range fields {
		if len(form[field]) != 1 || form.Get(field) == "" {
			return refuseToken(http.StatusBadRequest, "invalid_request", "The request is missing a required parameter : "+field)
		}
	}
	switch form.Get("grant_type") {
	case "authorization_code":
		return p.exchangeCode(form)
	case "refresh_token":
		return p.refreshAccess(form)
	default:
		return refuseToken(http.StatusBadRequest, "unsupported_grant_type", "The authorization grant type is not supported")
	}
}

// refuseClient refuses a request of another application; nil is none.
func (p *Platform) refuseClient(form url.Values) *reply {
	if form.Get("client_id") == p.config.ClientID && form.Get("client_secret") == p.tokens.secret {
		return nil
	}
	refusal := refuseToken(p.config.Token.InvalidClientStatus, "invalid_client", "Client authentication failed")
	return &refusal
}

func (p *Platform) refreshAccess(form url.Values) reply {
	plan := p.config.Token
	p.tokens.mu.Lock()
	defer p.tokens.mu.Unlock()
	if refusal := p.refuseClient(form); refusal != nil {
		return *refusal
	}
	at := slices.IndexFunc(p.tokens.grants, func(g Grant) bool { return g.RefreshToken == form.Get("refresh_token") })
	if at < 0 {
		return refuseToken(plan.InvalidGrantStatus, "invalid_grant", "The request has an invalid grant parameter : refresh_token. User may have revoked or didn't grant the permission.")
	}
	p.tokens.refreshes++
	text := fmt.Sprintf("Atza|standin-access-%d", p.tokens.refreshes)
	p.tokens.access[text] = accessToken{p.tokens.grants[at], p.config.Now().Add(plan.Life)}
	return reply{status: http.StatusOK, body: map[string]any{
		"access_token": text, "refresh_token": form.Get("refresh_token"), "token_type": "bearer",
		// Whole seconds, rounded up: a shorter life is then found out by a 401.
		"expires_in": int64((plan.SaysLife + time.Second - 1) / time.Second),
	}}
}

func refuseToken(status int, code, description string) reply {
	return reply{status: status, body: map[string]any{"error": code, "error_description": description}}
}

func (t *tokens) findGrant(access string, now time.Time) (Grant, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	token, known := t.access[access]
	return token.grant, known && now.Before(token.expires)
}
