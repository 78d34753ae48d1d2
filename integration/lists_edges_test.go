package integration_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"adlens/integration/model"
)

func TestExtremeValuesSurviveExactly(t *testing.T) {
	t.Parallel()
	h, one := shopWithData(t)
	var rows []map[string]any
	for i, amount := range []string{"0", "0.01", "0.0000001", "1E2", "10.500", "999999999999.99", "0.1000000000000000055"} {
		row := campaignRow(fmt.Sprint(i+1), fmt.Sprintf("%d %s", i, strings.Repeat("\U0001f600", 300*i)), "USD")
		money := row["budgetCaps"].(map[string]any)["budgetValue"].(map[string]any)["monetaryBudget"].(map[string]any)
		money["amount"] = json.Number(amount)
		rows = append(rows, row)
	}
	rows[0]["startDate"], rows[0]["endDate"] = "1969-12-31", "2150-01-01"
	rows[1]["endDate"] = "9999-12-31"
	run := runLine("one", "one")
	run["changed"] = exact("9007199254740993")
	run["looked_at"] = map[string]any{"campaigns": exact("9223372036854775807"), "ad_groups": 0, "targets": exact("9007199254740993")}
	run["changes"] = []any{
		change(exact("9007199254740993"), exact("0.10000000000000000001"), "short"), change("1.0", nil, strings.Repeat("long ", 100_000)),
	}
	dir := t.TempDir()
	exportPair("edges", "101", "campaigns", time.Now(), rows...).write(t, dir)
	put(t, dir, "rules.ndjson", lines(t, ruleLine("one")))
	put(t, dir, "rule_runs.ndjson", lines(t, run))
	load(t, h.Program, one, dir)
	checkLists(t, one)
}

func change(from, to any, reason string) map[string]any {
	return map[string]any{
		"marketplace": "US", "entity_type": "keyword", "entity_id": exact("144158449488730278"), "entity_name": "Lamp",
		"field": "bid", "from": from, "to": to, "reason": reason,
	}
}

func TestRecordsMayEndTheirLinesAsTheyLike(t *testing.T) {
	t.Parallel()
	h, one := shopWithData(t)
	dir := t.TempDir()
	text := string(lines(t, ruleLine("one"), ruleLine("two")))
	put(t, dir, "rules.ndjson", []byte(strings.ReplaceAll(text, "\n", "\r\n")))
	put(t, dir, "rule_runs.ndjson", []byte(strings.TrimSuffix(string(lines(t, runLine("one", "one"), runLine("two", "one"))), "\n")))
	put(t, dir, "activity.ndjson", nil)
	load(t, h.Program, one, dir)
	wantMembers(t, one.ask, "/rules", "rule_id", "two", "one")
	wantMembers(t, one.ask, "/rules/one/runs", "rule_run_id", "two", "one")
	checkLists(t, one)
}

// Every rule that is listed can be asked for its runs.
func TestRunsAreFoundWhateverTheRulesId(t *testing.T) {
	t.Parallel()
	h, one := shopWithData(t)
	ids := []string{"12345678901234567890", "with space", "100%", "a?b=c", "\u00fc\U0001f600", "a+b", "a.b", "a#b", "a/b"}
	dir := t.TempDir()
	var rules, runs []map[string]any
	for i, id := range ids {
		rules, runs = append(rules, ruleLine(id)), append(runs, runLine(fmt.Sprintf("run-%d", i), id))
	}
	put(t, dir, "rules.ndjson", lines(t, rules...))
	put(t, dir, "rule_runs.ndjson", lines(t, runs...))
	load(t, h.Program, one, dir)
	for i, id := range ids {
		t.Run(id, func(t *testing.T) {
			wantMembers(t, one.ask, "/rules/"+url.PathEscape(id)+"/runs", "rule_run_id", fmt.Sprintf("run-%d", i))
		})
	}
	check(t, one.ask, one.model, ask("/rules", ""))
}

