package house

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"adlens/integration/harness"
	"adlens/integration/model"
)

// Problem is an error answer.
type Problem struct {
	Type, Title, Detail, Code string
	Status                    int
	RequestID                 string `json:"request_id"`
	Limit                     string
	Errors                    []ParameterFault
}

// ParameterFault is one of errors[].
type ParameterFault struct {
	Parameter, Code, Detail string
	Value                   any
	Allowed                 []string
	DidYouMean              string `json:"did_you_mean"`
}

// ProblemOf demands a whole problem answer with this status and code.
func ProblemOf(t *testing.T, a harness.Answer, status int, code string) Problem {
	t.Helper()
	var p Problem
	if err := json.Unmarshal(a.Body, &p); err != nil {
		t.Errorf("want a problem with status %d, got %s: %v", status, a, err)
		return p
	}
	if a.Status != status || p.Status != status || p.Code != code {
		t.Errorf("want status %d and code %q, got %s", status, code, a)
	}
	if !strings.HasPrefix(a.Header.Get("Content-Type"), "application/problem+json") {
		t.Errorf("want application/problem+json, got %q", a.Header.Get("Content-Type"))
	}
	if p.Type == "" || p.Title == "" || p.Detail == "" || p.RequestID == "" || p.RequestID != a.Header.Get("X-Request-Id") {
		t.Errorf("want type, title, detail and the request id of the header %q, got %s", a.Header.Get("X-Request-Id"), a.Body)
	}
	if cache := a.Header.Get("Cache-Control"); !strings.Contains(cache, "no-store") {
		t.Errorf("want an error not to be stored, got Cache-Control %q", cache)
	}
	return p
}

// ShopWithData is an account in the shared house with marketplaces US and UK
// and a few figures.
func ShopWithData(t *testing.T) (*House, *Tenant) {
	t.Helper()
	h := Shared(t)
	one := &Tenant{Model: model.New()}
	one.Files.ID = AccountID(t)
	one.Ask = h.Client(t, one.Files.ID)
	dir := t.TempDir()
	ProfilesFile(t, dir, [4]string{"101", "US", "USD", "seller"}, [4]string{"102", "UK", "GBP", "vendor"})
	SpPair("figures", "101", DaysAgo(40), 31, time.Now().Add(-time.Hour)).Write(t, dir)
	Load(t, h.Program, one, dir)
	return h, one
}

// Endpoints are requests that a shop with data answers, one for each endpoint.
var Endpoints = []string{
	"/account", "/marketplaces", "/summary", "/timeline", "/reports/products", "/report?dimensions=date,product",
	"/campaigns?marketplace_id=101", "/ad-groups?marketplace_id=101", "/rules", "/activity",
}

// Get asks with a client that must get an answer.
func Get(t *testing.T, c harness.Client, path string, headers ...string) harness.Answer {
	t.Helper()
	answer, err := c.Get(path, headers...)
	Need(t, err)
	return answer
}

// Feed makes a feed link and returns its path.
func Feed(t *testing.T, h *House, account, request string, more ...string) string {
	t.Helper()
	return link(t, h, "/feed/feed_", append([]string{"feed", "create", "--account", account, "--name", "sheet", "--request", request}, more...))
}

// Share makes a share link to a view of the page, and returns its path.
func Share(t *testing.T, h *House, account, view string, more ...string) string {
	t.Helper()
	return link(t, h, "/share/share_", append([]string{"share", "create", "--account", account, "--name", "board", view}, more...))
}

// link makes a link whose path begins so.
func link(t *testing.T, h *House, begins string, command []string) string {
	t.Helper()
	r := h.Run(command...)
	if r.Code != 0 {
		t.Fatal(r)
	}
	path := strings.TrimSpace(r.Stdout)
	if !strings.HasPrefix(path, begins) || strings.Contains(path, "\n") {
		t.Fatalf("want the path alone, got %q", r.Stdout)
	}
	return path
}

// listedKey is what key list --json shows of a key.
type listedKey struct {
	KeyID      string `json:"key_id"`
	Name       string
	Start      string
	Scopes     []string
	CreatedAt  string  `json:"created_at"`
	LastUsedAt *string `json:"last_used_at"`
	ExpiresAt  *string `json:"expires_at"`
	RevokedAt  *string `json:"revoked_at"`
}

// KeyList lists the keys of an account.
func KeyList(t *testing.T, h *House, account string) []listedKey {
	t.Helper()
	r := h.Run("key", "list", "--account", account, "--json")
	var list struct{ Data []listedKey }
	if err := json.Unmarshal([]byte(r.Stdout), &list); err != nil || r.Code != 0 {
		t.Fatalf("key list: %v %s", err, r)
	}
	return list.Data
}

// RawRequest joins lines as HTTP does. The first line and the host are given.
func RawRequest(path string, lines ...string) string {
	return strings.Join(slices.Concat([]string{"GET " + path + " HTTP/1.1", "Host: x"}, lines, []string{"", ""}), "\r\n")
}

// AccountPath is the path of the account.
const AccountPath = "/api/v1/account"

// App connects an assistant to an account of a running engine, as consent and the
// exchange of a code would, and returns its id. There is no text of its tokens.
func App(t *testing.T, p *harness.Program, account, name string) string {
	t.Helper()
	r := p.Run("app", "invite", "--account", account, "--json")
	var invited struct {
		ID string `json:"app_id"`
	}
	if r.Code != 0 || json.Unmarshal([]byte(r.Stdout), &invited) != nil {
		t.Fatalf("app invite: %s", r)
	}
	AsWriter(t, p, "INSERT INTO apps SELECT * REPLACE ('"+name+"' AS name, 'https://assistant.example/client' AS client_id, 'https://assistant.example/back' AS redirect_uri, "+
		"now64(3) AS connected_at, now64(3) + INTERVAL 30 DAY AS refresh_expires_at, now64(9) AS updated_at) FROM apps WHERE app_id = '"+invited.ID+"'")
	return invited.ID
}
