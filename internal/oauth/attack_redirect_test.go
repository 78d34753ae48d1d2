package oauth

import (
	"net/url"
	"strings"
	"testing"
)

func TestAnAnswerNamesItsIssuerWhateverItIs(t *testing.T) {
	w := newWorld(t)
	invite := w.invite("acme").Reveal()
	for name, form := range map[string]url.Values{"code": w.fill(request(), invite), "denied": with(w.fill(request(), ""), "action", "deny"), "error": with(w.fill(request(), ""), "scope", "write")} {
		_, answer := w.answerOf(w.submit(form))
		if answer.Get("iss") != testBase || answer.Get("state") != "s-1" || len(answer["iss"]) != 1 || answer.Has("error") == answer.Has("code") {
			t.Errorf("%s: %v", name, answer)
		}
	}
	if _, answer := w.answerOf(w.submit(with(w.fill(request("state", ""), ""), "action", "deny"))); answer.Has("state") || answer.Get("error") != "access_denied" {
		t.Errorf("without a state: %v", answer)
	}
}

// A code of one address is worth nothing at another, although both are this
// server's.
func TestIssuersAreNotMixedUp(t *testing.T) {
	w := newWorld(t)
	other := "127.0.0.1:8080"
	w.mustStay(w.submit(w.fill(request(), w.invite("acme").Reveal()), "Host", other), 403, "came from http://localhost:8080, expected http://127.0.0.1:8080")
	_, answer := w.answerOf(w.ask(request(), "Host", other))
	if answer.Get("error") != "invalid_target" || answer.Get("iss") != "http://"+other {
		t.Errorf("the resource of another issuer: %v", answer)
	}
	invite := w.invite("acme")
	w.mustRefuse(w.token(exchange(w.consent(invite), "resource", "http://"+other+"/mcp"), "Host", other), "invalid_target", "not that of the authorization request")
	w.mustBeEnded(invite, false)
}

func TestRedirectURIsMatchExactly(t *testing.T) {
	const web, loop = "https://app.example/oauth/cb", "http://127.0.0.1/cb"
	for requested, want := range map[string]bool{
		web: true, "https://app.example/oauth/cb/": false, "https://app.example/oauth/cbx": false, "https://app.example/oauth/": false, "https://app.example/oauth/cb?x=1": false,
		"https://app.example/oauth/cb#x": false, "https://app.example/oauth/../oauth/cb": false, "https://app.example/oauth/cb/../../evil": false, "https://app.example/oauth/%63b": false,
		"https://app.example.evil.test/oauth/cb": false, "https://evil.test/app.example/oauth/cb": false, "https://app.example@evil.test/oauth/cb": false, "https://evil.test\\@app.example/oauth/cb": false,
		"https://app.example:443/oauth/cb": false, "https://APP.example/oauth/cb": false, "http://app.example/oauth/cb": false, "HTTPS://app.example/oauth/cb": false, "https://app.example\\/oauth/cb": false,
		"https:/app.example/oauth/cb": false, "//app.example/oauth/cb": false, " " + web: false, web + "\n": false, "https://app%2eexample/oauth/cb": false, "https://xn--app.example/oauth/cb": false,
	} {
		if got := matchRedirect(web, requested); got != want {
			t.Errorf("%q: %t", requested, got)
		}
	}
	for requested, want := range map[string]bool{
		loop: true, "http://127.0.0.1:1/cb": true, "http://127.0.0.1:65535/cb": true, "http://127.0.0.1:0/cb": false, "http://127.0.0.1:65536/cb": false, "http://127.0.0.1:080/cb": false,
		"http://127.0.0.1:/cb": false, "http://127.0.0.1:80x/cb": false, "http://127.0.0.1:80@evil.test/cb": false, "http://127.0.0.1.evil.test/cb": false, "http://127.0.0.1:80/cb/": false,
		"http://127.0.0.1@evil.test/cb": false, "http://localhost/cb": false, "http://[::1]/cb": false, "https://127.0.0.1/cb": false, "http://127.0.0.2/cb": false, "http://127.1/cb": false,
		"http://127.0.0.1:80?x=/cb": false, "http://127.0.0.1:80\\@evil.test/cb": false, "http://127.0.0.1:1:2/cb": false, "http://127.0.0.1:-1/cb": false, "http://127.0.0.1/cb?a=b": false,
	} {
		if got := matchRedirect(loop, requested); got != want {
			t.Errorf("%q: %t", requested, got)
		}
	}
	if matchRedirect("cursor://a/cb", "cursor://a/cb/") || !matchRedirect("cursor://a/cb", "cursor://a/cb") || !matchRedirect("http://[::1]", "http://[::1]:9") || matchRedirect("https://localhost/cb", "https://localhost:9/cb") {
		t.Error("private schemes and ports of https match exactly")
	}
}

