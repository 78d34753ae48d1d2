package standin_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"adlens/integration/standin"
)

func (c *customer) display(path string) []map[string]any {
	c.t.Helper()
	got := c.do(http.MethodGet, path, "")
	if got.status != http.StatusOK {
		c.t.Fatalf("%s: %+v", path, got)
	}
	return decode[[]map[string]any](c.t, got.text)
}

func TestDisplayListsAreBareArraysInTheirOwnSpelling(t *testing.T) {
	c := structured(t, standin.ListPlan{})
	campaign := c.display("/sd/campaigns?count=1")[0]
	if campaign["campaignId"] != json.Number("144158449488730270") || campaign["state"] != "enabled" || campaign["startDate"] != "20260101" ||
		campaign["endDate"] != "20261231" || campaign["budgetType"] != "daily" || campaign["servingStatus"] != nil {
		t.Errorf("campaign %v", campaign)
	}
	if group := c.display("/sd/adGroups")[0]; group["adGroupId"] != json.Number("2144158449488730270") || group["defaultBid"] != json.Number("0.8") {
		t.Errorf("group %v", group)
	}
	if ad := c.display("/sd/productAds")[0]; ad["adId"] != json.Number("344158449488730270") || ad["asin"] != "B01" {
		t.Errorf("ad %v", ad)
	}
	if extended := c.display("/sd/campaigns/extended")[0]; extended["creationDate"] != json.Number("1767254400000") {
		t.Errorf("extended %v", extended)
	}
}

func TestDisplayListsArePagedByIndex(t *testing.T) {
	c := structured(t, standin.ListPlan{})
	for start, want := range map[int]int{0: 2, 2: 2, 4: 1, 6: 0} {
		if got := c.display(fmt.Sprintf("/sd/campaigns?startIndex=%d&count=2", start)); len(got) != want {
			t.Errorf("from %d: %d, want %d", start, len(got), want)
		}
	}
	c.p.Inject(standin.Fault{On: standin.SDCampaigns, Do: standin.RepeatPage()})
	if got := c.display("/sd/campaigns?startIndex=2&count=2")[0]["name"]; got != "Campaign 0" {
		t.Errorf("repeated: %v", got)
	}
}

func TestDisplayFiltersAreLowerCaseAndCommaSeparated(t *testing.T) {
	c := structured(t, standin.ListPlan{})
	for query, want := range map[string]int{
		"?stateFilter=enabled,paused": 4, "?stateFilter=archived": 1, "?name=Campaign%203": 1,
		"?campaignIdFilter=144158449488730270,144158449488730271": 2, "?portfolioIdFilter=1": 0,
	} {
		if got := c.display("/sd/campaigns" + query); len(got) != want {
			t.Errorf("%s: %d, want %d", query, len(got), want)
		}
	}
	for query, text := range map[string]string{
		"?stateFilter=ENABLED": "ENABLED", "?count=101": "count", "?count=x": "count", "?startIndex=-1": "startIndex", "?nextToken=x": "nextToken",
	} {
		expect(t, c.do(http.MethodGet, "/sd/campaigns"+query, ""), http.StatusBadRequest, text)
	}
}
