package standin_test

import (
	"net/http"
	"net/url"
	"testing"
	"time"

	"adlens/integration/standin"
)

const back = "https://example.com/back?x=1"

// decide asks for a decision at the consent page and returns where it leads; nil
// where the browser stays.
func decide(t *testing.T, p *standin.Platform, decision string, change map[string]string) *url.URL {
	t.Helper()
	query := url.Values{"client_id": {standin.DefaultClientID}, "redirect_uri": {back}, "response_type": {"code"}, "scope": {"advertising::campaign_management"}, "state": {"s t"}}
	for name, value := range change {
		query.Set(name, value)
	}
	browser := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	r, err := browser.PostForm(p.ConsentURL()+"?"+query.Encode(), url.Values{"decision": {decision}})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	to, err := r.Location()
	if err != nil {
		return nil
	}
	return to
}

func TestTheConsentPageSendsTheBrowserBack(t *testing.T) {
	p := start(t, standin.Config{})
	p.SetReturnURLs(back)
	to := decide(t, p, "allow", nil)
	if to == nil || to.Host != "example.com" || to.Query().Get("x") != "1" || to.Query().Get("state") != "s t" || to.Query().Get("code") == "" {
		t.Errorf("sent to %s", to)
	}
	for change, want := range map[[2]string]string{
		{"scope", "profile"}: "invalid_scope", {"response_type", "token"}: "unsupported_response_type", {"state", "z"}: "access_denied",
	} {
		if to := decide(t, p, "deny", map[string]string{change[0]: change[1]}); to == nil || to.Query().Get("error") != want || to.Query().Has("code") {
			t.Errorf("%v: sent to %s", change, to)
		}
	}
	for _, change := range [][2]string{{"client_id", "other"}, {"redirect_uri", "https://example.com/back"}} {
		if to := decide(t, p, "allow", map[string]string{change[0]: change[1]}); to != nil {
			t.Errorf("%v: sent to %s", change, to)
		}
	}
}

func TestACodeBuysOneRefreshToken(t *testing.T) {
	now := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	p := start(t, standin.Config{Now: func() time.Time { return now }})
	p.SetReturnURLs(back)
	exchange := func(code string, change map[string]string) answer {
		fields := map[string]string{"grant_type": "authorization_code", "code": code, "redirect_uri": back}
		for name, value := range change {
			fields[name] = value
		}
		return askToken(t, p, fields)
	}
	code := func() string { return decide(t, p, "allow", nil).Query().Get("code") }
	first := code()
	got := exchange(first, nil).object(t)
	refresh, _ := got["refresh_token"].(string)
	if again := askToken(t, p, map[string]string{"refresh_token": refresh}); refresh == "" || again.status != http.StatusOK {
		t.Errorf("the refresh token of %v is answered %d", got, again.status)
	}
	expect(t, exchange(first, nil), http.StatusBadRequest, "invalid_grant")
	expect(t, exchange(code(), map[string]string{"redirect_uri": "https://example.com/"}), http.StatusBadRequest, "invalid_grant")
	expect(t, exchange(code(), map[string]string{"client_secret": "other"}), http.StatusUnauthorized, "invalid_client")
	expect(t, exchange("", nil), http.StatusBadRequest, "invalid_request")
	late := code()
	now = now.Add(5 * time.Minute)
	expect(t, exchange(late, nil), http.StatusBadRequest, "invalid_grant")
	for _, call := range p.Recorded(standin.Token) {
		if form, err := url.ParseQuery(call.Body); err != nil || form.Has("code") && form.Get("code") != standin.Redacted {
			t.Errorf("recorded %s", call.Body)
		}
	}
}
