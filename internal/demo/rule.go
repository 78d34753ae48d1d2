package demo

import (
	"fmt"
	"slices"
	"strconv"
	"time"
	_ "time/tzdata" // a rule's hour must not depend on the machine's files
)

// A rule is a page of the rulebook at work.
type rule struct {
	*page
	id     string
	number int
	edited day
	ends   day // the first day on which it no longer runs
	hour   time.Duration
	at     *time.Location
}

func newRule(o *office, p *page, number int) *rule {
	r := stream(o.seed, "rule", strconv.Itoa(number))
	newest := o.today - p.quiet
	rl := &rule{page: p, id: "rule-" + uuid(r.Uint64(), r.Uint64()), number: number, edited: newest - newest%p.every, ends: o.today}
	if p.off {
		rl.ends = rl.edited
	}
	rl.hour, rl.at = clock(p.clock, p.zone)
	return rl
}

// clock reads a page of the rulebook, which is sound.
func clock(hour, zone string) (time.Duration, *time.Location) {
	at, err := time.Parse("15:04", hour)
	if err != nil {
		panic(err)
	}
	l, err := time.LoadLocation(zone)
	if err != nil {
		panic(err)
	}
	return time.Duration(at.Hour())*time.Hour + time.Duration(at.Minute())*time.Minute, l
}

// moment is the rule's hour on a day.
func (r *rule) moment(d day) time.Time {
	y, m, dom := d.civil()
	return time.Date(y, m, dom, int(r.hour.Hours()), int(r.hour.Minutes())%60, 0, 0, r.at).UTC()
}

// due tells the days of its schedule.
func (r *rule) due(d day) bool {
	return !r.trial && d < r.ends && (!r.weekly || d.weekday() == r.weekday)
}

func (r *rule) failed(d day) bool { return r.fails != nil && r.fails(d) }

// standing is the last day before another with a run whose changes stand.
func (r *rule) standing(before day) day {
	if r.trial {
		return never
	}
	for d := min(before, r.ends) - 1; ; d-- {
		if r.due(d) && !r.failed(d) && (r.undone == nil || !r.undone(d)) {
			return d
		}
	}
}

// covers tells whether the rule looks after a campaign. Those of drives come
// and go: nobody chooses them one by one.
func (r *rule) covers(c *campaign) bool {
	return r.adType == c.adType && slices.Contains(r.countries, c.market.country) &&
		(r.kind == "" || r.kind == c.kind && c.drive == nil)
}

type ruleRecord struct {
	RuleID   string   `json:"rule_id"`
	Name     string   `json:"name"`
	Status   string   `json:"status"`
	Scope    scope    `json:"scope"`
	Schedule schedule `json:"schedule"`
	EditedAt string   `json:"edited_at"`
}

type scope struct {
	Marketplaces []string `json:"marketplaces"`
	CampaignIDs  []string `json:"campaign_ids"` // null for all
}

type schedule struct {
	Frequency string `json:"frequency"`
	Time      string `json:"time"`
	Timezone  string `json:"timezone"`
}

func (o *office) ruleRecords() []ruleRecord {
	var out []ruleRecord
	for _, r := range o.rules {
		out = append(out, o.ruleRecord(r))
	}
	return out
}

func (o *office) ruleRecord(r *rule) ruleRecord {
	rec := ruleRecord{RuleID: r.id, Name: r.name, Status: "on", Scope: scope{Marketplaces: r.countries}}
	if r.off {
		rec.Status = "off"
	}
	if r.kind != "" {
		for _, c := range o.scope(r) {
			rec.Scope.CampaignIDs = append(rec.Scope.CampaignIDs, digits(c.id))
		}
	}
	rec.Schedule = schedule{"daily", r.clock, r.zone}
	if r.weekly {
		rec.Schedule.Frequency = "weekly"
	}
	s := stream(o.seed, "edit", r.id, fmt.Sprint(r.edited))
	rec.EditedAt = instant(officeHours(r.edited, s.IntN(8*3600_000)))
	return rec
}

// scope lists the campaigns that a rule looks after, whatever their state.
func (o *office) scope(r *rule) []*campaign {
	var out []*campaign
	for _, m := range markets {
		for _, c := range o.campaigns(m) {
			if r.covers(c) {
				out = append(out, c)
			}
		}
	}
	return out
}
