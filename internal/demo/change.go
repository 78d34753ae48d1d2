package demo

// A change is one thing that a run of a rule changed.
type change struct {
	Marketplace string `json:"marketplace"`
	EntityType  string `json:"entity_type"`
	EntityID    string `json:"entity_id"`
	EntityName  string `json:"entity_name"`
	Field       string `json:"field"`
	From        any    `json:"from"` // amounts are in the marketplace's currency
	To          any    `json:"to"`
	Reason      string `json:"reason"`

	campaign *campaign
}

// changes are what a rule finds to do on a day in a campaign, since the run
// before.
func (r *rule) changes(c *campaign, before, now day) []change {
	switch r.work {
	case setBudgets:
		return budgetChanges(c, before, now)
	case setBids:
		return bidChanges(c, before, now)
	default:
		return endedAds(c, before, now)
	}
}

func newChange(c *campaign, entity string, id int64, name, field string) change {
	return change{Marketplace: c.market.country, EntityType: entity, EntityID: digits(id), EntityName: name, Field: field, campaign: c}
}

func bidChanges(c *campaign, before, now day) []change {
	var out []change
	for _, g := range c.groups {
		from, to := g.asked.bid(before), g.asked.bid(now)
		if from == to {
			continue
		}
		ch := newChange(c, "ad_group", g.id, g.label, "default_bid")
		ch.From, ch.To, ch.Reason = from, to, "ACOS was above 25 % over the last 14 days."
		if to > from {
			ch.Reason = "ACOS was well below 25 % over the last 14 days."
		}
		out = append(out, ch)
	}
	return out
}

func budgetChanges(c *campaign, before, now day) []change {
	from, to := c.budgetOn(before), c.budgetOn(now)
	if from == to {
		return nil
	}
	ch := newChange(c, "campaign", c.id, c.label, "budget")
	ch.From, ch.To, ch.Reason = from, to, "Less than half of the budget was spent on most days of the week."
	if to > from {
		ch.Reason = "The budget was spent before the evening on most days of the week."
	}
	return []change{ch}
}

// endedAds are the ads whose product was sold for the last time between two
// runs. Those of a drive end with it.
func endedAds(c *campaign, before, now day) []change {
	if c.drive != nil {
		return nil
	}
	var out []change
	for _, g := range c.groups {
		for _, ad := range g.ads {
			if p := ad.product; p.until >= before && p.until < now {
				ch := newChange(c, "ad", ad.id, p.known(), "state")
				ch.From, ch.To, ch.Reason = enabled, paused, "The product is no longer sold."
				out = append(out, ch)
			}
		}
	}
	return out
}

// known is what a product is called: its title, or its id without one.
func (p *product) known() string {
	if p.title != "" {
		return p.title
	}
	return p.id
}