func TestRedirectURIsThatLeadAstrayCannotBeRegistered(t *testing.T) {
	w := newWorld(t)
	for _, uri := range []string{"", "javascript:alert(1)", "javascript://x/%0aalert(1)", "JavaScript:/x", "data:text/html,x", "data:/text", "vbscript:/x", "file:///etc/passwd", "blob:https://x/y", "about:/blank",
		"http://app.example/cb", "http://10.0.0.1/cb", "http://127.0.0.1.evil.test/cb", "http://localhost.evil.test/cb", "http://127.0.0.1@evil.test/", "https://u:p@app.example/cb", "https://app.example/cb#f",
		"https://app.example/a/../b", "https://app.example/%2e%2e/b", "https://app.example/.", "https://app.example\\@evil.test/", "https://app%2eexample/cb", "https:///cb", "https:app.example/cb", "https://*.example/cb",
		"//app.example/cb", "/cb", "cb", "https://app.example/cb?code=1", "https://app.example/cb?iss=x", "https://app.example/cb?a=%", "https://app.example:0/cb", "https://app.example:/cb", "https://[::1]/cb",
		"https://2130706433/cb", "https://127.1/cb", "intent://x/#Intent;end", "ms-msdt:/id", "mailto:a@b.c", "view-source:https://x", "cursor:opaque", "c:/windows", "https://app.example/\u202ecb", "https://app.example/a b", "https://app.example/cb?",
		"https://app.example/\x00", "Cursor://x/cb", "https://app.example/" + strings.Repeat("a", 500), "ws://app.example/cb", "chrome-extension://x/cb"} {
		if _, _, err := parseRedirectURI(uri); err == nil {
			t.Errorf("%q is taken", uri)
		}
	}
	for _, uri := range []string{"https://app.example/cb", "https://app.example:8443/cb?x=1", "https://localhost:3000/cb", "http://localhost/cb", "http://127.0.0.1:33418", "http://[::1]:8/cb", "cursor://anysphere.cursor-mcp/oauth/callback", "com.example.app:/cb"} {
		if _, _, err := parseRedirectURI(uri); err != nil {
			t.Error(err)
		}
	}
	w.document = w.answerDocument(map[string]any{"redirect_uris": []string{testRedirect, "javascript:/x"}})
	w.mustStay(w.ask(request()), 400, `redirect URI "javascript:/x"`)
}

func FuzzMatchRedirectIsExact(f *testing.F) {
	for _, text := range []string{testRedirect, "https://app.example/cb", "http://localhost:1?x", "http://[::1]", "http://127.0.0.1:80@evil/", "http://127.0.0.1\\@evil/"} {
		f.Add("http://127.0.0.1/callback", text)
		f.Add(text, text)
	}
	f.Fuzz(func(t *testing.T, registered, requested string) {
		if !matchRedirect(registered, requested) || registered == requested {
			return
		}
		_, a, err := parseRedirectURI(registered)
		_, b, other := parseRedirectURI(requested)
		if err != nil || other != nil {
			return // never used
		}
		if a.Scheme != "http" || b.Scheme != "http" || a.Hostname() != b.Hostname() || a.EscapedPath() != b.EscapedPath() || a.RawQuery != b.RawQuery || b.User != nil || b.Fragment != "" ||
			b.Hostname() != "127.0.0.1" && b.Hostname() != "localhost" && b.Hostname() != "::1" {
			t.Errorf("%q matches %q", requested, registered)
		}
	})
}

