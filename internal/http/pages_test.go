package http

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"adlens/docs"
	"adlens/internal/answer"
	"adlens/internal/auth"
	"adlens/internal/catalogue"
	"adlens/web"
	webdocs "adlens/web/docs"

	"golang.org/x/net/html"
)

// visit reads a page as a stranger.
func visit(h http.Handler, path string, headers ...string) *httptest.ResponseRecorder {
	request := httptest.NewRequest(http.MethodGet, path, nil)
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	recorder := httptest.NewRecorder()
	h.ServeHTTP(recorder, request)
	return recorder
}

func allPages(t *testing.T) []string {
	t.Helper()
	site, err := newDocumentation()
	if err != nil {
		t.Fatal(err)
	}
	paths := site.Paths()
	slices.Sort(paths)
	return paths
}

func TestEveryPageIsServedSafely(t *testing.T) {
	h := handler(newWorld(), "acme-active")
	paths := allPages(t)
	for _, path := range paths {
		got := visit(h, path)
		if got.Code != http.StatusOK {
			t.Errorf("%s: status %d", path, got.Code)
		}
		policy := web.ReadingPolicy
		if path == webdocs.SearchPath {
			policy = web.SearchPolicy
		}
		for name, want := range map[string]string{"Content-Security-Policy": policy, "Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff"} {
			if value := got.Header().Get(name); value != want {
				t.Errorf("%s: %s is %q", path, name, value)
			}
		}
		tag := got.Header().Get("ETag")
		again := visit(h, path, "If-None-Match", tag)
		if !strings.HasPrefix(tag, `"`) || again.Code != http.StatusNotModified || again.Body.Len() != 0 || again.Header().Get("ETag") != tag {
			t.Errorf("%s: ETag %s, and then status %d", path, tag, again.Code)
		}
	}
	if len(paths) < 40 {
		t.Errorf("there are %d pages", len(paths))
	}
	for _, path := range []string{"/docs/none", "/docs/reference/none", "/docs/errors/none", "/docs/recipes/none", "/docs/pages/home.html", "/docs/../server.go"} {
		if got := visit(h, path); got.Code != http.StatusNotFound {
			t.Errorf("%s: status %d", path, got.Code)
		}
	}
}

// reading is what is found on a page: the ids of places, and where it leads.
type reading struct {
	ids   map[string]bool
	links []string
}

func TestThePagesHoldTogether(t *testing.T) {
	h := handler(newWorld(), "acme-active")
	pages := map[string]reading{}
	for _, path := range allPages(t) {
		if got := visit(h, path); strings.HasPrefix(got.Header().Get("Content-Type"), "text/html") {
			pages[path] = read(t, path, got.Body.String())
		}
	}
	for path, page := range pages {
		for _, link := range page.links {
			target, err := url.Parse(link)
			if err != nil || target.Host != "" || target.Scheme != "" {
				t.Errorf("%s leads to another host: %s", path, link)
				continue
			}
			to := target.Path
			if to == "" {
				to = path
			} else if got := visit(h, to); got.Code != http.StatusOK {
				t.Errorf("%s leads to %s: status %d", path, link, got.Code)
			}
			if target.Fragment != "" && !pages[to].ids[target.Fragment] {
				t.Errorf("%s leads to %s, where there is no such place", path, link)
			}
		}
	}
}

// Elements that have no end.
var void = []string{"meta", "link", "br", "hr", "img", "input", "source"}

// read checks the form of a page: what is opened is closed, in order, one main
// heading, no step left out between headings, and nothing that the policy
// would refuse.
func read(t *testing.T, path, text string) reading {
	t.Helper()
	r := reading{ids: map[string]bool{}}
	var open []string
	level, landmarks := 0, map[string]int{}
	z := html.NewTokenizer(strings.NewReader(text))
	for {
		switch kind := z.Next(); kind {
		case html.ErrorToken:
			if len(open) > 0 || landmarks["main"] != 1 || landmarks["h1"] != 1 || landmarks["nav"] != 1 || landmarks["header"] != 1 || landmarks["footer"] != 1 {
				t.Errorf("%s: open at the end %q, landmarks %v", path, open, landmarks)
			}
			return r
		case html.StartTagToken:
			token := z.Token()
			landmarks[token.Data]++
			if !slices.Contains(void, token.Data) {
				open = append(open, token.Data)
			}
			if heading := regexp.MustCompile(`^h([1-6])$`).FindStringSubmatch(token.Data); heading != nil {
				now := int(heading[1][0] - '0')
				if now > level+1 {
					t.Errorf("%s: a heading of level %d after one of level %d", path, now, level)
				}
				level = now
			}
			r.attributes(t, path, token)
		case html.EndTagToken:
			token := z.Token()
			if len(open) == 0 || open[len(open)-1] != token.Data {
				t.Fatalf("%s: </%s> where %q are open", path, token.Data, open)
			}
			open = open[:len(open)-1]
		}
	}
}

