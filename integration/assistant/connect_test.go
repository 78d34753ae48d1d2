package assistant_test

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"adlens/integration/harness"
	"adlens/integration/house"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/net/html"
)

// redirect is where answers of consent go; nothing listens there.
const redirect = "http://127.0.0.1:8765/callback"

// connection is an assistant that a person let in.
type connection struct {
	address, client string
	app             string // its id
	access, refresh string
}

// asks sends a request without following redirects.
func asks(t testing.TB, r *http.Request) (*http.Response, string) {
	t.Helper()
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	said, err := client.Do(r)
	house.Need(t, err)
	defer said.Body.Close()
	body, err := io.ReadAll(said.Body)
	house.Need(t, err)
	return said, string(body)
}

func post(t testing.TB, address string, form url.Values) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequest(http.MethodPost, address, strings.NewReader(form.Encode()))
	house.Need(t, err)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return asks(t, r)
}

// connect registers a client, has its owner let it in, and exchanges the code.
func connect(t testing.TB, p *harness.Program, server *harness.Server, account, name string) connection {
	t.Helper()
	c := connection{address: server.Address}
	metadata, err := json.Marshal(map[string]any{"client_name": name, "redirect_uris": []string{redirect}, "token_endpoint_auth_method": "none"})
	house.Need(t, err)
	r, err := http.NewRequest(http.MethodPost, server.Address+"/oauth/register", strings.NewReader(string(metadata)))
	house.Need(t, err)
	r.Header.Set("Content-Type", "application/json")
	said, body := asks(t, r)
	var registered struct {
		ClientID string `json:"client_id"`
	}
	if said.StatusCode != http.StatusCreated || json.Unmarshal([]byte(body), &registered) != nil {
		t.Fatalf("registration: %d %s", said.StatusCode, body)
	}
	c.client = registered.ClientID
	verifier := rand.Text() + rand.Text()
	sum := sha256.Sum256([]byte(verifier))
	code := consent(t, p, account, &c, server.Address+"/oauth/authorize?"+url.Values{"response_type": {"code"}, "client_id": {c.client}, "redirect_uri": {redirect}, "state": {"s"}, "scope": {"read"},
		"code_challenge": {base64.RawURLEncoding.EncodeToString(sum[:])}, "code_challenge_method": {"S256"}, "resource": {server.Address + "/mcp"}}.Encode()).Get("code")
	c.takeTokens(t, url.Values{"grant_type": {"authorization_code"}, "code": {code}, "redirect_uri": {redirect}, "client_id": {c.client}, "code_verifier": {verifier}, "resource": {server.Address + "/mcp"}})
	return c
}

// consent does what a person does at the page: they type the code of an invitation
// and let the assistant in. It returns the parameters of the redirect.
func consent(t testing.TB, p *harness.Program, account string, c *connection, address string) url.Values {
	t.Helper()
	invited := p.Run("app", "invite", "--account", account, "--json")
	var invitation struct {
		Code string `json:"code"`
		App  string `json:"app_id"`
	}
	if invited.Code != 0 || json.Unmarshal([]byte(invited.Stdout), &invitation) != nil {
		t.Fatalf("app invite: %s", invited)
	}
	c.app = invitation.App
	r, err := http.NewRequest(http.MethodGet, address, nil)
	house.Need(t, err)
	said, page := asks(t, r)
	if said.StatusCode != http.StatusOK {
		t.Fatalf("the page of consent: %d %s", said.StatusCode, page)
	}
	action, fields := formOf(t, page)
	fields.Set("invite", invitation.Code)
	fields.Set("action", "allow")
	target, err := said.Request.URL.Parse(action)
	house.Need(t, err)
	answered, page := post(t, target.String(), fields)
	to, err := answered.Location()
	if err != nil {
		t.Fatalf("consent: %d %s", answered.StatusCode, page)
	}
	return to.Query()
}

// formOf returns where the form of a page goes, and its hidden fields.
func formOf(t testing.TB, page string) (action string, fields url.Values) {
	t.Helper()
	root, err := html.Parse(strings.NewReader(page))
	house.Need(t, err)
	fields = url.Values{}
	for node := range root.Descendants() {
		attribute := map[string]string{}
		for _, a := range node.Attr {
			attribute[a.Key] = a.Val
		}
		switch {
		case node.Data == "form":
			action = attribute["action"]
		case node.Data == "input" && attribute["type"] == "hidden":
			fields.Set(attribute["name"], attribute["value"])
		}
	}
	return action, fields
}

// takeTokens asks for tokens, and keeps them.
func (c *connection) takeTokens(t testing.TB, form url.Values) {
	t.Helper()
	said, body := post(t, c.address+"/oauth/token", form)
	var tokens struct {
		Access  string `json:"access_token"`
		Refresh string `json:"refresh_token"`
	}
	if said.StatusCode != http.StatusOK || json.Unmarshal([]byte(body), &tokens) != nil {
		t.Fatalf("tokens: %d %s", said.StatusCode, body)
	}
	c.access, c.refresh = tokens.Access, tokens.Refresh
}

// bearer adds a token to requests.
type bearer struct{ token string }

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)
	return http.DefaultTransport.RoundTrip(r)
}

// open begins a session with the connection's access token.
func (c connection) open(t testing.TB) session {
	t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	opened, err := client.Connect(context.Background(), &mcp.StreamableClientTransport{Endpoint: c.address + "/mcp", HTTPClient: &http.Client{Transport: bearer{c.access}}, DisableStandaloneSSE: true}, nil)
	house.Need(t, err)
	t.Cleanup(func() { opened.Close() })
	return newSession(t, opened)
}

