package demo

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"testing"
	"time"

	"adlens/internal/made"
)

// officeOf opens the office of an account with a year of figures.
func officeOf(t *testing.T, at time.Time) *account {
	t.Helper()
	s, err := Options{Today: at, Years: 1}.figureSpan()
	if err != nil {
		t.Fatal(err)
	}
	return newAccount(defaultSeed, s)
}

func TestRules(t *testing.T) {
	t.Parallel()
	o := officeOf(t, today)
	status, chosen := map[string]int{}, 0
	for _, r := range o.ruleRecords() {
		status[r.Status]++
		chosen += one(r.Scope.CampaignIDs != nil)
		if r.EditedAt >= made.Instant(o.today.Time()) {
			t.Errorf("%s was edited %s", r.Name, r.EditedAt)
		}
	}
	if status["on"] < 2 || status["off"] < 2 || chosen < 2 || chosen == len(o.rules) {
		t.Errorf("%v, %d with chosen campaigns", status, chosen)
	}
	for i, r := range officeOf(t, today.AddDate(0, 0, 1)).rules {
		if r.id != o.rules[i].id {
			t.Errorf("%s has another id on the next day", r.name)
		}
	}
}

func TestRuns(t *testing.T) {
	t.Parallel()
	o := officeOf(t, today)
	known := map[string]bool{}
	for _, r := range o.rules {
		known[r.id] = true
	}
	seen, ids := map[string]int{}, map[string]bool{}
	for _, run := range o.listRuns() {
		if !known[run.RuleID] || ids[run.RuleRunID] || run.StartedAt >= run.FinishedAt || run.finished.After(o.today.Time()) {
			t.Errorf("run %+v", run)
		}
		ids[run.RuleRunID] = true
		seen[run.Status]++
		seen["test"] += one(run.Test)
		seen["two marketplaces"] += one(len(run.Marketplaces) == 2)
		seen["without changes"] += one(run.Changed == 0 && run.Status == completed)
		if run.Changed != len(run.Changes) || run.Status == completed && (run.LookedAt.Campaigns == 0 || run.LookedAt.Targets == 0) {
			t.Errorf("run %+v", run)
		}
	}
	for _, want := range []string{completed, failed, "test", "two marketplaces", "without changes"} {
		if seen[want] == 0 {
			t.Errorf("no run is %s", want)
		}
	}
}

// The changes of an entity follow one another, and the last one is what the
// platform's list says.
func TestChangesLeadToTheLists(t *testing.T) {
	t.Parallel()
	dir, _ := writeDemo(t, Options{Today: today, Years: 1})
	o := officeOf(t, today)
	now := map[string]any{}
	for _, run := range o.listRuns() {
		if run.Test || run.rule.takenBack(run.day) {
			continue
		}
		for _, c := range run.Changes {
			k := c.Marketplace + " " + c.EntityType + " " + c.EntityID
			if before, ok := now[k]; ok && before != c.From {
				t.Errorf("%s: from %v, it was %v", k, c.From, before)
			}
			now[k] = c.To
		}
	}
	if len(now) < 10 {
		t.Errorf("%d entities were changed", len(now))
	}
	for _, m := range markets {
		checkNow(t, m, readLists(t, dir, m.country), now)
	}
}

func checkNow(t *testing.T, m *market, l lists, now map[string]any) {
	t.Helper()
	amount := func(in line, path ...string) int64 {
		for _, p := range path[:len(path)-1] {
			inner, _ := in[p].(map[string]any)
			in = inner
		}
		return in.amount(path[len(path)-1])
	}
	found := 0
	for id, g := range l.adGroups {
		if want, ok := amountOf(now, m.country+" ad_group "+id); ok {
			found++
			if got := amount(g, "bid", "defaultBid"); got != want {
				t.Errorf("%s: ad group %s has the bid %d, want %d", m.country, id, got, want)
			}
		}
	}
	for id, c := range l.campaigns {
		if want, ok := amountOf(now, m.country+" campaign "+id); ok {
			found++
			if got := amount(c, "budgetCaps", "budgetValue", "monetaryBudget", "amount"); got != want {
				t.Errorf("%s: campaign %s has the budget %d, want %d", m.country, id, got, want)
			}
		}
	}
	for id, ad := range l.ads {
		if want, ok := now[m.country+" ad "+id]; ok {
			found++
			if state := ad.text("state"); state != want && state != archived {
				t.Errorf("%s: ad %s is %s, want %s", m.country, id, state, want)
			}
		}
	}
	all := 0
	for k := range now {
		all += one(k[:2] == m.country)
	}
	if found != all {
		t.Errorf("%s: %d of %d changed entities are listed", m.country, found, all)
	}
}

func amountOf(now map[string]any, key string) (int64, bool) {
	v, ok := now[key]
	return line{"amount": v}.amount("amount"), ok
}

// What is told about a past day is told again on the next, in the same words.
func TestRecordsStay(t *testing.T) {
	t.Parallel()
	a, b := officeOf(t, today), officeOf(t, today.AddDate(0, 0, 1))
	runs := sameRecords(t, a.listRuns(), b.listRuns(), func(r ruleRun) string { return r.RuleRunID })
	entries := sameRecords(t, a.listEntries(), b.listEntries(), func(e made.Entry) string { return e.ActivityID })
	if runs < 100 || entries < 100 {
		t.Errorf("%d runs and %d entries could be compared", runs, entries)
	}
}

func sameRecords[R any](t *testing.T, a, b []R, id func(R) string) (same int) {
	t.Helper()
	text := func(r R) []byte {
		out, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	before := map[string][]byte{}
	for _, r := range a {
		before[id(r)] = text(r)
	}
	for _, r := range b {
		old, ok := before[id(r)]
		if !ok {
			continue
		}
		same++
		if now := text(r); !bytes.Equal(old, now) {
			t.Errorf("%s, then %s", old, now)
		}
	}
	return same
}

func TestRecordFilesAreWritten(t *testing.T) {
	t.Parallel()
	files := contents(t, Options{Today: today, Years: 1})
	for name, least := range map[string]int{"rules.ndjson": 5, "rule_runs.ndjson": 80, "activity.ndjson": 80} {
		lines := bytes.Split(bytes.TrimSpace(files[name]), []byte("\n"))
		if len(lines) < least {
			t.Errorf("%s has %d lines", name, len(lines))
		}
		for _, l := range lines {
			if !json.Valid(l) {
				t.Errorf("%s: %s", name, l)
			}
		}
	}
	if _, ok := files[filepath.Join(exportsDir, "DE-adGroups.json.gz")]; !ok {
		t.Error("no export of the German ad groups")
	}
}
