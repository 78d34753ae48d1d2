package api

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"adlens"
	"adlens/internal/platform"
)

func goodRequest() ReportRequest {
	start, _ := adlens.ParseDay("2026-08-01")
	return ReportRequest{Type: platform.ReportTypes[0], Start: start, End: start + 30, Columns: []string{"date", "cost"}, Name: "august"}
}

func TestAReportIsAskedForAsDocumented(t *testing.T) {
	var body []byte
	var header http.Header
	r := newRig(t, func(w http.ResponseWriter, q *http.Request) {
		body, _ = io.ReadAll(q.Body)
		header = q.Header
		_, _ = io.WriteString(w, `{"reportId":"4b47565f-1e46","status":"PENDING","name":"duplicate of : zzz"}`)
	})
	id, err := r.client.CreateReport(ctx, "3982475484689176", goodRequest())
	r.succeeds(err)
	if id != "4b47565f-1e46" || r.calls[0] != "POST /reporting/reports" {
		t.Errorf("%s %v", id, r.calls)
	}
	want := `{"name":"august","startDate":"2026-08-01","endDate":"2026-08-31","configuration":{"adProduct":"SPONSORED_PRODUCTS",` +
		`"reportTypeId":"spAdvertisedProduct","groupBy":["advertiser"],"columns":["date","cost"],"timeUnit":"DAILY","format":"GZIP_JSON"}}`
	if string(body) != want {
		t.Errorf("asked %s, expected %s", body, want)
	}
	if header.Get("Content-Type") != "application/vnd.createasyncreportrequest.v3+json" || header.Get("Amazon-Advertising-API-Scope") != "3982475484689176" {
		t.Errorf("headers %v", header)
	}
}

func TestAnImpossibleReportIsRefusedWithoutAsking(t *testing.T) {
	r := newRig(t, say(200, `{}`))
	for says, change := range map[string]func(*ReportRequest){
		"at most 31":           func(q *ReportRequest) { q.End = q.Start + 31 },
		"after its last":       func(q *ReportRequest) { q.End = q.Start - 1 },
		"needs a type":         func(q *ReportRequest) { q.Type = nil },
		"columns lack date":    func(q *ReportRequest) { q.Columns = []string{"cost"} },
		"name or columns are ": func(q *ReportRequest) { q.Name = "\xff" },
	} {
		q := goodRequest()
		change(&q)
		_, err := r.client.CreateReport(ctx, "1", q)
		r.fails(err, Invalid, says)
	}
	for _, profile := range []string{"", "1\r\nX: y", "1/2", strings.Repeat("1", 65)} {
		_, err := r.client.CreateReport(ctx, profile, goodRequest())
		r.fails(err, Invalid, "profile")
		_, err = r.client.Ads(ctx, profile, adlens.SponsoredDisplay)
		r.fails(err, Invalid, "profile")
	}
	for _, id := range []string{"", "../../v2/profiles", "a?b"} {
		_, err := r.client.reportStatus(ctx, "1", id)
		r.fails(err, Invalid, "report's id")
	}
	if len(r.calls) != 0 {
		t.Errorf("asked %v", r.calls)
	}
}

func TestARunningReportIsResumed(t *testing.T) {
	for _, body := range []string{
		`{"code":"425","detail":"The Request is a duplicate of : 8a7b-00ff"}`,
		`{"code":"425","details":"the request is a duplicate of:8a7b-00ff."}`,
		`The Request is a Duplicate of : 8a7b-00ff`,
	} {
		r := newRig(t, say(425, body))
		id, err := r.client.CreateReport(ctx, "1", goodRequest())
		r.succeeds(err)
		if id != "8a7b-00ff" || len(r.calls) != 1 {
			t.Errorf("id %q after %d calls", id, len(r.calls))
		}
	}
}

// A report that is being made already, of which the answer has no id, is no refusal: once
// that one is made, it may be requested again.
func TestADuplicateWithoutAnIDIsNoRefusal(t *testing.T) {
	legacy := goodRequest()
	legacy.Type, legacy.End = platform.LegacyReportType, legacy.Start
	for _, status := range []int{409, 425} {
		for _, request := range []ReportRequest{goodRequest(), legacy} {
			r := newRig(t, say(status, `{"detail":"too early"}`))
			_, err := r.client.CreateReport(ctx, "1", request)
			r.fails(err, Unavailable, strconv.Itoa(status), "too early")
			if errors.Is(err, Refused) || len(r.calls) != 1 {
				t.Errorf("%d calls, %v", len(r.calls), err)
			}
		}
	}
}

func TestALostCreationIsSentAgainAndFindsItsReport(t *testing.T) {
	r := newRig(t, script(say(429, ``, "Retry-After", "7"), say(500, ``), cut(`{"reportId":`), say(200, `{"status":"PENDING"}`),
		say(425, `{"detail":"duplicate of : abc"}`)))
	id, err := r.client.CreateReport(ctx, "1", goodRequest())
	r.succeeds(err)
	if id != "abc" || len(r.calls) != 5 {
		t.Errorf("id %q after %d calls", id, len(r.calls))
	}
}

func TestAnUnusableReportIDIsABadAnswer(t *testing.T) {
	for _, body := range []string{`{"reportId":"../x"}`, `{"reportId":null}`, `{}`, `[]`, `{"reportId":""}`} {
		r := newRig(t, say(200, body))
		_, err := r.client.CreateReport(ctx, "1", goodRequest())
		r.fails(err, BadAnswer, "no reportId")
	}
}

const completed = `{"reportId":"r-1","status":"COMPLETED","failureReason":null,"fileSize":22.0,"url":"https://x.amazonaws.com/a?X-Amz-Signature=canary-signature"}`

