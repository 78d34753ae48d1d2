package demo

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"adlens"
	"adlens/internal/made"
)

// A channel is an ad product in a market: its campaigns, ad groups and ads, each
// made once and kept in the order in which they were made. It is shared by all
// workers and only read.
type channel struct {
	seed      uint64
	market    *market
	adProduct adlens.AdProduct
	active    span
	campaigns []*campaign
	ads       []*ad
	byName    map[string]*campaign
	groups    map[string]*adGroup
}

// newChannel makes a market's ads. Sponsored Display is used from a third of the
// span on, which is a year of the usual three.
func newChannel(seed uint64, m *market, p adlens.AdProduct, s span, list []*product) *channel {
	if p == adlens.SponsoredDisplay {
		s.first = s.first.AddMonths(len(s.splitMonths()) / 3)
	}
	c := &channel{seed: seed, market: m, adProduct: p, active: s, byName: map[string]*campaign{}, groups: map[string]*adGroup{}}
	rank := demandRanks(seed, m)
	switch p {
	case adlens.SponsoredBrands:
		c.advertiseBrand(list, rank)
	case adlens.SponsoredDisplay:
		c.advertiseDisplay(list, rank)
	default:
		c.advertiseProducts(list, rank)
	}
	return c
}

// adProductSlug is the ad product's name in file names and streams.
func (c *channel) adProductSlug() string {
	return strings.ReplaceAll(strings.ToLower(c.adProduct.String()), "_", "-")
}

