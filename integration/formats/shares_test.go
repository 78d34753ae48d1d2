package formats_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"adlens/integration/harness"
	"adlens/integration/house"
)

// asked asks for what is below a share link.
func asked(t *testing.T, h *house.House, path string, headers ...string) harness.Answer {
	t.Helper()
	return house.Get(t, withoutKey(h), path, headers...)
}

func TestAShareLinkAnswersWhatItsViewIsMadeOf(t *testing.T) {
	t.Parallel()
	h, one := house.ShopWithData(t)
	const period = "range=all_time&marketplaces=US&compare=previous_year"
	for view, requests := range map[string]map[string]string{ // below the link, and with the key
		"#/overview?" + period + "&measure=roas&granularity=week": {
			"summary": "summary?" + period, "timeline": "timeline?granularity=week&" + period},
		"#/products?" + period + "&sort=clicks": {
			"reports/products?page_size=2&sort=clicks": "reports/products?page_size=2&sort=clicks&" + period,
			"reports/products?page_size=1&page=2":      "reports/products?page_size=1&page=2&" + period},
		"#/products?range=last_90_days&figures=spend,clicks": {
			"report?dimensions=product&sort=clicks&order=asc": "report?dimensions=product&sort=clicks&order=asc&range=last_90_days&figures=spend,clicks"},
		"#/campaign-figures":                 {"report?dimensions=campaign,marketplace": "report?dimensions=campaign,marketplace"},
		"#/ad-group-figures?range=this_year": {"report?dimensions=ad_group,campaign": "report?dimensions=ad_group,campaign&range=this_year"},
		"#/campaigns?marketplace_id=101":     {"campaigns?page_size=3": "campaigns?page_size=3&marketplace_id=101"},
		"#/ad-groups?marketplace_id=101":     {"ad-groups": "ad-groups?marketplace_id=101"},
		"#/rules":                            {"rules": "rules"},
		"#/activity?tool=rule":               {"activity?page_size=50": "activity?page_size=50&tool=rule"},
	} {
		link := house.Share(t, h, one.Files.ID, view)
		shown := asked(t, h, link, "Accept", "text/html")
		if shown.Status != 200 || !strings.HasPrefix(shown.Header.Get("Content-Type"), "text/html") || !strings.Contains(string(shown.Body), `data-view="#/`) {
			t.Errorf("%s: %s", view, shown)
		}
		for below, whole := range requests {
			a, want := asked(t, h, link+"/api/v1/"+below), house.Get(t, one.Ask, "/api/v1/"+whole)
			if a.Status != 200 || string(a.Body) != string(want.Body) {
				t.Errorf("%s, requested %s:\n%s\nwith the key:\n%s", view, below, a, want)
			}
			for name, value := range map[string]string{"Cache-Control": "no-store", "Referrer-Policy": "no-referrer", "X-Robots-Tag": "noindex", "ETag": "", "Link": ""} {
				if got := a.Header.Get(name); got != value {
					t.Errorf("%s: %s is %q, expected %q", below, name, got, value)
				}
			}
			// The answer that a key's holder has is no answer to who has none.
			if again := asked(t, h, link+"/api/v1/"+below, "If-None-Match", want.Header.Get("ETag"), "Accept", "text/csv"); again.Status != 200 || string(again.Body) != string(want.Body) {
				t.Errorf("%s, with the tag of a key's answer: %s", below, again)
			}
		}
	}
}

