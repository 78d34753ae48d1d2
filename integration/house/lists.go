package house

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"adlens/integration/harness"
	"adlens/integration/model"
)

// expectedList is what the oracle answers to a request for a list.
func expectedList(m *model.Account, q Question) (any, error) {
	switch q.Path {
	case "/marketplaces":
		return m.Marketplaces(), nil
	case "/campaigns":
		return anyOf(m.Campaigns(q.Query))
	case "/ad-groups":
		return anyOf(m.AdGroups(q.Query))
	case "/rules":
		return anyOf(m.Rules(q.Query))
	case "/activity":
		return anyOf(m.Activity(q.Query))
	}
	rule, isRuns := strings.CutSuffix(strings.TrimPrefix(q.Path, "/rules/"), "/runs")
	if !isRuns {
		return nil, fmt.Errorf("no such list: %s", q.Path)
	}
	return m.Runs(rule), nil
}

func anyOf(answer map[string]any, err error) (any, error) { return answer, err }

// NewQuestion makes a question of a path and a query, which must parse.
func NewQuestion(path, query string) Question {
	values, err := url.ParseQuery(query)
	if err != nil {
		panic(err)
	}
	return Question{path, values}
}

// AllLists asks for everything at the largest page, once.
func AllLists(m *model.Account) []Question {
	all := []Question{NewQuestion("/marketplaces", ""), NewQuestion("/rules", ""), NewQuestion("/activity", "page_size=all")}
	for _, profile := range m.Profiles() {
		all = append(all, NewQuestion("/campaigns", "page_size=1000&marketplace_id="+profile), NewQuestion("/ad-groups", "page_size=1000&marketplace_id="+profile))
	}
	for _, rule := range m.RuleIDs() {
		all = append(all, NewQuestion("/rules/"+rule+"/runs", ""))
	}
	return all
}

// NarrowedLists asks with the filters that the lists know.
func NarrowedLists(m *model.Account) []Question {
	all := []Question{NewQuestion("/activity", "tool=rule"), NewQuestion("/activity", "tool=undo,%20RULE%20,campaign_copy&page_size=50"), NewQuestion("/activity", "tool=product_add")}
	for _, profile := range m.Profiles() {
		for _, states := range []string{"ENABLED", "paused", "PAUSED,enabled", "%20Enabled%20,ENABLED"} {
			all = append(all, NewQuestion("/campaigns", "marketplace_id="+profile+"&states="+states),
				NewQuestion("/campaigns", "marketplace_id="+profile+"&search=AM&page_size=2&states="+states))
		}
		for _, campaign := range someCampaigns(m, profile, 3) {
			all = append(all, NewQuestion("/ad-groups", "marketplace_id="+profile+"&campaign_id="+campaign))
		}
	}
	return all
}

// someCampaigns are ids in a marketplace's list.
func someCampaigns(m *model.Account, profile string, n int) []string {
	answer, err := m.Campaigns(url.Values{"marketplace_id": {profile}})
	if err != nil {
		panic(err)
	}
	var ids []string
	for _, row := range answer["data"].([]any)[:min(n, len(answer["data"].([]any)))] {
		ids = append(ids, row.(map[string]any)["campaign_id"].(string))
	}
	return ids
}

// CheckLists asks for every list, whole.
func CheckLists(t *testing.T, one *Tenant) {
	t.Helper()
	for _, q := range AllLists(one.Model) {
		Check(t, one.Ask, one.Model, q)
	}
}

// CheckPages asks for every page of a list, and for two that are past its end.
func CheckPages(t *testing.T, one *Tenant, q Question, size, rows int) {
	t.Helper()
	q.Query.Set("page_size", fmt.Sprint(size))
	last := (rows + size - 1) / size
	for page := 1; page <= last+1; page++ {
		q.Query.Set("page", fmt.Sprint(page))
		Check(t, one.Ask, one.Model, q)
	}
	q.Query.Set("page", "1000000")
	Check(t, one.Ask, one.Model, q)
}

// RowsOf is how many rows the oracle has for a paged list.
func RowsOf(t *testing.T, m *model.Account, q Question) int {
	t.Helper()
	answer, err := expectedList(m, q)
	Need(t, err)
	var n int
	_, err = fmt.Sscan(fmt.Sprint(answer.(map[string]any)["pagination"].(map[string]any)["total_rows"]), &n)
	Need(t, err)
	return n
}

// ShopWithLists is a shop of which marketplace 101 has lists; campaign 4 is
// archived.
func ShopWithLists(t *testing.T) (*House, *Tenant) {
	t.Helper()
	h, one := ShopWithData(t)
	dir, hourAgo := t.TempDir(), time.Now().Add(-time.Hour)
	archived := With(CampaignRow("4", "Four", "USD"), "state", "ARCHIVED")
	ExportPair("campaigns", "101", "campaigns", hourAgo, append(ThreeCampaigns(), archived)...).Write(t, dir)
	ExportPair("adGroups", "101", "adGroups", hourAgo, ThreeAdGroups()...).Write(t, dir)
	ExportPair("ads", "101", "ads", hourAgo, ThreeAds()...).Write(t, dir)
	Put(t, dir, "rules.ndjson", Lines(t, RuleLine("one"), RuleLine("two")))
	Put(t, dir, "rule_runs.ndjson", Lines(t, RunLine("one", "one")))
	Put(t, dir, "activity.ndjson", Lines(t, ActivityLine("one", "101"), ActivityLine("two", "102")))
	Load(t, h.Program, one, dir)
	return h, one
}

// Members lists one member of every element of data.
func Members(t *testing.T, c harness.Client, path, member string) []string {
	t.Helper()
	a := Get(t, c, "/api/v1"+path)
	var body struct{ Data []map[string]any }
	decoder := json.NewDecoder(strings.NewReader(string(a.Body)))
	decoder.UseNumber()
	if err := decoder.Decode(&body); err != nil || a.Status != 200 {
		t.Fatalf("%s: %v %s", path, err, a)
	}
	values := []string{}
	for _, element := range body.Data {
		values = append(values, fmt.Sprint(element[member]))
	}
	return values
}

// WantMembers demands the values of one member in order.
func WantMembers(t *testing.T, c harness.Client, path, member string, want ...string) {
	t.Helper()
	if got := Members(t, c, path, member); !slices.Equal(got, want) {
		t.Errorf("%s: want %s %q, got %q", path, member, want, got)
	}
}
