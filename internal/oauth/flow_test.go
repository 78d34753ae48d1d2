package oauth

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"adlens/internal/auth"

	sdk "github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

func TestAClientConnectsAndRefreshes(t *testing.T) {
	w := newWorld(t)
	invite := w.invite("acme")
	target, answer := w.answerOf(w.submit(w.fill(request(), strings.ToLower(invite.Reveal()))))
	if target != testRedirect || answer.Get("state") != "s-1" || answer.Get("iss") != testBase || len(answer) != 3 {
		t.Fatalf("got %s %v", target, answer)
	}
	code, _ := auth.ParseCode(answer.Get("code"))
	app := w.app(invite)
	if app.Family != code.Family() || app.Name != "Test Assistant" || app.ClientID != testDocument || app.RedirectURI != testRedirect || app.Resource != testBase+"/mcp" ||
		app.Challenge != challengeOf(testVerifier) || app.Code.Hash != code.Hash() || app.Invite != (auth.Secret{}) || app.ConnectedAt != nil {
		t.Errorf("after consent: %+v", app)
	}
	got := w.token(exchange(answer.Get("code")))
	access, ok := auth.ParseAccessToken(got.Access)
	if !ok || got.Status != 200 || got.Type != "Bearer" || got.ExpiresIn != 3600 || got.Scope != "read" {
		t.Fatalf("got %+v", got)
	}
	app = w.app(invite)
	if app.Code != (auth.Secret{}) || app.ConnectedAt == nil || len(app.Access) != 1 || app.Access[0].Hash != access.Hash() || app.Access[0].ExpiresAt != w.now().Add(time.Hour) ||
		app.Refresh.ExpiresAt != w.now().Add(30*24*time.Hour) {
		t.Errorf("after the exchange: %+v", app)
	}
	w.sleep(29 * 24 * time.Hour)
	next := w.token(refresh(got.Refresh))
	if next.Status != 200 || next.Access == got.Access || next.Refresh == got.Refresh || !w.app(invite).Connected(w.now()) {
		t.Errorf("after a refresh: %+v", next)
	}
}

func TestRegisteredAndPrivateSchemeClientsConnect(t *testing.T) {
	w := newWorld(t)
	r := w.parse(w.send("POST", pathRegister, `{"client_name":"Desk","redirect_uris":["cursor://mcp/cb","http://localhost/cb"],"token_endpoint_auth_method":"client_secret_post"}`,
		"-", "Content-Type", "Content-Type", "application/json"))
	if r.Status != 201 || r.Name != "Desk" {
		t.Fatalf("got %+v", r)
	}
	for _, redirect := range []string{"cursor://mcp/cb", "http://localhost:1234/cb"} {
		code := w.consent(w.invite("acme"), "client_id", r.ClientID, "redirect_uri", redirect)
		if got := w.token(exchange(code, "client_id", r.ClientID, "redirect_uri", redirect)); got.Status != 200 {
			t.Errorf("%s: %+v", redirect, got)
		}
	}
}

func TestMetadataNameTheAddressThatTheClientUsed(t *testing.T) {
	for _, public := range []string{"", "https://ads.example.com"} {
		w := newWorld(t, func(c *Config) { c.PublicURL = public; c.NoRegistration = public != "" })
		base := testBase
		if public != "" {
			base = public
		}
		for _, path := range []string{pathResource, pathResourceOf} {
			r := w.send("GET", path, "")
			want := `{"resource":"` + base + `/mcp","authorization_servers":["` + base + `"],"scopes_supported":["read"],"bearer_methods_supported":["header"],"resource_name":"` + resourceName + `"}`
			if r.Code != 200 || r.Body.String() != want || r.Header().Get("Content-Type") != "application/json" {
				t.Errorf("%s: %d %s", path, r.Code, r.Body)
			}
		}
		r := w.send("GET", pathIssuer, "")
		for _, part := range []string{`"issuer":"` + base + `"`, `"code_challenge_methods_supported":["S256"]`, `"token_endpoint_auth_methods_supported":["none"]`,
			`"client_id_metadata_document_supported":true`, `"authorization_response_iss_parameter_supported":true`, `"grant_types_supported":["authorization_code","refresh_token"]`,
			`"token_endpoint":"` + base + `/oauth/token"`, `"authorization_endpoint":"` + base + `/oauth/authorize"`, `"revocation_endpoint":"` + base + `/oauth/revoke"`} {
			if !strings.Contains(r.Body.String(), part) {
				t.Errorf("no %s in %s", part, r.Body)
			}
		}
		if got := strings.Contains(r.Body.String(), "registration_endpoint"); got != (public == "") {
			t.Errorf("registration_endpoint: %t", got)
		}
	}
}

