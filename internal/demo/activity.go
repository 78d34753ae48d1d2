package demo

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"adlens"
	"adlens/internal/made"
)

// listEntries lists the operations of the service, oldest first.
func (a *account) listEntries() []made.Entry {
	var out []made.Entry
	for _, run := range a.listRuns() {
		if !run.Test && run.Changed > 0 {
			out = append(out, a.ruleEntries(run)...)
		}
	}
	for _, m := range markets {
		out = append(out, a.listOperations(m)...)
	}
	slices.SortFunc(out, func(a, b made.Entry) int {
		return cmp.Or(cmp.Compare(a.OccurredAt, b.OccurredAt), cmp.Compare(a.ActivityID, b.ActivityID))
	})
	return out
}

// newEntry begins an entry. Its id follows from what was done, where and when.
func (a *account) newEntry(tool string, m *market, at time.Time, about string) made.Entry {
	r := newStream(a.seed, "activity", tool, m.country, made.Instant(at), about)
	e := made.Entry{
		ActivityID: "act-" + made.UUID(r.Uint64(), r.Uint64()), OccurredAt: made.Instant(at), Tool: tool, Status: completed,
		CreatedIDs: []string{}, ChangedIDs: []string{},
	}
	if r.IntN(2) == 0 {
		e.Marketplace = m.country
	} else {
		e.MarketplaceID = m.profileID
	}
	return e
}

// ruleEntries are one for each marketplace of a run, and as many again where
// the user undid it.
func (a *account) ruleEntries(run ruleRun) []made.Entry {
	var out []made.Entry
	for _, m := range markets {
		if !slices.Contains(run.Marketplaces, m.country) {
			continue
		}
		done := a.ruleEntry("rule", run, m, run.finished)
		things := countOf(done.Changed, [...]string{setBids: "bid", setBudgets: "budget", pauseEnded: "ad"}[run.rule.work])
		done.Summary = fmt.Sprintf("The rule %q changed %s.", run.rule.name, things)
		out = append(out, done)
		if run.rule.takenBack(run.day) && done.Changed > 0 {
			back := a.ruleEntry("undo", run, m, run.finished.Add(3*time.Hour))
			back.Summary = fmt.Sprintf("Undid the rule %q: %s again as before.", run.rule.name, things)
			out = append(out, back)
		}
	}
	return out
}

func (a *account) ruleEntry(tool string, run ruleRun, m *market, at time.Time) made.Entry {
	e := a.newEntry(tool, m, at, run.RuleRunID)
	e.RuleID, e.RuleRunID = &run.RuleID, &run.RuleRunID
	for _, c := range run.campaigns {
		if c.market != m {
			continue
		}
		e.Changed++
		if id := formatID(c.id); !slices.Contains(e.ChangedIDs, id) {
			e.ChangedIDs = append(e.ChangedIDs, id)
		}
	}
	return e
}

// countOf counts things whose plural has an s.
func countOf(n int, thing string) string {
	switch n {
	case 0:
		return "no " + thing + "s"
	case 1:
		return "1 " + thing
	}
	return strconv.Itoa(n) + " " + thing + "s"
}

// listOperations are what users had the service do in a market: the campaigns of
// drives, and ads for new products.
func (a *account) listOperations(m *market) []made.Entry {
	var out []made.Entry
	window := span{a.today - activityDays, a.today - 1}
	for _, c := range a.listCampaigns(m) {
		if c.drive != nil && window.containsDay(c.creationDay()) {
			out = append(out, a.setUp(c)...)
		}
	}
	for _, p := range a.products {
		if window.containsDay(p.from) {
			out = append(out, a.launchProduct(m, p)...)
		}
	}
	return out
}

// setUp makes the campaign of a drive: Sponsored Products by a copy that is
// then filled, the others from scratch.
func (a *account) setUp(c *campaign) []made.Entry {
	at := c.creationTime(a.seed)
	if c.adProduct != adlens.SponsoredProducts {
		created := a.newEntry("campaign_create", c.market, at, c.label)
		created.Changed, created.CreatedIDs = 1, []string{formatID(c.id)}
		created.Summary = fmt.Sprintf("Created the campaign %q.", c.label)
		return []made.Entry{created}
	}
	copied := a.newEntry("campaign_copy", c.market, at, c.label)
	copied.Changed, copied.CreatedIDs = 1, []string{formatID(c.id)}
	copied.Summary = fmt.Sprintf("Copied the campaign %q to %q.", c.origin.label, c.label)
	ads := 0
	for _, g := range c.groups {
		ads += len(g.ads)
	}
	out := []made.Entry{copied, a.addProducts(c, at.Add(12*time.Minute), ads)}
	if c.market == markets[0] {
		return out
	}
	// A product is added by mistake, and taken out again.
	at = at.Add(40 * time.Minute)
	wrong := a.addProducts(c, at, 1)
	back := a.newEntry("undo", c.market, at.Add(25*time.Minute), c.label)
	back.Changed, back.ChangedIDs = 1, wrong.ChangedIDs
	back.Summary = fmt.Sprintf("Undid adding 1 product to the campaign %q.", c.label)
	return append(out, wrong, back)
}

// addProducts is the addition of products to a campaign.
func (a *account) addProducts(c *campaign, at time.Time, n int) made.Entry {
	e := a.newEntry("product_add", c.market, at, c.label)
	e.Changed, e.ChangedIDs = n, []string{formatID(c.id)}
	e.Summary = fmt.Sprintf("Added %s to the campaign %q.", countOf(n, "product"), c.label)
	return e
}

// launchProduct adds a new product to the campaigns that will advertise it.
func (a *account) launchProduct(m *market, p *product) []made.Entry {
	var out []made.Entry
	r := newStream(a.seed, "launch", m.country, p.id)
	at := p.from.Time().Add(time.Duration(r.IntN(3600_000)) * time.Millisecond)
	for _, c := range a.findChannel(m, adlens.SponsoredProducts).campaigns {
		if c.drive == nil && c.hasProduct(p) {
			e := a.addProducts(c, at.Add(time.Duration(len(out))*time.Minute), 1)
			e.Summary = fmt.Sprintf("Added %s to the campaign %q.", p.displayName(), c.label)
			out = append(out, e)
		}
	}
	return out
}

func (c *campaign) hasProduct(p *product) bool {
	for _, g := range c.groups {
		if slices.ContainsFunc(g.ads, func(ad *listing) bool { return ad.product == p }) {
			return true
		}
	}
	return false
}