func TestAShareLinkReadsNothingElse(t *testing.T) {
	t.Parallel()
	h, one := house.ShopWithData(t)
	const view = "#/products?range=last_7_days&marketplaces=US"
	link := ""
	for i, below := range []string{
		"/api/v1/reports/products?marketplaces=UK", "/api/v1/reports/products?marketplaces=102", "/api/v1/reports/products?marketplaces=US,UK",
		"/api/v1/reports/products?range=all_time", "/api/v1/reports/products?start_date=2020-01-01&end_date=2024-12-31", "/api/v1/reports/products?timezone=Asia/Tokyo",
		"/api/v1/reports/products?compare=previous_year", "/api/v1/reports/products?currency=local", "/api/v1/reports/products?format=csv",
		"/api/v1/reports/products?%72ange=all_time", "/api/v1/reports/products?page=1&marketplaces=UK", "/api/v1/reports/products?nonsense=1",
		"/api/v1/report", "/api/v1/report?dimensions=date", "/api/v1/report?dimensions=product,marketplace", "/api/v1/report?dimensions=product&dimensions=campaign",
		"/api/v1/report?dimensions=product&figures=spend", "/api/v1/report?dimensions=product&campaign_ids=1",
		"/api/v1/summary", "/api/v1/timeline", "/api/v1/account", "/api/v1/marketplaces", "/api/v1/campaigns?marketplace_id=101",
		"/api/v1/ad-groups?marketplace_id=101", "/api/v1/rules", "/api/v1/rules/none/runs", "/api/v1/activity", "/api/v1/nothing",
		"/", "/api", "/api/v1/", "/api/v1/reports/products/", "//api/v1/reports/products", "/apps", "/mcp", "/reports/products", "/feed/none", "/share/none",
		"/..%2f..%2fapi/v1/account", "/api/v1/reports%2fproducts%2f..%2fsummary", "/api/v1/reports/products%00", "/api/v1/reports/products%2f", "/API/v1/reports/products",
	} {
		if i%20 == 0 { // each has a budget
			link = house.Share(t, h, one.Files.ID, view)
		}
		a := asked(t, h, link+below)
		if len(house.ProblemOf(t, a, 404, "not_found").Errors) > 0 || strings.Contains(string(a.Body), link[20:]) || strings.Contains(string(a.Body), "connected") {
			t.Errorf("%s: %s", below, a)
		}
	}
	token := strings.TrimPrefix(link, "/share/")
	feed := strings.TrimPrefix(house.Feed(t, h, one.Files.ID, "/summary"), "/feed/")
	for _, path := range []string{
		"/share/" + feed, "/share/" + one.Ask.Key, "/feed/" + token, "/share/", "/share", link[:len(link)-1] + "_", link[:len(link)-1], link + "0", "/share/" + strings.ToUpper(token),
		"/share/" + one.Ask.Key + "/api/v1/summary", "/share/" + feed + "/api/v1/summary", "/share/" + token[6:], "//share/" + token,
	} {
		if a := asked(t, h, path); strings.Contains(string(a.Body), token[12:]) || house.ProblemOf(t, a, 404, "not_found").Status != 404 {
			t.Errorf("%s: %s", path, a)
		}
	}
	house.ProblemOf(t, house.Get(t, harness.Client{Address: h.Server.Address, Key: token}, "/api/v1/summary"), 401, "invalid_key")
	link = house.Share(t, h, one.Files.ID, view)
	house.ProblemOf(t, asked(t, h, link+"?range=all_time"), 400, "unknown_parameter")
	house.ProblemOf(t, asked(t, h, link+"/api/v1/reports/products?sort=nonsense"), 400, "unknown_value")
	house.ProblemOf(t, asked(t, h, link+"/api/v1/reports/products?page=1&page=2"), 400, "invalid_parameter")
	for _, method := range []string{"POST", "PUT", "DELETE", "OPTIONS"} {
		a, err := withoutKey(h).Do(method, link+"/api/v1/reports/products")
		house.Need(t, err)
		house.ProblemOf(t, a, 405, "method_not_allowed")
	}
	compared := house.Share(t, h, one.Files.ID, "#/overview?compare=previous_year")
	house.ProblemOf(t, asked(t, h, compared+"/api/v1/summary?compare=none"), 404, "not_found") // which would show today
	// A key next to the link widens nothing.
	house.ProblemOf(t, house.Get(t, one.Ask, link+"/api/v1/summary"), 404, "not_found")
	if shown := asked(t, h, link); shown.Status != 200 || strings.Contains(string(shown.Body), "Account "+one.Files.ID) || strings.Contains(string(shown.Body), link[20:]) {
		t.Errorf("the page names the account or repeats the token: %s", shown)
	}
	for _, secret := range []string{token[12:], link[20:]} {
		if strings.Contains(h.Server.Log(), secret) {
			t.Error("the log has a token")
		}
	}
}

