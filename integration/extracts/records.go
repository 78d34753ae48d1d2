package extracts

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

const rules, runs, entries = 9, 40, 130

// writeRecords writes the service's own records in three steps that follow each
// other: all of them, then edits and new ones, then deletions and another edit.
func (w *listWriter) writeRecords(dir string) ([]string, error) {
	var dirs []string
	for i, state := range []func() map[string][]string{w.everyRecord, w.editedRecords, w.deletedRecords} {
		at := filepath.Join(dir, fmt.Sprintf("records%d", i+1))
		if err := os.MkdirAll(at, 0o755); err != nil {
			return nil, err
		}
		for name, lines := range state() {
			if err := os.WriteFile(filepath.Join(at, name), []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
				return nil, err
			}
		}
		dirs = append(dirs, at)
	}
	return dirs, nil
}

func (w *listWriter) everyRecord() map[string][]string {
	files := map[string][]string{}
	for i := range rules {
		files["rules.ndjson"] = append(files["rules.ndjson"], w.ruleRecord(i))
	}
	for i := range runs {
		files["rule_runs.ndjson"] = append(files["rule_runs.ndjson"], w.runRecord(fmt.Sprintf("run-%d", i), 0, i%7 == 3))
	}
	for i := range rules * 3 {
		// Rule 1 has tests alone, and rule 2 never ran.
		if rule := i % rules; rule != 2 {
			files["rule_runs.ndjson"] = append(files["rule_runs.ndjson"], w.runRecord(fmt.Sprintf("other-%d", i), rule, rule == 1))
		}
	}
	for i := range entries {
		files["activity.ndjson"] = append(files["activity.ndjson"], w.activityRecord(i))
	}
	for _, lines := range files {
		w.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
	}
	return files
}

func (w *listWriter) editedRecords() map[string][]string {
	return map[string][]string{
		"rules.ndjson":     {w.ruleRecord(3), w.ruleRecord(rules)},
		"rule_runs.ndjson": {w.runRecord("run-5", 0, true), w.runRecord("run-3", 0, false), w.runRecord("other-0", 4, false)},
		"activity.ndjson":  {w.activityRecord(7), w.activityRecord(8), w.activityRecord(entries)},
	}
}

func (w *listWriter) deletedRecords() map[string][]string {
	gone := func(name, id string) string {
		return w.shuffledObject(member{name, quoteJSON(id)}, member{"deleted", "true"})
	}
	return map[string][]string{
		"rules.ndjson":     {gone("rule_id", ruleID(6)), w.ruleRecord(7)},
		"rule_runs.ndjson": {gone("rule_run_id", "run-8"), gone("rule_run_id", "run-9")},
		"activity.ndjson":  {gone("activity_id", "entry-7"), gone("activity_id", "entry-20"), w.activityRecord(21)},
	}
}

func ruleID(i int) string { return fmt.Sprintf("rule-%d", i) }

// drawInstant is one of few moments, so that many are equal.
func (w *listWriter) drawInstant() time.Time {
	return w.today.AddDate(0, 0, -1-w.IntN(4)).Add(time.Duration(w.IntN(3)) * 500 * time.Millisecond)
}

// formatInstant writes a moment in one of the forms that ISO 8601 allows.
func (w *listWriter) formatInstant(t time.Time) string {
	return quoteJSON(pickOne(&w.writer, []string{
		t.Format("2006-01-02T15:04:05.000Z"), t.Format("2006-01-02T15:04:05.000000Z"),
		t.In(time.FixedZone("", 5*3600+1800)).Format("2006-01-02T15:04:05.000-07:00"),
	}))
}

func (w *listWriter) orNull(text string) string {
	if w.percentChance(30) {
		return "null"
	}
	return text
}

