package browser_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
)

// assistant is the site of a client that connects from a browser. Its callback leads
// on to another origin, as that of a hosted client leads on to a program. There its last
// page tells the page that opened it, if there is one.
type assistant struct {
	*httptest.Server
	authorize string // where its user agrees
	invite    string // the one-time code for that
}

// newAssistant registers an assistant with the server, and invites it to a new account.
func newAssistant(t *testing.T, h *house, account string) *assistant {
	t.Helper()
	site := http.NewServeMux()
	site.HandleFunc("/callback", func(w http.ResponseWriter, r *http.Request) {
		_, port, _ := strings.Cut(r.Host, ":")
		http.Redirect(w, r, "http://localhost:"+port+"/done?"+r.URL.RawQuery, http.StatusFound)
	})
	site.HandleFunc("/done", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "<!DOCTYPE html><title>Done</title><script>opener?.postMessage('done', '*')</script>")
	})
	site.HandleFunc("/{$}", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "<!DOCTYPE html><title>Hosted</title><script>onmessage = ({ data }) => { document.title = data }</script>")
	})
	a := &assistant{Server: httptest.NewServer(site)}
	t.Cleanup(a.Close)
	callback := a.URL + "/callback"
	r, err := http.Post(h.server.Address+"/oauth/register", "application/json",
		strings.NewReader(fmt.Sprintf(`{"client_name": "Hosted", "redirect_uris": [%q], "token_endpoint_auth_method": "none"}`, callback)))
	need(t, err)
	defer r.Body.Close()
	var client struct {
		ID string `json:"client_id"`
	}
	need(t, json.NewDecoder(r.Body).Decode(&client))
	a.authorize = h.server.Address + "/oauth/authorize?" + url.Values{"response_type": {"code"}, "client_id": {client.ID}, "redirect_uri": {callback}, "state": {"s"}, "scope": {"read"},
		"code_challenge": {strings.Repeat("c", 43)}, "code_challenge_method": {"S256"}, "resource": {h.server.Address + "/mcp"}}.Encode()
	_, err = h.Account(account)
	need(t, err)
	invited := h.Run("app", "invite", "--account", account, "--json")
	var invitation struct {
		Code string `json:"code"`
	}
	if err := json.Unmarshal([]byte(invited.Stdout), &invitation); err != nil {
		t.Fatalf("app invite: %s", invited)
	}
	a.invite = invitation.Code
	return a
}

// consent types the one-time code, and agrees.
func (p *tab) consent(invite string) {
	p.t.Helper()
	p.until("document.activeElement?.id === 'invite'") // which is where the page begins
	p.do(chromedp.KeyEvent(invite))
	p.click(`[value="allow"]`)
}

// A browser applies the policy of a form to all redirects that follow it, also to those
// of other sites.
func TestAConsentReachesAProgramThatTheCallbackLeadsOnTo(t *testing.T) {
	t.Parallel()
	h := sharedHouse(t)
	a := newAssistant(t, h, "led-on")
	p := openTab(t, h.browser, h.server.Address, strings.TrimPrefix(a.authorize, h.server.Address), chromedp.WithNewBrowserContext())
	p.consent(a.invite)
	p.until("document.title === 'Done' && location.hostname === 'localhost' && location.search.includes('code=')")
}

// A client that opens the page as a pop-up watches whether its user closes it, and
// waits for a message of its callback.
func TestAConsentInAPopUpIsNotCutOffFromItsOpener(t *testing.T) {
	t.Parallel()
	h := sharedHouse(t)
	a := newAssistant(t, h, "popped-up")
	p := openTab(t, h.browser, a.URL, "/", chromedp.WithNewBrowserContext())
	opened := chromedp.WaitNewTarget(p.ctx, func(i *target.Info) bool { return strings.HasPrefix(i.URL, h.server.Address) })
	js[chromedp.Void](p, fmt.Sprintf("(popup = open(%q, '', 'popup'), null)", a.authorize))
	popup := newTab(t, p.ctx, h.server.Address, chromedp.WithTargetID(<-opened))
	popup.until("document.getElementById('invite')")
	if js[bool](p, "popup.closed") {
		t.Error("to its opener the page is closed")
	}
	popup.consent(a.invite)
	popup.until("document.title === 'Done'")
	if js[bool](p, "popup.closed") || !js[bool](popup, "window.opener !== null") {
		t.Fatal("the callback and its opener know nothing of each other")
	}
	p.until("document.title === 'done'")
}
