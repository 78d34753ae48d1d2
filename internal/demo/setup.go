package demo

import "fmt"

// A setup hands out the campaigns, ad groups and ads of one market and ad type,
// each made once, and keeps them in the order in which they were made.
type setup struct {
	seed      uint64
	market    *market
	adType    adType
	span      span
	campaigns []*campaign
	byName    map[string]*campaign
	groups    map[string]*adGroup
}

func newSetup(seed uint64, m *market, t adType, s span) *setup {
	return &setup{seed: seed, market: m, adType: t, span: s, byName: map[string]*campaign{}, groups: map[string]*adGroup{}}
}

// listed is what the platform lists. Tellers embed their setup.
func (s *setup) listed() []*campaign { return s.campaigns }

// campaign finds the campaign for a category and a kind of campaign.
func (s *setup) campaign(category int, kind string) *campaign {
	c := s.named(s.label(category, kind), kind)
	c.category = category
	if kinds[kind].moves && c.drives == nil {
		c.drives = drives(s.adType, category, s.span)
	}
	return c
}

func (s *setup) label(category int, rest string) string {
	c := categories[category]
	name := c.name
	if s.market.german {
		name = c.german
	}
	return fmt.Sprintf("%s | %s | %s", s.adType.short(), name, rest)
}

func (s *setup) named(label, kind string) *campaign {
	if s.byName[label] == nil {
		c := newCampaign(s, label, kind)
		s.byName[label] = c
		s.campaigns = append(s.campaigns, c)
	}
	return s.byName[label]
}

// driven finds the campaign of a drive that takes over ads of another.
func (s *setup) driven(from *campaign, d drive) *campaign {
	c := s.named(s.label(d.category, d.label(s.market.german)), from.kind)
	if c.drive == nil {
		c.category, c.drive, c.origin, c.start = d.category, &d, from, d.first
		if c.lifetime = s.adType == brands; c.lifetime {
			c.budget *= cents(d.last - d.first + 1)
		}
	}
	return c
}

func (s *setup) group(c *campaign, label string) *adGroup {
	k := string(c.name) + label
	if s.groups[k] == nil {
		r := stream(s.seed, "group", s.market.country, s.adType.slug(), k)
		g := &adGroup{id: s.adType.campaignID(r), label: label, name: quote(label), campaign: c}
		g.asked.base = clickCost(s.market.price(categories[c.category].price), between(r, 1, 1.4))
		if c.lasting() {
			g.asked.drawSwing(r)
		}
		s.groups[k] = g
		c.groups = append(c.groups, g)
	}
	return s.groups[k]
}

// place lists an ad in the group of a campaign, and in those of the drives that
// it joins.
func (s *setup) place(c *campaign, group string, ad listing) stations {
	out := stations{home: s.list(s.group(c, group), ad)}
	for _, d := range c.drives {
		if ad.product != nil && !ad.product.sold(d.span) {
			continue
		}
		g := s.group(s.driven(c, d), group)
		ad.id = entityID(stream(s.seed, "moved", s.market.country, string(g.campaign.name), string(c.name), digits(out.home.id), ad.firstProduct()))
		out.away = append(out.away, station{d.span, s.list(g, ad)})
	}
	return out
}

func (s *setup) list(g *adGroup, ad listing) *listing {
	ad.group = g
	g.ads = append(g.ads, &ad)
	return &ad
}
