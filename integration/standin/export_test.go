package standin_test

import (
	"net/http"
	"testing"

	"adlens/integration/standin"
)

const exportMedia = "application/vnd.campaignsexport.v1+json"

func (c *customer) export(body string) string {
	c.t.Helper()
	got := c.list("/campaigns/export", exportMedia, body)
	if got.status != http.StatusAccepted {
		c.t.Fatalf("export: %+v", got)
	}
	return got.object(c.t)["exportId"].(string)
}

func (c *customer) pollExport(id, media string) answer {
	c.t.Helper()
	return c.do(http.MethodGet, "/exports/"+id, "", "Accept", media)
}

func (c *customer) exported(id, media string) []map[string]any {
	c.t.Helper()
	address := c.pollExport(id, media).object(c.t)["url"].(string)
	return decode[[]map[string]any](c.t, unpack(c.t, fetch(c.t, address).text))
}

func TestExportRunsAndCompletesWithFreshAddressEachTime(t *testing.T) {
	c := structured(t, standin.ListPlan{})
	c.p.PlanExports(standin.ExportPlan{JobPlan: standin.JobPlan{PendingPolls: 1}})
	id := c.export(`{}`)
	expect(t, c.pollExport(id, exportMedia), http.StatusOK, `"status":"IN_PROGRESS"`)
	first, second := c.pollExport(id, exportMedia).object(t), c.pollExport(id, exportMedia).object(t)
	if first["status"] != "COMPLETED" || first["generatedAt"] == nil || first["url"] == second["url"] {
		t.Errorf("got %v, then %v", first, second)
	}
	expect(t, fetch(t, first["url"].(string), "Authorization", "x"), http.StatusBadRequest, "InvalidArgument")
}

func TestRunningWordAndFailureOfExport(t *testing.T) {
	c := structured(t, standin.ListPlan{})
	c.p.PlanExports(standin.ExportPlan{RunningWord: "PROCESSING", JobPlan: standin.JobPlan{PendingPolls: 1, FailureReason: "no luck"}})
	id := c.export(`{}`)
	expect(t, c.pollExport(id, exportMedia), http.StatusOK, `"status":"PROCESSING"`)
	expect(t, c.pollExport(id, exportMedia), http.StatusOK, `"error":{"errorCode":"INTERNAL_ERROR","message":"no luck"}`)
}

func TestExportLeavesArchivedOutUnlessAskedFor(t *testing.T) {
	c := structured(t, standin.ListPlan{})
	if got := c.exported(c.export(`{}`), exportMedia); len(got) != 12 {
		t.Errorf("default: %d", len(got))
	}
	got := c.exported(c.export(`{"adProductFilter":["SPONSORED_DISPLAY"],"stateFilter":["ENABLED","PAUSED","ARCHIVED"]}`), exportMedia)
	if len(got) != 5 || got[0]["campaignId"] != "144158449488730270" || got[0]["targetingSettings"] != "AUTO" {
		t.Errorf("all states: %v", got)
	}
}

func TestExportedAdsHaveNoCampaignAndBrandGroupsNoBid(t *testing.T) {
	c := structured(t, standin.ListPlan{})
	for path, check := range map[string]struct{ media, body, absent string }{
		"/ads/export":      {"application/vnd.adsexport.v1+json", `{}`, "campaignId"},
		"/adGroups/export": {"application/vnd.adgroupsexport.v1+json", `{"adProductFilter":["SPONSORED_BRANDS"]}`, "bid"},
	} {
		id := c.list(path, check.media, check.body).object(t)["exportId"].(string)
		rows := c.exported(id, check.media)
		if _, has := rows[0][check.absent]; has || len(rows) == 0 {
			t.Errorf("%s: %v", path, rows[0])
		}
		expect(t, c.pollExport(id, "application/json"), http.StatusNotAcceptable, "details")
	}
}

func TestSixthExportAtATimeIsThrottled(t *testing.T) {
	c := structured(t, standin.ListPlan{})
	c.p.PlanExports(standin.ExportPlan{JobPlan: standin.JobPlan{Stuck: true}})
	for range 5 {
		c.export(`{}`)
	}
	expect(t, c.list("/campaigns/export", exportMedia, `{}`), http.StatusTooManyRequests, "Too many")
	expect(t, c.list("/campaigns/export", exportMedia, `{"stateFilter":["x"]}`), http.StatusBadRequest, "stateFilter")
	expect(t, c.pollExport("none", exportMedia), http.StatusNotFound, "not found")
}