func (r *reading) attributes(t *testing.T, path string, token html.Token) {
	t.Helper()
	if token.Data == "script" && path == webdocs.SearchPath {
		if len(token.Attr) != 2 || token.Attr[1] != (html.Attribute{Key: "src", Val: "/docs/search.js"}) {
			t.Errorf("%s has the script %v", path, token)
		}
	} else if token.Data == "script" || token.Data == "style" || token.Data == "iframe" {
		t.Errorf("%s has a %s", path, token.Data)
	}
	named := map[string]string{}
	for _, a := range token.Attr {
		named[a.Key] = a.Val
		switch {
		case a.Key == "href" || a.Key == "src" || a.Key == "action":
			r.links = append(r.links, a.Val)
		case a.Key == "style" || strings.HasPrefix(a.Key, "on"):
			t.Errorf("%s: <%s %s> is inline", path, token.Data, a.Key)
		case a.Key == "id" && r.ids[a.Val]:
			t.Errorf("%s has the id %s twice", path, a.Val)
		case a.Key == "id":
			r.ids[a.Val] = true
		}
	}
	if token.Data == "th" && named["scope"] == "" && !strings.HasPrefix(path, "/docs/recipes/") {
		t.Errorf("%s: a header cell does not say of what", path)
	}
}

// How many rows an endpoint gives at once is the catalogue's.
func TestThePagesNameHowManyRowsEachEndpointGives(t *testing.T) {
	h := New(testConfig(newWorld(), keys{"acme-active"})).Handler()
	limits, formats := visit(h, "/docs/limits").Body.String(), visit(h, "/docs/formats").Body.String()
	_, paragraph, _ := strings.Cut(formats, `<h2 id="all">`)
	for _, e := range catalogue.Endpoints {
		size, paged := e.Parameter("page_size")
		if !paged {
			continue
		}
		named := "<code>" + e.Path + "</code>"
		if strings.Contains(paragraph, named) != size.TakesAll {
			t.Errorf("page_size=all of %s: %t, and the page of formats says otherwise: %s", e.Path, size.TakesAll, paragraph)
		}
		if row := fmt.Sprintf("of %s in another format than JSON %d,%03d<", named, size.Max/1000, size.Max%1000); strings.Contains(limits, row) != (size.Max == catalogue.MaxTablePageSize) {
			t.Errorf("a page of %s has up to %d rows, and the page of limits says otherwise", e.Path, size.Max)
		}
	}
}

// Whatever bounds a request is on the page of limits, as the program has it.
func TestThePageOfLimitsHasEachBound(t *testing.T) {
	text := visit(New(testConfig(newWorld(), keys{"acme-active"})).Handler(), "/docs/limits").Body.String()
	for _, e := range catalogue.Endpoints {
		for _, p := range e.Parameters {
			bound := ""
			switch {
			case p.Name == "dimensions":
				bound = fmt.Sprintf(`<code>dimensions</code></th><td>%d<`, p.MaxValues)
			case p.Name == "search":
				bound = fmt.Sprintf("<code>search</code></th><td>%d to %d characters", p.Min, p.Max)
			case strings.HasSuffix(p.Name, "_ids"):
				bound = fmt.Sprintf("ids in one list</th><td>%d ", p.MaxValues)
			}
			if !strings.Contains(text, bound) {
				t.Errorf("%s of %s: %q is missing", p.Name, e.Path, bound)
			}
		}
	}
	for _, bound := range []string{fmt.Sprintf("also %d in any 60 seconds", auth.AppMinute), answer.MemoryPatience.String() + ",", fmt.Sprintf("%d,%03d to a server", maxConnections/1000, maxConnections%1000)} {
		if !strings.Contains(text, bound) {
			t.Errorf("%q is missing", bound)
		}
	}
}

