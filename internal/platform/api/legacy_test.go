package api

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"adlens"
	"adlens/internal/platform"
)

const legacyID = "amzn1.clicksAPI.v1.p1.64770154.aba44b77-4e10-4086-bb16-82ef001968e7"

// A report of version 2 is requested for one day. Only an address that is not there
// says that there are no such reports; any other refusal may be about the day.
func TestLegacyReportsAreRequestedADayEach(t *testing.T) {
	day := adlens.Date(2026, 11, 4)
	request := ReportRequest{Type: platform.LegacyReportType, Start: day, End: day}
	for _, c := range []struct {
		status          int
		body            string
		kind            error
		offered, tooFar bool
	}{
		{202, `{"reportId":"` + legacyID + `","recordType":"campaign","status":"IN_PROGRESS"}`, nil, true, false},
		{400, `{"code":"400","details":"Report date is too far in the past. Reports are only available for 60 days."}`, Refused, true, true},
		{404, `{"code":"404","details":"Method Not Found"}`, NotOffered, false, false},
		{405, `{"message":"no"}`, NotOffered, false, false},
		{410, `{"message":"gone"}`, NotOffered, false, false},
		{400, `{"details":"KDP authors do not have access to Sponsored Brands functionality"}`, NotOffered, false, false},
		{400, `{"code":"400","details":"Report date is invalid"}`, Refused, true, false},
		{422, `{"code":"422","details":"Cannot process"}`, Refused, true, false},
		{403, `{"message":"no"}`, Refused, true, false},
	} {
		r := newRig(t, say(c.status, c.body))
		id, err := r.client.CreateReport(ctx, "1", request)
		if c.kind == nil && (err != nil || id != legacyID) || c.kind != nil && !errors.Is(err, c.kind) || errors.Is(err, NotOffered) == c.offered || IsTooFarBack(err) != c.tooFar {
			t.Errorf("%d %s: %s, %v", c.status, c.body, id, err)
		}
	}
	request.End++
	if _, err := newRig(t, say(500, "")).client.CreateReport(ctx, "1", request); !errors.Is(err, Invalid) || !strings.Contains(err.Error(), "is of one") {
		t.Errorf("a report of two days: %v", err)
	}
}

// A finished report of version 2 is found where its download redirects to; what the
// platform answers otherwise is no report.
func TestTheDownloadOfALegacyReportIsWhereItRedirects(t *testing.T) {
	const link = "https://offline-report-storage-us-east-1-prod.s3.amazonaws.com/x?X-Amz-Signature=" + canaryLink
	location := link
	state, given := `"SUCCESS"`, legacyID
	r := newRig(t, func(w http.ResponseWriter, q *http.Request) {
		switch q.URL.Path {
		case "/v2/reports/" + legacyID:
			_, _ = w.Write([]byte(`{"reportId":"` + given + `","status":` + state + `,"statusDetails":"why"}`))
		case "/v2/reports/" + legacyID + "/download":
			w.Header().Set("Location", location)
			w.WriteHeader(http.StatusTemporaryRedirect)
		}
	})
	status, err := r.client.reportStatus(ctx, "1", legacyID)
	if err != nil || status.State != Completed || status.URL != link || !strings.Contains(string(status.Raw), `"statusDetails":"why"`) {
		t.Errorf("%s, %v", status.State, err)
	}
	for says, want := range map[string]ReportState{`"IN_PROGRESS"`: Processing, `"FAILURE"`: Failed, `"LOST"`: ""} {
		state = says
		status, err := r.client.reportStatus(ctx, "1", legacyID)
		if status.State != want || (err == nil) != (want != "") || want == Failed && status.FailureReason != "why" {
			t.Errorf("%s: %+v, %v", says, status, err)
		}
	}
	state, location = `"SUCCESS"`, ""
	if _, err := r.client.reportStatus(ctx, "1", legacyID); !errors.Is(err, Refused) {
		t.Errorf("without a Location: %v", err)
	}
	location, given = link, legacyID+"0"
	if status, err := r.client.reportStatus(ctx, "1", legacyID); !errors.Is(err, BadAnswer) || status.URL != "" {
		t.Errorf("another report: %+v, %v", status, err)
	}
}