func (w *listWriter) ruleRecord(i int) string {
	return w.shuffledObject(
		member{"rule_id", quoteJSON(ruleID(i))}, member{"name", quoteJSON(w.drawName())}, member{"status", quoteJSON(pickOne(&w.writer, []string{"on", "off"}))},
		member{"scope", w.shuffledObject(member{"marketplaces", pickOne(&w.writer, []string{`["US"]`, `["UK","DE"]`, `["JP","US","UK"]`})},
			member{"campaign_ids", pickOne(&w.writer, []string{"null", w.someCampaigns(), "[]"})})},
		member{"schedule", w.shuffledObject(member{"frequency", `"daily"`}, member{"time", w.orNull(`"08:30"`)}, member{"timezone", `"Europe/Berlin"`})},
		member{"edited_at", w.formatInstant(w.drawInstant())}, member{"last_run", `{"rule_run_id":"never to be read"}`}, member{"somethingNew", "1"},
	)
}

func (w *listWriter) someCampaigns() string {
	var ids []string
	for range w.IntN(4) {
		ids = append(ids, w.varyID(entityID(w.IntN(w.size+1))))
	}
	return "[" + strings.Join(ids, ",") + "]"
}

func (w *listWriter) runRecord(id string, rule int, test bool) string {
	var changes []string
	for range w.IntN(3) {
		changes = append(changes, w.shuffledObject(
			member{"marketplace", `"US"`}, member{"entity_type", `"campaign"`}, member{"entity_id", w.varyID(entityID(w.IntN(w.size)))},
			member{"entity_name", quoteJSON(w.drawName())}, member{"field", `"budget"`}, member{"from", pickOne(&w.writer, []string{"10.5", `"PAUSED"`, "null"})},
			member{"to", pickOne(&w.writer, []string{"12", `"ENABLED"`, "null"})}, member{"reason", quoteJSON(w.drawName())}))
	}
	began := w.drawInstant()
	return w.shuffledObject(
		member{"rule_run_id", quoteJSON(id)}, member{"rule_id", quoteJSON(ruleID(rule))}, member{"test", strconv.FormatBool(test)},
		member{"started_at", w.formatInstant(began)}, member{"finished_at", w.orNull(w.formatInstant(began.Add(time.Minute)))}, member{"status", `"completed"`},
		member{"marketplaces", pickOne(&w.writer, []string{`["US"]`, `["UK","US"]`})},
		member{"looked_at", fmt.Sprintf(`{"campaigns":%d,"ad_groups":%d,"targets":%d}`, w.IntN(99), w.IntN(999), w.IntN(99999))},
		member{"changed", strconv.Itoa(len(changes))}, member{"changes", "[" + strings.Join(changes, ",") + "]"},
	)
}

func (w *listWriter) activityRecord(i int) string {
	members := []member{
		{"activity_id", quoteJSON(fmt.Sprintf("entry-%d", i))}, {"occurred_at", w.formatInstant(w.drawInstant())}, {"status", `"completed"`},
		{"summary", quoteJSON("Did " + w.drawName() + ".")}, {"changed", strconv.Itoa(w.IntN(20))},
		{"created_campaign_ids", w.someCampaigns()}, {"changed_campaign_ids", w.someCampaigns()},
	}
	tool := pickOne(&w.writer, []string{"rule", "rule", "campaign_create", "campaign_copy", "product_add", "undo"})
	if tool == "rule" {
		// One run, once for each marketplace.
		members = append(members, member{"rule_id", quoteJSON(ruleID(0))}, member{"rule_run_id", quoteJSON(fmt.Sprintf("run-%d", i%runs))})
	} else if w.percentChance(50) {
		members = append(members, member{"rule_id", "null"}, member{"rule_run_id", "null"})
	}
	return w.shuffledObject(append(members, member{"tool", quoteJSON(tool)}, w.marketplaceMember())...)
}

// marketplaceMember names one by its id, or by the countries that have only one.
func (w *listWriter) marketplaceMember() member {
	if w.percentChance(40) {
		return member{"marketplace", pickOne(&w.writer, []string{`"UK"`, `"GB"`, `"JP"`})}
	}
	return member{"marketplace_id", w.varyID(pickOne(&w.writer, w.profiles).id)}
}
