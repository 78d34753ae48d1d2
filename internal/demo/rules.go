package demo

import (
	"math"
	"slices"
	"strconv"
	"time"
	_ "time/tzdata" // a rule's hour must not depend on the machine's files

	"adlens"
	"adlens/internal/made"
)

// A work is what a rule changes.
type work int

const (
	setBids work = iota
	setBudgets
	pauseEnded // ads of products that are no longer sold
)

// A page of the rulebook is a rule as its user wrote it.
type page struct {
	name      string
	work      work
	adProduct adlens.AdProduct
	countries []string
	kind      string // the campaigns are chosen one by one: all of that kind
	weekly    bool
	weekday   time.Weekday // of a weekly one
	clock     string
	zone      string

	// The last edit was on the newest day that is at least quiet days ago and
	// a multiple of every.
	quiet, every adlens.Day
	off          bool // since the last edit
	trial        bool // never run but to test it

	fails  func(adlens.Day) bool // the platform was not there for it
	undone func(adlens.Day) bool // the user took the run back
}

var rulebook = [...]page{
	{
		name: "Keep ACOS near 25 %", work: setBids, adProduct: adlens.SponsoredProducts, countries: []string{"UK", "DE"},
		clock: "06:30", zone: "Europe/Paris", quiet: 40, every: 60,
	},
	{
		name: "Best sellers first", work: setBids, adProduct: adlens.SponsoredProducts, countries: []string{"US"}, kind: "Exact",
		clock: "05:00", zone: "America/Los_Angeles", quiet: 3, every: 30,
		fails: func(d adlens.Day) bool { return d%29 == 11 },
	},
	{
		name: "Display budgets for the week", work: setBudgets, adProduct: adlens.SponsoredDisplay, countries: []string{"US", "UK"},
		weekly: true, weekday: time.Monday, clock: "07:00", zone: "UTC", quiet: 20, every: 45,
		undone: func(d adlens.Day) bool { return d/7%5 == 2 },
	},
	{
		name: "Pause ads of products no longer sold", work: pauseEnded, adProduct: adlens.SponsoredProducts, countries: []string{"US", "UK", "DE"},
		weekly: true, weekday: time.Sunday, clock: "04:15", zone: "Europe/London", quiet: 90, every: 120,
	},
	{
		name: "Display bids by ACOS", work: setBids, adProduct: adlens.SponsoredDisplay, countries: []string{"DE"},
		clock: "05:45", zone: "Europe/Paris", quiet: 10, every: 15, off: true,
	},
	{
		name: "Discovery bids by ACOS", work: setBids, adProduct: adlens.SponsoredProducts, countries: []string{"US"}, kind: "Discovery",
		clock: "05:20", zone: "America/Los_Angeles", quiet: 1, every: 25, off: true, trial: true,
	},
}

// A rule is a page of the rulebook at work.
type rule struct {
	*page
	id     string
	number int
	edited adlens.Day
	ends   adlens.Day // the first day on which it no longer runs
	hour   time.Time  // of a day, in the zone of the rule
}

func newRule(a *account, p *page, number int) *rule {
	r := newStream(a.seed, "rule", strconv.Itoa(number))
	newest := a.today - p.quiet
	rl := &rule{page: p, id: "rule-" + made.UUID(r.Uint64(), r.Uint64()), number: number, edited: newest - newest%p.every, ends: a.today}
	if p.off {
		rl.ends = rl.edited
	}
	zone, err := time.LoadLocation(p.zone)
	if err == nil {
		rl.hour, err = time.ParseInLocation("15:04", p.clock, zone)
	}
	if err != nil {
		panic(err) // the rulebook is sound
	}
	return rl
}

// dueTime is the rule's hour on a day.
func (r *rule) dueTime(d adlens.Day) time.Time {
	y, m, dom := d.Time().Date()
	return time.Date(y, m, dom, r.hour.Hour(), r.hour.Minute(), 0, 0, r.hour.Location()).UTC()
}

// isDue reports whether a day is on the rule's schedule.
func (r *rule) isDue(d adlens.Day) bool {
	return !r.trial && d < r.ends && (!r.weekly || d.Time().Weekday() == r.weekday)
}