func TestALookAtAReportKeepsTheObjectAsItCame(t *testing.T) {
	r := newRig(t, say(200, completed))
	status, err := r.client.reportStatus(ctx, "1", "r-1")
	r.succeeds(err)
	if status.State != Completed || !strings.HasSuffix(status.URL, canaryLink) || string(status.Raw) != completed {
		t.Errorf("%+v", status)
	}
	if r.calls[0] != "GET /reporting/reports/r-1" {
		t.Errorf("asked %v", r.calls)
	}
}

func TestASenselessLookIsABadAnswer(t *testing.T) {
	for says, body := range map[string]string{
		"reportId is":       `{"reportId":"r-2","status":"PENDING"}`,
		"its status is":     `{"reportId":"r-1","status":"DREAMING"}`,
		"has no url":        `{"reportId":"r-1","status":"COMPLETED","url":null}`,
		"no report object":  `[{"reportId":"r-1"}]`,
		`it begins "<html>`: `<html>`,
	} {
		r := newRig(t, say(200, body))
		_, err := r.client.reportStatus(ctx, "1", "r-1")
		r.fails(err, BadAnswer, says)
	}
}

func pending(state string) http.HandlerFunc {
	return say(200, `{"reportId":"r-1","status":"`+state+`"}`)
}

func TestAReportIsAwaitedWithGrowingPatience(t *testing.T) {
	r := newRig(t, script(pending("PENDING"), pending("PENDING"), pending("PROCESSING"), pending("PROCESSING"), say(200, completed)))
	status, err := r.client.Await(ctx, "1", "r-1", 2*time.Minute)
	r.succeeds(err)
	if status.State != Completed || len(r.sleeps) != 4 {
		t.Fatalf("%v after %v", status.State, r.sleeps)
	}
	want := []time.Duration{2 * time.Minute, 3 * time.Minute, 4*time.Minute + 30*time.Second, 5 * time.Minute}
	for i := range want {
		if r.sleeps[i] != want[i] {
			t.Fatalf("slept %v, expected %v", r.sleeps, want)
		}
	}
}

func TestTheFirstWaitHasADefaultAndMayExceedTheCap(t *testing.T) {
	for first, want := range map[time.Duration]time.Duration{0: 30 * time.Second, time.Hour: time.Hour} {
		r := newRig(t, script(pending("PENDING"), pending("PENDING"), say(200, completed)))
		_, err := r.client.Await(ctx, "1", "r-1", first)
		r.succeeds(err)
		if r.sleeps[0] != want || r.sleeps[1] < want {
			t.Errorf("first wait %v: slept %v", first, r.sleeps)
		}
	}
}

func TestAFailedReportSaysWhy(t *testing.T) {
	for state, reason := range map[string]string{"FAILED": `"too much ` + canaryAccess + `"`, "FAILURE": `null`, "cancelled": `""`} {
		r := newRig(t, say(200, `{"reportId":"r-1","status":"`+state+`","failureReason":`+reason+`}`))
		status, err := r.client.Await(ctx, "1", "r-1", time.Second)
		r.fails(err, ReportFailed, "r-1")
		if status.State != Failed || status.FailureReason == "" {
			t.Errorf("%+v", status)
		}
	}
}

func TestAReportThatHangsForEverEndsWithTheContext(t *testing.T) {
	stop, cancel := context.WithCancel(ctx)
	looks := 0
	r := newRig(t, pending("PENDING"))
	r.client.cfg.Sleep = func(ctx context.Context, d time.Duration) error {
		if looks++; looks == 100 {
			cancel()
		}
		return r.sleep(ctx, d)
	}
	_, err := r.client.Await(stop, "1", "r-1", time.Second)
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "still PENDING") || looks != 100 {
		t.Errorf("%v after %d looks", err, looks)
	}
}

func TestAwaitingOutlastsAnOutage(t *testing.T) {
	down := make([]http.HandlerFunc, 0, 30)
	for range 20 { // four looks of five tries
		down = append(down, say(503, ``))
	}
	r := newRig(t, script(append(append([]http.HandlerFunc{pending("PENDING")}, down...), say(200, completed))...))
	status, err := r.client.Await(ctx, "1", "r-1", time.Minute)
	r.succeeds(err)
	if status.State != Completed {
		t.Errorf("%+v", status)
	}
	r = newRig(t, say(503, ``))
	_, err = r.client.Await(ctx, "1", "r-1", time.Minute)
	r.fails(err, Unavailable)
	if len(r.calls) != 25 {
		t.Errorf("%d calls, expected 5 looks of 5 tries", len(r.calls))
	}
	r = newRig(t, say(404, `{"detail":"no such report"}`))
	_, err = r.client.Await(ctx, "1", "r-1", time.Minute)
	r.fails(err, Refused, "no such report")
	if len(r.calls) != 1 {
		t.Errorf("%d calls", len(r.calls))
	}
}

func TestATokenMayEndWhileAReportIsAwaited(t *testing.T) {
	var bodies bytes.Buffer
	r := newRig(t, nil)
	n := 0
	r.server.Config.Handler = handlerWithTokens(r, func(w http.ResponseWriter, q *http.Request) {
		_, _ = io.Copy(&bodies, q.Body)
		if n++; n == 2 {
			say(401, `{"message":"Invalid token"}`)(w, q)
			return
		}
		if n < 5 {
			pending("PENDING")(w, q)
			return
		}
		say(200, completed)(w, q)
	})
	_, err := r.client.Await(ctx, "1", "r-1", time.Hour)
	r.succeeds(err)
	if r.tokens < 3 {
		t.Errorf("%d tokens were requested", r.tokens)
	}
}
