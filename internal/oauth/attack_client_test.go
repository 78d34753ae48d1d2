package oauth

import (
	"context"
	"encoding/base64"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"adlens/internal/auth"

	"github.com/go-json-experiment/json"
)

func TestADocumentOnAnAddressThatIsNotPublicIsNotFetched(t *testing.T) {
	w := newWorld(t)
	for _, address := range []string{"127.0.0.1", "127.8.9.10", "0.0.0.0", "0.1.2.3", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "169.254.169.254", "100.64.0.1", "100.127.255.255",
		"192.0.0.1", "192.0.0.170", "192.0.2.1", "192.88.99.1", "198.18.0.1", "198.19.255.255", "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255",
		"::", "::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "::127.0.0.1", "::ffff:0:127.0.0.1", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::1", "100::1", "2001::1", "2001:db8::1",
		"2002:7f00:1::", "3fff::1", "5f00::1", "fc00::1", "fd12::1", "fe80::1", "fe80::1%eth0", "fec0::1", "ff02::1", "4000::1"} {
		w.server.documents = newDocuments((&publicDialer{w.resolve, w.connect}).dial, nil)
		for _, others := range [][]netip.Addr{nil, {netip.MustParseAddr(testPublic)}} {
			w.resolved["example.com"] = append(others, netip.MustParseAddr(address))
			w.mustStay(w.ask(request("client_id", fmt.Sprintf("https://example.com/%d.json", len(others)))), 400, "not on the public internet")
		}
	}
	if len(w.dialed) > 0 || w.fetches > 0 {
		t.Errorf("connected to %v", w.dialed)
	}
	for _, public := range []string{"8.8.8.8", "1.1.1.1", "172.15.0.1", "172.32.0.1", "100.63.0.1", "100.128.0.1", "192.0.3.1", "2606:4700::1111", "2a00:1450::1"} {
		if !isPublic(netip.MustParseAddr(public)) {
			t.Errorf("%s is refused", public)
		}
	}
}

// The real dialer checks again what the system is about to connect to.
func TestTheRealDialerConnectsToPublicAddressesOnly(t *testing.T) {
	listener := httptest.NewTLSServer(http.NotFoundHandler())
	defer listener.Close()
	d := newPublicDialer()
	if c, err := d.connect(t.Context(), "tcp", listener.Listener.Addr().String()); err == nil || !strings.Contains(err.Error(), "public internet") {
		t.Errorf("got %v, %v", c, err)
	}
	d.resolve = func(context.Context, string, string) ([]netip.Addr, error) { return nil, nil }
	if _, err := d.dial(t.Context(), "tcp", "example.com:443"); err == nil || !strings.Contains(err.Error(), "no address") {
		t.Errorf("a name without addresses: %v", err)
	}
	w := newWorld(t, func(c *Config) { c.Dial = nil })
	w.mustStay(w.ask(request("client_id", "https://localhost.localdomain.invalid/x")), 400, "cannot be reached")
}

func TestANameThatIsReboundAfterTheCheckLeadsNowhere(t *testing.T) {
	w := newWorld(t)
	answers := 0
	d := &publicDialer{connect: w.connect, resolve: func(context.Context, string, string) ([]netip.Addr, error) {
		if answers++; answers > 1 {
			return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
		}
		return []netip.Addr{netip.MustParseAddr("::ffff:" + testPublic)}, nil
	}}
	w.server.documents = newDocuments(d.dial, w.host.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs)
	if r := w.ask(request()); r.Code != 200 || answers != 1 || len(w.dialed) != 1 || w.dialed[0] != testPublic+":443" {
		t.Errorf("%d, %d questions, connected to %v, expected the address that was checked", r.Code, answers, w.dialed)
	}
	w.mustStay(w.ask(request("client_id", testDocument+"2")), 400, "not on the public internet")
}

