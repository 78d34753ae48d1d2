package demo

import (
	"cmp"
	"slices"
	"time"
)

// A ruleRun is one run of a rule.
type ruleRun struct {
	RuleRunID    string   `json:"rule_run_id"`
	RuleID       string   `json:"rule_id"`
	Test         bool     `json:"test"`
	StartedAt    string   `json:"started_at"`
	FinishedAt   string   `json:"finished_at"`
	Status       string   `json:"status"`
	Marketplaces []string `json:"marketplaces"`
	LookedAt     lookedAt `json:"looked_at"`
	Changed      int      `json:"changed"`
	Changes      []change `json:"changes"`

	rule     *rule
	day      day
	finished time.Time
}

type lookedAt struct {
	Campaigns int `json:"campaigns"`
	AdGroups  int `json:"ad_groups"`
	Targets   int `json:"targets"`
}

// The words for how a run or an operation ended.
const (
	completed = "completed"
	failed    = "failed"
)

// runs lists the runs of all rules, oldest first.
func (o *office) runs() []ruleRun {
	var out []ruleRun
	for _, r := range o.rules {
		for d := o.today - runDays; d < o.today; d++ {
			if r.tested(d) {
				out = append(out, o.run(r, d, true))
			}
			if r.due(d) {
				out = append(out, o.run(r, d, false))
			}
		}
	}
	slices.SortFunc(out, func(a, b ruleRun) int {
		return cmp.Or(cmp.Compare(a.StartedAt, b.StartedAt), cmp.Compare(a.RuleRunID, b.RuleRunID))
	})
	return out
}

// tested tells the days on which the user tries a rule before its hour.
func (r *rule) tested(d day) bool { return (int(d)+5*r.number)%17 == 0 }

func (o *office) run(r *rule, d day, test bool) ruleRun {
	kind, started := "run", r.moment(d)
	if test {
		kind, started = "test", started.Add(-90*time.Minute)
	}
	rng := stream(o.seed, kind, r.id, d.String())
	run := ruleRun{
		RuleRunID: "run-" + uuid(rng.Uint64(), rng.Uint64()), RuleID: r.id, Test: test, Status: completed,
		Marketplaces: r.countries, Changes: []change{}, rule: r, day: d,
	}
	started = started.Add(time.Duration(rng.IntN(60_000)) * time.Millisecond)
	run.finished = started.Add(10*time.Second + time.Duration(rng.IntN(150_000))*time.Millisecond)
	run.StartedAt, run.FinishedAt = instant(started), instant(run.finished)
	if !test && r.failed(d) {
		run.Status = failed
		return run
	}
	o.look(&run)
	return run
}

// look goes through all that is enabled in the rule's scope.
func (o *office) look(run *ruleRun) {
	before := run.rule.standing(run.day)
	for _, c := range o.scope(run.rule) {
		if run.day < c.created() || c.state(o.seed, run.day) != enabled {
			continue
		}
		run.LookedAt.Campaigns++
		run.LookedAt.AdGroups += len(c.groups)
		for _, g := range c.groups {
			run.LookedAt.Targets += 4 + int(g.id%23)
		}
		run.Changes = append(run.Changes, run.rule.changes(c, before, run.day)...)
	}
	run.Changed = len(run.Changes)
}
