package formats_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"adlens/integration/harness"
	"adlens/integration/house"
)

// withoutKey is a client that sends no key.
func withoutKey(h *house.House) harness.Client { return harness.Client{Address: h.Server.Address} }

func TestAFeedAnswersItsRequestWithoutAKey(t *testing.T) {
	t.Parallel()
	h, one := house.ShopWithData(t)
	for _, request := range []string{
		"/summary?range=all_time&format=json", "/timeline?range=all_time&granularity=month&format=csv&separator=semicolon",
		"/reports/products?range=all_time&sort=clicks&page_size=2&format=json", "/marketplaces?format=ndjson", "/rules?format=json&page_size=all", "/activity",
		"/campaigns?marketplace_id=101", "/ad-groups?marketplace_id=101",
	} {
		a := house.Get(t, withoutKey(h), house.Feed(t, h, one.Files.ID, request))
		saved := request
		switch {
		case strings.Contains(saved, "marketplace_id="):
			saved += "&format=csv&page_size=1000"
		case !strings.Contains(saved, "format="):
			saved += "?format=csv&page_size=all"
		}
		want := house.Get(t, one.Ask, "/api/v1"+saved)
		if a.Status != 200 || want.Status != 200 || string(a.Body) != string(want.Body) || a.Header.Get("ETag") != want.Header.Get("ETag") {
			t.Errorf("%s: the feed answers\n%s\nand the API\n%s", request, a, want)
		}
		if got, wanted := a.Header.Get("Content-Type"), want.Header.Get("Content-Type"); got != wanted {
			t.Errorf("%s: Content-Type %q, expected %q", request, got, wanted)
		}
		if link := a.Header.Get("Link"); link != "" {
			t.Errorf("%s: a feed leads on to %s, which its bearer cannot read", request, link)
		}
	}
}

func TestAFeedKnowsWhatItsReaderHolds(t *testing.T) {
	t.Parallel()
	h, one := house.ShopWithData(t)
	path := house.Feed(t, h, one.Files.ID, "/summary?range=all_time&format=json")
	a := house.Get(t, withoutKey(h), path)
	if again := house.Get(t, withoutKey(h), path, "If-None-Match", a.Header.Get("ETag")); again.Status != 304 || len(again.Body) != 0 {
		t.Errorf("the same again: %s", again)
	}
}

func TestAFeedReadsNothingElse(t *testing.T) {
	t.Parallel()
	h, one := house.ShopWithData(t)
	path := house.Feed(t, h, one.Files.ID, "/summary?range=all_time&format=json")
	token := strings.TrimPrefix(path, "/feed/")
	house.ProblemOf(t, house.Get(t, withoutKey(h), path+"?range=today"), 400, "unknown_parameter")
	house.ProblemOf(t, house.Get(t, harness.Client{Address: h.Server.Address, Key: token}, "/api/v1/summary"), 401, "invalid_key")
	house.ProblemOf(t, house.Get(t, withoutKey(h), "/feed/"+one.Ask.Key), 404, "not_found")
	house.ProblemOf(t, house.Get(t, withoutKey(h), path+"/"), 404, "not_found")
	unknown := house.Get(t, withoutKey(h), path[:len(path)-1]+"_")
	house.ProblemOf(t, unknown, 404, "not_found")
	if strings.Contains(string(unknown.Body), token[10:20]) {
		t.Errorf("the answer repeats the token: %s", unknown)
	}
}