func TestAClientIDThatIsNoAddressOfADocumentIsRefused(t *testing.T) {
	w := newWorld(t)
	for _, id := range []string{"http://example.com/client.json", "https://example.com", "https://example.com/", "https://127.0.0.1/c", "https://[::1]/c", "https://[::ffff:127.0.0.1]/c", "https://2130706433/c", "https://0x7f000001/c",
		"https://0x7f.1/c", "https://127.1/c", "https://017700000001/c", "https://localhost/c", "https://example.com:8443/c", "https://example.com:443/c", "https://u@example.com/c", "https://u:p@example.com/c", "https://example.com/c#f",
		"https://example.com/a/../c", "https://example.com/%2e%2e/c", "https://example.com\\@evil.test/c", "https://example.com./c", "https://exa mple.com/c", "https://exämple.com/c", "https:example.com/c", "https:///c", "HTTPS://example.com/c",
		"file:///etc/passwd", "ftp://example.com/c", "gopher://example.com/c", "https://example.com%2f@evil.test/c", "https://" + strings.Repeat("a", maxClientID) + ".com/c", "https://-a.com/c", "https://a..com/c"} {
		r := w.ask(request("client_id", id))
		if w.mustStay(r, 400, "client_id"); w.fetches > 0 || len(w.dialed) > 0 {
			t.Fatalf("%s was fetched", id)
		}
	}
}

func TestARedirectOfADocumentIsNotFollowed(t *testing.T) {
	w := newWorld(t)
	for i, status := range []int{301, 302, 303, 307, 308} {
		w.document = func(out http.ResponseWriter, r *http.Request) {
			http.Redirect(out, r, "https://example.com/other.json", status)
		}
		w.mustStay(w.ask(request("client_id", fmt.Sprintf("https://example.com/%d.json", i))), 400, fmt.Sprintf("answered %d, expected 200 without redirects", status))
	}
	if w.fetches != 5 {
		t.Errorf("%d fetches, expected 5", w.fetches)
	}
}

func TestALargeOrSlowDocumentIsRefused(t *testing.T) {
	w := newWorld(t)
	for i, size := range []int{maxDocument, 1 << 20} {
		w.document = w.answerDocument(map[string]any{"padding": strings.Repeat("x", size)})
		w.mustStay(w.ask(request("client_id", fmt.Sprintf("https://example.com/large%d", i))), 400, "larger than 5120 bytes")
	}
	w.document = func(out http.ResponseWriter, r *http.Request) {
		out.Header().Set("Content-Encoding", "gzip")
		w.answerDocument(nil)(out, r)
	}
	w.mustStay(w.ask(request("client_id", "https://example.com/gzip")), 400, "compressed")
	w.document = func(out http.ResponseWriter, r *http.Request) {
		out.Header().Set("X-Padding", strings.Repeat("x", 64<<10))
		w.answerDocument(nil)(out, r)
	}
	w.mustStay(w.ask(request("client_id", "https://example.com/header")), 400, "cannot be reached")
	if w.server.documents.http.Timeout != 5*time.Second {
		t.Errorf("the time limit is %s", w.server.documents.http.Timeout)
	}
	w.server.documents.http.Timeout = 50 * time.Millisecond
	w.document = func(out http.ResponseWriter, r *http.Request) { // a byte at a time
		out.Header().Set("Content-Type", "application/json")
		for r.Context().Err() == nil {
			out.Write([]byte(" "))
			out.(http.Flusher).Flush()
			time.Sleep(5 * time.Millisecond)
		}
	}
	w.mustStay(w.ask(request("client_id", "https://example.com/slow")), 400, "did not answer within")
}

func TestADocumentThatSpeaksForAnotherIsRefused(t *testing.T) {
	w := newWorld(t)
	for i, id := range []any{"https://example.com/other.json", "https://EXAMPLE.com/x", "https://example.com/x/", "", nil, 5, []string{testDocument}} {
		w.document = w.answerDocument(map[string]any{"client_id": id})
		w.mustStay(w.ask(request("client_id", fmt.Sprintf("https://example.com/x%d", i))), 400, "metadata document of the client cannot be used")
	}
}

