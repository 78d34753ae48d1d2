package demo

import (
	"fmt"
	"time"
)

// operations are what users had the service do in a market: the campaigns of
// drives, and ads for new products.
func (o *office) operations(m *market) []entry {
	var out []entry
	window := span{o.today - activityDays, o.today - 1}
	for _, c := range o.campaigns(m) {
		if c.drive != nil && window.has(c.created()) {
			out = append(out, o.setUp(c)...)
		}
	}
	for _, p := range o.products {
		if window.has(p.from) {
			out = append(out, o.launch(m, p)...)
		}
	}
	return out
}

// setUp makes the campaign of a drive: Sponsored Products by a copy that is
// then filled, the others anew.
func (o *office) setUp(c *campaign) []entry {
	at := c.creation(o.seed)
	if c.adType != sponsored {
		made := o.entry("campaign_create", c.market, at, c.label)
		made.Changed, made.CreatedIDs = 1, []string{digits(c.id)}
		made.Summary = fmt.Sprintf("Created the campaign %q.", c.label)
		return []entry{made}
	}
	made := o.entry("campaign_copy", c.market, at, c.label)
	made.Changed, made.CreatedIDs = 1, []string{digits(c.id)}
	made.Summary = fmt.Sprintf("Copied the campaign %q to %q.", c.origin.label, c.label)
	ads := 0
	for _, g := range c.groups {
		ads += len(g.ads)
	}
	out := []entry{made, o.add(c, at.Add(12*time.Minute), ads)}
	if c.market != markets[0] {
		out = append(out, o.slip(c, at.Add(40*time.Minute))...)
	}
	return out
}

// add is the addition of products to a campaign.
func (o *office) add(c *campaign, at time.Time, n int) entry {
	a := o.entry("product_add", c.market, at, c.label)
	a.Changed, a.ChangedIDs = n, []string{digits(c.id)}
	a.Summary = fmt.Sprintf("Added %s to the campaign %q.", number(n, "product"), c.label)
	return a
}

// slip is a product added by mistake, and taken out again.
func (o *office) slip(c *campaign, at time.Time) []entry {
	wrong := o.add(c, at, 1)
	back := o.entry("undo", c.market, at.Add(25*time.Minute), c.label)
	back.Changed, back.ChangedIDs = 1, wrong.ChangedIDs
	back.Summary = fmt.Sprintf("Undid adding 1 product to the campaign %q.", c.label)
	return []entry{wrong, back}
}

// launch adds a new product to the campaigns that will advertise it.
func (o *office) launch(m *market, p *product) []entry {
	var out []entry
	r := stream(o.seed, "launch", m.country, p.id)
	at := p.from.midnight().Add(time.Duration(r.IntN(3600_000)) * time.Millisecond)
	for _, c := range o.tellers[channel{m, sponsored}].listed() {
		if c.drive == nil && c.advertises(p) {
			a := o.add(c, at.Add(time.Duration(len(out))*time.Minute), 1)
			a.Summary = fmt.Sprintf("Added %s to the campaign %q.", p.known(), c.label)
			out = append(out, a)
		}
	}
	return out
}

func (c *campaign) advertises(p *product) bool {
	for _, g := range c.groups {
		for _, ad := range g.ads {
			if ad.product == p {
				return true
			}
		}
	}
	return false
}