func TestAFeedThatWouldNotAnswerIsNotMade(t *testing.T) {
	t.Parallel()
	h, one := house.ShopWithData(t)
	for request, wanted := range map[string]string{
		"/summary?range=never": "never", "/summary?marketplace=US": "marketplaces", "/summary?range=today&range=today": "twice",
		"/account": "/api/v1/account", "/nothing": "/api/v1/nothing", "summary": "summary", "/rules/none/runs": "none",
		"/campaigns": "marketplace_id", "/summary?%zz": "%zz", "/reports/products?search=a#b&marketplaces=US": `"search=a#b" has a #`,
	} {
		r := h.Run("feed", "create", "--account", one.Files.ID, "--name", "wrong", "--request", request)
		if r.Code == 0 || r.Stdout != "" || !strings.Contains(r.Stderr, wanted) {
			t.Errorf("%s: want a refusal that names %q, got %s", request, wanted, r)
		}
	}
	if r := h.Run("feed", "create", "--account", one.Files.ID, "--name", "late", "--request", "/summary", "--expires", house.DaysAgo(3)); r.Code == 0 {
		t.Errorf("an end that has passed: %s", r)
	}
	if r := h.Run("feed", "create", "--account", "no-such", "--name", "late", "--request", "/summary"); r.Code == 0 || !strings.Contains(r.Stderr, "no-such") {
		t.Errorf("an account that does not exist: %s", r)
	}
	if all := feedList(t, h, one.Files.ID); len(all) != 0 {
		t.Errorf("there are feeds: %v", all)
	}
}

func TestAFeedOfOnePageSaysSo(t *testing.T) {
	t.Parallel()
	h, one := house.ShopWithData(t)
	for request, wanted := range map[string]string{
		"/reports/products?range=all_time&page_size=2": "the link answers one page, of 2 rows at most; today there are ", "/reports/products?range=all_time": "", "/summary": "",
		"/rules?page=9": "one page, of 1000 rows at most", "/rules": "", "/campaigns?marketplace_id=101": "one page, of 1000 rows at most", "/ad-groups?marketplace_id=101&page_size=7": "one page, of 7 rows at most",
	} {
		r := h.Run("feed", "create", "--account", one.Files.ID, "--name", "page", "--request", request)
		if r.Code != 0 || strings.Contains(r.Stderr, "one page") != (wanted != "") || !strings.Contains(r.Stderr, wanted) {
			t.Errorf("%s: want the notice %q, got %s", request, wanted, r)
		}
	}
}

type feedLine struct {
	ID        string  `json:"feed_id"`
	Start     string  `json:"start"`
	Request   string  `json:"request"`
	ExpiresAt *string `json:"expires_at"`
	RevokedAt *string `json:"revoked_at"`
}

func feedList(t *testing.T, h *house.House, account string) []feedLine {
	t.Helper()
	r := h.Run("feed", "list", "--account", account, "--json")
	var listed struct{ Data []feedLine }
	if err := json.Unmarshal([]byte(r.Stdout), &listed); err != nil || r.Code != 0 {
		t.Fatalf("%s: %v", r, err)
	}
	return listed.Data
}

func TestARevokedFeedEndsWithinTenSeconds(t *testing.T) {
	t.Parallel()
	h, one := house.ShopWithData(t)
	path := house.Feed(t, h, one.Files.ID, "/summary?range=all_time&format=json")
	listed := feedList(t, h, one.Files.ID)
	if len(listed) != 1 || listed[0].ExpiresAt == nil || !strings.HasPrefix(path, "/feed/"+listed[0].Start) ||
		listed[0].Request != "/api/v1/summary?range=all_time&format=json" {
		t.Fatalf("listed are %+v", listed)
	}
	if a := house.Get(t, withoutKey(h), path); a.Status != 200 {
		t.Fatal(a)
	}
	if r := h.Run("feed", "revoke", listed[0].ID); r.Code != 0 {
		t.Fatal(r)
	}
	for until := time.Now().Add(10 * time.Second); ; <-time.After(100 * time.Millisecond) {
		if a := house.Get(t, withoutKey(h), path); a.Status == 404 {
			house.ProblemOf(t, a, 404, "not_found")
			return
		}
		if time.Now().After(until) {
			t.Fatal("it still answers ten seconds after the revocation")
		}
	}
}

