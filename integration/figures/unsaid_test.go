package figures_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"adlens/integration/house"
)

// A campaign of which a legacy report has figures, and no list says whether it has
// several ad groups, does not count. The notice of the load and every answer whose
// figures lack it name it, until a list says it.
func TestACampaignOfUnknownFormIsNamed(t *testing.T) {
	t.Parallel()
	h, one := house.ShopWithData(t)
	day := house.DaysAgo(7)
	legacy := func(stem string, campaigns ...string) *house.Pair {
		p := &house.Pair{Stem: stem, ObjectName: stem + ".report.json", RowsName: stem + ".json", Object: map[string]any{
			"reportId": "id-" + stem, "profileId": house.Exact("101"), "status": "SUCCESS", "creativeType": "all",
			"reportDate": strings.ReplaceAll(day, "-", ""), "generatedAt": house.Stamp(time.Now())}}
		for i, id := range campaigns {
			p.Rows = append(p.Rows, map[string]any{"campaignId": house.Exact(id), "campaignName": "Reported " + id, "impressions": 10, "clicks": 1,
				"cost": house.Exact(fmt.Sprint(i + 1)), "attributedConversions14d": 0, "attributedSales14d": 0})
		}
		return p
	}
	list := func(stem string, age time.Duration, says map[string]any) *house.Pair {
		var rows []map[string]any
		for _, id := range []string{"71", "72", "73", "74"} {
			row := house.With(house.CampaignRow(id, "Listed "+id, "USD"), "adProduct", "SPONSORED_BRANDS")
			if said, ok := says[id]; ok {
				row = house.With(row, "isMultiAdGroupsEnabled", said)
			}
			rows = append(rows, row)
		}
		return house.ExportPair(stem, "101", "campaigns", time.Now().Add(-age), rows...)
	}
	load := func(pairs ...*house.Pair) string {
		dir := t.TempDir()
		for _, p := range pairs {
			p.Write(t, dir)
		}
		loaded, err := h.Load(one.Files.ID, dir)
		if err != nil || loaded.Code != 0 {
			t.Fatalf("load: %v %s", err, loaded.Result)
		}
		one.Model.Load(dir)
		return fmt.Sprintf("%s %s", loaded.Stdout, loaded.Stderr)
	}
	questions := []house.Question{
		house.NewQuestion("/summary", "range=last_30_days"), house.NewQuestion("/summary", "range=today"), house.NewQuestion("/marketplaces", ""),
		house.NewQuestion("/summary", "range=last_7_days&compare=previous_period"), house.NewQuestion("/summary", "range=last_30_days&campaign_ids=71"),
		house.NewQuestion("/summary", "range=last_30_days&ad_products=SPONSORED_PRODUCTS"), house.NewQuestion("/report", "range=last_30_days&dimensions=campaign"),
		house.NewQuestion("/report", "range=last_30_days&dimensions=date"), house.NewQuestion("/timeline", "range=last_30_days"),
	}
	check := func(when string, want bool) {
		t.Helper()
		for _, q := range questions {
			house.Check(t, one.Ask, one.Model, q)
		}
		text := string(house.Get(t, one.Ask, "/api/v1/summary?range=last_30_days").Body)
		if names := strings.Contains(text, `"campaign_count":1,"campaigns":[{"campaign_id":"72","campaign_name":"Listed 72"}]`); names != want {
			t.Errorf("%s: the campaign is named: %v, want %v: %s", when, names, want, text)
		}
	}
	v3 := house.SpPair("v3", "101", day, 1, time.Now())
	v3.Configuration()["adProduct"], v3.Configuration()["reportTypeId"], v3.Configuration()["groupBy"] = "SPONSORED_BRANDS", "sbCampaigns", []any{"campaign"}
	v3.Configuration()["columns"] = []any{"date", "campaignId", "impressions", "clicks", "cost", "purchases", "sales"}
	v3.Rows = []map[string]any{{"date": day, "campaignId": 74, "impressions": 5, "clicks": 1, "cost": house.Exact("9.5"), "purchases": 0, "sales": 0}}
	notice := load(list("list", 2*time.Hour, map[string]any{"71": false, "73": true}), v3, legacy("legacy", "71", "72", "73", "74"))
	if want := "refused campaign 72: no list says isMultiAdGroupsEnabled of it, so its figures may be missing"; !strings.Contains(notice, want) || strings.Contains(notice, "campaign 74") {
		t.Errorf("the load says %s, want %s", notice, want)
	}
	check("while no list says it", true)
	load(list("said", time.Hour, map[string]any{"71": false, "72": false, "73": true}))
	check("once a list says it", false)
}

// A list that leaves out the form of a campaign takes back nothing that another one says,
// whichever was loaded first: what reports leave out is still missing.
func TestAListWithoutTheFormTakesNothingBack(t *testing.T) {
	t.Parallel()
	list := func(stem string, age time.Duration, says any) *house.Pair {
		row := house.With(house.CampaignRow("71", "Listed 71", "USD"), "adProduct", "SPONSORED_BRANDS")
		if says != nil {
			row = house.With(row, "isMultiAdGroupsEnabled", says)
		}
		return house.ExportPair(stem, "101", "campaigns", time.Now().Add(-age), row)
	}
	said, unsaid, taken := list("said", 3*time.Hour, false), list("unsaid", 2*time.Hour, nil), list("taken", time.Hour, true)
	for name, steps := range map[string][]struct {
		list  *house.Pair
		names bool
	}{
		"loaded in order":      {{said, true}, {unsaid, true}, {taken, false}},
		"loaded the other way": {{unsaid, false}, {said, true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, one := house.ShopWithData(t)
			report := house.SpPair("brands", "101", house.DaysAgo(7), 1, time.Now())
			report.Configuration()["adProduct"], report.Configuration()["reportTypeId"], report.Configuration()["groupBy"] = "SPONSORED_BRANDS", "sbCampaigns", []any{"campaign"}
			report.Configuration()["columns"] = []any{"date", "campaignId", "impressions", "clicks", "cost", "purchases", "sales"}
			report.Rows = []map[string]any{}
			for i, step := range steps {
				dir := t.TempDir()
				step.list.Write(t, dir)
				if i == 0 {
					report.Write(t, dir)
				}
				house.Load(t, h.Program, one, dir)
				house.Check(t, one.Ask, one.Model, house.NewQuestion("/marketplaces", ""))
				house.Check(t, one.Ask, one.Model, house.NewQuestion("/summary", "range=last_30_days"))
				text := string(house.Get(t, one.Ask, "/api/v1/summary?range=last_30_days").Body)
				if names := strings.Contains(text, `"reason":"legacy_sponsored_brands","campaign_count":1`); names != step.names {
					t.Errorf("after list %d the campaign is named: %v, want %v: %s", i+1, names, step.names, text)
				}
			}
		})
	}
}
