package oauth

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"html"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"adlens"
	"adlens/internal/auth"

	"github.com/go-json-experiment/json"
)

const (
	testHost     = "localhost:8080"
	testBase     = "http://" + testHost
	testDocument = "https://example.com/client.json"
	testRedirect = "http://127.0.0.1:33418/callback"
	testVerifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk" // of RFC 7636, appendix B
	testPublic   = "8.8.8.8"
)

// memoryApps is an AppStore in memory.
type memoryApps struct {
	mu     sync.Mutex
	rows   map[string]auth.App
	puts   int
	failed error
	unsure error         // of a change that was stored
	takes  time.Duration // of each read, so that concurrent requests overlap
	inside int           // reads under way, and the most of them
	most   int
}

// find takes its time after it has read: what it returns may be old by then.
func (m *memoryApps) find(matches func(auth.App) bool) (row auth.App, found bool, err error) {
	m.mu.Lock()
	m.inside++
	m.most = max(m.most, m.inside)
	for _, row = range m.rows {
		if found = matches(row); found {
			break
		}
	}
	takes, err := m.takes, m.failed
	m.mu.Unlock()
	time.Sleep(takes)
	m.mu.Lock()
	m.inside--
	m.mu.Unlock()
	if !found || err != nil {
		return auth.App{}, false, err
	}
	return row, true, nil
}

func (m *memoryApps) AppByInvite(_ context.Context, hash [32]byte) (auth.App, bool, error) {
	return m.find(func(a auth.App) bool { return a.Invite.Hash == hash })
}

func (m *memoryApps) AppByFamily(_ context.Context, hash [32]byte) (auth.App, bool, error) {
	return m.find(func(a auth.App) bool { return a.Family == hash })
}

func (m *memoryApps) PutApp(_ context.Context, app auth.App) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.failed == nil {
		m.rows[app.ID] = app
		m.puts++
	}
	return errors.Join(m.failed, m.unsure)
}

// memoryAccounts has a subscription for each account.
type memoryAccounts map[string]string

func (m memoryAccounts) Account(_ context.Context, id string) (adlens.Account, bool, error) {
	subscription, found := m[id]
	return adlens.Account{ID: id, Subscription: subscription}, found, nil
}

// world is a server with its store, a host of metadata documents, and a clock.
type world struct {
	*testing.T
	server   *Server
	handler  http.Handler
	apps     *memoryApps
	accounts memoryAccounts
	events   []Event
	host     *httptest.Server        // of documents, as example.com
	document http.HandlerFunc        // what it answers
	resolved map[string][]netip.Addr // answers of the name server
	dialed   []string                // addresses that were connected to
	fetches  int
	mu       sync.Mutex
	at       time.Time
}

func newWorld(t *testing.T, change ...func(*Config)) *world {
	t.Helper()
	w := &world{T: t, apps: &memoryApps{rows: map[string]auth.App{}}, accounts: memoryAccounts{"acme": "active", "gone": adlens.Canceled},
		at: time.Now(), resolved: map[string][]netip.Addr{"example.com": {netip.MustParseAddr(testPublic)}}}
	w.document = w.answerDocument(nil)
	w.host = httptest.NewUnstartedServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		w.mu.Lock()
		w.fetches++
		w.mu.Unlock()
		w.document(out, r)
	}))
	w.host.Config.ErrorLog = log.New(io.Discard, "", 0)
	w.host.StartTLS()
	t.Cleanup(w.host.Close)
	dialer := &publicDialer{resolve: w.resolve, connect: w.connect}
	config := Config{Apps: w.apps, Accounts: w.accounts, Dial: dialer.dial, Now: w.now, Log: func(e Event) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.events = append(w.events, e)
	}, Roots: w.host.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs}
	for _, apply := range change {
		apply(&config)
	}
	w.server = New(config)
	w.handler = w.server.Handler()
	return w
}

func (w *world) now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.at
}

func (w *world) sleep(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.at = w.at.Add(d)
}

func (w *world) resolve(_ context.Context, _, host string) ([]netip.Addr, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if addresses, ok := w.resolved[host]; ok {
		return append([]netip.Addr(nil), addresses...), nil
	}
	return nil, errors.New("no such host")
}

