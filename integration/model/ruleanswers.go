package model

import (
	"cmp"
	"maps"
	"net/url"
	"slices"
	"strings"
)

// Rules is the answer of /rules.
func (a *Account) Rules(q url.Values) (map[string]any, error) {
	var rows []map[string]any
	for _, rule := range newestFirst(a.rules, "edited_at", "rule_id") {
		rows = append(rows, a.ruleObject(rule))
	}
	return recordList(rows, q, 1000)
}

func (a *Account) ruleObject(rule record) map[string]any {
	scope, schedule := rule.memberObject("scope"), rule.memberObject("schedule")
	answer := map[string]any{
		"rule_id": rule.memberText("rule_id"), "name": rule.memberText("name"), "status": rule.memberText("status"),
		"scope":    map[string]any{"marketplaces": canonicalCodes(scope["marketplaces"]), "campaign_ids": idTexts(scope["campaign_ids"])},
		"schedule": map[string]any{"frequency": schedule["frequency"], "time": schedule["time"], "timezone": schedule["timezone"]},
		"last_run": nil, "edited_at": reformatTime(rule["edited_at"]),
	}
	if runs := a.runsOf(rule.memberText("rule_id")); len(runs) > 0 {
		answer["last_run"] = runHead(runs[0])
	}
	return answer
}

func runHead(run record) map[string]any {
	return map[string]any{
		"rule_run_id": run.memberText("rule_run_id"), "started_at": reformatTime(run["started_at"]),
		"finished_at": reformatTime(run["finished_at"]), "status": run["status"], "changed": run["changed"],
	}
}

// runsOf are a rule's runs that were no tests, newest first.
func (a *Account) runsOf(rule string) []record {
	return slices.DeleteFunc(newestFirst(a.runs, "started_at", "rule_run_id"), func(run record) bool {
		return run.memberText("rule_id") != rule || run["test"] == true
	})
}

// RuleIDs are the ids of all rules, sorted.
func (a *Account) RuleIDs() []string { return slices.Sorted(maps.Keys(a.rules)) }

// Runs is the answer of /rules/{rule_id}/runs for a rule that there is.
func (a *Account) Runs(rule string) map[string]any {
	data := []any{}
	for _, run := range a.runsOf(rule) {
		if len(data) == 20 {
			break
		}
		shown := runHead(run)
		shown["marketplaces"], shown["looked_at"] = canonicalCodes(run["marketplaces"]), run["looked_at"]
		changes := []any{}
		for _, change := range run["changes"].([]any) {
			c := maps.Clone(change.(map[string]any))
			c["marketplace"], c["entity_id"] = canonicalCountry(textOf(c["marketplace"])), textOf(c["entity_id"])
			changes = append(changes, c)
		}
		shown["changes"] = changes
		data = append(data, shown)
	}
	return map[string]any{"data": data, "meta": map[string]any{}}
}

// Activity is the answer of /activity.
func (a *Account) Activity(q url.Values) (map[string]any, error) {
	tools := listParam(q, "tool")
	var rows []map[string]any
	for _, entry := range newestFirst(a.activity, "occurred_at", "activity_id") {
		if passesFilter(tools, strings.ToUpper(entry.memberText("tool"))) {
			rows = append(rows, a.entryObject(entry))
		}
	}
	return recordList(rows, q, 100)
}

func (a *Account) entryObject(entry record) map[string]any {
	profile := entry.memberText("marketplace_id")
	return map[string]any{
		"activity_id": entry.memberText("activity_id"), "occurred_at": reformatTime(entry["occurred_at"]), "tool": entry.memberText("tool"),
		"marketplace": a.profiles[profile].country, "marketplace_id": profile,
		"rule_id": orNull(entry.memberText("rule_id")), "rule_run_id": orNull(entry.memberText("rule_run_id")),
		"status": entry["status"], "summary": entry["summary"], "changed": entry["changed"],
	}
}

// newestFirst orders records by a time, the latest first; ties by id, descending.
func newestFirst(held map[string]record, at, id string) []record {
	rows := slices.Collect(maps.Values(held))
	slices.SortFunc(rows, func(x, y record) int {
		return cmp.Or(parseTime(y[at]).Compare(parseTime(x[at])), strings.Compare(y.memberText(id), x.memberText(id)))
	})
	return rows
}

func recordList(rows []map[string]any, q url.Values, usual int) (map[string]any, error) {
	data, pagination, err := cutPage(rows, q, usual)
	return map[string]any{"data": data, "pagination": pagination, "meta": map[string]any{}}, err
}

// canonicalCodes writes countries canonically; null stays null.
func canonicalCodes(value any) any { return eachText(value, canonicalCountry) }

// idTexts writes ids as text; null stays null.
func idTexts(value any) any { return eachText(value, func(id string) string { return id }) }

func eachText(value any, change func(string) string) any {
	values, ok := value.([]any)
	if !ok {
		return nil
	}
	texts := []any{}
	for _, one := range values {
		texts = append(texts, change(textOf(one)))
	}
	return texts
}
