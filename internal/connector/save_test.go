package connector

import (
	"strings"
	"testing"

	"adlens"
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
