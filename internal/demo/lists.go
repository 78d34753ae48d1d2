package demo

import (
	"encoding/json"
	"io"
	"path/filepath"
	"time"

	"adlens"
	"adlens/internal/made"
	"adlens/internal/platform"
)

// writeExport writes a market's whole list of an entity, as of the morning after
// the last day with figures. Its name does not have the day: the next morning's
// list takes its place.
func (a *account) writeExport(w *made.Writer, m *market, entity platform.Entity, rows any) ([]string, error) {
	stem := m.country + "-" + string(entity)
	pair, err := w.WritePair(filepath.Join(exportsDir, stem), made.ExportEnd,
		func(w io.Writer) error { return json.NewEncoder(w).Encode(rows) },
		func(size int) any {
			r := newStream(a.seed, "export", stem, a.today.String())
			// The first minute of the day has passed whenever the day is called today.
			created := a.today.Time().Add(time.Duration(r.IntN(20_000)) * time.Millisecond)
			generated := created.Add(5*time.Second + time.Duration(r.IntN(30_000))*time.Millisecond)
			o := made.NewExport(made.UUID(r.Uint64(), r.Uint64()), entity, created, generated)
			o.ProfileID, o.FileSize = json.Number(m.profileID), size
			return o
		})
	return pair.Files(), err
}

// campaignRows is the platform's list of campaigns this morning. States are each
// entity's own: an archived campaign keeps enabled ads.
func (a *account) campaignRows(m *market) any {
	rows := []made.Campaign{}
	for _, c := range a.listCampaigns(m) {
		k := kinds[c.kind]
		period := "DAILY"
		if c.lifetime {
			period = "LIFETIME"
		}
		row := made.Campaign{
			CampaignID: formatID(c.id), AdProduct: c.adProduct.String(), Name: c.label, State: c.stateOn(a.seed, a.today),
			StartDate: c.start.String(), TargetingSettings: k.targeting, CostType: k.costType,
			BudgetCaps: made.NewBudget(period, m.currency, a.currentBudget(c).jsonNumber()), CreationDateTime: made.Instant(c.creationTime(a.seed)),
		}
		if c.drive != nil {
			row.EndDate = c.drive.last.String()
		}
		if c.adProduct == adlens.SponsoredBrands {
			row.BrandEntityID = "ENTITY21DEMO" + m.country
		}
		if row.DeliveryStatus = a.deliveryStatus(c); row.State != enabled {
			row.DeliveryReasons = []string{"CAMPAIGN_" + row.State}
		} else if a.today < c.start {
			row.DeliveryReasons = []string{"CAMPAIGN_PENDING_START_DATE"}
		}
		rows = append(rows, row)
	}
	return rows
}

const notDelivering = "NOT_DELIVERING"

// deliveryStatus reports whether the ads of a campaign are shown.
func (a *account) deliveryStatus(c *campaign) string {
	if c.stateOn(a.seed, a.today) != enabled || a.today < c.start {
		return notDelivering
	}
	return "DELIVERING"
}

func (a *account) groupRows(m *market) any {
	rows := []made.AdGroup{}
	for _, c := range a.listCampaigns(m) {
		for _, g := range c.groups {
			row := made.AdGroup{
				AdGroupID: formatID(g.id), CampaignID: formatID(c.id), AdProduct: c.adProduct.String(), Name: g.label,
				State: enabled, DeliveryStatus: a.deliveryStatus(c), CreationDateTime: made.Instant(c.creationTime(a.seed)),
			}
			if c.adProduct != adlens.SponsoredBrands {
				row.Bid = &made.Bid{DefaultBid: a.currentBid(g).jsonNumber(), CurrencyCode: m.currency}
			}
			rows = append(rows, row)
		}
	}
	return rows
}

func (a *account) adRows(m *market) any {
	rows := []made.Ad{}
	for _, c := range a.listCampaigns(m) {
		for _, g := range c.groups {
			for _, ad := range g.ads {
				rows = append(rows, a.adRow(ad))
			}
		}
	}
	return rows
}

func (a *account) adRow(ad *listing) made.Ad {
	c := ad.group.campaign
	row := made.Ad{
		AdGroupID: formatID(ad.group.id), AdProduct: c.adProduct.String(), State: a.adState(ad), AdType: ad.form,
		Creative: made.NewCreative(ad.products...), DeliveryStatus: notDelivering, CreationDateTime: made.Instant(c.creationTime(a.seed)),
	}
	if p := ad.product; p != nil && p.from > c.creationDay() {
		row.CreationDateTime = made.Instant(p.from.Time())
	}
	if ad.id != 0 {
		row.AdID = formatID(ad.id)
	}
	if row.State == enabled {
		row.DeliveryStatus = a.deliveryStatus(c)
	}
	return row
}

// adState is enabled until the product is no longer sold. Then the ad is paused
// by the rule for that, or by hand where there is none, and put away later.
func (a *account) adState(ad *listing) string {
	const kept = 45 // days
	p := ad.product
	switch {
	case p == nil || p.until >= a.today:
		return enabled
	case p.until < a.today-kept:
		return archived
	}
	if r := a.findRule(ad.group.campaign, pauseEnded); r != nil && p.until >= r.lastAppliedDay(a.today) {
		return enabled
	}
	return paused
}