// A connection lives from the invitation to its end: its tokens read the account that
// the invitation was of, the account names it, and a running server refuses it at
// once when it is revoked.
func TestAConnectionLivesFromInvitationToRevocation(t *testing.T) {
	t.Parallel()
	p := house.OwnProgram(t)
	key, err := p.Account("acme")
	house.Need(t, err)
	_, err = p.Account("other")
	house.Need(t, err)
	server := house.Serve(t, p)
	api := harness.Client{Address: server.Address, Key: key}
	connectedApp := func() any {
		a := house.Get(t, api, "/api/v1/account")
		var account map[string]any
		house.Need(t, json.Unmarshal(a.Body, &account))
		return account["connected_app"]
	}
	if got := connectedApp(); got != nil {
		t.Errorf("connected_app is %v before", got)
	}
	c := connect(t, p, server, "acme", "Desk\u202eassistant")
	s := c.open(t)
	if got := s.mustCall(t, "overview", nil)["account"].(map[string]any)["account_id"]; got != "acme" {
		t.Errorf("the assistant reads %v", got)
	}
	house.Eventually(t, "the account names the assistant", func() bool {
		app, ok := connectedApp().(map[string]any)
		return ok && app["name"] == "Deskassistant" && app["connected_at"] != nil
	})
	before := c
	if said, _ := callRaw(t, connection{address: c.address, access: "wrong"}); said.Header.Get("WWW-Authenticate") != `Bearer resource_metadata="`+c.address+`/.well-known/oauth-protected-resource/mcp", scope="read", error="invalid_token"` {
		t.Errorf("a client is not told where to begin: %v", said.Header)
	}
	c.takeTokens(t, url.Values{"grant_type": {"refresh_token"}, "refresh_token": {c.refresh}, "client_id": {c.client}, "resource": {c.address + "/mcp"}})
	if c.refresh == before.refresh || c.access == before.access {
		t.Error("the tokens were not rotated")
	}
	c.open(t).mustCall(t, "overview", nil)
	if r := p.Run("app", "revoke", c.app); r.Code != 0 {
		t.Fatal(r)
	}
	house.Promptly(t, "the token is refused, and connected_app is null", func() bool {
		said, _ := callRaw(t, c)
		return said.StatusCode == http.StatusUnauthorized && strings.Contains(said.Header.Get("WWW-Authenticate"), `error="invalid_token"`) && connectedApp() == nil
	})
	if said, body := post(t, c.address+"/oauth/token", url.Values{"grant_type": {"refresh_token"}, "refresh_token": {c.refresh}, "client_id": {c.client}, "resource": {c.address + "/mcp"}}); said.StatusCode != http.StatusBadRequest {
		t.Errorf("a revoked connection is refreshed: %d %s", said.StatusCode, body)
	}
}

// A refresh token that was replaced ends the whole connection: one of two has been
// stolen.
func TestAReplacedRefreshTokenEndsTheConnection(t *testing.T) {
	t.Parallel()
	p := house.OwnProgram(t)
	_, err := p.Account("acme")
	house.Need(t, err)
	c := connect(t, p, house.Serve(t, p), "acme", "desk")
	stolen := c.refresh
	refresh := func(token string) url.Values {
		return url.Values{"grant_type": {"refresh_token"}, "refresh_token": {token}, "client_id": {c.client}, "resource": {c.address + "/mcp"}}
	}
	c.takeTokens(t, refresh(c.refresh))
	for _, token := range []string{stolen, c.refresh} {
		if said, body := post(t, c.address+"/oauth/token", refresh(token)); said.StatusCode != http.StatusBadRequest || !strings.Contains(body, "invalid_grant") {
			t.Errorf("%d %s", said.StatusCode, body)
		}
	}
	house.Promptly(t, "the access token is refused", func() bool {
		said, _ := callRaw(t, c)
		return said.StatusCode == http.StatusUnauthorized
	})
}

// callRaw lists tools with the connection's access token.
func callRaw(t testing.TB, c connection) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequest(http.MethodPost, c.address+"/mcp", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`))
	house.Need(t, err)
	for name, value := range map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Authorization": "Bearer " + c.access, "MCP-Protocol-Version": "2025-11-25"} {
		r.Header.Set(name, value)
	}
	return asks(t, r)
}

// However --public-url is spelt, the server, its document and an invitation have one
// address: clients compare it letter by letter.
func TestAnInvitationHasTheAddressOfTheServer(t *testing.T) {
	t.Parallel()
	p := house.OwnProgram(t)
	_, err := p.Account("acme")
	house.Need(t, err)
	server, err := p.Serve("--public-url", "https://Figures.Example.com:443/")
	house.Need(t, err)
	const address = "https://figures.example.com"
	client := harness.Client{Address: server.Address, Other: true}
	for path, want := range map[string]string{"/.well-known/oauth-protected-resource/mcp": `"resource":"` + address + `/mcp"`, "/openapi.json": `"` + address} {
		if a := house.Get(t, client, path); a.Status != http.StatusOK || !strings.Contains(string(a.Body), want) || strings.Contains(string(a.Body), "Figures.") {
			t.Errorf("%s has not %s: %.500s", path, want, a)
		}
	}
	for _, more := range [][]string{nil, {"--public-url", "https://FIGURES.example.com/"}} {
		if invited := p.Run(append([]string{"app", "invite", "--account", "acme"}, more...)...); !strings.Contains(invited.Stdout, "\n   "+address+"/mcp\n") {
			t.Errorf("app invite %v: %s", more, invited)
		}
	}
	house.Need(t, server.Stop())
}
