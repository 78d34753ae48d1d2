package standin_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"adlens/integration/standin"
)

// The platform's clock in these tests.
var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func atNoon() time.Time { return noon }

// order is the body of a report request; a change is a pair of texts to swap.
func order(changes ...string) string {
	return strings.NewReplacer(changes...).Replace(`{"name":"n","startDate":"2026-11-01","endDate":"2026-11-10",
		"configuration":{"adProduct":"SPONSORED_PRODUCTS","reportTypeId":"spAdvertisedProduct","groupBy":["advertiser"],
		"columns":["date","advertisedAsin","clicks"],"timeUnit":"DAILY","format":"GZIP_JSON"}}`)
}

func reporting(t *testing.T, config standin.Config) *customer {
	t.Helper()
	config.Now = atNoon
	config.Profiles = append(config.Profiles, standin.Profile{ID: 1}, standin.Profile{ID: 2}, standin.Profile{ID: 7, SubType: "KDP_AUTHOR"})
	return open(t, config)
}

func course(pending, processing int) standin.JobPlan {
	return standin.JobPlan{PendingPolls: pending, ProcessingPolls: processing}
}

func (c *customer) mustCreate(body string) string {
	c.t.Helper()
	got := c.create(body)
	if got.status != http.StatusOK {
		c.t.Fatalf("create: %+v", got)
	}
	return got.object(c.t)["reportId"].(string)
}

func TestReportGoesFromPendingThroughProcessingToCompleted(t *testing.T) {
	c := reporting(t, standin.Config{Report: course(1, 2)})
	created := c.create(order()).object(t)
	if created["status"] != "PENDING" || created["url"] != nil || created["generatedAt"] != nil || created["createdAt"] != "2026-11-20T12:00:00.000Z" {
		t.Errorf("created %v", created)
	}
	for i, want := range []string{"PENDING", "PROCESSING", "PROCESSING", "COMPLETED", "COMPLETED"} {
		got := c.poll(created["reportId"].(string))
		if got["status"] != want || (got["url"] != nil) != (want == "COMPLETED") {
			t.Errorf("look %d: got %v, want %s", i+1, got, want)
		}
		if want == "COMPLETED" && (got["generatedAt"] != "2026-11-20T12:00:00.000Z" || got["urlExpiresAt"] != "2026-11-20T13:00:00.000Z") {
			t.Errorf("completed %v", got)
		}
	}
}

func TestReportTakesItsTime(t *testing.T) {
	now := noon
	c := open(t, standin.Config{
		Profiles: []standin.Profile{{ID: 1}},
		Report:   standin.JobPlan{Duration: time.Minute},
		Now:      func() time.Time { return now },
	})
	id := c.mustCreate(order())
	now = noon.Add(time.Minute - 1)
	if got := c.poll(id); got["status"] != "PROCESSING" {
		t.Errorf("got %v", got["status"])
	}
	now = noon.Add(time.Minute)
	if got := c.poll(id); got["status"] != "COMPLETED" {
		t.Errorf("got %v", got["status"])
	}
}

func TestReportFailsWithReason(t *testing.T) {
	c := reporting(t, standin.Config{Report: standin.JobPlan{FailureReason: "Report generation failed"}})
	if got := c.report(order()); got["status"] != "FAILED" || got["failureReason"] != "Report generation failed" || got["url"] != nil {
		t.Errorf("got %v", got)
	}
}

func TestStuckReportStaysPendingUntilCancelled(t *testing.T) {
	c := reporting(t, standin.Config{Report: standin.JobPlan{Stuck: true}})
	id := c.mustCreate(order())
	for range 5 {
		if got := c.poll(id); got["status"] != "PENDING" {
			t.Fatalf("got %v", got["status"])
		}
	}
	path := "/reporting/reports/" + id
	expect(t, c.do(http.MethodDelete, path, ""), http.StatusOK, `"status":"CANCELLED"`)
	expect(t, c.do(http.MethodDelete, path, ""), http.StatusBadRequest, "cannot be cancelled")
	c.mustCreate(order())
}

func TestPlanIsChosenPerReport(t *testing.T) {
	c := reporting(t, standin.Config{})
	c.p.PlanReportsBy(func(o standin.ReportOrder) standin.JobPlan {
		return standin.JobPlan{FailureReason: fmt.Sprintf("%d %s %s..%s", o.Number, o.AdProduct, o.StartDate, o.EndDate)}
	})
	if got := c.report(order()); got["failureReason"] != "1 SPONSORED_PRODUCTS 2026-11-01..2026-11-10" {
		t.Errorf("got %v", got)
	}
	c.p.PlanReports(standin.JobPlan{})
	if got := c.report(order()); got["status"] != "COMPLETED" {
		t.Errorf("got %v", got)
	}
}

func TestIdenticalRunningReportIsDuplicate(t *testing.T) {
	c := reporting(t, standin.Config{Report: course(1, 0)})
	id := c.mustCreate(order())
	expect(t, c.create(order(`"name":"n"`, `"name":"other"`)), http.StatusTooEarly, `{"code":"425","detail":"The Request is a duplicate of : `+id+`"}`)
	c.mustCreate(order("2026-11-10", "2026-11-11"))
	c.scope = "2"
	c.mustCreate(order())
	c.scope = "1"
	c.poll(id)
	c.poll(id)
	c.mustCreate(order())
}