func TestThePeriodsAreThoseOfNowAndOfTheZone(t *testing.T) {
	h := handler(newWorld(), "acme-active") // on 10 March 2026, noon in UTC
	row := regexp.MustCompile(`(?s)<code>last_7_days</code>.*?<td class="day">([^<]*)</td><td class="day">([^<]*)</td>`)
	for zone, want := range map[string][2]string{"": {"2026-03-04", "2026-03-10"}, "?timezone=Pacific/Kiritimati": {"2026-03-05", "2026-03-11"}} {
		got := visit(h, webdocs.PeriodsPath+zone)
		days := row.FindStringSubmatch(got.Body.String())
		if got.Code != http.StatusOK || days == nil || [2]string(days[1:]) != want {
			t.Errorf("%s: status %d, %q, want %q", zone, got.Code, days, want)
		}
	}
	got := visit(h, webdocs.PeriodsPath+"?timezone="+url.QueryEscape(`<b>Mars</b>`))
	if got.Code != http.StatusBadRequest || strings.Contains(got.Body.String(), "<b>Mars") || !strings.Contains(got.Body.String(), "&lt;b&gt;Mars") || got.Header().Get("ETag") != "" {
		t.Errorf("a zone that is none: status %d, %.300s", got.Code, got.Body)
	}
}

func TestTheDocumentIsServedWhole(t *testing.T) {
	h := handler(newWorld(), "acme-active")
	for path, want := range map[string]string{"/openapi.json": string(docs.OpenAPI()), "/openapi.json?format=json": string(docs.JSONOnly())} {
		got := visit(h, path)
		served := strings.Replace(got.Body.String(), docs.Servers("http://example.com"), docs.Servers(docs.RelativeAddress), 1)
		if got.Code != http.StatusOK || got.Header().Get("Content-Type") != "application/json" || served != want || served == got.Body.String() {
			t.Errorf("%s: status %d, %s, %d bytes", path, got.Code, got.Header().Get("Content-Type"), got.Body.Len())
		}
		if strings.Contains(served, `"$ref":"examples/`) {
			t.Errorf("%s: an example is not in its place", path)
		}
	}
	for query, want := range map[string]string{"format=csv": `"csv"`, "format=": "empty", "formats=json": "format", "format=json&format=json": "twice", "%zz": "%zz"} {
		got := visit(h, "/openapi.json?"+query)
		if got.Code != http.StatusBadRequest || got.Header().Get("Vary") == "" || !strings.Contains(got.Body.String(), want) && !strings.Contains(got.Body.String(), strings.ReplaceAll(want, `"`, `\"`)) {
			t.Errorf("%s: status %d, %s", query, got.Code, got.Body)
		}
	}
}

// A document for JSON alone says nothing of other formats, and has no part that
// nothing leads to.
func TestTheDocumentOfJSONHasNothingElse(t *testing.T) {
	whole, only := string(docs.OpenAPI()), string(docs.JSONOnly())
	for _, other := range []string{"text/csv", "spreadsheetml", "parquet\"", "ndjson", "AnswerFormat", "parameters/separator", "parameters/headers", "Content-Range", "/feed/"} {
		if strings.Contains(only, other) {
			t.Errorf("%s is in it", other)
		}
	}
	if most := `"maximum":100000}`; !strings.Contains(whole, most) || strings.Contains(only, most) {
		t.Error("the page size of the other formats is missing, or is in it")
	}
	for _, document := range []string{whole, only} {
		var d struct{ Components map[string]map[string]any }
		if err := json.Unmarshal([]byte(document), &d); err != nil {
			t.Fatal(err)
		}
		parts := 0
		for kind, all := range d.Components {
			for name := range all {
				if parts++; kind != "securitySchemes" && !strings.Contains(document, `"#/components/`+kind+"/"+name+`"`) {
					t.Errorf("nothing leads to the %s %s", kind, name)
				}
			}
		}
		for _, found := range regexp.MustCompile(`"#/components/(\w+)/([^"]+)"`).FindAllStringSubmatch(document, -1) {
			if _, known := d.Components[found[1]][found[2]]; !known {
				t.Errorf("there is no %s", found[0])
			}
		}
		if parts < 60 {
			t.Errorf("%d parts", parts)
		}
	}
	if strings.Count(whole, `"operationId"`) != strings.Count(only, `"operationId"`)+1 {
		t.Error("another address than that of feeds is missing")
	}
}

