package lists_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"adlens/integration/harness"
	"adlens/integration/house"
)

func TestListsAreSentAgainOnlyAfterALoadThatChangesThem(t *testing.T) {
	t.Parallel()
	h, one := house.ShopWithLists(t)
	second, err := h.Key(one.Files.ID)
	house.Need(t, err)
	other := harness.Client{Address: h.Server.Address, Key: second}
	dir := t.TempDir()
	renamed := house.ThreeCampaigns()
	renamed[1]["name"] = "Renamed"
	export := house.ExportPair("renamed", "101", "campaigns", time.Now().Add(-time.Minute), renamed...).Write(t, dir)
	groups := house.ExportPair("groups", "101", "adGroups", time.Now().Add(-time.Minute), house.ThreeAdGroups()[:2]...).Write(t, dir)
	rule := house.Put(t, dir, "rules.ndjson", house.Lines(t, house.With(house.RuleLine("two"), "name", "Renamed")))
	run := house.Put(t, dir, "rule_runs.ndjson", house.Lines(t, house.RunLine("two", "one")))
	entry := house.Put(t, dir, "activity.ndjson", house.Lines(t, house.ActivityLine("three", "101")))
	older := house.ExportPair("older", "101", "campaigns", time.Now().Add(-30*24*time.Hour), house.CampaignRow("77", "Old", "USD")).Write(t, dir)
	for _, c := range []struct {
		path, same string
		change     []string
	}{
		{"/campaigns?marketplace_id=101", "/campaigns?page=1&page_size=100&marketplace_id=101&format=json", export},
		{"/ad-groups?marketplace_id=101", "/ad-groups?page_size=100&marketplace_id=101", groups},
		{"/rules", "/rules?page_size=1000&page=1", []string{rule}},
		{"/rules/one/runs", "/rules/one/runs?format=JSON", []string{run}},
		{"/activity", "/activity?page_size=100", []string{entry}},
	} {
		tag := house.Get(t, one.Ask, "/api/v1"+c.path).Header.Get("ETag")
		if got := house.Get(t, other, "/api/v1"+c.same).Header.Get("ETag"); got != tag {
			t.Errorf("%s means the same as %s: want ETag %s, got %s", c.same, c.path, tag, got)
		}
		unchanged := func(after string) {
			t.Helper()
			if b := house.Get(t, other, "/api/v1"+c.path, "If-None-Match", tag); b.Status != 304 || len(b.Body) != 0 || b.Header.Get("ETag") != tag {
				t.Errorf("%s: want 304 after %s, got %s", c.path, after, b)
			}
		}
		unchanged("nothing")
		house.Load(t, h.Program, one, older...)
		if c.path != "/campaigns?marketplace_id=101" {
			house.Load(t, h.Program, one, export...) // again: it is held by now
		}
		unchanged("loads that change nothing")
		house.Load(t, h.Program, one, c.change...)
		if b := house.Get(t, other, "/api/v1"+c.path, "If-None-Match", tag); b.Status != 200 || b.Header.Get("ETag") == tag {
			t.Errorf("%s: want a new answer after a load, got %d %s", c.path, b.Status, b.Header.Get("ETag"))
		}
		house.CheckLists(t, one)
	}
}

func TestDifferentListRequestsHaveDifferentTags(t *testing.T) {
	t.Parallel()
	_, one := house.ShopWithLists(t)
	tags := map[string]string{}
	for _, path := range []string{
		"/marketplaces", "/campaigns?marketplace_id=101", "/campaigns?marketplace_id=102", "/campaigns?marketplace_id=101&states=PAUSED",
		"/campaigns?marketplace_id=101&page=2", "/campaigns?marketplace_id=101&page_size=1", "/ad-groups?marketplace_id=101",
		"/ad-groups?marketplace_id=101&campaign_id=1", "/rules", "/rules?page=2", "/rules/one/runs", "/rules/two/runs", "/activity", "/activity?tool=rule",
	} {
		tag := house.Get(t, one.Ask, "/api/v1"+path).Header.Get("ETag")
		if before := tags[tag]; tag == "" || before != "" {
			t.Errorf("%s has the ETag %q of %q", path, tag, before)
		}
		tags[tag] = path
	}
}