func TestADocumentOfWrongContentIsRefused(t *testing.T) {
	w := newWorld(t)
	for i, c := range []struct {
		change map[string]any
		raw    string
		kind   string
		why    string
	}{
		{raw: "<html>", why: "no JSON object"}, {raw: "[]", why: "no JSON object"}, {raw: `{"client_id":"a","client_id":"b"}`, why: "no JSON object"}, {raw: "{} {}", why: "no JSON object"}, {raw: "{\"client_name\":\"\xff\"}", why: "no JSON object"},
		{kind: "text/html", why: "not of type application/json"}, {kind: "text/plain", why: "not of type"}, {kind: "application/jsonp", why: "not of type"},
		{change: map[string]any{"redirect_uris": []string{}}, why: "has 0 URIs"}, {change: map[string]any{"redirect_uris": make([]string, 21)}, why: "has 21 URIs"}, {change: map[string]any{"redirect_uris": "x"}, why: "no JSON object"},
		{change: map[string]any{"redirect_uris": []string{"http://evil.test/cb"}}, why: "redirect URI"}, {change: map[string]any{"client_secret": "x"}, why: "client secret"},
		{change: map[string]any{"token_endpoint_auth_method": "client_secret_basic"}, why: "client secret"}, {change: map[string]any{"grant_types": []string{"implicit"}}, why: "grant_types"},
		{change: map[string]any{"response_types": []string{"token"}}, why: "response_types"},
	} {
		w.document = func(out http.ResponseWriter, r *http.Request) {
			if c.raw != "" {
				out.Header().Set("Content-Type", "application/json")
				fmt.Fprint(out, c.raw)
				return
			}
			inner := httptest.NewRecorder()
			w.answerDocument(c.change)(inner, r)
			out.Header().Set("Content-Type", "application/json")
			if c.kind != "" {
				out.Header().Set("Content-Type", c.kind)
			}
			out.Write(inner.Body.Bytes())
		}
		w.sleep(time.Minute)
		w.mustStay(w.ask(request("client_id", fmt.Sprintf("https://example.com/%d.json", i))), 400, c.why)
	}
}

func TestTheCertificateOfADocumentsHostIsVerified(t *testing.T) {
	w := newWorld(t)
	w.resolved["evil.test"] = w.resolved["example.com"]
	w.mustStay(w.ask(request("client_id", "https://evil.test/client.json")), 400, "cannot be reached by https")
	w = newWorld(t, func(c *Config) { c.Roots = nil })
	w.mustStay(w.ask(request()), 400, "cannot be reached by https")
}

func TestNoProxyOfTheEnvironmentFetchesDocuments(t *testing.T) {
	w := newWorld(t)
	if w.server.documents.http.Transport.(*http.Transport).Proxy != nil {
		t.Error("documents are fetched by a proxy, which dials unchecked addresses")
	}
}

func TestMadeUpClientsCauseBoundedFetches(t *testing.T) {
	w := newWorld(t)
	w.ask(request())
	for i := range 3 * documentsAllowed {
		w.ask(request("client_id", fmt.Sprintf("https://example.com/%d.json", i)), "Peer", "127.0.0.1:1")
	}
	if w.fetches != documentsAllowed {
		t.Errorf("%d fetches within a minute, expected %d", w.fetches, documentsAllowed)
	}
	r := w.ask(request("client_id", "https://example.com/new.json"))
	if w.mustStay(r, 503, "too many unknown clients"); r.Header().Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	if r := w.ask(request()); r.Code != 200 {
		t.Errorf("a known client: %d", r.Code)
	}
	w.sleep(48 * time.Hour) // what is known of it is old
	for i := range documentsAllowed {
		w.ask(request("client_id", fmt.Sprintf("https://example.com/later-%d.json", i)), "Peer", "127.0.0.1:1")
	}
	if r := w.ask(request()); r.Code != 200 {
		t.Errorf("a client that was known, during a flood: %d", r.Code)
	}
	w.sleep(time.Minute)
	w.document = http.NotFound
	before := w.fetches
	for range 5 {
		w.mustStay(w.ask(request("client_id", "https://example.com/none.json")), 400, "answered 404")
	}
	if w.fetches != before+1 {
		t.Errorf("a failure was fetched %d times, expected once", w.fetches-before)
	}
	for i := range 2 * failuresKept {
		w.server.documents.bad.Put(fmt.Sprint(i), keptDocument{})
	}
	if kept := w.server.documents.bad.Stats().Values; kept > failuresKept {
		t.Errorf("%d failures are remembered, expected at most %d", kept, failuresKept)
	}
	if _, ok := w.server.documents.good.Peek(testDocument); !ok {
		t.Error("failures evicted a client")
	}
}

