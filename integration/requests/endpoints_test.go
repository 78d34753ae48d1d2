package requests_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"adlens/integration/harness"
	"adlens/integration/house"
	"adlens/integration/model"
)

func TestEveryEndpointAnswersWithItsHeaders(t *testing.T) {
	t.Parallel()
	_, one := house.ShopWithData(t)
	ids := map[string]bool{}
	for _, path := range house.Endpoints {
		a := house.Get(t, one.Ask, "/api/v1"+path)
		if a.Status != 200 || !strings.HasPrefix(a.Header.Get("Content-Type"), "application/json") {
			t.Errorf("%s: %s %s", path, a.Header.Get("Content-Type"), a)
		}
		id := a.Header.Get("X-Request-Id")
		if id == "" || ids[id] {
			t.Errorf("%s: want a request id of its own, got %q", path, id)
		}
		ids[id] = true
		checkCaching(t, path, a)
		var body map[string]any
		if err := json.Unmarshal(a.Body, &body); err != nil || body["meta"] == nil {
			t.Errorf("%s: want meta, got %s", path, a.Body)
		}
	}
}

func checkCaching(t *testing.T, path string, a harness.Answer) {
	t.Helper()
	cache, tag := a.Header.Get("Cache-Control"), a.Header.Get("ETag")
	if path == "/account" {
		if !strings.Contains(cache, "no-store") {
			t.Errorf("%s: Cache-Control %q", path, cache)
		}
		return
	}
	if !strings.Contains(cache, "private") || !strings.Contains(cache, "no-cache") {
		t.Errorf("%s: Cache-Control %q", path, cache)
	}
	if !strings.HasPrefix(tag, `"`) || len(tag) < 4 {
		t.Errorf("%s: want a strong ETag, got %q", path, tag)
	}
	vary := strings.ToLower(strings.Join(a.Header.Values("Vary"), ","))
	for _, name := range []string{"authorization", "accept", "accept-encoding"} {
		if !slices.Contains(regexp.MustCompile(`[^,\s]+`).FindAllString(vary, -1), name) {
			t.Errorf("%s: Vary %q lacks %s", path, vary, name)
		}
	}
}

func TestHeadAnswersAsGetWithoutABody(t *testing.T) {
	t.Parallel()
	_, one := house.ShopWithData(t)
	for _, path := range append([]string{"/nowhere", "/summary?range=never"}, house.Endpoints...) {
		whole := house.Get(t, one.Ask, "/api/v1"+path)
		a, err := one.Ask.Do("HEAD", "/api/v1"+path)
		house.Need(t, err)
		if a.Status != whole.Status || len(a.Body) != 0 || a.Header.Get("X-Request-Id") == "" {
			t.Errorf("HEAD %s: %v %v, GET has %v", path, a, a.Header, whole.Header)
		}
		for _, name := range []string{"Content-Type", "ETag", "Cache-Control", "X-Total-Rows", "Link"} {
			if a.Header.Get(name) != whole.Header.Get(name) {
				t.Errorf("HEAD %s: %s %q, GET has %q", path, name, a.Header.Get(name), whole.Header.Get(name))
			}
		}
	}
}

func TestOtherMethodsAreRefusedWithAllow(t *testing.T) {
	t.Parallel()
	h := house.Shared(t)
	anonymous := harness.Client{Address: h.Server.Address}
	for _, method := range []string{"POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW"} {
		// The method is judged before the key.
		a, err := anonymous.Do(method, "/api/v1/summary")
		house.Need(t, err)
		house.ProblemOf(t, a, 405, "method_not_allowed")
		if a.Header.Get("Allow") != "GET, HEAD" {
			t.Errorf("%s: Allow %q", method, a.Header.Get("Allow"))
		}
	}
}