// A link shows more than an address has filters for, where its view has none of these.
func TestFiltersThatAViewLacksAreNamed(t *testing.T) {
	t.Parallel()
	h, one := house.ShopWithData(t)
	for view, wanted := range map[string]string{
		"#/activity?marketplaces=US&tool=rule&range=last_7_days": "the link shows #/activity?tool=rule: that view has no marketplaces, range",
		"#/overview?marketplaces=US":                             "",
	} {
		r := h.Run("share", "create", "--account", one.Files.ID, "--name", "board", view)
		if named := strings.Contains(r.Stderr, "that view has no"); r.Code != 0 || named != (wanted != "") || !strings.Contains(r.Stderr, wanted) {
			t.Errorf("%s: expected %q, got %s", view, wanted, r)
		}
	}
}

// A moving period that has nothing to compare on the day on which it is saved is saved
// all the same, with a notice; all else that is refused is not. An account without
// figures has such a period on every day.
func TestAMovingPeriodIsSavedWhateverTheDayIs(t *testing.T) {
	t.Parallel()
	h, one := house.ShopWithData(t)
	empty := one.Files.ID + "-empty"
	owner := h.Client(t, empty)
	share := func(account, view string) harness.Result {
		return h.Run("share", "create", "--account", account, "--name", "board", view)
	}
	const period = "range=all_time"
	for view, request := range map[string]string{
		"#/overview?" + period + "&compare=previous_period":       "summary?",
		"#/products?" + period + "&compare=previous_year":         "reports/products?",
		"#/campaign-figures?" + period + "&compare=previous_year": "report?dimensions=campaign,marketplace&",
	} {
		r := share(empty, view)
		if r.Code != 0 || !strings.Contains(r.Stderr, "today the link shows its view without a comparison: ") || !strings.Contains(r.Stderr, "nothing is left of") {
			t.Fatalf("%s: %s", view, r)
		}
		link := strings.TrimSpace(r.Stdout) + "/api/v1/" + request
		house.ProblemOf(t, asked(t, h, strings.TrimRight(link, "?&")), 400, "invalid_parameter")
		a, want := asked(t, h, link+"compare=none"), house.Get(t, owner, "/api/v1/"+request+period)
		if a.Status != 200 || string(a.Body) != string(want.Body) {
			t.Errorf("%s without its comparison:\n%s\nwith the key:\n%s", view, a, want)
		}
	}
	tomorrow := house.DaysAgo(-1)
	for view, want := range map[string]string{
		"#/overview?range=today&compare=previous_period":                                                 "nothing is left of",
		"#/products?range=today&compare=previous_year":                                                   "nothing is left of",
		"#/campaign-figures?start_date=" + tomorrow + "&end_date=" + tomorrow + "&compare=previous_year": "nothing is left of",
		"#/overview?start_date=0001-01-01&end_date=0001-01-31&compare=previous_year":                     "the first day of the calendar",
		"#/overview?range=today&compare=last_week":                                                       "last_week",
		"#/overview?range=this_month&compare=previous_year&marketplaces=ZA":                              "ZA",
		"#/overview?range=nonsense&compare=previous_year":                                                "nonsense",
		"#/products?range=yesterday&order=down":                                                          "down",
		"#/products?range=yesterday&page_size=5000":                                                      "5000",
		"#/rules?page=0": "page",
		"#/overview?range=yesterday&compare=previous_year&campaign_ids=unknown": "campaign_ids",
	} {
		if r := share(one.Files.ID, view); r.Code != 1 || r.Stdout != "" || !strings.Contains(r.Stderr, want) || strings.Contains(r.Stderr, "without a comparison") {
			t.Errorf("%s: %s", view, r)
		}
	}
}