func (w *world) connect(ctx context.Context, network, address string) (net.Conn, error) {
	w.mu.Lock()
	w.dialed = append(w.dialed, address)
	w.mu.Unlock()
	return new(net.Dialer).DialContext(ctx, network, w.host.Listener.Addr().String())
}

// answerDocument answers a metadata document with changed members.
func (w *world) answerDocument(change map[string]any) http.HandlerFunc {
	return func(out http.ResponseWriter, r *http.Request) {
		members := map[string]any{"client_id": "https://example.com" + r.URL.Path, "client_name": "Test Assistant",
			"redirect_uris": []string{"http://127.0.0.1/callback", "https://example.com/cb", "https://other.example/cb", "cursor://mcp/cb"}}
		maps.Copy(members, change)
		out.Header().Set("Content-Type", "application/json")
		text, err := json.Marshal(members)
		if err != nil {
			panic(err)
		}
		out.Write(text)
	}
}

// invite makes an invitation to an account, as the command does.
func (w *world) invite(account string) auth.Invite {
	invite := auth.NewInvite()
	app := auth.App{ID: idOf(invite), AccountID: account, InvitedAt: w.now(), Invite: auth.Secret{Hash: invite.Hash(), ExpiresAt: w.now().Add(InviteLifetime)}}
	if err := w.apps.PutApp(w.Context(), app); err != nil {
		w.Fatal(err)
	}
	return invite
}

// app returns the row of an invitation.
func (w *world) app(invite auth.Invite) auth.App {
	w.apps.mu.Lock()
	defer w.apps.mu.Unlock()
	return w.apps.rows[idOf(invite)]
}

func idOf(invite auth.Invite) string {
	hash := invite.Hash()
	return fmt.Sprintf("a_%x", hash[:6])
}

// send sends a request of a program, or of a browser, on this machine.
func (w *world) send(method, target, body string, headers ...string) *httptest.ResponseRecorder {
	w.Helper()
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	r.RemoteAddr, r.Host = "127.0.0.1:50000", testHost
	if method == "POST" {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		switch name, value := headers[i], headers[i+1]; name {
		case "Host":
			r.Host = value
		case "Peer":
			r.RemoteAddr = value
		case "-":
			r.Header.Del(value)
		default:
			r.Header.Add(name, value)
		}
	}
	out := httptest.NewRecorder()
	w.handler.ServeHTTP(out, r)
	return out
}

// with returns parameters with changes: pairs of name and value, of which "" is
// none.
func with(values url.Values, changes ...string) url.Values {
	values = maps.Clone(values)
	for i := 0; i+1 < len(changes); i += 2 {
		if values.Set(changes[i], changes[i+1]); changes[i+1] == "" {
			values.Del(changes[i])
		}
	}
	return values
}

// request returns the parameters of a good request for access.
func request(changes ...string) url.Values {
	return with(url.Values{"response_type": {"code"}, "client_id": {testDocument}, "redirect_uri": {testRedirect}, "scope": {"read"}, "state": {"s-1"},
		"code_challenge": {challengeOf(testVerifier)}, "code_challenge_method": {"S256"}, "resource": {testBase + "/mcp"}}, changes...)
}

func (w *world) ask(values url.Values, headers ...string) *httptest.ResponseRecorder {
	w.Helper()
	return w.send("GET", pathAuthorize+"?"+values.Encode(), "", headers...)
}

var (
	hidden = regexp.MustCompile(`<input type="hidden" name="([^"]*)" value="([^"]*)">`)
	failed = regexp.MustCompile(`<p class="error" role="alert">([^<]*)</p>`)
)

// fill opens the page and fills its form, as a browser does.
func (w *world) fill(values url.Values, invite string) url.Values {
	w.Helper()
	page := w.ask(values)
	if page.Code != 200 {
		w.Fatalf("the page has status %d: %s", page.Code, page.Body)
	}
	form := url.Values{"invite": {invite}, "action": {"allow"}}
	for _, field := range hidden.FindAllStringSubmatch(page.Body.String(), -1) {
		form.Set(field[1], html.UnescapeString(field[2]))
	}
	return form
}

func (w *world) submit(form url.Values, headers ...string) *httptest.ResponseRecorder {
	w.Helper()
	return w.send("POST", pathAuthorize, form.Encode(), append([]string{"Origin", testBase, "Sec-Fetch-Site", "same-origin"}, headers...)...)
}

