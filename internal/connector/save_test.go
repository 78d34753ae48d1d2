package connector

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"adlens"
	"adlens/integration/standin"
	"adlens/internal/platform"
)

// What is saved of a legacy report is recognised as one, whether the platform's answer
// has recordType or not.
func TestASavedLegacyReportIsRecognised(t *testing.T) {
	day := adlens.Date(2026, 11, 4)
	w := &window{task: &task{profile: platform.Profile{ID: "23"}, report: platform.LegacyReportType}, start: day, end: day}
	w.request.RequestedAt = day.Time().AddDate(0, 0, 2)
	for _, raw := range []string{
		`{"reportId":"amzn1.clicksAPI.v1.p1.6477","status":"SUCCESS","statusDetails":"made","location":"https://x/download","fileSize":22}`,
		`{"reportId":"amzn1.clicksAPI.v1.p1.6477","recordType":"campaign","status":"SUCCESS"}`,
		`{"reportId":"amzn1.clicksAPI.v1.p1.6477","recordType":null,"status":"SUCCESS"}`,
	} {
		saved, err := withFields([]byte(raw), w.addedFields([]byte(raw))...)
		if err != nil {
			t.Fatal(err)
		}
		report, err := platform.DecodeReport(strings.NewReader(string(saved)))
		if err != nil || report.Type != platform.LegacyReportType || report.Start != day || report.ProfileID != "23" {
			t.Errorf("%s: %+v, %v", saved, report, err)
		}
		if strings.Count(string(saved), "recordType") != 1 {
			t.Errorf("%s says recordType more than once, or not at all", saved)
		}
	}
}

// The platform may say itself whose report it is. That counts, and stands in the file once.
func TestASavedReportIsOfTheProfileThatThePlatformSays(t *testing.T) {
	day := adlens.Date(2026, 11, 4)
	w := &window{task: &task{profile: platform.Profile{ID: "23"}, report: platform.ReportTypes[0]}, start: day, end: day}
	for raw, want := range map[string]string{`{"reportId":"r1"}`: "23", `{"reportId":"r1","profileId":23}`: "23", `{"reportId":"r1","profileId":"24"}`: "24"} {
		saved, err := withFields([]byte(raw), w.addedFields([]byte(raw))...)
		var object struct{ ProfileID platform.ID }
		if err := errors.Join(err, json.Unmarshal(saved, &object)); err != nil || string(object.ProfileID) != want || strings.Count(string(saved), "profileId") != 1 {
			t.Errorf("%s is saved as %s: %v", raw, saved, err)
		}
	}
}

// A report of other days, or of another profile, is none of those that were requested, which stay due until the
// platform gives theirs.
func TestAReportOfOtherDaysIsNotTheOneRequested(t *testing.T) {
	t.Parallel()
	for _, other := range [][2]string{{`"endDate":"2026-08-31"`, `"endDate":"2026-08-30"`}, {`"status":"COMPLETED"`, `"status":"COMPLETED","profileId":"77"`}} {
		testOtherReport(t, other[0], other[1])
	}
}

// testOtherReport refreshes from a platform whose report objects have one text instead of
// another.
func testOtherReport(t *testing.T, given, other string) {
	w := newWorld(t, 1)
	w.faults, w.noted.rates = 0, 1
	stop := w.platform.Inject(standin.Fault{On: standin.ReportPoll, Times: -1, Do: standin.Effected(func(out http.ResponseWriter, r *http.Request, next http.Handler) {
		whole := httptest.NewRecorder()
		next.ServeHTTP(whole, r)
		_, _ = out.Write([]byte(strings.ReplaceAll(whole.Body.String(), given, other)))
	})})
	_, _, err := w.daily.refreshConnection(t.Context(), w.connection)
	if err == nil || !strings.Contains(err.Error(), "other days were requested") {
		t.Errorf("the refresh ended with %v", err)
	}
	if len(w.refreshed) > 0 {
		t.Errorf("the days that were requested are noted as read: %v", w.refreshed)
	}
	stop()
	w.refresh(1 << 30)
	w.wantAllRead()
}
