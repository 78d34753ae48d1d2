package demo

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"
)

// An entry is an operation that the service ran on the platform in one
// marketplace.
type entry struct {
	ActivityID    string   `json:"activity_id"`
	OccurredAt    string   `json:"occurred_at"`
	Tool          string   `json:"tool"`
	Marketplace   string   `json:"marketplace,omitempty"` // this or the id
	MarketplaceID string   `json:"marketplace_id,omitempty"`
	RuleID        *string  `json:"rule_id"`
	RuleRunID     *string  `json:"rule_run_id"`
	Status        string   `json:"status"`
	Summary       string   `json:"summary"`
	Changed       int      `json:"changed"`
	CreatedIDs    []string `json:"created_campaign_ids"`
	ChangedIDs    []string `json:"changed_campaign_ids"`
}

// entries lists the operations, oldest first.
func (o *office) entries() []entry {
	var out []entry
	for _, run := range o.runs() {
		if !run.Test && run.Changed > 0 {
			out = append(out, o.ruleEntries(run)...)
		}
	}
	for _, m := range markets {
		out = append(out, o.operations(m)...)
	}
	slices.SortFunc(out, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.OccurredAt, b.OccurredAt), cmp.Compare(a.ActivityID, b.ActivityID))
	})
	return out
}

// entry begins an entry. Its id follows from what was done, where and when.
func (o *office) entry(tool string, m *market, at time.Time, about string) entry {
	r := stream(o.seed, "activity", tool, m.country, instant(at), about)
	a := entry{
		ActivityID: "act-" + uuid(r.Uint64(), r.Uint64()), OccurredAt: instant(at), Tool: tool, Status: completed,
		CreatedIDs: []string{}, ChangedIDs: []string{},
	}
	if r.IntN(2) == 0 {
		a.Marketplace = m.country
	} else {
		a.MarketplaceID = strconv.FormatInt(m.profileID, 10)
	}
	return a
}

// ruleEntries are one for each marketplace of a run, and as many again where
// the user undid it.
func (o *office) ruleEntries(run ruleRun) []entry {
	var out []entry
	undone := run.rule.undone != nil && run.rule.undone(run.day)
	for _, m := range markets {
		if !slices.Contains(run.Marketplaces, m.country) {
			continue
		}
		done := o.ruleEntry("rule", run, m, run.finished)
		done.Summary = fmt.Sprintf("The rule %q changed %s.", run.rule.name, run.rule.things(done.Changed))
		out = append(out, done)
		if undone && done.Changed > 0 {
			back := o.ruleEntry("undo", run, m, run.finished.Add(3*time.Hour))
			back.Summary = fmt.Sprintf("Undid the rule %q: %s again as before.", run.rule.name, run.rule.things(back.Changed))
			out = append(out, back)
		}
	}
	return out
}

func (o *office) ruleEntry(tool string, run ruleRun, m *market, at time.Time) entry {
	a := o.entry(tool, m, at, run.RuleRunID)
	a.RuleID, a.RuleRunID = &run.RuleID, &run.RuleRunID
	for _, c := range run.Changes {
		if c.campaign.market != m {
			continue
		}
		a.Changed++
		if id := digits(c.campaign.id); !slices.Contains(a.ChangedIDs, id) {
			a.ChangedIDs = append(a.ChangedIDs, id)
		}
	}
	return a
}

// things counts what a rule changes.
func (r *rule) things(n int) string {
	return number(n, [...]string{setBids: "bid", setBudgets: "budget", pauseEnded: "ad"}[r.work])
}

// number counts things whose plural has an s.
func number(n int, thing string) string {
	switch n {
	case 0:
		return "no " + thing + "s"
	case 1:
		return "1 " + thing
	}
	return strconv.Itoa(n) + " " + thing + "s"
}