// The SDK's client, from discovery to a refreshed token, over a real connection.
func TestTheClientOfTheGoSDKConnects(t *testing.T) {
	w := newWorld(t)
	front := httptest.NewServer(w.handler)
	defer front.Close()
	for name, config := range map[string]sdk.AuthorizationCodeHandlerConfig{
		"document":     {ClientIDMetadataDocumentConfig: &sdk.ClientIDMetadataDocumentConfig{URL: testDocument}},
		"registration": {DynamicClientRegistrationConfig: &sdk.DynamicClientRegistrationConfig{Metadata: &oauthex.ClientRegistrationMetadata{ClientName: "SDK", RedirectURIs: []string{testRedirect}}}},
	} {
		invite := w.invite("acme")
		config.RedirectURL = testRedirect
		config.AuthorizationCodeFetcher = func(_ context.Context, args *sdk.AuthorizationArgs) (*sdk.AuthorizationResult, error) {
			u, err := url.Parse(args.URL)
			if err != nil {
				return nil, err
			}
			form := u.Query()
			form.Set("invite", invite.Reveal())
			form.Set("action", "allow")
			browser := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
			r, err := browser.PostForm(front.URL+pathAuthorize, form)
			if err != nil {
				return nil, err
			}
			to, err := r.Location()
			if err != nil {
				return nil, errors.New(r.Status)
			}
			return &sdk.AuthorizationResult{Code: to.Query().Get("code"), State: to.Query().Get("state"), Iss: to.Query().Get("iss")}, nil
		}
		handler, err := sdk.NewAuthorizationCodeHandler(&config)
		if err != nil {
			t.Fatal(err)
		}
		asked := httptest.NewRequest("POST", front.URL+"/mcp", nil)
		refused := httptest.NewRecorder()
		refused.Header().Set("WWW-Authenticate", `Bearer resource_metadata="`+ResourceMetadataURL(front.URL)+`", scope="read"`)
		refused.WriteHeader(401)
		if err := handler.Authorize(t.Context(), asked, refused.Result()); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		source, err := handler.TokenSource(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		token, err := source.Token()
		if err != nil {
			t.Fatal(err)
		}
		access, ok := auth.ParseAccessToken(token.AccessToken)
		if app := w.app(invite); !ok || app.Access[0].Hash != access.Hash() || app.Family != access.Family() {
			t.Errorf("%s: the token is not that of the connection", name)
		}
	}
}

func TestOnlyTheNewestFourAccessTokensAreKept(t *testing.T) {
	w := newWorld(t)
	invite, got := w.connected()
	for range 6 {
		got = w.token(refresh(got.Refresh))
	}
	access, _ := auth.ParseAccessToken(got.Access)
	app := w.app(invite)
	if len(app.Access) != maxAccess || app.Access[maxAccess-1].Hash != access.Hash() {
		t.Errorf("%d access tokens", len(app.Access))
	}
	w.sleep(accessLifetime)
	if w.token(refresh(got.Refresh)); len(w.app(invite).Access) != 1 {
		t.Errorf("expired access tokens are kept: %d", len(w.app(invite).Access))
	}
}

func TestAFailureOfTheStoreIsNoAnswer(t *testing.T) {
	w := newWorld(t)
	invite := w.invite("acme")
	code := w.consent(invite)
	form := w.fill(request(), w.invite("acme").Reveal())
	w.apps.failed = errors.New("the disk is full")
	w.mustRefuse(w.token(exchange(code)), "server_error", "try again")
	if r := w.submit(form); r.Code != 503 || r.Header().Get("Location") != "" || strings.Contains(r.Body.String(), "disk") {
		t.Errorf("status %d: %s", r.Code, r.Body)
	}
	if last := w.events[len(w.events)-1]; last.Kind != EventFailure || !errors.Is(last.Err, w.apps.failed) {
		t.Errorf("the log has %+v", last)
	}
	w.apps.failed = nil
	if got := w.token(exchange(code)); got.Status != 200 {
		t.Errorf("afterwards: %+v", got)
	}
}

// A store that fails after it has stored gives the client tokens that work, and not the
// advice to repeat what was used.
func TestTokensThatWereStoredAreGivenThoughTheStoreFailed(t *testing.T) {
	w := newWorld(t)
	code := w.consent(w.invite("acme"))
	w.apps.unsure = errors.New("the connection was lost")
	first := w.token(exchange(code))
	if first.Status != 200 {
		t.Fatalf("the code: %+v", first)
	}
	second := w.token(refresh(first.Refresh))
	w.apps.unsure = nil
	if third := w.token(refresh(second.Refresh)); second.Status != 200 || third.Status != 200 {
		t.Errorf("the refresh token: %+v, and then %+v", second, third)
	}
}

// unsureApps stores all changes and none of them surely: it fails, and so does the look at
// what became of it.
type unsureApps struct {
	*memoryApps
	changed bool
}

func (u *unsureApps) PutApp(ctx context.Context, app auth.App) error {
	u.changed = true
	return errors.Join(u.memoryApps.PutApp(ctx, app), errors.New("the connection was lost"))
}

func (u *unsureApps) AppByFamily(ctx context.Context, family [32]byte) (auth.App, bool, error) {
	if u.changed {
		u.changed = false
		return auth.App{}, false, errors.New("nothing can be read")
	}
	return u.memoryApps.AppByFamily(ctx, family)
}

// Tokens that never left the server may be stored: what they replaced is exchanged again,
// and is used before only once its successor was sent.
func TestWhatWasExchangedForTokensThatWereNotSentMayBeRepeated(t *testing.T) {
	w := newWorld(t)
	invite := w.invite("acme")
	form := exchange(w.consent(invite))
	for range 2 { // the code, and then the refresh token
		w.server.apps = &unsureApps{memoryApps: w.apps}
		for range 2 {
			w.mustRefuse(w.token(form), "server_error", "try again")
		}
		w.server.apps = w.apps
		got := w.token(form)
		if got.Status != 200 {
			t.Fatalf("the same again: %+v", got)
		}
		form = refresh(got.Refresh)
	}
	next := w.token(form)
	w.mustRefuse(w.token(form), "invalid_grant", "used before")
	w.mustBeEnded(invite, true)
	w.mustRefuse(w.token(refresh(next.Refresh)), "invalid_grant", "ended")
	for _, secret := range []string{"refused", "ended", "elsewhere"} { // a connection is not restored by what is in doubt
		invite, first := w.connected()
		second := w.token(refresh(first.Refresh))
		w.server.apps = &unsureApps{memoryApps: w.apps}
		w.mustRefuse(w.token(refresh(second.Refresh)), "server_error", "try again")
		w.server.apps = w.apps
		switch secret {
		case "refused":
			w.mustRefuse(w.token(refresh(first.Refresh)), "invalid_grant", "used before")
		case "elsewhere": // another server exchanged the token meanwhile
			app := w.app(invite)
			app.Refresh.Hash = auth.NewCode().Hash()
			w.apps.rows[app.ID] = app
			w.mustRefuse(w.token(refresh(second.Refresh)), "invalid_grant", "used before")
		default:
			app := w.app(invite)
			app.RevokedAt = new(w.now())
			w.apps.rows[app.ID] = app
		}
		w.mustRefuse(w.token(refresh(second.Refresh)), "invalid_grant", "ended")
	}
}

// lateApps stores no change: it fails, and what it was to store may come later.
type lateApps struct {
	*memoryApps
	late []auth.App
}

func (l *lateApps) PutApp(_ context.Context, app auth.App) error {
	l.late = append(l.late, app)
	return errors.New("the connection was lost")
}

// Of several exchanges that were cut off any may be stored in the end, also after one
// that was answered.
func TestAnExchangeThatIsStoredLateEndsNoConnection(t *testing.T) {
	w := newWorld(t)
	invite, given := w.connected()
	for range 2 {
		apps := &lateApps{memoryApps: w.apps}
		w.server.apps = apps
		for range 3 {
			w.mustRefuse(w.token(refresh(given.Refresh)), "server_error", "try again")
		}
		w.server.apps = w.apps
		for _, late := range apps.late {
			w.apps.rows[late.ID] = late
			next := w.token(refresh(given.Refresh))
			if next.Status != 200 {
				t.Fatalf("after a late one: %+v", next)
			}
			given = next
		}
		w.sleep(time.Minute) // refreshes are bounded
	}
	w.sleep(time.Minute)
	next := w.token(refresh(given.Refresh))
	w.mustRefuse(w.token(refresh(given.Refresh)), "invalid_grant", "used before")
	w.mustBeEnded(invite, true)
	w.mustRefuse(w.token(refresh(next.Refresh)), "invalid_grant", "ended")
}

func TestACanceledAccountIsRefusedAndTheInviteStaysUnused(t *testing.T) {
	w := newWorld(t)
	for account, why := range map[string]string{"gone": "canceled", "removed": "does not exist"} {
		invite := w.invite(account)
		w.mustStay(w.submit(w.fill(request(), invite.Reveal())), 403, why)
		if app := w.app(invite); app.Family != [32]byte{} || app.Invite.Hash != invite.Hash() {
			t.Errorf("%s: the invitation was used: %+v", account, app)
		}
	}
}

func TestOtherMethodsAndPathsAreRefused(t *testing.T) {
	w := newWorld(t)
	for _, path := range Paths() {
		for _, method := range []string{"GET", "POST", "PUT", "DELETE", "OPTIONS", "HEAD"} {
			if r := w.send(method, path, ""); r.Code == 405 && !strings.Contains(r.Header().Get("Allow"), "GET") && !strings.Contains(r.Header().Get("Allow"), "POST") || r.Code == 404 || r.Code == 200 && (method == "PUT" || method == "DELETE" || method == "OPTIONS") {
				t.Errorf("%s %s: %d, Allow %q", method, path, r.Code, r.Header().Get("Allow"))
			}
		}
		for _, other := range []string{path + "/", path + "//", path + "/x", "/" + path} {
			if r := w.send("GET", other, ""); r.Code != 404 || r.Header().Get("Location") != "" {
				t.Errorf("%s: %d", other, r.Code)
			}
		}
	}
	if r := w.send("GET", pathToken, ""); r.Code != 405 || r.Header().Get("Allow") != "POST" {
		t.Errorf("GET of tokens: %d %v", r.Code, r.Header())
	}
}

func TestAnAgeOfADocumentIsBounded(t *testing.T) {
	for header, want := range map[string]time.Duration{"": minDocumentAge, "no-store": minDocumentAge, "max-age=1": minDocumentAge, "public, max-age=3600": time.Hour,
		"max-age=999999999": maxDocumentAge, "max-age=-5": minDocumentAge, "max-age=x": minDocumentAge, "MAX-AGE=\"7200\"": 2 * time.Hour, "s-maxage=86400": minDocumentAge} {
		if got := documentAge(http.Header{"Cache-Control": {header}}); got != want {
			t.Errorf("%q: %s, expected %s", header, got, want)
		}
	}
}

func TestADocumentIsFetchedAgainWhenItIsOld(t *testing.T) {
	w := newWorld(t)
	for i, pause := range []time.Duration{0, minDocumentAge - time.Second, 2 * time.Second} {
		w.sleep(pause)
		w.ask(request())
		if want := []int{1, 1, 2}[i]; w.fetches != want {
			t.Errorf("request %d: %d fetches, expected %d", i, w.fetches, want)
		}
	}
}

func TestParsePublicURL(t *testing.T) {
	for text, want := range map[string]string{"https://ads.example.com": "https://ads.example.com", "https://Ads.example.com:8443/": "https://ads.example.com:8443", "https://ads.example.com:443": "https://ads.example.com"} {
		if got, err := ParsePublicURL(text); got != want || err != nil {
			t.Errorf("%s: %s, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "http://ads.example.com", "https://localhost", "https://ads.example.com/x", "https://u@ads.example.com", "https://ads.example.com?x", "https://ads.example.com#x", "https://127.0.0.1", "https://ads.example.com:", "https://ads.example.com:0", "ads.example.com"} {
		if got, err := ParsePublicURL(text); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%s: %s, %v", text, got, err)
		}
	}
}

func TestParseBaseURL(t *testing.T) {
	for text, want := range map[string]string{"https://Ads.example.com:443/": "https://ads.example.com", "HTTP://LocalHost:8080/": "http://localhost:8080", "http://127.0.0.1": "http://127.0.0.1", "http://[::1]:80": "http://[::1]:80"} {
		if got, err := ParseBaseURL(text); got != want || err != nil {
			t.Errorf("%s: %s, %v", text, got, err)
		}
	}
	for _, text := range []string{"https://ads.example.com/mcp", "https://127.0.0.1", "http://ads.example.com", "http://127.0.0.1:8080/mcp", "http://127.0.0.1/?x", "http://127.0.0.1?", "http://127.0.0.1#", "http://u@127.0.0.1", "http://127.0.0.1//", "http://127.0.0.1:", "http://[::1", "http:localhost", "http://"} {
		if got, err := ParseBaseURL(text); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%s: %s, %v", text, got, err)
		}
	}
}
