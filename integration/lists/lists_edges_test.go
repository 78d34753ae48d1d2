package lists_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"adlens/integration/house"
	"adlens/integration/model"
)

func TestExtremeValuesSurviveExactly(t *testing.T) {
	t.Parallel()
	h, one := house.ShopWithData(t)
	var rows []map[string]any
	for i, amount := range []string{"0", "0.01", "0.0000001", "1E2", "10.500", "999999999999.99", "0.1000000000000000055"} {
		row := house.CampaignRow(fmt.Sprint(i+1), fmt.Sprintf("%d %s", i, strings.Repeat("\U0001f600", 300*i)), "USD")
		money := row["budgetCaps"].(map[string]any)["budgetValue"].(map[string]any)["monetaryBudget"].(map[string]any)
		money["amount"] = json.Number(amount)
		rows = append(rows, row)
	}
	rows[0]["startDate"], rows[0]["endDate"] = "1969-12-31", "2150-01-01"
	rows[1]["endDate"] = "9999-12-31"
	run := house.RunLine("one", "one")
	run["changed"] = house.Exact("9007199254740993")
	run["looked_at"] = map[string]any{"campaigns": house.Exact("9223372036854775807"), "ad_groups": 0, "targets": house.Exact("9007199254740993")}
	run["changes"] = []any{
		change(house.Exact("9007199254740993"), house.Exact("0.10000000000000000001"), "short"), change("1.0", nil, strings.Repeat("long ", 100_000)),
	}
	dir := t.TempDir()
	house.ExportPair("edges", "101", "campaigns", time.Now(), rows...).Write(t, dir)
	house.Put(t, dir, "rules.ndjson", house.Lines(t, house.RuleLine("one")))
	house.Put(t, dir, "rule_runs.ndjson", house.Lines(t, run))
	house.Load(t, h.Program, one, dir)
	house.CheckLists(t, one)
}

func change(from, to any, reason string) map[string]any {
	return map[string]any{
		"marketplace": "US", "entity_type": "keyword", "entity_id": house.Exact("144158449488730278"), "entity_name": "Lamp",
		"field": "bid", "from": from, "to": to, "reason": reason,
	}
}

func TestRecordsMayEndTheirLinesAsTheyLike(t *testing.T) {
	t.Parallel()
	h, one := house.ShopWithData(t)
	dir := t.TempDir()
	text := string(house.Lines(t, house.RuleLine("one"), house.RuleLine("two")))
	house.Put(t, dir, "rules.ndjson", []byte(strings.ReplaceAll(text, "\n", "\r\n")))
	house.Put(t, dir, "rule_runs.ndjson", []byte(strings.TrimSuffix(string(house.Lines(t, house.RunLine("one", "one"), house.RunLine("two", "one"))), "\n")))
	house.Put(t, dir, "activity.ndjson", nil)
	house.Load(t, h.Program, one, dir)
	house.WantMembers(t, one.Ask, "/rules", "rule_id", "two", "one")
	house.WantMembers(t, one.Ask, "/rules/one/runs", "rule_run_id", "two", "one")
	house.CheckLists(t, one)
}

// Every rule that is listed has its runs at its address, and names its last one, whose
// changes are taken out of the stored record.
func TestRunsAreFoundWhateverTheRulesId(t *testing.T) {
	t.Parallel()
	h, one := house.ShopWithData(t)
	ids := []string{"12345678901234567890", "with space", "100%", "a?b=c", "\u00fc\U0001f600", "a+b", "a.b", "a#b", "a/b", "a+b/c", "s\u00fcd+ost"}
	dir := t.TempDir()
	var rules, runs []map[string]any
	runOf := func(i int) string { return fmt.Sprintf(`run-%d ","changes":[\"%s`, i, ids[i]) }
	for i, id := range ids {
		run := house.RunLine(runOf(i), id)
		deep := json.RawMessage(strings.Repeat("[", 2<<i) + strings.Repeat("]", 2<<i)) // the last ones too deep for the database to read
		run["changed"], run["changes"] = 1, []any{map[string]any{"marketplace": "US", "entity_type": "campaign", "entity_id": "1", "entity_name": "\u00fc", "field": "bid", "from": deep, "to": nil, "reason": "\""}}
		rules, runs = append(rules, house.RuleLine(id)), append(runs, run)
	}
	house.Put(t, dir, "rules.ndjson", house.Lines(t, rules...))
	house.Put(t, dir, "rule_runs.ndjson", house.Lines(t, runs...))
	house.Load(t, h.Program, one, dir)
	for i, id := range ids {
		t.Run(id, func(t *testing.T) {
			house.WantMembers(t, one.Ask, "/rules/"+url.PathEscape(id)+"/runs", "rule_run_id", runOf(i))
		})
	}
	house.Check(t, one.Ask, one.Model, house.NewQuestion("/rules", ""))
}