func (r *rule) failedOn(d adlens.Day) bool { return r.fails != nil && r.fails(d) }

func (r *rule) takenBack(d adlens.Day) bool { return r.undone != nil && r.undone(d) }

// never is the day of a run that has not been.
const never adlens.Day = math.MinInt32

// lastAppliedDay is the last day before another with a run whose changes are in place.
func (r *rule) lastAppliedDay(before adlens.Day) adlens.Day {
	if r.trial {
		return never
	}
	for d := min(before, r.ends) - 1; ; d-- {
		if r.isDue(d) && !r.failedOn(d) && !r.takenBack(d) {
			return d
		}
	}
}

// coversCampaign reports whether the rule looks after a campaign. Those of drives come
// and go: users do not choose them one by one.
func (r *rule) coversCampaign(c *campaign) bool {
	return r.adProduct == c.adProduct && slices.Contains(r.countries, c.market.country) &&
		(r.kind == "" || r.kind == c.kind && c.drive == nil)
}

// findRule finds the rule that does a kind of work for a campaign.
func (a *account) findRule(c *campaign, w work) *rule {
	for _, r := range a.rules {
		if r.work == w && r.coversCampaign(c) && !r.trial {
			return r
		}
	}
	return nil
}

// currentBid is what is bid in an ad group this morning.
func (a *account) currentBid(g *adGroup) cents {
	if r := a.findRule(g.campaign, setBids); r != nil {
		return g.bidOn(r.lastAppliedDay(a.today))
	}
	return g.bidOn(never)
}

// currentBudget is a campaign's budget this morning.
func (a *account) currentBudget(c *campaign) cents {
	if r := a.findRule(c, setBudgets); r != nil {
		return c.budgetOn(r.lastAppliedDay(a.today))
	}
	return c.budget
}

// bidOn is what a rule finds right on a day, in steps of five cents.
func (g *adGroup) bidOn(d adlens.Day) cents {
	return 5 * cents(math.Round(g.bid*g.swing.factorOn(d)/5))
}

// budgetOn is what a rule finds right on a day for a Display campaign, in steps
// of five; two of three stay as they are. The other ad products' reports have the
// budget in every row: it stays too.
func (c *campaign) budgetOn(d adlens.Day) cents {
	if c.adProduct != adlens.SponsoredDisplay || !c.keepsAds() || c.id%3 > 0 {
		return c.budget
	}
	s := swing{0.2, 60 + float64(c.id%40), float64(c.id % 7)}
	return 500 * cents(math.Round(float64(c.budget)*s.factorOn(d)/500))
}

// A swing is a slow wave around 1, or none.
type swing struct{ width, days, phase float64 }

func (s *swing) factorOn(d adlens.Day) float64 {
	if d == never || s.width == 0 {
		return 1
	}
	return 1 + s.width*math.Sin(2*math.Pi*float64(d)/s.days+s.phase)
}

// coveredCampaigns lists the campaigns that a rule looks after, whatever their state.
func (a *account) coveredCampaigns(r *rule) []*campaign {
	var out []*campaign
	for _, m := range markets {
		for _, c := range a.listCampaigns(m) {
			if r.coversCampaign(c) {
				out = append(out, c)
			}
		}
	}
	return out
}

func (a *account) ruleRecords() []made.Rule {
	var out []made.Rule
	for _, r := range a.rules {
		rec := made.Rule{
			RuleID: r.id, Name: r.name, Status: "on", Scope: made.Scope{Marketplaces: r.countries},
			Schedule: made.Schedule{Frequency: "daily", Time: r.clock, Timezone: r.zone},
			EditedAt: made.Instant(officeHours(r.edited, newStream(a.seed, "edit", r.id, r.edited.String()))),
		}
		if r.off {
			rec.Status = "off"
		}
		if r.weekly {
			rec.Schedule.Frequency = "weekly"
		}
		if r.kind != "" {
			for _, c := range a.coveredCampaigns(r) {
				rec.Scope.CampaignIDs = append(rec.Scope.CampaignIDs, formatID(c.id))
			}
		}
		out = append(out, rec)
	}
	return out
}