func TestAPersonIsToldWhyALinkShowsNothing(t *testing.T) {
	t.Parallel()
	h, one := house.ShopWithData(t)
	link := house.Share(t, h, one.Files.ID, "#/overview")
	const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
	for path, want := range map[string]string{link[:len(link)-1] + "_": "misspelt, revoked or expired", link + "?a=1": "no parameter of this endpoint"} {
		a := asked(t, h, path, "Accept", browser)
		if a.Status < 400 || !strings.HasPrefix(a.Header.Get("Content-Type"), "text/html") || !strings.Contains(string(a.Body), want) ||
			a.Header.Get("Cache-Control") != "no-store" || a.Header.Get("Content-Security-Policy") == "" || strings.Contains(string(a.Body), "<script") {
			t.Errorf("%s: %s %v", path, a, a.Header)
		}
		if gone := strings.Contains(string(a.Body), "Ask the person who sent it"); gone != (a.Status == 404) || strings.Contains(string(a.Body), "Try again in") {
			t.Errorf("%s: %s", path, a)
		}
	}
	house.ProblemOf(t, asked(t, h, link[:len(link)-1]+"_/api/v1/summary", "Accept", browser), 404, "not_found")
}

func TestALinkThatWouldShowNothingIsNotMade(t *testing.T) {
	t.Parallel()
	h, one := house.ShopWithData(t)
	late := time.Now().UTC().AddDate(0, 0, 366).Format(time.DateOnly)
	for view, wanted := range map[string]string{
		"#/overview?range=never": "never", "#/overview?marketplace=US": "did you mean marketplaces?", "#/overview?range=today&range=today": "twice",
		"#/apps": "apps", "#/nothing": "nothing", "#/runs?rule_id=none": "none", "#/campaigns": "marketplace_id", "#/overview?%zz": "%zz",
		"#/overview?marketplaces=DE": "DE", "#/products?campaign_ids=77": "77", "#/products?range=": "range is empty", "#/overview?start_date=2026-01-01": "end_date",
		"https://figures.example.com/docs": "figures.example.com/docs",
	} {
		r := h.Run("share", "create", "--account", one.Files.ID, "--name", "wrong", view)
		if r.Code == 0 || r.Stdout != "" || !strings.Contains(r.Stderr, wanted) {
			t.Errorf("%s: want a refusal that names %q, got %s", view, wanted, r)
		}
	}
	for _, c := range [][2]string{{"--expires=" + house.DaysAgo(3), "has passed"}, {"--expires=" + late, late + " is more than 365 days from today"}, {"--name= ", "the name is empty"}, {"--account=no-such", "no-such"}} {
		if r := h.Run("share", "create", "--account", one.Files.ID, "--name", "late", "#/overview", c[0]); r.Code == 0 || !strings.Contains(r.Stderr, c[1]) {
			t.Errorf("%s: want a refusal that names %q, got %s", c[0], c[1], r)
		}
	}
	if all := shareList(t, h, one.Files.ID); len(all) != 0 {
		t.Errorf("there are share links: %v", all)
	}
}

type shareLine struct {
	Address   string
	ID        string `json:"share_id"`
	Start     string
	View      string
	ExpiresAt string  `json:"expires_at"`
	LastUsed  *string `json:"last_used_at"`
	RevokedAt *string `json:"revoked_at"`
}

func shareList(t *testing.T, h *house.House, account string) []shareLine {
	t.Helper()
	r := h.Run("share", "list", "--account", account, "--json")
	var listed struct{ Data []shareLine }
	if err := json.Unmarshal([]byte(r.Stdout), &listed); err != nil || r.Code != 0 {
		t.Fatalf("%s: %v", r, err)
	}
	return listed.Data
}

