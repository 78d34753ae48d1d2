package integration_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"adlens/integration/model"
)

// expectedList is what the oracle answers to a request for a list.
func expectedList(m *model.Account, q question) (any, error) {
	switch q.path {
	case "/marketplaces":
		return m.Marketplaces(), nil
	case "/campaigns":
		return anyOf(m.Campaigns(q.query))
	case "/ad-groups":
		return anyOf(m.AdGroups(q.query))
	case "/rules":
		return anyOf(m.Rules(q.query))
	case "/activity":
		return anyOf(m.Activity(q.query))
	}
	rule, isRuns := strings.CutSuffix(strings.TrimPrefix(q.path, "/rules/"), "/runs")
	if !isRuns {
		return nil, fmt.Errorf("no such list: %s", q.path)
	}
	return m.Runs(rule), nil
}

func anyOf(answer map[string]any, err error) (any, error) { return answer, err }

// ask makes a question of a path and a query, which must parse.
func ask(path, query string) question {
	values, err := url.ParseQuery(query)
	if err != nil {
		panic(err)
	}
	return question{path, values}
}

// allLists asks for everything at the largest page, once.
func allLists(m *model.Account) []question {
	all := []question{ask("/marketplaces", ""), ask("/rules", ""), ask("/activity", "page_size=all")}
	for _, profile := range m.Profiles() {
		all = append(all, ask("/campaigns", "page_size=1000&marketplace_id="+profile), ask("/ad-groups", "page_size=1000&marketplace_id="+profile))
	}
	for _, rule := range m.RuleIDs() {
		all = append(all, ask("/rules/"+rule+"/runs", ""))
	}
	return all
}

// narrowedLists asks with the filters that the lists know.
func narrowedLists(m *model.Account) []question {
	all := []question{ask("/activity", "tool=rule"), ask("/activity", "tool=undo,%20RULE%20,campaign_copy&page_size=50"), ask("/activity", "tool=product_add")}
	for _, profile := range m.Profiles() {
		for _, states := range []string{"ENABLED", "paused", "PAUSED,enabled", "%20Enabled%20,ENABLED"} {
			all = append(all, ask("/campaigns", "marketplace_id="+profile+"&states="+states))
		}
		for _, campaign := range someCampaigns(m, profile, 3) {
			all = append(all, ask("/ad-groups", "marketplace_id="+profile+"&campaign_id="+campaign))
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

// checkLists asks for every list, whole.
func checkLists(t *testing.T, one *tenant) {
	t.Helper()
	for _, q := range allLists(one.model) {
		check(t, one.ask, one.model, q)
	}
}

// checkPages asks for every page of a list, and for two that are past its end.
func checkPages(t *testing.T, one *tenant, q question, size, rows int) {
	t.Helper()
	q.query.Set("page_size", fmt.Sprint(size))
	last := (rows + size - 1) / size
	for page := 1; page <= last+1; page++ {
		q.query.Set("page", fmt.Sprint(page))
		check(t, one.ask, one.model, q)
	}
	q.query.Set("page", "1000000")
	check(t, one.ask, one.model, q)
}

// rowsOf is how many rows the oracle has for a paged list.
func rowsOf(t *testing.T, m *model.Account, q question) int {
	t.Helper()
	answer, err := expectedList(m, q)
	need(t, err)
	var n int
	_, err = fmt.Sscan(fmt.Sprint(answer.(map[string]any)["pagination"].(map[string]any)["total_rows"]), &n)
	need(t, err)
	return n
}
