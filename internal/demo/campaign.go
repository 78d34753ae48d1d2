package demo

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// A campaign as the reports name it.
type campaign struct {
	id     int64
	name   quoted
	budget cents // a day
}

func newCampaign(seed uint64, m *market, t adType, name string) *campaign {
	r := stream(seed, "campaign", m.country, t.slug(), name)
	c := &campaign{name: quote(name), budget: cents(40+10*r.IntN(30)) * 100}
	if t == brands {
		// The platform's oldest brand campaigns have 18 digits. An odd number
		// beyond 2^53 has no binary float: a reader that uses one is found out.
		c.id = 100_000_000_000_000_000 + r.Int64N(800_000_000_000_000_000) | 1
	} else {
		c.id = entityID(r)
	}
	return c
}

// entityID is a number of 15 digits.
func entityID(r *rand.Rand) int64 { return 100_000_000_000_000 + r.Int64N(800_000_000_000_000) }

// An adGroup divides the ads of a campaign.
type adGroup struct {
	id   int64
	name quoted
}

// A setup hands out the campaigns and ad groups of one market and ad type, each
// made once.
type setup struct {
	seed      uint64
	market    *market
	adType    adType
	campaigns map[string]*campaign
	groups    map[string]*adGroup
}

func newSetup(seed uint64, m *market, t adType) *setup {
	return &setup{seed, m, t, map[string]*campaign{}, map[string]*adGroup{}}
}

// campaign finds the campaign for a category and a kind of campaign.
func (s *setup) campaign(category int, kind string) *campaign {
	c := categories[category]
	label := c.name
	if s.market.german {
		label = c.german
	}
	return s.named(fmt.Sprintf("%s | %s | %s", s.adType.short(), label, kind))
}

func (s *setup) named(name string) *campaign {
	if s.campaigns[name] == nil {
		s.campaigns[name] = newCampaign(s.seed, s.market, s.adType, name)
	}
	return s.campaigns[name]
}

func (s *setup) group(c *campaign, name string) *adGroup {
	k := string(c.name) + name
	if s.groups[k] == nil {
		r := stream(s.seed, "group", s.market.country, s.adType.slug(), k)
		s.groups[k] = &adGroup{id: entityID(r), name: quote(name)}
	}
	return s.groups[k]
}

// An appeal is how an ad does on an ordinary day in a market of size 1.
type appeal struct {
	category int
	reach    float64 // impressions
	shown    float64 // chance to be shown at all
	ctr      float64
	cpc      float64 // cents
	sale     float64 // orders for a click
	price    cents
}

// newAppeal draws click rates, bids and costs of sale in believable bounds;
// the orders for a click follow from them.
func newAppeal(r *rand.Rand, category int, reach, shown float64, price cents) appeal {
	a := appeal{category: category, reach: reach * jitter(r, 0.3), shown: min(shown, 1), price: price}
	a.ctr = between(r, 0.0035, 0.0090)
	a.cpc = min(max((22+0.019*float64(price))*between(r, 0.75, 1.25), 32), 175)
	acos := between(r, 0.17, 0.36)
	const basket, credited = 1.25, 0.9 // an order is worth more than one unit; the short windows miss some
	a.sale = min(a.cpc/(acos*basket*credited*float64(price)), 0.45)
	return a
}

// tail is Zipf's law, somewhat flattened at its head.
func tail(rank int) float64 { return math.Pow(1+float64(rank)/3, -0.95) }