// awaitGone asks until the link leads nowhere, for ten seconds at most.
func awaitGone(t *testing.T, h *house.House, link string) {
	t.Helper()
	for until := time.Now().Add(10 * time.Second); ; <-time.After(100 * time.Millisecond) {
		page, answer := asked(t, h, link), asked(t, h, link+"/api/v1/summary")
		if page.Status == 404 && answer.Status == 404 {
			house.ProblemOf(t, page, 404, "not_found")
			house.ProblemOf(t, answer, 404, "not_found")
			return
		}
		if time.Now().After(until) {
			t.Fatalf("it still answers after ten seconds: %s", answer)
		}
	}
}

// What is wrong with a saved request later may name what else the account has: its
// readers learn that it is gone, and its owner why.
func TestALinkDoesNotExplainWhatWasSaved(t *testing.T) {
	t.Parallel()
	h := house.Shared(t)
	account := house.AccountID(t)
	owner := h.Client(t, account)
	load := func(paths ...string) {
		if r := h.Run(append([]string{"load", "--account", account}, paths...)...); r.Code != 0 {
			t.Fatal(r)
		}
	}
	campaigns := func(stem string, rows ...map[string]any) []string {
		return house.ExportPair(stem, "101", "campaigns", time.Now(), rows...).Write(t, t.TempDir())
	}
	us, ca := [4]string{"101", "US", "USD", "seller"}, [4]string{"103", "CA", "CAD", "seller"}
	load(house.ProfilesFile(t, t.TempDir(), us))
	load(campaigns("first", house.ThreeCampaigns()...)...)
	const local, groups = "/timeline?currency=local", "/ad-groups?marketplace_id=101&campaign_id=3"
	links := map[string][]string{
		local:  {house.Feed(t, h, account, local), house.Share(t, h, account, "#/overview?currency=local") + "/api/v1/timeline"},
		groups: {house.Feed(t, h, account, groups), house.Share(t, h, account, "#"+groups) + "/api/v1/ad-groups"},
	}
	load(house.ProfilesFile(t, t.TempDir(), us, ca))
	load(campaigns("second", house.ThreeCampaigns()[:2]...)...)
	for request, why := range map[string]string{local: "CA (103) CAD", groups: `"3" is no campaign in the list of marketplace 101`} {
		for _, path := range links[request] {
			gone := house.ProblemOf(t, asked(t, h, path), 404, "not_found")
			if len(gone.Errors) > 0 || gone.Detail != "this link's request is no longer accepted, mostly because its account changed; its creator sees the reason by creating it again" {
				t.Errorf("%s of %s: %+v", path[:7], request, gone)
			}
		}
		if a := house.Get(t, owner, "/api/v1"+request); a.Status != 400 {
			t.Errorf("%s with a key: %s", request, a)
		}
		if r := h.Run("feed", "create", "--account", account, "--name", "another", "--request", request); r.Code == 0 || !strings.Contains(r.Stderr, why) {
			t.Errorf("%s is not explained to its owner: %s", request, r)
		}
	}
}

