package demo

import (
	"strconv"
	"time"
)

// How far back the service's records go, in days.
const (
	runDays      = 40
	activityDays = 95 // so that they have the beginning of a promotion
)

// An office is the service at work for the account. Like the figures, what it
// did on a day follows from the seed and the day.
type office struct {
	*account
	today day
	rules []*rule
}

func newOffice(a *account) *office {
	o := &office{account: a, today: a.span.last + 1}
	for i := range rulebook {
		o.rules = append(o.rules, newRule(o, &rulebook[i], i))
	}
	return o
}

// records are the jobs of the service's own records.
func (o *office) records() []job {
	return []job{
		single("rules.ndjson", func() ([]byte, error) { return ndjson(o.ruleRecords()) }),
		single("rule_runs.ndjson", func() ([]byte, error) { return ndjson(o.runs()) }),
		single("activity.ndjson", func() ([]byte, error) { return ndjson(o.entries()) }),
	}
}

// campaigns lists all of a market.
func (o *office) campaigns(m *market) []*campaign {
	var out []*campaign
	for t := range adTypes {
		out = append(out, o.tellers[channel{m, adType(t)}].listed()...)
	}
	return out
}

// keeper finds the rule that does a kind of work for a campaign.
func (o *office) keeper(c *campaign, w work) *rule {
	for _, r := range o.rules {
		if r.work == w && r.covers(c) && !r.trial {
			return r
		}
	}
	return nil
}

// bid is what is bid in an ad group this morning.
func (o *office) bid(g *adGroup) cents {
	if r := o.keeper(g.campaign, setBids); r != nil {
		return g.asked.bid(r.standing(o.today))
	}
	return g.asked.bid(never)
}

func (o *office) budget(c *campaign) cents {
	if r := o.keeper(c, setBudgets); r != nil {
		return c.budgetOn(r.standing(o.today))
	}
	return c.budget
}

// createdAt is some time of office hours.
func (c *campaign) createdAt(seed uint64) string { return instant(c.creation(seed)) }

func (c *campaign) creation(seed uint64) time.Time {
	r := stream(seed, "creation", strconv.FormatInt(c.id, 10))
	return officeHours(c.created(), r.IntN(8*3600_000))
}

// officeHours is a moment from eight to four, UTC.
func officeHours(d day, ms int) time.Time {
	return d.midnight().Add(8*time.Hour + time.Duration(ms)*time.Millisecond)
}