func TestErrorsStayHereUntilClientAndRedirectAreKnown(t *testing.T) {
	w := newWorld(t)
	for name, c := range map[string]struct {
		changes []string
		why     string
	}{
		"no client":           {[]string{"client_id", ""}, "client_id is missing"},
		"unknown client":      {[]string{"client_id", "abc"}, "neither the https URL"},
		"no redirect":         {[]string{"redirect_uri", ""}, "redirect_uri is missing"},
		"other host":          {[]string{"redirect_uri", "https://evil.test/cb"}, "none of those that the client registered"},
		"prefix":              {[]string{"redirect_uri", "https://example.com/cb.evil"}, "none of those"},
		"suffix of the host":  {[]string{"redirect_uri", "https://example.com.evil.test/cb"}, "none of those"},
		"user information":    {[]string{"redirect_uri", "https://example.com@evil.test/cb"}, "without user information"},
		"traversal":           {[]string{"redirect_uri", "https://example.com/cb/../evil"}, ". or .."},
		"fragment":            {[]string{"redirect_uri", "https://example.com/cb#x"}, "not allowed"},
		"backslash":           {[]string{"redirect_uri", "https://evil.test\\@example.com/cb"}, "not allowed"},
		"encoded host":        {[]string{"redirect_uri", "https://example%2ecom/cb"}, "redirect URI"},
		"script":              {[]string{"redirect_uri", "javascript:alert(1)//"}, "redirect URI"},
		"other and bad scope": {[]string{"redirect_uri", "https://evil.test/cb", "scope", "write"}, "none of those"},
	} {
		t.Run(name, func(t *testing.T) {
			w.T = t
			w.mustStay(w.ask(request(c.changes...)), 400, c.why)
			w.mustStay(w.submit(with(request(c.changes...), "action", "deny")), 400, c.why)
		})
	}
}

// Anyone can register any redirect URI, so an error that went there by itself
// would make this server an open redirector.
func TestErrorsGoByThemselvesToThisComputerOnly(t *testing.T) {
	w := newWorld(t)
	target, answer := w.answerOf(w.ask(request("scope", "write")))
	if target != testRedirect || answer.Get("error") != "invalid_scope" {
		t.Errorf("got %s %v", target, answer)
	}
	for redirect, shown := range map[string]string{"https://other.example/cb": "other.example", "cursor://mcp/cb": "a program on this device (cursor:)"} {
		r := w.ask(request("scope", "write", "redirect_uri", redirect))
		link := `<a href="` + redirect + `?error=invalid_scope&amp;`
		if r.Code != 400 || r.Header().Get("Location") != "" || !strings.Contains(r.Body.String(), link) || !strings.Contains(r.Body.String(), ">"+shown+"</a>") || !strings.Contains(r.Body.String(), "iss=http") {
			t.Errorf("%s: %d, Location %q: %s", redirect, r.Code, r.Header().Get("Location"), r.Body)
		}
	}
}

func TestAParameterThatIsGivenTwiceIsRefused(t *testing.T) {
	w := newWorld(t)
	for name := range request() {
		w.mustStay(w.send("GET", pathAuthorize+"?"+request().Encode()+"&"+name+"=x", ""), 400, "parameter "+name+" is given 2 times")
		w.mustStay(w.send("POST", pathAuthorize, request("action", "deny").Encode()+"&"+name+"=", "Origin", testBase), 400, "parameter "+name+" is given 2 times")
	}
	for name := range exchange("x") {
		w.mustRefuse(w.parse(w.send("POST", pathToken, exchange("x").Encode()+"&"+name+"=x")), "invalid_request", "parameter "+name+" is given 2 times")
	}
	w.mustRefuse(w.parse(w.send("POST", pathRevoke, "token=a&token=b")), "invalid_request", "parameter token is given 2 times")
}

