package demo

import (
	"cmp"
	"slices"
	"time"

	"adlens"
	"adlens/internal/made"
)

// How far back the service's records go, in days.
const (
	runDays      = 40
	activityDays = 95 // so that they have the beginning of a promotion
)

// The words for how a run or an operation ended.
const (
	completed = "completed"
	failed    = "failed"
)

// A ruleRun is one run of a rule.
type ruleRun struct {
	made.Run

	rule      *rule
	day       adlens.Day
	finished  time.Time
	campaigns []*campaign // of the changes
}

// runs lists the runs of all rules, oldest first.
func (a *account) runs() []ruleRun {
	var out []ruleRun
	for _, r := range a.rules {
		for d := a.today - runDays; d < a.today; d++ {
			if (int(d)+5*r.number)%17 == 0 { // the user tries the rule before its hour
				out = append(out, a.run(r, d, true))
			}
			if r.due(d) {
				out = append(out, a.run(r, d, false))
			}
		}
	}
	slices.SortFunc(out, func(a, b ruleRun) int {
		return cmp.Or(cmp.Compare(a.StartedAt, b.StartedAt), cmp.Compare(a.RuleRunID, b.RuleRunID))
	})
	return out
}

func (a *account) run(r *rule, d adlens.Day, test bool) ruleRun {
	kind, started := "run", r.moment(d)
	if test {
		kind, started = "test", started.Add(-90*time.Minute)
	}
	rng := stream(a.seed, kind, r.id, d.String())
	run := ruleRun{rule: r, day: d, Run: made.Run{
		RuleRunID: "run-" + made.UUID(rng.Uint64(), rng.Uint64()), RuleID: r.id, Test: test, Status: completed,
		Marketplaces: r.countries, Changes: []made.Change{},
	}}
	started = started.Add(time.Duration(rng.IntN(60_000)) * time.Millisecond)
	run.finished = started.Add(10*time.Second + time.Duration(rng.IntN(150_000))*time.Millisecond)
	run.StartedAt, run.FinishedAt = made.Instant(started), made.Instant(run.finished)
	if !test && r.failed(d) {
		run.Status = failed
		return run
	}
	a.look(&run)
	return run
}

// look goes through all that is enabled in the rule's scope.
func (a *account) look(run *ruleRun) {
	before := run.rule.standing(run.day)
	for _, c := range a.scope(run.rule) {
		if run.day < c.created() || c.state(a.seed, run.day) != enabled {
			continue
		}
		run.LookedAt.Campaigns++
		run.LookedAt.AdGroups += len(c.groups)
		for _, g := range c.groups {
			run.LookedAt.Targets += 4 + int(g.id%23)
		}
		run.look(c, before)
	}
	run.Changed = len(run.Changes)
}

// look adds what the rule finds to do in a campaign, since the run before. Ads
// are paused whose product was sold for the last time between the two; those of
// a drive end with it.
func (run *ruleRun) look(c *campaign, before adlens.Day) {
	switch run.rule.work {
	case setBudgets:
		run.changeAmount(c, "campaign", c.id, c.label, "budget", c.budgetOn(before), c.budgetOn(run.day),
			"The budget was spent before the evening on most days of the week.", "Less than half of the budget was spent on most days of the week.")
	case setBids:
		for _, g := range c.groups {
			run.changeAmount(c, "ad_group", g.id, g.label, "default_bid", g.bidOn(before), g.bidOn(run.day),
				"ACOS was well below 25 % over the last 14 days.", "ACOS was above 25 % over the last 14 days.")
		}
	case pauseEnded:
		if c.drive != nil {
			return
		}
		for _, g := range c.groups {
			for _, ad := range g.ads {
				if p := ad.product; p.until >= before && p.until < run.day {
					run.change(c, made.Change{EntityType: "ad", EntityID: digits(ad.id), EntityName: p.known(), Field: "state",
						From: enabled, To: paused, Reason: "The product is no longer sold."})
				}
			}
		}
	}
}

func (run *ruleRun) changeAmount(c *campaign, entity string, id int64, name, field string, from, to cents, up, down string) {
	if from == to {
		return
	}
	reason := down
	if to > from {
		reason = up
	}
	run.change(c, made.Change{EntityType: entity, EntityID: digits(id), EntityName: name, Field: field, From: from.number(), To: to.number(), Reason: reason})
}

func (run *ruleRun) change(c *campaign, ch made.Change) {
	ch.Marketplace = c.market.country
	run.Changes = append(run.Changes, ch)
	run.campaigns = append(run.campaigns, c)
}
