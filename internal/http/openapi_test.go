package http

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"adlens"
	"adlens/docs"
	"adlens/internal/auth"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"go.uber.org/zap"
)

// apiDocument is what these tests read of the document.
type apiDocument struct {
	Paths map[string]struct {
		Get struct {
			Parameters []struct {
				Ref  string `json:"$ref"`
				Name string
			}
			Responses map[string]struct {
				Ref     string `json:"$ref"`
				Headers map[string]any
			}
		}
	}
	Components struct {
		Responses map[string]struct {
			Headers map[string]any
			Content map[string]struct {
				Examples map[string]any
			}
		}
		Schemas struct {
			ErrorCode struct{ Enum []string }
		}
	}
}

func documented(t *testing.T) (d apiDocument) {
	t.Helper()
	if err := json.Unmarshal(docs.OpenAPI(), &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// aheadOfTheProgram are addresses that the document has, and the program not
// yet. One that it has got must leave this list.
var aheadOfTheProgram []string

func TestEveryRouteIsInTheDocumentAndTheOtherWayRound(t *testing.T) {
	s := New(Config{Log: zap.NewNop()})
	routes := map[string]bool{}
	for _, r := range s.newEngine().Routes() {
		path := regexp.MustCompile(`[:*](\w+)`).ReplaceAllString(r.Path, "{$1}")
		// Pages for people describe themselves.
		if path != "/" && path != "/docs" && !strings.HasPrefix(path, "/docs/") && !strings.HasPrefix(path, "/page/") && !strings.HasPrefix(path, sharePath) {
			routes[path] = true
		}
	}
	paths := documented(t).Paths
	for path := range routes {
		if _, ok := paths[path]; !ok {
			t.Errorf("%s is not in the document", path)
		}
	}
	for path := range paths {
		if ahead := slices.Contains(aheadOfTheProgram, path); routes[path] == ahead {
			t.Errorf("%s: a route is %t, and it is ahead of the program %t", path, routes[path], ahead)
		}
	}
}

func TestEveryErrorIsInTheDocumentWithItsStatus(t *testing.T) {
	d := documented(t)
	var codes []string
	for _, k := range problemKinds {
		codes = append(codes, string(k.Code))
		if !slices.Contains(d.statusesOf(string(k.Code)), fmt.Sprint(k.Status)) {
			t.Errorf("%s has the status %d; the document shows it with %v", k.Code, k.Status, d.statusesOf(string(k.Code)))
		}
		if k.Remedy == "" || k.Help == "" {
			t.Errorf("%s is not explained", k.Code)
		}
	}
	slices.Sort(codes)
	slices.Sort(d.Components.Schemas.ErrorCode.Enum)
	if !slices.Equal(codes, d.Components.Schemas.ErrorCode.Enum) {
		t.Errorf("the program has the errors %q, the document %q", codes, d.Components.Schemas.ErrorCode.Enum)
	}
	if got := d.statusesOf(string(codeTooLarge)); !slices.Equal(got, []string{"413", "414", "431"}) {
		t.Errorf("%s is shown with %v", codeTooLarge, got)
	}
}

// Every address refuses what is too large, before it looks at anything else.
func TestEveryAddressDocumentsWhatIsTooLarge(t *testing.T) {
	h := handler(newWorld(), "acme-active")
	for path, item := range documented(t).Paths {
		address := regexp.MustCompile(`{\w+}`).ReplaceAllString(path, "x")
		for status, request := range map[int]*http.Request{
			http.StatusRequestEntityTooLarge:       httptest.NewRequest(http.MethodGet, address, strings.NewReader(strings.Repeat("x", maxBody+1))),
			http.StatusRequestURITooLong:           httptest.NewRequest(http.MethodGet, address+"?"+strings.Repeat("x", maxAddress), nil),
			http.StatusRequestHeaderFieldsTooLarge: httptest.NewRequest(http.MethodGet, address, nil),
		} {
			if status == http.StatusRequestHeaderFieldsTooLarge {
				request.Header.Set("X-Long", strings.Repeat("x", maxHeaders))
			}
			got := httptest.NewRecorder()
			h.ServeHTTP(got, request)
			if reference := item.Get.Responses[strconv.Itoa(status)].Ref; got.Code != status || filepath.Base(reference) != "TooLarge" {
				t.Errorf("%s: status %d, want %d, which is documented as %q", path, got.Code, status, reference)
			}
		}
	}
}

// What is answered to a condition says by which header that is sent.
func TestHeadersOfRequestsAreInTheDocument(t *testing.T) {
	for path, item := range documented(t).Paths {
		_, answered := item.Get.Responses["304"]
		sent, names := false, map[string]bool{}
		for _, p := range item.Get.Parameters {
			sent = sent || p.Ref == "#/components/parameters/If-None-Match"
			name := strings.ToLower(cmp.Or(p.Name, filepath.Base(p.Ref)))
			if names[name] {
				t.Errorf("%s has two parameters %s, which many generators of clients take for one", path, name)
			}
			names[name] = true
		}
		if sent != answered {
			t.Errorf("%s: 304 is documented %t, and its parameter If-None-Match %t", path, answered, sent)
		}
	}
}

// statusesOf are the statuses that a code is shown with.
func (d apiDocument) statusesOf(code string) []string {
	var all []string
	for _, path := range d.Paths {
		for status, r := range path.Get.Responses {
			answer := d.Components.Responses[filepath.Base(r.Ref)]
			if _, shown := answer.Content["application/problem+json"].Examples[code]; shown && !slices.Contains(all, status) {
				all = append(all, status)
			}
		}
	}
	slices.Sort(all)
	return all
}

// provocation is a request that an error answers.
type provocation struct {
	summary, method, path string
	key                   bool
	account               string
	fails                 adlens.Kind
	before                int // requests
	scopeless             bool
	body                  int
}

// provocations bring about every error.
var provocations = map[adlens.Code]provocation{
	adlens.UnknownValue:          {summary: "A range that there is none of", path: "/api/v1/summary?range=last_31_days", key: true},
	adlens.InvalidParameter:      {summary: "A day that does not exist, and a page that cannot be", path: "/api/v1/reports/products?start_date=2026-02-30&end_date=2026-03-01&page=0", key: true},
	adlens.UnknownParameter:      {summary: "A misspelt filter", path: "/api/v1/summary?marketplace=US", key: true},
	adlens.MissingParameter:      {summary: "One date alone", path: "/api/v1/timeline?start_date=2026-03-01", key: true},
	adlens.ConflictingParameters: {summary: "A named range with dates", path: "/api/v1/summary?range=today&start_date=2026-03-01&end_date=2026-03-02", key: true},
	adlens.PeriodTooLong:         {summary: "More than six years", path: "/api/v1/summary?start_date=2019-01-01&end_date=2026-01-01", key: true},
	adlens.GranularityTooFine:    {summary: "Days of a year", path: "/api/v1/timeline?range=last_year&granularity=day", key: true},
	codeMissingKey:               {summary: "No key", path: "/api/v1/summary"},
	codeInvalidKey:               {summary: "A key that is none", path: "/api/v1/summary"},
	codeInactive:                 {summary: "An account whose subscription ended", path: "/api/v1/summary", key: true, account: "acme-canceled"},
	codeScope:                    {summary: "A key without the scope", path: "/api/v1/summary", key: true, scopeless: true},
	codeNotFound:                 {summary: "An address that there is none of", path: "/api/v1/sumary", key: true},
	codeMethod:                   {summary: "A method that would change something", method: http.MethodDelete, path: "/api/v1/rules", key: true},
	codeTooLarge:                 {summary: "A body of 2,000 bytes", path: "/api/v1/summary", key: true, body: 2000},
	codeRateLimited:              {summary: "The 61st request within a minute", path: "/api/v1/account", key: true, before: 60},
	codeUnavailable:              {summary: "While the database restarts", path: "/api/v1/summary", key: true, fails: adlens.EngineUnavailable},
	codeOverloaded:               {summary: "While there is too much to do", path: "/api/v1/summary", key: true, fails: adlens.Overloaded},
	codeTimeout:                  {summary: "A question that took too long", path: "/api/v1/summary", key: true, fails: adlens.QueryTimeout},
	codeInternal:                 {summary: "Something that should not happen", path: "/api/v1/summary", key: true, fails: adlens.Internal},
}

func TestTheErrorsOfTheDocumentAreRealAnswers(t *testing.T) {
	for _, k := range problemKinds {
		p, ok := provocations[k.Code]
		if !ok {
			t.Errorf("nothing brings %s about", k.Code)
			continue
		}
		got := p.provoke(k.Code)
		if !strings.Contains(got.Body.String(), fmt.Sprintf(`"code":%q`, k.Code)) {
			t.Errorf("%s: %d %s", k.Code, got.Code, got.Body)
		}
		checkHeaders(t, k.Code, got)
		body := regexp.MustCompile(`"request_id":"[^"]*"`).ReplaceAllString(got.Body.String(), `"request_id":"ACLLTDVWGKHLJHSFFHPQNK4C2R"`)
		method := p.method
		if method == "" {
			method = http.MethodGet
		}
		checkExample(t, string(k.Code), docs.Example{Summary: p.summary, Request: method + " " + p.path, Value: jsontext.Value(body)})
	}
}

// scopeless finds the one key without the right to read.
type scopeless struct{ keys }

func (k scopeless) KeyByHash(ctx context.Context, hash [32]byte) (auth.Record, bool, error) {
	record, found, err := k.keys.KeyByHash(ctx, hash)
	record.Scopes = nil
	return record, found, err
}

func (p provocation) provoke(code adlens.Code) *httptest.ResponseRecorder {
	w := newWorld()
	if p.fails != "" {
		w.fails = &adlens.Error{Kind: p.fails, Err: fmt.Errorf("provoked")}
	}
	account := "acme-active"
	if p.account != "" {
		account = p.account
	}
	h := handler(w, account)
	if p.scopeless {
		h, _ = watched(w, scopeless{keys{account}})
	}
	var got *httptest.ResponseRecorder
	for range p.before + 1 {
		request := httptest.NewRequest(p.method, p.path, strings.NewReader(strings.Repeat("x", p.body)))
		if p.key {
			request.Header.Set("Authorization", "Bearer "+key.Reveal())
		} else if code == codeInvalidKey {
			request.Header.Set("Authorization", "Bearer key_live_none")
		}
		got = httptest.NewRecorder()
		h.ServeHTTP(got, request)
	}
	return got
}

// checkHeaders holds the headers of an error against those that are
// documented, both ways for those that not every answer has.
func checkHeaders(t *testing.T, code adlens.Code, got *httptest.ResponseRecorder) {
	t.Helper()
	for _, r := range documented(t).Components.Responses {
		if _, of := r.Content["application/problem+json"].Examples[string(code)]; !of {
			continue
		}
		for _, name := range []string{"Retry-After", "WWW-Authenticate", "Allow", "X-Request-Id", "Cache-Control", "Vary"} {
			if name == "Vary" && code == codeNotFound {
				continue // an address that there is none of has none, and is not in the document
			}
			if _, said := r.Headers[name]; said != (got.Header().Get(name) != "") {
				t.Errorf("%s: the header %s is documented %t, and is %q", code, name, said, got.Header().Get(name))
			}
		}
	}
}

// unlistedHeaders are of HTTP, or of every answer for the sake of browsers.
var unlistedHeaders = []string{"Content-Type", "Content-Length", "Content-Encoding", "X-Content-Type-Options", "Content-Security-Policy", "Referrer-Policy"}

// Answers and errors of authenticated addresses have no header that the document does
// not list for their status.
func TestEveryHeaderOfAnAnswerIsInTheDocument(t *testing.T) {
	d := documented(t)
	const products = "/api/v1/reports/products"
	for _, c := range []struct {
		path, query, held string
		status            int
		fails             adlens.Kind
	}{
		{path: "/api/v1/summary", status: 200},
		{path: "/api/v1/account", status: 200},
		{path: products, query: "?page_size=1", status: 200},
		{path: products, query: "?page_size=1&format=parquet", held: "bytes=0-3", status: 206},
		{path: products, query: "?format=parquet", held: "bytes=999999999-", status: 416},
		{path: products, held: "*", status: 304},
		{path: "/openapi.json", status: 200},
		{path: "/openapi.json", held: "*", status: 304},
		{path: "/api/v1/summary", status: 500, fails: adlens.Internal},
		{path: "/api/v1/summary", status: 503, fails: adlens.EngineUnavailable},
		{path: "/api/v1/summary", status: 504, fails: adlens.QueryTimeout},
	} {
		w := newWorld()
		if c.fails != "" {
			w.fails = &adlens.Error{Kind: c.fails, Err: fmt.Errorf("provoked")}
		}
		request := httptest.NewRequest(http.MethodGet, c.path+c.query, nil)
		request.Header.Set("Authorization", "Bearer "+key.Reveal())
		request.Header.Set(map[bool]string{true: "If-None-Match", false: "Range"}[c.held == "*"], c.held)
		got := httptest.NewRecorder()
		handler(w, "acme-active").ServeHTTP(got, request)
		if got.Code != c.status {
			t.Errorf("%s%s: status %d, want %d: %s", c.path, c.query, got.Code, c.status, got.Body)
		}
		r := d.Paths[c.path].Get.Responses[fmt.Sprint(c.status)]
		headers := r.Headers
		if r.Ref != "" {
			headers = d.Components.Responses[filepath.Base(r.Ref)].Headers
		}
		for name := range got.Header() {
			listed := slices.ContainsFunc(slices.Collect(maps.Keys(headers)), func(one string) bool { return strings.EqualFold(one, name) })
			if !listed && !slices.Contains(unlistedHeaders, name) {
				t.Errorf("%s%s: the document lists no header %s for %d", c.path, c.query, name, c.status)
			}
		}
	}
}

func checkExample(t *testing.T, name string, e docs.Example) {
	t.Helper()
	text, err := jsonv2.Marshal(e, jsontext.WithIndent("  "))
	if err != nil {
		t.Fatal(err)
	}
	text = append(text, '\n')
	path := filepath.Join("..", "..", "docs", "examples", "errors", name+".json")
	if *update {
		if err := os.WriteFile(path, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != string(text) {
		t.Errorf("%s (go test ./internal/http -update):\ngot  %s\nwant %s", path, text, want)
	}
}