func TestOtherPathsAreNotFoundAndNeverRedirected(t *testing.T) {
	t.Parallel()
	h := house.Shared(t)
	anonymous := harness.Client{Address: h.Server.Address}
	for _, path := range []string{
		"/api/v1", "/api/v1/", "/api/v2/summary", "/api/v1/summary/", "/api/v1/Summary", "//api/v1/summary", "/api//v1/summary",
		"/api/v1/./summary", "/api/v1/rules/../summary", "/api/v1/%2e%2e/summary", "/api/v1/summary%00", "/api/v1/reports", "/nowhere",
	} {
		a, err := anonymous.Raw("GET " + path + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
		house.Need(t, err)
		t.Log(path)
		house.ProblemOf(t, a, 404, "not_found")
	}
	// A path is judged before the method and the key.
	a, err := anonymous.Do("POST", "/api/v1/nowhere")
	house.Need(t, err)
	house.ProblemOf(t, a, 404, "not_found")
}

func TestUnknownRulesAreNotFoundWhoeverOwnsThem(t *testing.T) {
	t.Parallel()
	_, one := house.ShopWithData(t)
	for _, id := range []string{"none", "1", "%2e%2e", "a%00b", strings.Repeat("x", 500)} {
		house.ProblemOf(t, house.Get(t, one.Ask, "/api/v1/rules/"+id+"/runs"), 404, "not_found")
	}
}

func TestAnUnchangedAnswerIsNotSentAgain(t *testing.T) {
	t.Parallel()
	h, one := house.ShopWithData(t)
	second, err := h.Key(one.Files.ID)
	house.Need(t, err)
	other := harness.Client{Address: h.Server.Address, Key: second}
	const path = "/api/v1/summary?range=last_90_days"
	a := house.Get(t, one.Ask, path)
	tag := a.Header.Get("ETag")
	for _, same := range []string{"/api/v1/summary?range=LAST_90_DAYS&timezone=UTC", path + "&format=json"} {
		if got := house.Get(t, other, same).Header.Get("ETag"); got != tag {
			t.Errorf("%s means the same: want ETag %s, got %s", same, tag, got)
		}
	}
	for _, differs := range []string{"/api/v1/summary?range=last_60_days", path + "&marketplaces=US", "/api/v1/timeline?range=last_90_days"} {
		if got := house.Get(t, one.Ask, differs).Header.Get("ETag"); got == tag {
			t.Errorf("%s means another thing and has the same ETag", differs)
		}
	}
	if b := house.Get(t, other, path, "If-None-Match", tag); b.Status != 304 || len(b.Body) != 0 {
		t.Errorf("want 304, got %s", b)
	}
	house.Load(t, h.Program, one, house.SpPair("more", "101", house.DaysAgo(5), 1, time.Now()).Write(t, t.TempDir())...)
	if b := house.Get(t, other, path, "If-None-Match", tag); b.Status != 200 || b.Header.Get("ETag") == tag {
		t.Errorf("want a new answer after a load, got %d %s", b.Status, b.Header.Get("ETag"))
	}
}

func TestFiguresComeInTheirOrder(t *testing.T) {
	t.Parallel()
	_, one := house.ShopWithData(t)
	pattern := regexp.MustCompile(`"` + strings.Join(model.FigureNames, `"\s*:[^,}]*,\s*"`) + `"\s*:`)
	for path, times := range map[string]int{"/summary?range=last_90_days": 3, "/timeline?range=last_90_days": 31, "/reports/products?range=last_90_days": 32} {
		a := house.Get(t, one.Ask, "/api/v1"+path)
		if n := len(pattern.FindAll(a.Body, -1)); n != times {
			t.Errorf("%s: want %d figures objects in order, got %d: %.400s", path, times, n, a.Body)
		}
	}
}

func TestPagesNeverOverlapAndLinkToTheNext(t *testing.T) {
	t.Parallel()
	_, one := house.ShopWithData(t)
	link := regexp.MustCompile(`^<([^>]+)>;\s*rel="next"$`)
	path, seen := "/api/v1/reports/products?range=last_90_days&page_size=7&sort=clicks", map[string]bool{}
	for pages := 1; ; pages++ {
		a := house.Get(t, one.Ask, path)
		var body struct {
			Data []struct {
				ProductID string `json:"product_id"`
			}
			Pagination struct {
				NextPage *int `json:"next_page"`
			}
		}
		house.Need(t, json.Unmarshal(a.Body, &body))
		for _, row := range body.Data {
			if seen[row.ProductID] {
				t.Errorf("%s comes twice", row.ProductID)
			}
			seen[row.ProductID] = true
		}
		next := link.FindStringSubmatch(a.Header.Get("Link"))
		if (next != nil) != (body.Pagination.NextPage != nil) {
			t.Fatalf("%s: Link %q, next_page %v", path, a.Header.Get("Link"), body.Pagination.NextPage)
		}
		if next == nil {
			if pages != 5 || len(seen) != 31 {
				t.Errorf("want 31 products on 5 pages, got %d on %d", len(seen), pages)
			}
			return
		}
		path = strings.TrimPrefix(next[1], one.Ask.Address)
	}
}
