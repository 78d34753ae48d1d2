package integration_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"adlens/integration/harness"
)

func TestListsAreSentAgainOnlyAfterALoadThatChangesThem(t *testing.T) {
	t.Parallel()
	h, one := shopWithLists(t)
	second, err := h.Key(one.files.ID)
	need(t, err)
	other := harness.Client{Address: h.server.Address, Key: second}
	dir := t.TempDir()
	renamed := threeCampaigns()
	renamed[1]["name"] = "Renamed"
	export := exportPair("renamed", "101", "campaigns", time.Now().Add(-time.Minute), renamed...).write(t, dir)
	groups := exportPair("groups", "101", "adGroups", time.Now().Add(-time.Minute), threeAdGroups()[:2]...).write(t, dir)
	rule := put(t, dir, "rules.ndjson", lines(t, with(ruleLine("two"), "name", "Renamed")))
	run := put(t, dir, "rule_runs.ndjson", lines(t, runLine("two", "one")))
	entry := put(t, dir, "activity.ndjson", lines(t, activityLine("three", "101")))
	older := exportPair("older", "101", "campaigns", time.Now().Add(-30*24*time.Hour), campaignRow("77", "Old", "USD")).write(t, dir)
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
		tag := get(t, one.ask, "/api/v1"+c.path).Header.Get("ETag")
		if got := get(t, other, "/api/v1"+c.same).Header.Get("ETag"); got != tag {
			t.Errorf("%s means the same as %s: want ETag %s, got %s", c.same, c.path, tag, got)
		}
		unchanged := func(after string) {
			t.Helper()
			if b := get(t, other, "/api/v1"+c.path, "If-None-Match", tag); b.Status != 304 || len(b.Body) != 0 || b.Header.Get("ETag") != tag {
				t.Errorf("%s: want 304 after %s, got %s", c.path, after, b)
			}
		}
		unchanged("nothing")
		load(t, h.Program, one, older...)
		if c.path != "/campaigns?marketplace_id=101" {
			load(t, h.Program, one, export...) // again: it is held by now
		}
		unchanged("loads that change nothing")
		load(t, h.Program, one, c.change...)
		if b := get(t, other, "/api/v1"+c.path, "If-None-Match", tag); b.Status != 200 || b.Header.Get("ETag") == tag {
			t.Errorf("%s: want a new answer after a load, got %d %s", c.path, b.Status, b.Header.Get("ETag"))
		}
		checkLists(t, one)
	}
}

func TestDifferentListRequestsHaveDifferentTags(t *testing.T) {
	t.Parallel()
	_, one := shopWithLists(t)
	tags := map[string]string{}
	for _, path := range []string{
		"/marketplaces", "/campaigns?marketplace_id=101", "/campaigns?marketplace_id=102", "/campaigns?marketplace_id=101&states=PAUSED",
		"/campaigns?marketplace_id=101&page=2", "/campaigns?marketplace_id=101&page_size=1", "/ad-groups?marketplace_id=101",
		"/ad-groups?marketplace_id=101&campaign_id=1", "/rules", "/rules?page=2", "/rules/one/runs", "/rules/two/runs", "/activity", "/activity?tool=rule",
	} {
		tag := get(t, one.ask, "/api/v1"+path).Header.Get("ETag")
		if before := tags[tag]; tag == "" || before != "" {
			t.Errorf("%s has the ETag %q of %q", path, tag, before)
		}
		tags[tag] = path
	}
}

func TestLoadingListsAndRecordsAgainOrOlderOnesIsNoError(t *testing.T) {
	t.Parallel()
	h, one := shopWithLists(t)
	dir := t.TempDir()
	exportPair("again", "101", "campaigns", time.Now().Add(-time.Minute), threeCampaigns()[:2]...).write(t, dir)
	exportPair("older", "101", "campaigns", time.Now().Add(-time.Hour*90), campaignRow("77", "Old", "USD")).write(t, dir)
	put(t, dir, "rules.ndjson", lines(t, ruleLine("three")))
	for range 3 {
		load(t, h.Program, one, dir)
		checkLists(t, one)
	}
}

func TestReadersSeeTheOldListOrTheNewOneNeverAMixture(t *testing.T) {
	t.Parallel()
	h, one := shopWithData(t)
	s := &stage{client: one.ask, questions: []question{
		ask("/campaigns", "marketplace_id=101&page_size=1000"), ask("/ad-groups", "marketplace_id=101&page_size=1000"), ask("/marketplaces", ""),
	}}
	steps := listStates(t, scaled(6))
	for _, paths := range steps {
		one.model.Load(paths...)
		s.remember(t, one.model)
	}
	s.play(t, h, one.files.ID, steps)
}

// listStates are loads of one export each: campaigns change their names, and
// with some of them their ad groups vanish.
func listStates(t *testing.T, n int) [][]string {
	t.Helper()
	dir := t.TempDir()
	at := time.Now().Add(-time.Hour)
	var groups []map[string]any
	for i := range 900 {
		groups = append(groups, adGroupRow(fmt.Sprint(5000+i), fmt.Sprint(1+i), "Group"))
	}
	steps := [][]string{exportPair("groups", "101", "adGroups", at, groups...).write(t, dir)}
	for k := range n {
		var rows []map[string]any
		for i := k; i < 900-10*k; i++ {
			rows = append(rows, campaignRow(fmt.Sprint(1+i), fmt.Sprintf("State %d of %04d", k, i), "USD"))
		}
		steps = append(steps, exportPair(fmt.Sprintf("state-%02d", k), "101", "campaigns", at.Add(time.Duration(k)*time.Minute), rows...).write(t, dir))
	}
	return steps
}

func TestLinksLeadThroughAllPages(t *testing.T) {
	t.Parallel()
	_, one := shopWithLists(t)
	for path, want := range map[string]int{
		"/campaigns?marketplace_id=101&states=ENABLED&page_size=1": 3, "/ad-groups?page_size=2&marketplace_id=101": 2, "/rules?page_size=1": 2, "/activity?page_size=1": 2,
	} {
		next, pages := "/api/v1"+path, 0
		for ; next != "" && pages < 10; pages++ {
			a := get(t, one.ask, next)
			var body struct{ Data []json.RawMessage }
			need(t, json.Unmarshal(a.Body, &body))
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
	need(t, err)
	return address.RequestURI()
}
