package connector

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"adlens"
	"adlens/integration/standin"
	"adlens/internal/platform"
	"adlens/internal/platform/api"
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

// A directory never has the object of one report with the download of another: the old
// object goes before a new download comes, and a copy of it comes after its download.
func TestAnObjectIsLeftWithItsOwnDownloadAlone(t *testing.T) {
	day := adlens.Date(2026, 8, 31)
	write := func(path, text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	w := newWorld(t, 1)
	client, err := w.daily.Connector.openClient(w.connection)
	if err != nil {
		t.Fatal(err)
	}
	p := &pull{connector: w.daily.Connector, client: client, out: t.TempDir()}
	one := &window{task: &task{profile: w.profiles[0], report: platform.ReportTypes[0]}, start: day, end: day}
	files := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, _ *http.Request) { _, _ = out.Write([]byte("[]")) }))
	defer files.Close()
	stem := filepath.Join(p.out, one.windowName())
	write(stem+downloadSuffix, "old")
	if err := os.MkdirAll(stem+reportSuffix+"/cannot be removed", 0o700); err != nil {
		t.Fatal(err)
	}
	status := api.Status{URL: files.URL, Raw: []byte(`{"reportId":"r1"}`)}
	err = p.saveReport(t.Context(), one, status)
	if kept, _ := os.ReadFile(stem + downloadSuffix); err == nil || string(kept) != "old" {
		t.Errorf("next to the old object is %q, %v", kept, err)
	}
	if err := os.RemoveAll(stem + reportSuffix); err != nil {
		t.Fatal(err)
	}
	if err := p.saveReport(t.Context(), one, status); err != nil {
		t.Fatal(err)
	}
	to, from := t.TempDir(), t.TempDir()
	write(filepath.Join(to, one.windowName()+reportSuffix), "old")
	write(filepath.Join(from, one.windowName()+reportSuffix), "new, whose download is gone")
	err = copyReport(to, from, one.windowName())
	if left, _ := os.ReadDir(to); err == nil || len(left) > 0 {
		t.Errorf("copied without its download: %v, %v", left, err)
	}
}

// The file of a report's days is that of a request only where it is the report itself.
func TestAReportOfTheSameDaysIsNotTheOneRequested(t *testing.T) {
	dir, day := t.TempDir(), adlens.Date(2026, 11, 4)
	r := adlens.ReportRequest{MarketplaceID: "23", ReportType: platform.LegacyReportType.ID, Start: day, End: day}
	stem := filepath.Join(dir, requestName(r.MarketplaceID, r.ReportType, day, day))
	w := &window{task: &task{profile: platform.Profile{ID: "23"}, report: platform.LegacyReportType}, start: day, end: day}
	w.request.RequestedAt = day.Time().AddDate(0, 0, 2)
	raw := []byte(`{"reportId":"amzn1.clicksAPI.v1.p1.6477","status":"SUCCESS"}`)
	object, err := withFields(raw, w.addedFields(raw)...)
	if err := errors.Join(err, os.WriteFile(stem+reportSuffix, object, 0o600), os.WriteFile(stem+downloadSuffix, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]bool{"amzn1.clicksAPI.v1.p1.6477": true, "amzn1.clicksAPI.v1.p1.6478": false} {
		if r.ReportID = id; isOnDisk(dir, r) != want {
			t.Errorf("report %s is there: %t", id, !want)
		}
	}
}