// What one list shows may come from a file of another kind.
func TestAListsTagChangesWithEveryFileThatItShows(t *testing.T) {
	t.Parallel()
	h, one := shopWithLists(t)
	dir := t.TempDir()
	created := with(activityLine("maker", "101"), "created_campaign_ids", []any{"1"})
	report := spPair("newer", "101", daysAgo(3), 2, time.Now())
	for _, c := range []struct {
		why, path string
		files     []string
	}{
		{"provenance", "/campaigns?marketplace_id=101", []string{put(t, dir, "activity.ndjson", lines(t, created))}},
		{"last_run", "/rules", []string{put(t, dir, "rule_runs.ndjson", lines(t, with(runLine("late", "one"), "started_at", "2026-11-01T08:00:00Z")))}},
		{"held days", "/marketplaces", report.write(t, dir)},
		{"campaigns that vanish", "/ad-groups?marketplace_id=101", exportPair("fewer", "101", "campaigns", time.Now().Add(-time.Minute), threeCampaigns()[1:]...).write(t, dir)},
		{"counts", "/marketplaces", exportPair("none", "101", "ads", time.Now().Add(-time.Minute)).write(t, dir)},
	} {
		before := get(t, one.ask, "/api/v1"+c.path)
		load(t, h.Program, one, c.files...)
		after := get(t, one.ask, "/api/v1"+c.path, "If-None-Match", before.Header.Get("ETag"))
		if after.Status != 200 || string(after.Body) == string(before.Body) {
			t.Errorf("%s of %s: want another answer, got %d %.300s", c.why, c.path, after.Status, after.Body)
		}
		checkLists(t, one)
	}
}

// Which of two exports of one moment wins is not settled; that it does not
// depend on the order of loading is.
func TestExportsOfOneMomentGiveOneAnswerInEitherOrder(t *testing.T) {
	t.Parallel()
	h := sharedHouse(t)
	at := time.Now().Add(-time.Hour)
	dir := t.TempDir()
	first := exportPair("first", "101", "campaigns", at, campaignRow("1", "First", "USD")).write(t, dir)
	second := exportPair("second", "101", "campaigns", at, campaignRow("1", "Second", "USD"), campaignRow("2", "Two", "USD")).write(t, dir)
	var answers []string
	for i, order := range [][][]string{{first, second}, {second, first}, {append(first, second...)}} {
		one := &tenant{model: model.New()}
		one.files.ID = fmt.Sprintf("%s-%d", name(t), i)
		one.ask = h.account(t, one.files.ID)
		load(t, h.Program, one, profilesFile(t, t.TempDir(), [4]string{"101", "US", "USD", "seller"}))
		for _, paths := range order {
			load(t, h.Program, one, paths...)
		}
		answers = append(answers, strings.Join(members(t, one.ask, "/campaigns?marketplace_id=101", "name"), ","))
	}
	if answers[0] != answers[1] || answers[0] != answers[2] {
		t.Errorf("want one answer in every order, got %q", answers)
	}
}

func TestUnknownExtraFieldsAndSkippedNamesDoNoHarm(t *testing.T) {
	t.Parallel()
	h, one := shopWithData(t)
	dir := t.TempDir()
	row := with(with(campaignRow("1", "One", "USD"), "statusReasons", []any{map[string]any{"x": nil}}), "premiumBidAdjustment", false)
	p := exportPair("extra", "101", "campaigns", time.Now(), row)
	p.object["stateFilter"] = nil
	p.object["adProductFilter"] = nil // which narrows nothing
	p.write(t, dir)
	put(t, dir, "rules.ndjson", lines(t, with(ruleLine("one"), "owner", map[string]any{"a": 1}), with(ruleLine("two"), "deleted", false)))
	put(t, dir, "old-rules.ndjson", []byte("not read"))
	put(t, dir, ".hidden.export.json", []byte("not read"))
	done, err := h.Load(one.files.ID, dir)
	need(t, err)
	if done.Code != 0 {
		t.Errorf("want exit code 0, got %s", done.Result)
	}
	one.model.Load(dir)
	checkLists(t, one)
}