func TestAFeedHasItsOwnBudget(t *testing.T) {
	t.Parallel()
	h, one := house.ShopWithData(t)
	path := house.Feed(t, h, one.Files.ID, "/summary?range=all_time&format=json")
	let := 0
	var refused harness.Answer
	for range 15 {
		if a := house.Get(t, withoutKey(h), path); a.Status == 200 {
			let++
		} else {
			refused = a
		}
	}
	p := house.ProblemOf(t, refused, 429, "rate_limited")
	if wait := refused.Header.Get("Retry-After"); let != 10 || p.Limit != "minute" || wait == "" {
		t.Errorf("let in %d of 15, then %s with Retry-After %q", let, refused, wait)
	}
	if a := house.Get(t, one.Ask, "/api/v1/summary"); a.Status != 200 {
		t.Errorf("the account itself: %s", a)
	}
	if strings.Contains(h.Server.Log(), strings.TrimPrefix(path, "/feed/")[10:]) {
		t.Error("the log has the token")
	}
}

// What LibreOffice sends to open a linked sheet, and a client that holds the answer.
func TestHeadersAndUnchangedAnswersUseUpNoBudgetOfAFeed(t *testing.T) {
	t.Parallel()
	h, one := house.ShopWithData(t)
	path := house.Feed(t, h, one.Files.ID, "/summary?range=all_time")
	tag := ""
	for i := range 10 {
		var policy string
		for _, held := range []string{"", tag} {
			a, err := withoutKey(h).Do("HEAD", path, "If-None-Match", held)
			if want := map[bool]int{true: 200, false: 304}[held == ""]; err != nil || a.Status != want {
				t.Fatalf("opening %d: HEAD is answered with %s, %v", i+1, a, err)
			}
			policy = a.Header.Get("RateLimit-Policy")
		}
		if a := house.Get(t, withoutKey(h), path, "If-None-Match", tag); i > 0 && (a.Status != 304 || policy == "" || a.Header.Get("RateLimit-Policy") != policy) {
			t.Fatalf("opening %d: a client that holds the answer gets %s of the limits %q, HEAD of %q", i+1, a, a.Header.Get("RateLimit-Policy"), policy)
		} else if i == 0 {
			tag = a.Header.Get("ETag")
			continue
		}
		if a := house.Get(t, withoutKey(h), path); a.Status != 200 || len(a.Body) == 0 {
			t.Fatalf("opening %d: %s", i+1, a)
		}
	}
	house.ProblemOf(t, house.Get(t, withoutKey(h), path), 429, "rate_limited")
	server, err := h.Serve("--limit-minute", "6")
	house.Need(t, err)
	t.Cleanup(func() { server.Stop() })
	got := ""
	for range 4 { // each of them counts against the account
		head, err := harness.Client{Address: server.Address}.Do("HEAD", path)
		house.Need(t, err)
		got += fmt.Sprint(head.Status, " ", house.Get(t, harness.Client{Address: server.Address}, path, "If-None-Match", tag).Status, " ")
	}
	if got != "200 304 200 304 200 304 429 429 " {
		t.Errorf("six a minute, by HEAD and by a client that holds the answer: %s", got)
	}
}

func TestAFeedCountsAgainstTheAccount(t *testing.T) {
	t.Parallel()
	h, one := house.ShopWithData(t)
	server, err := h.Serve("--limit-minute", "4")
	house.Need(t, err)
	t.Cleanup(func() { server.Stop() })
	path := house.Feed(t, h, one.Files.ID, "/summary?range=all_time&format=json")
	got := ""
	for range 3 {
		got += fmt.Sprint(house.Get(t, harness.Client{Address: server.Address}, path).Status, " ")
		got += fmt.Sprint(house.Get(t, harness.Client{Address: server.Address, Key: one.Ask.Key}, "/api/v1/summary").Status, " ")
	}
	if got != "200 200 200 200 429 429 " {
		t.Errorf("four a minute, asked in turn by feed and key: %s", got)
	}
}
