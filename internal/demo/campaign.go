package demo

import (
	"math/rand/v2"
	"strconv"
	"time"
)

// A campaign as the reports and the platform's list name it.
type campaign struct {
	id       int64
	label    string
	name     quoted // the label
	market   *market
	adType   adType
	category int
	kind     string
	budget   cents // a day, or for all days of one that is lifetime
	lifetime bool
	start    day
	groups   []*adGroup

	drives []drive   // that take its ads over while they last
	drive  *drive    // nil for one that is meant to last
	origin *campaign // of a drive: where its ads come from
}

// The kinds of campaigns, in the platform's words.
var kinds = map[string]struct {
	targeting, costType string
	moves               bool // its ads move to the drives of their category
}{
	"Exact":       {"MANUAL", "", false},
	"Auto":        {"AUTO", "", true},
	"Discovery":   {"MANUAL", "", false},
	"Collection":  {"MANUAL", "CPC", true},
	"Video":       {"MANUAL", "VCPM", false},
	"Audiences":   {"T00030", "VCPM", true},
	"Contextual":  {"T00020", "CPC", true},
	"Remarketing": {"T00030", "CPC", true},
}

func newCampaign(s *setup, label, kind string) *campaign {
	r := stream(s.seed, "campaign", s.market.country, s.adType.slug(), label)
	c := &campaign{label: label, name: quote(label), market: s.market, adType: s.adType, kind: kind}
	c.budget = cents(40+10*r.IntN(30)) * 100
	c.id = s.adType.campaignID(r)
	c.start = opened(r, s.span)
	return c
}

// opened draws a day before all figures: one that does not move with today,
// unless the figures begin in the account's old days already.
func opened(r *rand.Rand, s span) day {
	return min(civil(2019, time.January, 1)+day(r.IntN(1380)), s.first-1-day(r.IntN(60)))
}

// campaignID is for a campaign or an ad group.
func (t adType) campaignID(r *rand.Rand) int64 {
	if t == brands {
		// The platform's oldest brand campaigns have 18 digits. An odd number
		// beyond 2^53 has no binary float: a reader that uses one is found out.
		return 100_000_000_000_000_000 + r.Int64N(800_000_000_000_000_000) | 1
	}
	return entityID(r)
}

// entityID is a number of 15 digits.
func entityID(r *rand.Rand) int64 { return 100_000_000_000_000 + r.Int64N(800_000_000_000_000) }

func digits(id int64) string { return strconv.FormatInt(id, 10) }

// lasting tells a campaign that always has its ads.
func (c *campaign) lasting() bool { return c.drive == nil && len(c.drives) == 0 }

// The platform's states.
const (
	enabled  = "ENABLED"
	paused   = "PAUSED"
	archived = "ARCHIVED"
)

// state is how the campaign stands on a day on or after its creation.
func (c *campaign) state(seed uint64, d day) string {
	if c.drive != nil {
		return c.drive.state(d)
	}
	for i := range c.drives {
		if c.drives[i].has(d) {
			return paused
		}
	}
	if resting(seed, c.market, c.adType, d) {
		return paused
	}
	return enabled
}

// created is the day from which the platform knows the campaign.
func (c *campaign) created() day {
	if c.drive != nil {
		return c.drive.planned()
	}
	return c.start
}

// An adGroup divides the ads of a campaign.
type adGroup struct {
	id       int64
	label    string
	name     quoted // the label
	campaign *campaign
	ads      []*listing
	asked    pricing
}