func TestConcurrentFetchesAreSharedAndBounded(t *testing.T) {
	w := newWorld(t)
	var mu sync.Mutex
	inside, most := 0, 0
	w.document = func(out http.ResponseWriter, r *http.Request) {
		mu.Lock()
		inside++
		most = max(most, inside)
		mu.Unlock()
		time.Sleep(30 * time.Millisecond)
		mu.Lock()
		inside--
		mu.Unlock()
		w.answerDocument(nil)(out, r)
	}
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() { w.ask(request()) })
		all.Go(func() {
			w.ask(request("client_id", fmt.Sprintf("https://example.com/%d.json", i)), "Peer", fmt.Sprintf("127.0.1.%d:1", i))
		})
	}
	all.Wait()
	if w.fetches != 21 || most > 8 {
		t.Errorf("%d fetches, %d at once; expected 21 and at most 8", w.fetches, most)
	}
}

func (w *world) register(body string, headers ...string) tokens {
	w.Helper()
	return w.parse(w.send("POST", pathRegister, body, append([]string{"-", "Content-Type", "Content-Type", "application/json"}, headers...)...))
}

func TestAFloodOfRegistrationsStoresNothingAndIsBounded(t *testing.T) {
	w := newWorld(t)
	taken := 0
	for i := range 10 * registrationsAllowed {
		if got := w.register(fmt.Sprintf(`{"client_name":"%d","redirect_uris":["http://localhost/cb"]}`, i)); got.Status == 201 {
			taken++
		} else if got.Status != 429 {
			t.Fatalf("got %+v", got)
		}
	}
	if taken != registrationsAllowed || w.apps.puts != 0 || len(w.apps.rows) != 0 {
		t.Errorf("%d registrations, %d rows; expected %d and none", taken, len(w.apps.rows), registrationsAllowed)
	}
	w.sleep(time.Minute)
	if got := w.register(`{"redirect_uris":["http://localhost/cb"]}`); got.Status != 201 || got.Name != unnamedClient {
		t.Errorf("a minute later: %+v", got)
	}
}

func TestRegistrationsAreChecked(t *testing.T) {
	w := newWorld(t)
	for body, code := range map[string]string{
		`{}`: "invalid_redirect_uri", `{"redirect_uris":[]}`: "invalid_redirect_uri", `{"redirect_uris":["http://evil.test/cb"]}`: "invalid_redirect_uri", `{"redirect_uris":["javascript:alert(1)"]}`: "invalid_redirect_uri",
		`{"redirect_uris":["http://localhost/cb"` + strings.Repeat(`,"http://localhost/cb"`, maxRegistered) + `]}`: "invalid_redirect_uri",
		`{"redirect_uris":["http://localhost/cb"],"redirect_uris":["https://evil.test"]}`:                          "invalid_client_metadata", `[]`: "invalid_client_metadata", `x`: "invalid_client_metadata", ``: "invalid_client_metadata",
		`{"redirect_uris":["http://localhost/cb"],"grant_types":["client_credentials"]}`: "invalid_client_metadata", `{"redirect_uris":["http://localhost/cb"],"response_types":["token"]}`: "invalid_client_metadata",
	} {
		w.sleep(time.Minute)
		if got := w.register(body); got.Error != code || got.Status != 400 || got.ClientID != "" {
			t.Errorf("%s: %+v, expected %s", body, got, code)
		}
	}
	long := w.register(`{"client_name":"` + strings.Repeat("é", 500) + `","redirect_uris":["https://app.example/` + strings.Repeat("a", 470) + `"]}`)
	if r := w.ask(request("client_id", long.ClientID, "redirect_uri", "https://app.example/"+strings.Repeat("a", 470))); r.Code != 200 || len([]rune(long.Name)) != maxName {
		t.Errorf("the largest registration: %d, name of %d", r.Code, len([]rune(long.Name)))
	}
}