func TestARevokedOrExpiredShareLinkEndsWithinTenSeconds(t *testing.T) {
	t.Parallel()
	h, one := house.ShopWithData(t)
	revoked, expired := house.Share(t, h, one.Files.ID, "#/overview"), house.Share(t, h, one.Files.ID, "#/overview?range=all_time")
	listed := shareList(t, h, one.Files.ID)
	in30 := time.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, 31).Format("2006-01-02T15:04:05.000Z")
	if len(listed) != 2 || listed[0].ExpiresAt != in30 || !strings.HasPrefix(revoked, "/share/"+listed[0].Start) || listed[0].View != "#/overview" || listed[1].View != "#/overview?range=all_time" {
		t.Fatalf("listed are %+v, expected to expire at %s", listed, in30)
	}
	if feeds := feedList(t, h, one.Files.ID); len(feeds) != 0 {
		t.Errorf("share links are listed as feeds: %v", feeds)
	}
	if r := h.Run("feed", "revoke", listed[0].ID); r.Code == 0 || !strings.Contains(r.Stderr, "there is no feed") {
		t.Errorf("feed revoke of a share link: %s", r)
	}
	for _, link := range []string{revoked, expired} {
		if a := asked(t, h, link+"/api/v1/summary"); a.Status != 200 {
			t.Fatal(a)
		}
	}
	if r := h.Run("share", "revoke", listed[0].ID); r.Code != 0 || !strings.Contains(r.Stdout, "is revoked") {
		t.Fatal(r)
	}
	awaitGone(t, h, revoked)
	house.AsWriter(t, h.Program, "INSERT INTO feeds SELECT * REPLACE (now64(3) - INTERVAL 1 SECOND AS expires_at, now64(9) AS updated_at) FROM feeds WHERE feed_id = '"+listed[1].ID+"'")
	awaitGone(t, h, expired)
	if again := shareList(t, h, one.Files.ID); again[0].RevokedAt == nil || again[1].RevokedAt != nil {
		t.Errorf("listed are %+v", again)
	}
}

func TestAShareLinkHasItsOwnBudget(t *testing.T) {
	t.Parallel()
	h, one := house.ShopWithData(t)
	link := house.Share(t, h, one.Files.ID, "#/overview")
	let := 0
	var refused harness.Answer
	for i := range 35 {
		path := link
		if i%2 == 1 { // the page and what it asks, and what it may not ask
			path += []string{"/api/v1/summary", "/api/v1/rules"}[i/2%2]
		}
		if a := asked(t, h, path); a.Status != 429 {
			let++
		} else {
			refused = a
		}
	}
	if p := house.ProblemOf(t, refused, 429, "rate_limited"); let != 30 || p.Limit != "minute" || refused.Header.Get("Retry-After") == "" {
		t.Errorf("let in %d of 35, then %s", let, refused)
	}
	if shown := asked(t, h, link, "Accept", "text/html"); shown.Status != 429 || !strings.Contains(string(shown.Body), "Try again in "+shown.Header.Get("Retry-After")+" second") || strings.Contains(string(shown.Body), "Ask the person") {
		t.Errorf("a person is told %s", shown)
	}
	if other := asked(t, h, house.Share(t, h, one.Files.ID, "#/overview")); other.Status != 200 {
		t.Errorf("another link: %s", other)
	}
	if a := house.Get(t, one.Ask, "/api/v1/summary"); a.Status != 200 {
		t.Errorf("the account itself: %s", a)
	}
}

func TestAShareLinkCountsAgainstTheAccount(t *testing.T) {
	t.Parallel()
	h, one := house.ShopWithData(t)
	server, err := h.Serve("--limit-minute", "4")
	house.Need(t, err)
	t.Cleanup(func() { server.Stop() })
	link := house.Share(t, h, one.Files.ID, "#/overview")
	got := ""
	for range 3 {
		got += fmt.Sprint(house.Get(t, harness.Client{Address: server.Address}, link+"/api/v1/summary").Status, " ")
		got += fmt.Sprint(house.Get(t, harness.Client{Address: server.Address, Key: one.Ask.Key}, "/api/v1/summary").Status, " ")
	}
	if got != "200 200 200 200 429 429 " {
		t.Errorf("four a minute, asked in turn by link and key: %s", got)
	}
	if r := h.Run("account", "set", one.Files.ID, "--subscription", "canceled"); r.Code != 0 {
		t.Fatal(r)
	}
	for until := time.Now().Add(10 * time.Second); asked(t, h, link).Status != 403; <-time.After(100 * time.Millisecond) {
		if time.Now().After(until) {
			t.Fatal("a canceled account is still shown")
		}
	}
}