func TestScopesBeyondReadingAreRefused(t *testing.T) {
	w := newWorld(t)
	for _, scope := range []string{"write", "read write", "READ", "read,write", "openid", "*", "read\u00a0"} {
		if _, answer := w.answerOf(w.ask(request("scope", scope))); answer.Get("error") != "invalid_scope" {
			t.Errorf("%q: %v", scope, answer)
		}
	}
	for _, scope := range []string{"", "read", "read read"} {
		if r := w.ask(request("scope", scope)); r.Code != 200 {
			t.Errorf("%q: %d", scope, r.Code)
		}
	}
	_, got := w.connected()
	w.mustRefuse(w.token(refresh(got.Refresh, "scope", "read write")), "invalid_scope", "expected read")
}

func TestAWrongOrMissingResourceIsRefused(t *testing.T) {
	w := newWorld(t)
	for _, resource := range []string{"", testBase, testBase + "/", testBase + "/mcp/", testBase + "/mcp?x", testBase + "/mcp#x", testBase + "/MCP", "http://LOCALHOST:8080/mcp", "https://localhost:8080/mcp", "http://localhost/mcp", "https://evil.test/mcp", "mcp"} {
		if _, answer := w.answerOf(w.ask(request("resource", resource))); answer.Get("error") != "invalid_target" {
			t.Errorf("%q: %v", resource, answer)
		}
		invite := w.invite("acme")
		code := w.consent(invite)
		w.mustRefuse(w.token(exchange(code, "resource", resource)), "invalid_target", "resource")
		if got := w.token(exchange(code)); got.Status != 200 {
			t.Errorf("%q spent the code: %+v", resource, got)
		}
	}
	_, got := w.connected()
	w.mustRefuse(w.token(refresh(got.Refresh, "resource", "https://evil.test/mcp")), "invalid_target", "resource")
	if next := w.token(refresh(got.Refresh, "resource", "")); next.Status != 200 {
		t.Errorf("a refresh without resource, as of x/oauth2: %+v", next)
	}
}

func TestPKCECannotBeDowngraded(t *testing.T) {
	w := newWorld(t)
	for name, changes := range map[string][]string{
		"no challenge": {"code_challenge", ""}, "no method": {"code_challenge_method", ""}, "plain": {"code_challenge_method", "plain"}, "lower case": {"code_challenge_method", "s256"},
		"neither": {"code_challenge", "", "code_challenge_method", ""}, "short": {"code_challenge", "abc"}, "padded": {"code_challenge", challengeOf(testVerifier) + "="},
		"long": {"code_challenge", strings.Repeat("A", 128)}, "other alphabet": {"code_challenge", strings.Repeat("+", 43)}, "line end": {"code_challenge", challengeOf(testVerifier) + "\n"},
		"two spellings": {"code_challenge", challengeOf(testVerifier)[:42] + "N"},
	} {
		if _, answer := w.answerOf(w.ask(request(changes...))); answer.Get("error") != "invalid_request" || answer.Has("code") {
			t.Errorf("%s: %v", name, answer)
		}
	}
	for _, kind := range []string{"token", "code token", "id_token", "none", ""} {
		if _, answer := w.answerOf(w.ask(request("response_type", kind))); answer.Get("error") != "unsupported_response_type" {
			t.Errorf("%q: %v", kind, answer)
		}
	}
	for name, want := range map[string]string{"request": "request_not_supported", "request_uri": "request_uri_not_supported", "response_mode": "invalid_request"} {
		if _, answer := w.answerOf(w.ask(request(name, "fragment"))); answer.Get("error") != want {
			t.Errorf("%s: %v", name, answer)
		}
	}
	invite := w.invite("acme")
	code := w.consent(invite)
	for _, verifier := range []string{"", "short", challengeOf(testVerifier) + "=", strings.Repeat("a", 129)} {
		w.mustRefuse(w.token(exchange(code, "code_verifier", verifier)), "invalid_request", "code_verifier")
	}
	w.mustBeEnded(invite, false)
	w.mustRefuse(w.token(exchange(code, "code_verifier", challengeOf(testVerifier))), "invalid_grant", "does not fit the challenge")
	w.mustBeEnded(invite, true)
	w.mustRefuse(w.token(exchange(code)), "invalid_grant", "ended")
}