// Older versions of VS Code register six redirect URIs.
func TestAClientWithManyRedirectURIsRegisters(t *testing.T) {
	w := newWorld(t)
	got := w.register(`{"client_name":"Visual Studio Code","client_uri":"https://code.visualstudio.com",
		"grant_types":["authorization_code","refresh_token","urn:ietf:params:oauth:grant-type:device_code"],"response_types":["code"],
		"redirect_uris":["https://insiders.vscode.dev/redirect","https://vscode.dev/redirect","http://localhost/","http://127.0.0.1/","http://localhost:33418/","http://127.0.0.1:33418/"],
		"token_endpoint_auth_method":"none","application_type":"native","scope":"read"}`)
	if got.Status != 201 {
		t.Fatalf("got %+v", got)
	}
	for _, uri := range []string{"https://vscode.dev/redirect", "http://127.0.0.1:33418/", "http://localhost:50000/"} {
		if r := w.ask(request("client_id", got.ClientID, "redirect_uri", uri)); r.Code != 200 {
			t.Errorf("%s: %d %s", uri, r.Code, r.Body)
		}
	}
	sized := func(length int) tokens {
		uri := `"https://app.example/` + strings.Repeat("a", length-len("https://app.example/")) + `"`
		return w.register(`{"client_name":"x","redirect_uris":[` + uri + strings.Repeat(","+uri, maxRegistered-1) + `]}`)
	}
	if got := sized(300); got.Status != 201 || len(got.ClientID) > maxClientID || w.ask(request("client_id", got.ClientID, "redirect_uri", "https://app.example/"+strings.Repeat("a", 280))).Code != 200 {
		t.Errorf("URIs of 300 bytes: %+v", got)
	}
	w.mustRefuse(sized(320), "invalid_redirect_uri", "expected at most 4096: send fewer or shorter URIs")
}

func TestForgedRegistrationsAreRefused(t *testing.T) {
	w := newWorld(t)
	good := formatRegistered(registration{"x", []string{testRedirect}})
	if r := w.ask(request("client_id", good)); r.Code != 200 {
		t.Fatal(r.Code)
	}
	encode := func(text string) string { return registeredPrefix + base64.RawURLEncoding.EncodeToString([]byte(text)) }
	name, _ := json.Marshal("x\u202e")
	for _, id := range []string{registeredPrefix, good + "=", good + "\n", good[:len(good)-1], registeredPrefix + strings.ToUpper(good[4:]), encode(`{}`), encode(`{"n":"x","r":["` + testRedirect + `"],"x":1}`), encode(`{"n":"x","r":["` + testRedirect + `"]} `),
		encode(`{"r":["` + testRedirect + `"],"n":"x"}`), encode(`{"n":"x","r":["javascript:alert(1)"]}`), encode(`{"n":"x","r":["http://evil.test/"]}`), encode(`{"n":` + string(name) + `,"r":["` + testRedirect + `"]}`),
		encode(`{"n":"` + strings.Repeat("x", 101) + `","r":["` + testRedirect + `"]}`), encode(`{"n":"x","n":"y","r":["` + testRedirect + `"]}`)} {
		w.mustStay(w.ask(request("client_id", id)), 400, "no registration of this server")
	}
}

func TestRegistrationCanBeOff(t *testing.T) {
	w := newWorld(t, func(c *Config) { c.NoRegistration = true })
	if got := w.register(`{"redirect_uris":["http://localhost/cb"]}`); got.Status != 403 || got.ClientID != "" {
		t.Errorf("got %+v", got)
	}
	w.mustStay(w.ask(request("client_id", formatRegistered(registration{"x", []string{testRedirect}}))), 400, "cannot register themselves")
}

// A connection from before the server's rules or address were others refreshes no more, and is
// not ended: an operator may take them back.
func TestAConnectionOfOtherTimesIsToConnectAgain(t *testing.T) {
	for name, c := range map[string]struct {
		clientID string
		change   func(*Server)
		says     string
	}{
		"registration is off now": {formatRegistered(registration{"x", []string{testRedirect}}), func(s *Server) { s.registers = false }, "cannot register themselves"},
		"it has another address":  {testDocument, func(s *Server) { s.publicURL = "https://new.example.com" }, "connect again, to https://new.example.com/mcp"},
	} {
		w := newWorld(t)
		invite, got := w.connected()
		app := w.app(invite)
		app.ClientID = c.clientID
		w.apps.rows[app.ID] = app
		registers, public := w.server.registers, w.server.publicURL
		c.change(w.server)
		w.mustRefuse(w.token(refresh(got.Refresh, "client_id", c.clientID)), "invalid_grant", c.says)
		w.server.registers, w.server.publicURL = registers, public
		if again := w.token(refresh(got.Refresh, "client_id", c.clientID)); again.Status != 200 {
			t.Errorf("%s, and then no more: %+v", name, again)
		}
	}
}

