package freshness_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"adlens/integration/house"
	"adlens/integration/standin"
)

// brandsReport loads a report of Sponsored Brands of some days, with one campaign.
func (m *merchant) brandsReport(t *testing.T, marketplace int, from string, days int) {
	t.Helper()
	p := house.SpPair("brands", m.id(marketplace), from, days, time.Now())
	p.Configuration()["adProduct"], p.Configuration()["reportTypeId"], p.Configuration()["groupBy"] = "SPONSORED_BRANDS", "sbCampaigns", []any{"campaign"}
	p.Configuration()["columns"] = []any{"date", "campaignId", "impressions", "clicks", "cost", "purchases", "sales"}
	for _, row := range p.Rows {
		row["purchases"], row["sales"] = 1, json.Number("9.5")
	}
	dir := t.TempDir()
	p.Write(t, dir)
	house.Load(t, m.live.Program, m.Tenant, dir)
}

// The platform's reports leave out legacy campaigns of Sponsored Brands;
// their list says which. Every answer whose figures lack them says so.
func TestCampaignsThatReportsLeaveOutAreNamed(t *testing.T) {
	t.Parallel()
	m := liveHouse(t).merchant(t, "US", "CA")
	r := random(t)
	m.connect(t)
	for marketplace := range 2 {
		id := m.profiles[marketplace].ID
		e := structure(r, id, "left out", 5, 40, 5)
		for i := range e.Campaigns {
			e.Campaigns[i].Legacy = i%3 == 0 // of other ad products it means nothing
		}
		m.live.platform.SetEntitiesOf(id, e)
	}
	m.brandsReport(t, 0, house.DaysAgo(40), 10)
	questions := []house.Question{
		house.NewQuestion("/summary", "range=last_60_days"), house.NewQuestion("/summary", "range=last_7_days"),
		house.NewQuestion("/summary", "range=last_7_days&compare=previous_period"), house.NewQuestion("/summary", "range=last_60_days&ad_products=SPONSORED_PRODUCTS"),
		house.NewQuestion("/summary", "range=last_60_days&marketplaces=CA"), house.NewQuestion("/timeline", "range=last_60_days"),
		house.NewQuestion("/reports/products", "range=last_60_days"), house.NewQuestion("/report", "range=last_60_days&dimensions=campaign"),
		house.NewQuestion("/report", "range=last_60_days&figures=spend,units_sold"), house.NewQuestion("/marketplaces", ""),
	}
	check := func() {
		t.Helper()
		for _, q := range questions {
			house.Check(t, m.Ask, m.Model, q)
		}
	}
	check() // no list of campaigns is held yet, so none can be named
	for marketplace := range 2 {
		began := time.Now()
		m.begin(t, "/campaigns", marketplace)
		m.read(t, marketplace, began, m.settled(t, marketplace))
	}
	check()
	answer := house.Get(t, m.Ask, "/api/v1/summary?range=last_60_days")
	if text := string(answer.Body); !strings.Contains(text, `"reason":"legacy_sponsored_brands","campaign_count":`) || strings.Contains(text, m.id(1)) {
		t.Errorf("want the US marketplace's campaigns alone to be counted, got %s", text)
	}
	for _, c := range m.live.platform.Entities().Campaigns {
		if c.Profile != m.profiles[0].ID || c.AdProduct != standin.SponsoredBrands {
			continue
		}
		house.Check(t, m.Ask, m.Model, house.NewQuestion("/summary", fmt.Sprintf("range=last_60_days&campaign_ids=%s", c.ID)))
	}
}