func TestDuplicateMayLeaveOutTheID(t *testing.T) {
	c := reporting(t, standin.Config{Report: course(1, 0), Rules: standin.ReportRules{NamelessDuplicates: true}})
	c.mustCreate(order())
	expect(t, c.create(order()), http.StatusTooEarly, `"detail":"The Request is a duplicate"`)
}

func TestReportOfAnotherProfileIsNotFound(t *testing.T) {
	c := reporting(t, standin.Config{})
	id := c.mustCreate(order())
	c.scope = "2"
	expect(t, c.do(http.MethodGet, "/reporting/reports/"+id, ""), http.StatusNotFound, "not found")
}

func TestCreationNeedsItsMediaType(t *testing.T) {
	c := reporting(t, standin.Config{})
	expect(t, c.do(http.MethodPost, "/reporting/reports", order(), "Content-Type", "application/json"), http.StatusUnsupportedMediaType, "detail")
	for accept, status := range map[string]int{
		"application/json": 200, "application/vnd.createasyncreportresponse.v3+json": 200, "*/*": 200, "text/csv": 406,
	} {
		expect(t, c.do(http.MethodPost, "/reporting/reports", order(), "Content-Type", createMedia, "Accept", accept), status, "")
	}
}

func TestReportIsRefusedWithItsReason(t *testing.T) {
	c := reporting(t, standin.Config{})
	for _, refused := range []struct{ from, to, text string }{
		{"2026-11-01", "2026-08-13", `"startDate to endDate range (89 days) must not exceed maximum range (31 days)"`}, // 90 dates
		{"2026-11-01", "2026-10-10", `must not exceed maximum range (31 days)`},                                        // 32 dates
		{"2026-11-01", "2026-11-11", `startDate must not be after endDate`},
		{"2026-11-01", "2026-02-30", `must be dates`},
		{`["advertiser"]`, `["adGroup"]`, `invalid groupBy values: (adGroup). Allowed values: (advertiser)`},
		{`["advertiser"]`, `[]`, `invalid groupBy values`},
		{`"DAILY"`, `"SUMMARY"`, `date is not a supported column for this time unit`},
		{`"date"`, `"startDate"`, `startDate is not a supported column for this time unit`},
		{`"clicks"`, `"clicks","purchases"`, `invalid values: (purchases)`},
		{`["date","advertisedAsin","clicks"]`, `[]`, `must not be empty`},
		{`"GZIP_JSON"`, `"CSV"`, `Invalid format`},
		{`"GZIP_JSON"`, `"GZIP_JSON","filters":[{"field":"campaignStatus","values":["ENABLED"]}]`,
			`configuration filters includes fields: (campaignStatus) which are invalid for groupBys: advertiser. Allowed filters`},
		{`"spAdvertisedProduct"`, `"sbCampaigns"`, `adProduct`},
		{`"spAdvertisedProduct"`, `"nope"`, `Invalid reportTypeId: nope`},
		{`{"name"`, `{name`, `not valid`},
	} {
		got := c.create(order(refused.from, refused.to))
		fault := got.object(t)
		if text, _ := fault["detail"].(string); got.status != http.StatusBadRequest || !strings.Contains(`"`+text+`"`, refused.text) {
			t.Errorf("%s: got %d %v", refused.to, got.status, fault)
		}
	}
}

func TestLookBackDependsOnReportTypeAndProfilesDay(t *testing.T) {
	// In Los Angeles it is the evening before.
	c := open(t, standin.Config{
		Profiles: []standin.Profile{{ID: 1}, {ID: 2, TimeZone: "Europe/London"}},
		Now:      func() time.Time { return time.Date(2026, 11, 20, 2, 30, 0, 0, time.UTC) },
	})
	sb := []string{"SPONSORED_PRODUCTS", "SPONSORED_BRANDS", "spAdvertisedProduct", "sbCampaigns", `"advertiser"`, `"campaign"`, `"advertisedAsin",`, ""}
	for _, one := range []struct {
		scope, day string
		brands     bool
		status     int
	}{
		{"1", "2026-08-16", false, 200}, {"1", "2026-08-15", false, 400}, {"2", "2026-08-16", false, 400},
		{"1", "2026-09-20", true, 200}, {"1", "2026-09-19", true, 400},
	} {
		c.scope = one.scope
		changes := []string{"2026-11-01", one.day, "2026-11-10", one.day}
		text := ""
		if one.brands {
			changes = append(changes, sb...)
		}
		if one.status == 400 {
			text = "must be equal to or after report type data retention start date ("
		}
		expect(t, c.create(order(changes...)), one.status, text)
	}
}

func TestDay32CanBeAllowed(t *testing.T) {
	c := reporting(t, standin.Config{Rules: standin.ReportRules{AllowDay32: true}})
	expect(t, c.create(order("2026-11-01", "2026-10-10")), http.StatusOK, "PENDING")
	expect(t, c.create(order("2026-11-01", "2026-10-09")), http.StatusBadRequest, "range (32 days)")
}

func TestKDPAuthorsHaveNoBrands(t *testing.T) {
	c := reporting(t, standin.Config{})
	c.scope = "7"
	body := order("SPONSORED_PRODUCTS", "SPONSORED_BRANDS", "spAdvertisedProduct", "sbCampaigns", `"advertiser"`, `"campaign"`)
	expect(t, c.create(body), http.StatusBadRequest, "KDP authors do not have access to Sponsored Brands functionality")
}