func TestAReboundHostIsRefused(t *testing.T) {
	w := newWorld(t)
	for _, host := range []string{"evil.test", "evil.test:8080", "localhost.evil.test", "127.0.0.1.evil.test", "localhost.", "127.1", "2130706433", "0x7f.0.0.1", "0.0.0.0", "10.0.0.1:8080", "[::]", "[fe80::1]", "[::ffff:127.0.0.1]:80", "[::1%25lo]", "::1", "localhost:0", "localhost:99999", "localhost:8080x", "localhost:", "a@localhost", ""} {
		for _, path := range Paths() {
			if r := w.send("GET", path, "", "Host", host); r.Code == 200 || !strings.Contains(r.Body.String(), "Host") && r.Code != 405 || strings.Contains(r.Body.String(), "evil") {
				t.Errorf("%q %s: %d %s", host, path, r.Code, r.Body)
			}
		}
		w.mustRefuse(w.token(exchange("x"), "Host", host), "access_denied", "Host")
	}
	for _, host := range []string{"localhost", "LOCALHOST:8080", "127.0.0.1", "127.0.0.1:80", "127.9.9.9:1", "[::1]", "[::1]:8080"} {
		if r := w.send("GET", pathIssuer, "", "Host", host); r.Code != 200 || !strings.Contains(r.Body.String(), `"issuer":"http://`+strings.ToLower(host)+`"`) {
			t.Errorf("%q: %d %s", host, r.Code, r.Body)
		}
	}
}

func TestAnotherMachineIsRefusedWithoutAPublicURL(t *testing.T) {
	for _, public := range []string{"", "https://ads.example.com"} {
		w := newWorld(t, func(c *Config) { c.PublicURL = public })
		for _, peer := range []string{"192.168.1.5:1", "8.8.8.8:1", "[2001:db8::1]:1", "[::ffff:10.0.0.1]:1", "0.0.0.0:1", "@", ""} {
			if r := w.send("GET", pathIssuer, "", "Peer", peer); r.Code != map[bool]int{true: 403, false: 200}[public == ""] {
				t.Errorf("%q with public URL %q: %d", peer, public, r.Code)
			}
		}
		for _, peer := range []string{"127.0.0.1:1", "[::1]:1", "[::ffff:127.0.0.1]:1"} {
			if r := w.send("GET", pathIssuer, "", "Peer", peer); r.Code != 200 {
				t.Errorf("%q: %d", peer, r.Code)
			}
		}
	}
}

func TestAProxiedRequestIsRefusedWithoutAPublicURL(t *testing.T) {
	for _, public := range []string{"", "https://ads.example.com"} {
		w := newWorld(t, func(c *Config) { c.PublicURL = public })
		for _, header := range []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "x-forwarded-proto", "X-Forwarded-Anything"} {
			r := w.send("GET", pathResource, "", header, "evil.test")
			if (r.Code == 403) != (public == "") || strings.Contains(r.Body.String(), "evil.test") {
				t.Errorf("%s with public URL %q: %d %s", header, public, r.Code, r.Body)
			}
		}
	}
}

// With a public URL no header changes what clients are told.
func TestThePublicURLDecidesWhateverTheHostHeader(t *testing.T) {
	w := newWorld(t, func(c *Config) { c.PublicURL = "https://ads.example.com" })
	for _, path := range []string{pathResource, pathIssuer} {
		r := w.send("GET", path, "", "Host", "evil.test", "X-Forwarded-Host", "evil.test", "Forwarded", "host=evil.test")
		if r.Code != 200 || strings.Contains(r.Body.String(), "evil") || !strings.Contains(r.Body.String(), "https://ads.example.com") {
			t.Errorf("%s: %d %s", path, r.Code, r.Body)
		}
	}
}

var _ net.Error = (*timeoutError)(nil)

type timeoutError struct{}

func (*timeoutError) Error() string   { return "10.0.0.7: timeout" }
func (*timeoutError) Timeout() bool   { return true }
func (*timeoutError) Temporary() bool { return true }

func TestAFailedFetchTellsNothingOfThisNetwork(t *testing.T) {
	for _, cause := range []error{&timeoutError{}, fmt.Errorf("dial tcp 10.0.0.7:443: connection refused"), &net.DNSError{Err: "no such host", Name: "x", Server: "10.0.0.53"}} {
		if got := plainFetchError(cause).Error(); strings.Contains(got, "10.0.0") || strings.Contains(got, "refused") {
			t.Errorf("got %s", got)
		}
	}
}

var _ auth.AppStore = (*memoryApps)(nil)
