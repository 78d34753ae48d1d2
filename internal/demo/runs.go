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

// listRuns lists the runs of all rules, oldest first.
func (a *account) listRuns() []ruleRun {
	var out []ruleRun
	for _, r := range a.rules {
		for d := a.today - runDays; d < a.today; d++ {
			if (int(d)+5*r.number)%17 == 0 { // the user tries the rule before its hour
				out = append(out, a.newRun(r, d, true))
			}
			if r.isDue(d) {
				out = append(out, a.newRun(r, d, false))
			}
		}
	}
	slices.SortFunc(out, func(a, b ruleRun) int {
		return cmp.Or(cmp.Compare(a.StartedAt, b.StartedAt), cmp.Compare(a.RuleRunID, b.RuleRunID))
	})
	return out
}

func (a *account) newRun(r *rule, d adlens.Day, test bool) ruleRun {
	kind, started := "run", r.dueTime(d)
	if test {
		kind, started = "test", started.Add(-90*time.Minute)
	}
	rng := newStream(a.seed, kind, r.id, d.String())
	run := ruleRun{rule: r, day: d, Run: made.Run{
		RuleRunID: "run-" + made.UUID(rng.Uint64(), rng.Uint64()), RuleID: r.id, Test: test, Status: completed,
		Marketplaces: r.countries, Changes: []made.Change{},
	}}
	started = started.Add(time.Duration(rng.IntN(60_000)) * time.Millisecond)
	run.finished = started.Add(10*time.Second + time.Duration(rng.IntN(150_000))*time.Millisecond)
	run.StartedAt, run.FinishedAt = made.Instant(started), made.Instant(run.finished)
	if !test && r.failedOn(d) {
		run.Status = failed
		return run
	}
	a.reviewCampaigns(&run)
	return run
}

// reviewCampaigns goes through all that is enabled in the rule's scope.
func (a *account) reviewCampaigns(run *ruleRun) {
	before := run.rule.lastAppliedDay(run.day)
	for _, c := range a.coveredCampaigns(run.rule) {
		if run.day < c.creationDay() || c.stateOn(a.seed, run.day) != enabled {
			continue
		}
		run.LookedAt.Campaigns++
		run.LookedAt.AdGroups += len(c.groups)
		for _, g := range c.groups {
			run.LookedAt.Targets += 4 + int(g.id%23)
		}
		run.changeCampaign(c, before)
	}
	run.Changed = len(run.Changes)
}

// changeCampaign adds what the rule finds to do in a campaign, since the run before. Ads
// are paused whose product was sold for the last time between the two; those of
// a drive end with it.
func (run *ruleRun) changeCampaign(c *campaign, before adlens.Day) {
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
					run.addChange(c, made.Change{EntityType: "ad", EntityID: formatID(ad.id), EntityName: p.displayName(), Field: "state",
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
	run.addChange(c, made.Change{EntityType: entity, EntityID: formatID(id), EntityName: name, Field: field, From: from.jsonNumber(), To: to.jsonNumber(), Reason: reason})
}

func (run *ruleRun) addChange(c *campaign, ch made.Change) {
	ch.Marketplace = c.market.country
	run.Changes = append(run.Changes, ch)
	run.campaigns = append(run.campaigns, c)
}