// What a reader copies leads to the server that it was read from.
func TestAddressesAreThoseOfTheServer(t *testing.T) {
	world := newWorld()
	behind := testConfig(world, keys{"acme-active"})
	behind.PublicURL = "https://ads.example.org"
	for _, c := range []struct {
		handler                http.Handler
		host, want, ofDocument string
	}{
		{handler(world, "acme-active"), "10.0.0.7:9000", "http://10.0.0.7:9000", "http://10.0.0.7:9000"},
		{handler(world, "acme-active"), "[::1]:8080", "http://[::1]:8080", "http://[::1]:8080"},
		{handler(world, "acme-active"), `x"onload="alert(1)`, docs.ServerAddress, docs.RelativeAddress},
		{handler(world, "acme-active"), "", docs.ServerAddress, docs.RelativeAddress},
		{New(behind).Handler(), "10.0.0.7:9000", "https://ads.example.org", "https://ads.example.org"},
	} {
		for path, text := range map[string]string{"/openapi.json": docs.Servers(c.ofDocument), "/openapi.json?format=json": docs.Servers(c.ofDocument),
			"/docs": "export ADLENS=%s", "/docs/reference/getSummary": "urllib.request.Request(\n    &#34;%s/api/v1/summary?", "/docs/recipes/curl": "export ADLENS=%s"} {
			request := httptest.NewRequest(http.MethodGet, path, nil)
			request.Host = c.host
			recorder := httptest.NewRecorder()
			c.handler.ServeHTTP(recorder, request)
			// What names the Host that a client wrote is for no cache of several clients.
			if got, private := recorder.Header().Get("Cache-Control"), c.want != "https://ads.example.org"; strings.HasPrefix(got, "private, ") != private || strings.HasPrefix(got, "public, ") == private {
				t.Errorf("%s at %s: Cache-Control %q", path, c.host, got)
			}
			if body := recorder.Body.String(); !strings.Contains(body, strings.Replace(text, "%s", c.want, 1)) || strings.Contains(body, "onload") {
				t.Errorf("%s at %q does not say %s", path, c.host, c.want)
			}
		}
	}
}

// Behind a proxy that serves https and is not known by --public-url, an address of the Host
// header would be http, to which clients send keys in plain text.
func TestAProxiedRequestIsToldNoAddressOfHTTP(t *testing.T) {
	world := newWorld()
	config := testConfig(world, keys{"acme-active"})
	config.PublicURL = "https://ads.example.org"
	unknown, public := handler(world, "acme-active"), New(config).Handler()
	for _, header := range []string{"Forwarded", "Via", "X-Real-IP", "X-Forwarded-For", "X-Forwarded-Proto"} {
		for _, path := range []string{"/openapi.json", "/openapi.json?format=json", "/docs", "/docs/reference/getSummary", "/docs/recipes/curl"} {
			body, want := visit(unknown, path, header, "proto=https").Body.String(), docs.ServerAddress
			if strings.HasPrefix(path, "/openapi.json") {
				want = docs.Servers(docs.RelativeAddress)
			}
			if strings.Contains(body, "http://example.com") || !strings.Contains(body, want) {
				t.Errorf("%s with %s does not say %s, or says http://", path, header, want)
			}
			if body := visit(public, path, header, "proto=https").Body.String(); !strings.Contains(body, config.PublicURL) {
				t.Errorf("%s with %s does not say %s", path, header, config.PublicURL)
			}
		}
	}
}

// The search finds words wherever they are, and each place that it finds exists,
// which TestThePagesHoldTogether follows.
func TestTheSearchKnowsEveryPlace(t *testing.T) {
	body := visit(handler(newWorld(), "acme-active"), webdocs.SearchPath).Body.String()
	for word, place := range map[string]string{"conversion_rate": "/docs/figures", "restatement": "/docs/freshness#restated", "page_size": "/docs/reference/listRules#parameters",
		"rate_limited": "/docs/errors/rate_limited", "importdata": "/docs/recipes/google-sheets", "urllib": "/docs/reference/getReport#samples", "timezone": webdocs.PeriodsPath} {
		found := false
		for _, item := range regexp.MustCompile(`<li data-words="([^"]*)"><a href="([^"]*)">`).FindAllStringSubmatch(body, -1) {
			found = found || strings.Contains(item[1], word) && strings.HasPrefix(item[2], place)
		}
		if !found {
			t.Errorf("%s is not found at %s", word, place)
		}
	}
	if len(body) > 300<<10 {
		t.Errorf("the search has %d bytes", len(body))
	}
}