// Every fault of a request is named at once, also that only the list can tell.
func TestAnUnknownCampaignIsNamedBesideOtherFaults(t *testing.T) {
	t.Parallel()
	_, one := house.ShopWithLists(t)
	for _, c := range []struct {
		query, code string
		want        []string
	}{
		{"campaign_id=nowhere", "unknown_value", []string{"campaign_id"}},
		{"campaign_id=nowhere&page=0&format=pdf", "unknown_value", []string{"campaign_id", "page", "format"}},
		{"campaign_id=1&page=0", "invalid_parameter", []string{"page"}},
		{"campaign_id=nowhere&campaign_id=1&page_size=0", "invalid_parameter", []string{"campaign_id", "page_size"}},
	} {
		p := house.ProblemOf(t, house.Get(t, one.Ask, "/api/v1/ad-groups?marketplace_id=101&"+c.query), 400, c.code)
		var named []string
		for _, fault := range p.Errors {
			named = append(named, fault.Parameter)
		}
		if !slices.Equal(named, c.want) {
			t.Errorf("%s: faults of %q, expected %q", c.query, named, c.want)
		}
	}
}

func TestLoadingListsAndRecordsAgainOrOlderOnesIsNoError(t *testing.T) {
	t.Parallel()
	h, one := house.ShopWithLists(t)
	dir := t.TempDir()
	house.ExportPair("again", "101", "campaigns", time.Now().Add(-time.Minute), house.ThreeCampaigns()[:2]...).Write(t, dir)
	house.ExportPair("older", "101", "campaigns", time.Now().Add(-time.Hour*90), house.CampaignRow("77", "Old", "USD")).Write(t, dir)
	house.Put(t, dir, "rules.ndjson", house.Lines(t, house.RuleLine("three")))
	for range 3 {
		house.Load(t, h.Program, one, dir)
		house.CheckLists(t, one)
	}
}

func TestReadersSeeTheOldListOrTheNewOneNeverAMixture(t *testing.T) {
	t.Parallel()
	h, one := house.ShopWithData(t)
	s := &house.Stage{Client: one.Ask, Questions: []house.Question{
		house.NewQuestion("/campaigns", "marketplace_id=101&page_size=1000"), house.NewQuestion("/ad-groups", "marketplace_id=101&page_size=1000"), house.NewQuestion("/marketplaces", ""),
	}}
	steps := listStates(t, house.Scaled(6))
	for _, paths := range steps {
		one.Model.Load(paths...)
		s.Remember(t, one.Model)
	}
	s.Play(t, h, one.Files.ID, steps)
}

// listStates are loads of one export each: campaigns change their names, and
// with some of them their ad groups vanish.
func listStates(t *testing.T, n int) [][]string {
	t.Helper()
	dir := t.TempDir()
	at := time.Now().Add(-time.Hour)
	var groups []map[string]any
	for i := range 900 {
		groups = append(groups, house.AdGroupRow(fmt.Sprint(5000+i), fmt.Sprint(1+i), "Group"))
	}
	steps := [][]string{house.ExportPair("groups", "101", "adGroups", at, groups...).Write(t, dir)}
	for k := range n {
		var rows []map[string]any
		for i := k; i < 900-10*k; i++ {
			rows = append(rows, house.CampaignRow(fmt.Sprint(1+i), fmt.Sprintf("State %d of %04d", k, i), "USD"))
		}
		steps = append(steps, house.ExportPair(fmt.Sprintf("state-%02d", k), "101", "campaigns", at.Add(time.Duration(k)*time.Minute), rows...).Write(t, dir))
	}
	return steps
}

func TestLinksLeadThroughAllPages(t *testing.T) {
	t.Parallel()
	_, one := house.ShopWithLists(t)
	for path, want := range map[string]int{
		"/campaigns?marketplace_id=101&states=ENABLED&page_size=1": 3, "/ad-groups?page_size=2&marketplace_id=101": 2, "/rules?page_size=1": 2, "/activity?page_size=1": 2,
	} {
		next, pages := "/api/v1"+path, 0
		for ; next != "" && pages < 10; pages++ {
			a := house.Get(t, one.Ask, next)
			var body struct{ Data []json.RawMessage }
			house.Need(t, json.Unmarshal(a.Body, &body))
			if a.Status != 200 || len(body.Data) == 0 {
				t.Errorf("%s: %s", next, a)
			}
			next = nextOf(t, a.Header.Get("Link"))
		}
		if pages != want {
			t.Errorf("%s: want %d pages, got %d", path, want, pages)
		}
	}
}

func nextOf(t *testing.T, link string) string {
	t.Helper()
	if link == "" {
		return ""
	}
	address, err := url.Parse(strings.TrimSuffix(strings.TrimPrefix(link, "<"), `>; rel="next"`))
	house.Need(t, err)
	return address.RequestURI()
}