// A campaign as the reports and the platform's list name it.
type campaign struct {
	id        int64
	label     string
	name      string // the label as JSON
	market    *market
	adProduct adlens.AdProduct
	category  int
	kind      string
	budget    cents // a day, or for all days of one that is lifetime
	lifetime  bool
	start     adlens.Day
	groups    []*adGroup
	drives    []drive // that take its ads over while they last

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

// An adGroup divides the ads of a campaign. What is bid in it follows from what
// clicks cost; where a rule looks after it, it may swing with the days.
type adGroup struct {
	id       int64
	label    string
	name     string // the label as JSON
	campaign *campaign
	ads      []*listing
	bid      float64 // cents
	swing    swing
}

// A listing is an ad as the platform lists it, in one ad group.
type listing struct {
	id       int64 // 0 where the platform gave none, as for old brand campaigns
	group    *adGroup
	form     string
	product  *product // that it is for, or nil
	products []string // that its creative shows
}

// stations are where an ad is listed: at home, or for a while in a drive.
type stations struct {
	home *listing
	away []station
}

type station struct {
	span
	*listing
}

// listingOn finds where the ad is listed on a day.
func (s *stations) listingOn(d adlens.Day) *listing {
	for i := range s.away {
		if s.away[i].containsDay(d) {
			return s.away[i].listing
		}
	}
	return s.home
}

// addListings lists an ad in the group of a campaign, and in those of the drives that
// it joins.
func (c *channel) addListings(home *campaign, group string, ad listing) stations {
	out := stations{home: c.namedGroup(home, group).addListing(ad)}
	for _, d := range home.drives {
		if ad.product != nil && !ad.product.soldWithin(d.span) {
			continue
		}
		g := c.namedGroup(c.driveCampaign(home, d), group)
		first := ""
		if len(ad.products) > 0 {
			first = ad.products[0]
		}
		ad.id = entityID(newStream(c.seed, "moved", c.market.country, g.campaign.name, home.name, formatID(out.home.id), first))
		out.away = append(out.away, station{d.span, g.addListing(ad)})
	}
	return out
}

func (g *adGroup) addListing(ad listing) *listing {
	ad.group = g
	g.ads = append(g.ads, &ad)
	return &ad
}

// categoryCampaign finds the campaign for a category and a kind of campaign.
func (c *channel) categoryCampaign(category int, kind string) *campaign {
	out := c.namedCampaign(c.campaignLabel(category, kind), kind)
	out.category = category
	if kinds[kind].moves && out.drives == nil {
		out.drives = listDrives(c.adProduct, category, c.active)
	}
	return out
}

func (c *channel) campaignLabel(category int, rest string) string {
	name := categories[category].name
	if c.market.german {
		name = categories[category].german
	}
	short := map[adlens.AdProduct]string{adlens.SponsoredProducts: "SP", adlens.SponsoredBrands: "SB", adlens.SponsoredDisplay: "SD"}
	return fmt.Sprintf("%s | %s | %s", short[c.adProduct], name, rest)
}

func (c *channel) namedCampaign(label, kind string) *campaign {
	if c.byName[label] == nil {
		r := newStream(c.seed, "campaign", c.market.country, c.adProductSlug(), label)
		out := &campaign{label: label, name: made.Quote(label), market: c.market, adProduct: c.adProduct, kind: kind}
		out.budget = cents(40+10*r.IntN(30)) * 100
		out.id = c.newID(r)
		// It opened before all figures, on a day that does not move with today,
		// unless the figures begin in the account's old days already.
		out.start = min(adlens.Date(2019, time.January, 1)+adlens.Day(r.IntN(1380)), c.active.first-1-adlens.Day(r.IntN(60)))
		c.byName[label] = out
		c.campaigns = append(c.campaigns, out)
	}
	return c.byName[label]
}

// driveCampaign finds the campaign of a drive that takes over ads of another.
func (c *channel) driveCampaign(from *campaign, d drive) *campaign {
	out := c.namedCampaign(c.campaignLabel(d.category, d.driveLabel(c.market.german)), from.kind)
	if out.drive == nil {
		out.category, out.drive, out.origin, out.start = d.category, &d, from, d.first
		if out.lifetime = c.adProduct == adlens.SponsoredBrands; out.lifetime {
			out.budget *= cents(d.last - d.first + 1)
		}
	}
	return out
}

func (c *channel) namedGroup(of *campaign, label string) *adGroup {
	k := of.name + label
	if c.groups[k] == nil {
		r := newStream(c.seed, "group", c.market.country, c.adProductSlug(), k)
		g := &adGroup{id: c.newID(r), label: label, name: made.Quote(label), campaign: of}
		g.bid = clickCost(c.market.localPrice(categories[of.category].price), uniformBetween(r, 1, 1.4))
		if of.keepsAds() && r.IntN(3) == 0 {
			g.swing = swing{uniformBetween(r, 0.10, 0.20), uniformBetween(r, 50, 90), uniformBetween(r, 0, 2*math.Pi)}
		}
		c.groups[k] = g
		of.groups = append(of.groups, g)
	}
	return c.groups[k]
}

// newID makes the id of a campaign or an ad group.
func (c *channel) newID(r *rand.Rand) int64 {
	if c.adProduct == adlens.SponsoredBrands {
		// The platform's oldest brand campaigns have 18 digits. An odd number
		// beyond 2^53 has no binary float: a reader that uses one is found out.
		return 100_000_000_000_000_000 + r.Int64N(800_000_000_000_000_000) | 1
	}
	return entityID(r)
}

// entityID is a number of 15 digits.
func entityID(r *rand.Rand) int64 { return 100_000_000_000_000 + r.Int64N(800_000_000_000_000) }

func formatID(id int64) string { return strconv.FormatInt(id, 10) }

// keepsAds reports whether the campaign always has its ads.
func (c *campaign) keepsAds() bool { return c.drive == nil && len(c.drives) == 0 }

// The platform's states.
const (
	enabled  = "ENABLED"
	paused   = "PAUSED"
	archived = "ARCHIVED"
)

// stateOn returns the campaign's state on a day on or after its creation. The
// campaigns of a drive are put away some days after its end.
func (c *campaign) stateOn(seed uint64, d adlens.Day) string {
	driven := func(other drive) bool { return other.containsDay(d) }
	switch {
	case c.drive != nil && d > c.drive.last+10:
		return archived
	case c.drive != nil && d <= c.drive.last:
		return enabled
	case c.drive != nil, slices.ContainsFunc(c.drives, driven), isPaused(seed, c.market, c.adProduct, d):
		return paused
	}
	return enabled
}

// creationDay is the day from which the platform knows the campaign.
func (c *campaign) creationDay() adlens.Day {
	if c.drive != nil {
		return c.drive.plannedDay()
	}
	return c.start
}

// creationTime is some time of office hours.
func (c *campaign) creationTime(seed uint64) time.Time {
	return officeHours(c.creationDay(), newStream(seed, "creation", formatID(c.id)))
}

// officeHours is a moment from eight to four, UTC.
func officeHours(d adlens.Day, r *rand.Rand) time.Time {
	return d.Time().Add(8*time.Hour + time.Duration(r.IntN(8*3600_000))*time.Millisecond)
}

// A promotion returns every year: for some months, ads of a category move from
// their ordinary campaigns, which rest, to one of that season.
type promotion struct {
	name, german string
	category     int
	from         time.Month
	months       int
	adProducts   []adlens.AdProduct
}

// One promotion or another is always on.
var promotions = [...]promotion{
	{"New Year", "Neujahr", 2, time.January, 2, adlens.AdProducts[:2]},
	{"Spring", "Frühling", 3, time.March, 3, adlens.AdProducts[:2]},
	{"Summer", "Sommer", 4, time.June, 3, adlens.AdProducts[:2]},
	{"Autumn", "Herbst", 5, time.September, 2, adlens.AdProducts[:2]},
	{"Holiday", "Weihnachten", 0, time.November, 2, adlens.AdProducts},
}

// A drive is the promotion of one year.
type drive struct {
	*promotion
	span
}

// listDrives lists those of a category that were planned within the span and had
// not ended before it.
func listDrives(adProduct adlens.AdProduct, category int, s span) []drive {
	var out []drive
	for i := range promotions {
		p := &promotions[i]
		if p.category != category || !slices.Contains(p.adProducts, adProduct) {
			continue
		}
		for year := s.first.Year() - 1; year <= s.last.Year()+1; year++ {
			d := drive{p, span{adlens.Date(year, p.from, 1), adlens.Date(year, p.from+time.Month(p.months), 1) - 1}}
			if d.plannedDay() <= s.last && d.last >= s.first {
				out = append(out, d)
			}
		}
	}
	return out
}

func (d drive) driveLabel(german bool) string {
	name := d.name
	if german {
		name = d.german
	}
	return name + " " + strconv.Itoa(d.first.Year())
}

// plannedDay is the day on which its campaigns are made.
func (d drive) plannedDay() adlens.Day { return d.first - 6 }