// A name is shown to its readers as text, and the address that is printed is whole.
func TestTheAddressOfAShareLinkAndItsNameAreAsGiven(t *testing.T) {
	t.Parallel()
	h, one := house.ShopWithData(t)
	r := h.Run("share", "create", "--account", one.Files.ID, "--name", `<script>"a"&b`, "--base", "https://figures.example.com/", "--expires", time.Now().UTC().Format(time.DateOnly), "--json", "#/overview?timezone=Asia/Tokyo")
	var made shareLine
	if err := json.Unmarshal([]byte(r.Stdout), &made); err != nil || r.Code != 0 {
		t.Fatalf("%s: %v", r, err)
	}
	address, err := url.Parse(made.Address)
	house.Need(t, err)
	a := asked(t, h, address.Path)
	if address.Host != "figures.example.com" || !strings.Contains(string(a.Body), "<strong>&lt;script&gt;&#34;a&#34;&amp;b</strong>") || strings.Contains(string(a.Body), "<script>") ||
		!strings.Contains(string(a.Body), "Shared until "+time.Now().UTC().Format(time.DateOnly)) || !strings.Contains(string(a.Body), `data-view="#/overview?timezone=Asia%2FTokyo"`) {
		t.Errorf("%s: %s", made.Address, a)
	}
}

// Nothing but the command that makes a link tells its maker when it ends.
func TestALinkSaysWhenItEnds(t *testing.T) {
	t.Parallel()
	h, one := house.ShopWithData(t)
	for _, c := range [][]string{
		{"feed", "--request", "/summary"}, {"feed", "--request", "/summary", "--expires", "2099-12-31"}, {"share", "#/overview"}, {"share", "#/overview", "--expires", house.DaysAgo(-9)},
	} {
		r := h.Run(append([]string{c[0], "create", "--account", one.Files.ID, "--name", "x", "--json"}, c[1:]...)...)
		var made struct {
			ExpiresAt time.Time `json:"expires_at"`
		}
		if err := json.Unmarshal([]byte(r.Stdout), &made); err != nil || r.Code != 0 {
			t.Fatalf("%s: %v", r, err)
		}
		if last := made.ExpiresAt.Add(-time.Millisecond).Format(time.DateOnly); !strings.Contains(r.Stderr, "answers until the end of "+last+" in UTC; --expires") {
			t.Errorf("%v: want %s, got %s", c, last, r)
		}
	}
}

func TestAShareLinkForSomeMarketplacesKnowsNoOther(t *testing.T) {
	t.Parallel()
	h, one := house.ShopWithData(t)
	key, err := h.Key(one.Files.ID, "--marketplaces", "UK")
	house.Need(t, err)
	limited := harness.Client{Address: h.Server.Address, Key: key}
	link := house.Share(t, h, one.Files.ID, "#/overview?range=all_time", "--marketplaces", "UK")
	a, want, whole := asked(t, h, link+"/api/v1/summary"), house.Get(t, limited, "/api/v1/summary?range=all_time"), house.Get(t, one.Ask, "/api/v1/summary?range=all_time")
	if a.Status != 200 || string(a.Body) != string(want.Body) || string(a.Body) == string(whole.Body) {
		t.Errorf("the link answers\n%s\nthe key for its marketplaces\n%s\nand that for all\n%s", a, want, whole)
	}
	for _, view := range []string{"#/overview?marketplaces=US", "#/campaigns?marketplace_id=101"} {
		if r := h.Run("share", "create", "--account", one.Files.ID, "--name", "wrong", "--marketplaces", "UK", view); r.Code == 0 || r.Stdout != "" {
			t.Errorf("%s, which is of another marketplace: %s", view, r)
		}
	}
	if listed := h.Run("share", "list", "--account", one.Files.ID, "--json").Stdout; !strings.Contains(listed, `"marketplaces":["UK"]`) {
		t.Errorf("listed are %s", listed)
	}
}
