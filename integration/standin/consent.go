package standin

import (
	"crypto/rand"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"
)

// codeLife is how long a code of the consent page is good.
const codeLife = 5 * time.Minute

// consentCode is a code that was given out and not used yet.
type consentCode struct {
	redirect string
	expires  time.Time
}

// ConsentURL is the address of the consent page, without its parameters.
func (p *Platform) ConsentURL() string { return p.token.URL + "/ap/oa" }

// SetReturnURLs registers the return addresses of the application.
func (p *Platform) SetReturnURLs(all ...string) {
	p.tokens.mu.Lock()
	defer p.tokens.mu.Unlock()
	p.tokens.returns = all
}

// consentPage shows the page, or, by POST, takes the decision of the person at it.
// What is wrong with the application or its return address is shown there; anything
// else goes back to that address (RFC 6749 4.1.2.1, which Login with Amazon follows).
func (p *Platform) consentPage(q *query) reply {
	asked := q.URL.Query()
	p.tokens.mu.Lock()
	defer p.tokens.mu.Unlock()
	redirect := asked.Get("redirect_uri")
	switch {
	case asked.Get("client_id") != p.config.ClientID:
		return consentHTML(http.StatusBadRequest, "Unknown client_id")
	case !slices.Contains(p.tokens.returns, redirect): // to the letter
		return consentHTML(http.StatusBadRequest, "The redirect URI you provided has not been whitelisted for your application")
	case asked.Get("response_type") != "code":
		return sendBack(redirect, asked, url.Values{"error": {"unsupported_response_type"}, "error_description": {"The response type is not supported"}})
	case asked.Get("scope") != "advertising::campaign_management":
		return sendBack(redirect, asked, url.Values{"error": {"invalid_scope"}, "error_description": {"An unknown scope was requested"}})
	case q.Method == http.MethodGet:
		return consentHTML(http.StatusOK, "Allow the application to manage your advertising campaigns?")
	}
	form, _ := url.ParseQuery(string(q.body))
	if form.Get("decision") != "allow" {
		return sendBack(redirect, asked, url.Values{"error": {"access_denied"}, "error_description": {"The user denied the request"}})
	}
	code := "AN" + rand.Text()[:18]
	p.tokens.codes[code] = consentCode{redirect, p.config.Now().Add(codeLife)}
	return sendBack(redirect, asked, url.Values{"code": {code}, "scope": {asked.Get("scope")}})
}

func consentHTML(status int, text string) reply {
	return reply{status: status, media: "text/html; charset=utf-8", body: []byte("<!doctype html><p>" + text + "</p>")}
}

// sendBack sends the browser to the return address.
func sendBack(redirect string, asked, answer url.Values) reply {
	if asked.Has("state") {
		answer.Set("state", asked.Get("state"))
	}
	u, err := url.Parse(redirect)
	if err != nil {
		return consentHTML(http.StatusBadRequest, "The redirect URI is no address")
	}
	all := u.Query()
	for name, values := range answer {
		all[name] = values
	}
	u.RawQuery = all.Encode()
	return reply{status: http.StatusFound, header: map[string]string{"Location": u.String()}, body: []byte{}}
}

// exchangeCode answers the authorization-code flow. A code is good once, for its life
// and with the return address of its consent.
func (p *Platform) exchangeCode(form url.Values) reply {
	p.tokens.mu.Lock()
	code, known := p.tokens.codes[form.Get("code")]
	delete(p.tokens.codes, form.Get("code"))
	if refusal := p.refuseClient(form); refusal != nil {
		p.tokens.mu.Unlock()
		return *refusal
	}
	if !known || code.redirect != form.Get("redirect_uri") || !p.config.Now().Before(code.expires) {
		p.tokens.mu.Unlock()
		return refuseToken(p.config.Token.InvalidGrantStatus, "invalid_grant", "The request has an invalid grant parameter : code")
	}
	p.tokens.consents++
	refresh := fmt.Sprintf("Atzr|standin-consent-%d-%s", p.tokens.consents, rand.Text()[:8])
	p.tokens.grants = append(p.tokens.grants, Grant{RefreshToken: refresh})
	p.tokens.mu.Unlock()
	form.Set("refresh_token", refresh)
	return p.refreshAccess(form)
}
