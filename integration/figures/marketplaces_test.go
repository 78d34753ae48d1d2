package figures_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"adlens/integration/harness"
	"adlens/integration/house"
	"adlens/integration/model"
)

// A key for some marketplaces gets, to the byte, what an account gets that has no
// others, whatever is asked and whatever the whole account's key asked before.
func TestAKeyForSomeMarketplacesKnowsNoOthers(t *testing.T) {
	t.Parallel()
	h, r := house.Shared(t), rand.New(rand.NewPCG(house.Seed(t), 61))
	us := seller{"101", "US", "USD", 1}
	other := []seller{{"102", "DE", "EUR", 2}, {"103", "CA", "CAD", 3}}[r.IntN(2)]
	own := map[string]string{us.country: t.TempDir(), other.country: t.TempDir()}
	us.write(t, r, own[us.country], 90, 8)
	other.write(t, r, own[other.country], 200, 2) // more days, on both ends
	one := house.Tenant{Model: model.New()}
	one.Files.ID = house.AccountID(t) + "-lone"
	one.Ask = h.Client(t, one.Files.ID)
	house.Load(t, h.Program, &one, accountOf(t, own, us)...)
	whole := house.AccountID(t) + "-whole"
	full := h.Client(t, whole)
	if r := h.Run(append([]string{"load", "--account", whole}, accountOf(t, own, us, other)...)...); r.Code != 0 {
		t.Fatal(r)
	}
	every, err := h.Key(one.Files.ID, "--marketplaces", "US")
	house.Need(t, err)
	c := crossing{t: t, full: full, lone: one.Ask, every: harness.Client{Address: h.Server.Address, Key: every}}
	for _, marketplaces := range []string{"US", us.id, "us,101"} {
		key, err := h.Key(whole, "--marketplaces", marketplaces)
		house.Need(t, err)
		c.limited = append(c.limited, harness.Client{Address: h.Server.Address, Key: key})
	}
	for _, path := range limitedPaths(us, other) {
		c.compare(path)
	}
	asker := house.NewAsker(r, one.Model)
	for range house.Scaled(150) {
		q := asker.Ask()
		if r.IntN(2) == 0 {
			q = q.With("format", []string{"csv", "xlsx", "parquet", "ndjson"}[r.IntN(4)])
		}
		c.compare(q.String())
	}
	c.compareAccount()
	c.compareFeed(h, whole, one.Files.ID)
}

// limitedPaths are requests for all endpoints, and for what a key for the first
// marketplace must not know.
func limitedPaths(us, other seller) (paths []string) {
	for _, figures := range []string{"/summary?", "/timeline?granularity=month&", "/reports/products?", "/report?dimensions=marketplace,campaign,product&", "/report?dimensions=ad_group&", "/report?dimensions=week,campaign&"} {
		for _, more := range []string{
			"", "range=all_time", "range=all_time&currency=local", "range=this_year&compare=previous_period", "start_date=" + house.DaysAgo(220) + "&end_date=" + house.DaysAgo(180),
			"marketplaces=" + other.country, "marketplaces=" + strings.ToLower(other.country), "marketplaces=" + other.id, "marketplaces=US," + other.id, "marketplaces=FR", "marketplaces=101", "marketplace=US",
			"campaign_ids=" + other.campaign(1), "campaign_ids=" + other.campaign(5), "campaign_ids=" + us.campaign(5), "campaign_ids=" + us.campaign(4) + "," + other.campaign(4),
			"ad_group_ids=" + other.adGroup(2), "ad_group_ids=" + strings.ToUpper(other.adGroup(2)), "ad_group_ids=" + strings.ToUpper(us.adGroup(5)),
			"product_ids=" + other.product(1), "product_ids=" + us.product(1), "product_ids=B0oWN01", "product_ids=B0TITLED", "product_ids=B0SHARED02",
			"range=all_time&figures=spend", "page_size=all&range=all_time&sort=spend&search=No", "range=all_time&search=" + other.country, "search=lamp", "range=all_time&sort=units_sold_clicks_7d",
		} {
			paths = append(paths, strings.TrimRight(figures+more, "?&"))
		}
	}
	lists := []string{"/marketplaces", "/rules", "/rules?page_size=2", "/rules?page_size=1&page=2", "/rules?page=9", "/rules?page_size=all", "/activity", "/activity?page_size=3&page=2", "/activity?page_size=all&tool=rule,campaign_create",
		"/rules/own-US/runs", "/rules/everywhere/runs", "/rules/campaigns-US/runs", "/rules/named/runs", "/rules/nowhere/runs", "/rules/none/runs",
		"/rules/own-" + other.country + "/runs", "/rules/campaigns-" + other.country + "/runs", "/campaigns", "/ad-groups"}
	for _, s := range []seller{us, other} {
		lists = append(lists, "/campaigns?marketplace_id="+s.id, "/campaigns?marketplace_id="+s.id+"&search=renamed&states=ENABLED", "/ad-groups?marketplace_id="+s.id,
			"/ad-groups?marketplace_id=101&campaign_id="+s.campaign(1), "/ad-groups?marketplace_id="+s.id+"&campaign_id="+us.campaign(1), "/ad-groups?marketplace_id="+s.id+"&search=no")
	}
	paths = append(paths, lists...)
	for i, path := range slices.Clone(paths) {
		joined := path + map[bool]string{true: "&", false: "?"}[strings.Contains(path, "?")]
		paths = append(paths, joined+"format="+[]string{"csv", "xlsx", "parquet", "ndjson"}[i%4])
	}
	return paths
}

// crossing asks with the key of the whole account, keys for its first marketplace, and
// the key of an account that has only this one.
type crossing struct {
	t          *testing.T
	full, lone harness.Client
	every      harness.Client // with a key of lone's account, for the only marketplace that it has
	limited    []harness.Client
}