// answerOf returns where a response redirects to, and the parameters there.
func (w *world) answerOf(r *httptest.ResponseRecorder) (target string, values url.Values) {
	w.Helper()
	location := r.Header().Get("Location")
	if r.Code != http.StatusSeeOther || location == "" {
		w.Fatalf("status %d, Location %q, expected 303: %v", r.Code, location, failed.FindString(r.Body.String()))
	}
	target, query, _ := strings.Cut(location, "?")
	values, err := url.ParseQuery(query)
	if err != nil {
		w.Fatal(err)
	}
	return target, values
}

// consent lets a client in and returns its code.
func (w *world) consent(invite auth.Invite, changes ...string) string {
	w.Helper()
	_, answer := w.answerOf(w.submit(w.fill(request(changes...), invite.Reveal())))
	return answer.Get("code")
}

// exchange returns the parameters of a good exchange.
func exchange(code string, changes ...string) url.Values {
	return with(url.Values{"grant_type": {grantCode}, "code": {code}, "client_id": {testDocument}, "redirect_uri": {testRedirect}, "code_verifier": {testVerifier},
		"resource": {testBase + "/mcp"}}, changes...)
}

func refresh(token string, changes ...string) url.Values {
	return with(url.Values{"grant_type": {grantRefresh}, "refresh_token": {token}, "client_id": {testDocument}, "resource": {testBase + "/mcp"}}, changes...)
}

// tokens is an answer of the token endpoint.
type tokens struct {
	Status      int
	Access      string `json:"access_token"`
	Refresh     string `json:"refresh_token"`
	Type        string `json:"token_type"`
	ExpiresIn   int    `json:"expires_in"`
	Scope       string `json:"scope"`
	Error       string `json:"error"`
	Description string `json:"error_description"`
	ClientID    string `json:"client_id"`
	Name        string `json:"client_name"`
}

func (w *world) parse(r *httptest.ResponseRecorder) tokens {
	w.Helper()
	got := tokens{Status: r.Code}
	if err := json.Unmarshal(r.Body.Bytes(), &got); err != nil || r.Header().Get("Cache-Control") != "no-store" || r.Header().Get("Content-Type") != "application/json" {
		w.Errorf("status %d, headers %v, body %s: %v", r.Code, r.Header(), r.Body, err)
	}
	return got
}

func (w *world) token(values url.Values, headers ...string) tokens {
	w.Helper()
	return w.parse(w.send("POST", pathToken, values.Encode(), headers...))
}

// connected connects a client and returns its tokens.
func (w *world) connected() (auth.Invite, tokens) {
	w.Helper()
	invite := w.invite("acme")
	got := w.token(exchange(w.consent(invite)))
	if got.Status != 200 || !w.app(invite).Connected(w.now()) {
		w.Fatalf("not connected: %+v", got)
	}
	return invite, got
}

// mustRefuse checks the error of the token endpoint.
func (w *world) mustRefuse(got tokens, code, why string) {
	w.Helper()
	if got.Error != code || !strings.Contains(got.Description, why) || got.Status == 200 || got.Access != "" {
		w.Errorf("got %+v, expected %s with %q", got, code, why)
	}
}

// mustBeEnded checks that a connection is ended, with all its secrets.
func (w *world) mustBeEnded(invite auth.Invite, ended bool) {
	w.Helper()
	app := w.app(invite)
	if got := app.RevokedAt != nil; got != ended {
		w.Errorf("ended: %t, expected %t", got, ended)
	}
	if ended && (app.Refresh != auth.Secret{} || app.Code != auth.Secret{} || app.Invite != auth.Secret{} || app.Access != nil) {
		w.Errorf("an ended connection has secrets: %+v", app)
	}
}

// mustStay checks that a refusal is shown here, and leads nowhere.
func (w *world) mustStay(r *httptest.ResponseRecorder, status int, why string) {
	w.Helper()
	text := html.UnescapeString(cmp.Or(strings.Join(failed.FindStringSubmatch(r.Body.String()), " "), r.Body.String()))
	if r.Code != status || r.Header().Get("Location") != "" || !strings.Contains(text, why) || strings.Contains(r.Body.String(), "href=") {
		w.Errorf("status %d, Location %q, %s; expected %d and %q", r.Code, r.Header().Get("Location"), r.Body, status, why)
	}
}