// What one list shows may come from a file of another kind.
func TestAListsTagChangesWithEveryFileThatItShows(t *testing.T) {
	t.Parallel()
	h, one := house.ShopWithLists(t)
	dir := t.TempDir()
	created := house.With(house.ActivityLine("maker", "101"), "created_campaign_ids", []any{"1"})
	report := house.SpPair("newer", "101", house.DaysAgo(3), 2, time.Now())
	for _, c := range []struct {
		why, path string
		files     []string
	}{
		{"provenance", "/campaigns?marketplace_id=101", []string{house.Put(t, dir, "activity.ndjson", house.Lines(t, created))}},
		{"last_run", "/rules", []string{house.Put(t, dir, "rule_runs.ndjson", house.Lines(t, house.With(house.RunLine("late", "one"), "started_at", "2026-11-01T08:00:00Z")))}},
		{"held days", "/marketplaces", report.Write(t, dir)},
		{"campaigns that vanish", "/ad-groups?marketplace_id=101", house.ExportPair("fewer", "101", "campaigns", time.Now().Add(-time.Minute), house.ThreeCampaigns()[1:]...).Write(t, dir)},
		{"counts", "/marketplaces", house.ExportPair("none", "101", "ads", time.Now().Add(-time.Minute)).Write(t, dir)},
	} {
		before := house.Get(t, one.Ask, "/api/v1"+c.path)
		house.Load(t, h.Program, one, c.files...)
		after := house.Get(t, one.Ask, "/api/v1"+c.path, "If-None-Match", before.Header.Get("ETag"))
		if after.Status != 200 || string(after.Body) == string(before.Body) {
			t.Errorf("%s of %s: want another answer, got %d %.300s", c.why, c.path, after.Status, after.Body)
		}
		house.CheckLists(t, one)
	}
}

// Which of two exports of one moment wins is not settled; that it does not
// depend on the order of loading is.
func TestExportsOfOneMomentGiveOneAnswerInEitherOrder(t *testing.T) {
	t.Parallel()
	h := house.Shared(t)
	at := time.Now().Add(-time.Hour)
	dir := t.TempDir()
	first := house.ExportPair("first", "101", "campaigns", at, house.CampaignRow("1", "First", "USD")).Write(t, dir)
	second := house.ExportPair("second", "101", "campaigns", at, house.CampaignRow("1", "Second", "USD"), house.CampaignRow("2", "Two", "USD")).Write(t, dir)
	var answers []string
	for i, order := range [][][]string{{first, second}, {second, first}, {append(first, second...)}} {
		one := &house.Tenant{Model: model.New()}
		one.Files.ID = fmt.Sprintf("%s-%d", house.AccountID(t), i)
		one.Ask = h.Client(t, one.Files.ID)
		house.Load(t, h.Program, one, house.ProfilesFile(t, t.TempDir(), [4]string{"101", "US", "USD", "seller"}))
		for _, paths := range order {
			house.Load(t, h.Program, one, paths...)
		}
		answers = append(answers, strings.Join(house.Members(t, one.Ask, "/campaigns?marketplace_id=101", "name"), ","))
	}
	if answers[0] != answers[1] || answers[0] != answers[2] {
		t.Errorf("want one answer in every order, got %q", answers)
	}
}

func TestUnknownExtraFieldsAndSkippedNamesDoNoHarm(t *testing.T) {
	t.Parallel()
	h, one := house.ShopWithData(t)
	dir := t.TempDir()
	row := house.With(house.With(house.CampaignRow("1", "One", "USD"), "statusReasons", []any{map[string]any{"x": nil}}), "premiumBidAdjustment", false)
	p := house.ExportPair("extra", "101", "campaigns", time.Now(), row)
	p.Object["stateFilter"] = nil
	p.Object["adProductFilter"] = nil // which narrows nothing
	p.Write(t, dir)
	house.Put(t, dir, "rules.ndjson", house.Lines(t, house.With(house.RuleLine("one"), "owner", map[string]any{"a": 1}), house.With(house.RuleLine("two"), "deleted", false)))
	house.Put(t, dir, "old-rules.ndjson", []byte("not read"))
	house.Put(t, dir, ".hidden.export.json", []byte("not read"))
	done, err := h.Load(one.Files.ID, dir)
	house.Need(t, err)
	if done.Code != 0 {
		t.Errorf("want exit code 0, got %s", done.Result)
	}
	one.Model.Load(dir)
	house.CheckLists(t, one)
}

// Letters of which one case is two letters, or of which there are two small ones, are
// found in any.
func TestASearchDoesNotRegardCase(t *testing.T) {
	t.Parallel()
	h, one := house.ShopWithData(t)
	dir := t.TempDir()
	house.ExportPair("named", "101", "campaigns", time.Now(), house.CampaignRow("1", "İSTANBUL Lamba", "USD"), house.CampaignRow("2", "ΟΔΟΣ Λάμπα", "USD"),
		house.CampaignRow("3", "Straße", "USD"), house.CampaignRow("4", "IŞIK kırmızı", "USD"),
		house.CampaignRow("5", "Congreſs 5 \u00b5g", "USD")).Write(t, dir)
	figures := house.SpPair("figures", "101", house.DaysAgo(3), 1, time.Now())
	for _, id := range []string{"1", "2", "3", "4", "5"} {
		figures.Rows = append(figures.Rows, house.With(house.SpRow(house.DaysAgo(3), "B0"+id, "1.25"), "campaignId", json.Number(id)))
	}
	figures.Write(t, dir)
	house.Load(t, h.Program, one, dir)
	for search, id := range map[string]string{"istanbul": "1", "İstanbul": "1", "LAMBA": "1", "οδος": "2", "οδοσ": "2", "ΟΔΟΣ": "2", "λάμπα": "2", "STRAß": "3",
		"ışık": "4", "KIRMIZI": "4", "Işık": "4", "congress": "5", "ſS": "5", "5 \u03bcg": "5", "5 \u039cG": "5"} {
		house.WantMembers(t, one.Ask, "/campaigns?marketplace_id=101&search="+url.QueryEscape(search), "campaign_id", id)
		house.WantMembers(t, one.Ask, "/report?dimensions=campaign&search="+url.QueryEscape(search), "campaign_id", id)
	}
}