// told is what a client is told: status, body and the headers that describe it. Each
// request has an id of its own.
func told(a harness.Answer) string {
	text := fmt.Sprintln(a.Status, string(requestIDs.ReplaceAll(a.Body, nil)))
	for _, name := range []string{"Content-Type", "Content-Disposition", "X-Total-Rows", "X-Truncated", "Link", "Cache-Control", "Vary"} {
		text += name + ": " + a.Header.Get(name) + "\n"
	}
	return text
}

var requestIDs = regexp.MustCompile(`"request_id":\s*"[^"]*"`)

// compare asks one question with all keys, between each other, so that an answer in
// memory would cross if it could. All answers are of one day.
func (c crossing) compare(path string) {
	c.t.Helper()
	house.AwayFromMidnight(c.t)
	path = "/api/v1" + path
	lone, every := house.Get(c.t, c.lone, path), house.Get(c.t, c.every, path)
	want := told(lone)
	if told(every) != want || every.Header.Get("ETag") != lone.Header.Get("ETag") {
		c.t.Errorf("%s: keys for all marketplaces have the ETags %s and %s, and the answers\n%.900s\n%.900s", path, lone.Header.Get("ETag"), every.Header.Get("ETag"), want, told(every))
	}
	before := house.Get(c.t, c.full, path)
	tag := ""
	for i, limited := range c.limited {
		for range 2 { // the second is answered from memory
			a := house.Get(c.t, limited, path)
			if got := told(a); got != want {
				c.t.Fatalf("%s with key %d:\n%.900s\nwant what the account without the other marketplace gets:\n%.900s", path, i, got, want)
			}
			if tag == "" {
				tag = a.Header.Get("ETag")
			}
			if a.Header.Get("ETag") != tag {
				c.t.Errorf("%s: keys for the same marketplaces have the ETags %s and %s", path, tag, a.Header.Get("ETag"))
			}
		}
		head, err := limited.Do(http.MethodHead, path)
		house.Need(c.t, err)
		if a := house.Get(c.t, limited, path); head.Status != a.Status || head.Header.Get("Content-Length") != a.Header.Get("Content-Length") || head.Header.Get("ETag") != tag {
			c.t.Errorf("%s: HEAD says %d, %s bytes; GET %d, %s bytes", path, head.Status, head.Header.Get("Content-Length"), a.Status, a.Header.Get("Content-Length"))
		}
	}
	if after := house.Get(c.t, c.full, path); told(after) != told(before) {
		c.t.Errorf("%s: the whole account's answer is another after that of the limited key", path)
	}
	if before.Status != http.StatusOK || tag == "" {
		return
	}
	if before.Header.Get("ETag") == tag {
		c.t.Errorf("%s: the whole account's answer and the limited one have one ETag", path)
	}
	for _, x := range []struct {
		who    string
		client harness.Client
		tag    string
		want   int
	}{{"the limited key with the whole account's tag", c.limited[0], before.Header.Get("ETag"), 200}, {"the whole account's key with a limited tag", c.full, tag, 200}, {"the limited key with another's", c.limited[1], tag, 304}} {
		if a := house.Get(c.t, x.client, path, "If-None-Match", x.tag); a.Status != x.want {
			c.t.Errorf("%s: %s gets %d, want %d", path, x.who, a.Status, x.want)
		}
	}
}

// compareAccount compares what the account says, but for the key and the account.
func (c crossing) compareAccount() {
	last := func(client harness.Client) string {
		a := house.Get(c.t, client, house.AccountPath)
		_, meta, _ := strings.Cut(string(a.Body), `"meta"`)
		return meta
	}
	if got, want := last(c.limited[0]), last(c.lone); got != want {
		c.t.Errorf("the account says %s to a limited key, want %s", got, want)
	}
	for i, want := range []string{`["US"]`, `["101"]`, `["101","US"]`} {
		if a := house.Get(c.t, c.limited[i], house.AccountPath); !strings.Contains(string(a.Body), `"marketplaces":`+want) {
			c.t.Errorf("key %d is not reported to be for %s: %s", i, want, a.Body)
		}
	}
	if a := house.Get(c.t, c.full, house.AccountPath); strings.Contains(string(a.Body), `"marketplaces":`) {
		c.t.Errorf("a key for the whole account is described as one for some: %s", a.Body)
	}
}

// compareFeed compares feed links of the same request.
func (c crossing) compareFeed(h *house.House, whole, lone string) {
	for _, request := range []string{"/summary?range=all_time&format=json", "/report?dimensions=campaign,product&range=all_time", "/activity", "/rules"} {
		house.AwayFromMidnight(c.t)
		want := told(house.Get(c.t, harness.Client{Address: h.Server.Address}, house.Feed(c.t, h, lone, request)))
		house.Get(c.t, c.full, "/api/v1"+request+map[bool]string{true: "&", false: "?"}[strings.Contains(request, "?")]+url.Values{"format": {"csv"}}.Encode())
		got := told(house.Get(c.t, harness.Client{Address: h.Server.Address}, house.Feed(c.t, h, whole, request, "--marketplaces", "US")))
		if got != want {
			c.t.Errorf("a feed of %s for one marketplace:\n%s\nwant\n%s", request, got, want)
		}
	}
	r := h.Run("feed", "create", "--account", whole, "--name", "x", "--request", "/campaigns?marketplace_id=102", "--marketplaces", "US")
	if r.Code == 0 || !strings.Contains(r.Stderr, "no marketplace of this account") {
		c.t.Errorf("a feed of what its marketplaces do not have: %s", r)
	}
}
