package platform

import (
	"strings"
	"testing"

	"adlens"
)

// The object and the rows are those of amzn/ads-advanced-tools-docs issue 93, with
// what is added to them.
func TestALegacyReportIsOfOneDayAndOfAllItsRows(t *testing.T) {
	object := `{"reportId":"amzn1.clicksAPI.v1.p1.64770154.aba44b77-4e10","recordType":"campaign","status":"SUCCESS","statusDetails":"Report has been successfully generated.",
"profileId":"23","creativeType":"all","reportDate":"20230501","generatedAt":"2023-05-02T08:00:00Z"}`
	report, err := DecodeReport(strings.NewReader(object))
	if err != nil {
		t.Fatal(err)
	}
	if day := adlens.Date(2023, 5, 1); report.Start != day || report.End != day || report.Type != LegacyReportType {
		t.Errorf("%+v", report)
	}
	// The platform's answer need not have recordType.
	bare := strings.Replace(object, `"recordType":"campaign",`, "", 1)
	if r, err := DecodeReport(strings.NewReader(bare)); err != nil || r.Type != LegacyReportType || !IsLegacy(strings.NewReader(bare)) {
		t.Errorf("without recordType: %+v, %v", r, err)
	}
	if !IsLegacy(strings.NewReader(object)) || IsLegacy(strings.NewReader(`{"reportId":"x"}`)) || IsLegacy(strings.NewReader(`[`)) {
		t.Error("legacy reports are told from others by their recordType or reportDate")
	}
	rows := NewRowReader(strings.NewReader(`[{"unitsSold14d":0,"cost":1.25,"attributedConversions14d":2,"campaignId":144158449488730278,"clicks":3,"impressions":4,"attributedSales14d":5,"campaignName":"xxxx"},
{"cost":0,"attributedConversions14d":null,"campaignId":188030107477314,"clicks":0,"impressions":0,"attributedSales14d":0,"campaignName":"xxxxx"}]`), report, report.Type.Headline(true)...)
	var ids []string
	err = rows.Each(func(r *Row) error {
		ids = append(ids, r.Campaign)
		if r.Day != report.Start || r.Number == 1 && (r.Counts[0] != 4 || r.Counts[1] != 3 || r.Counts[2] != 2 || r.Amounts[0].RoundMicros().Lo != 1_250_000) {
			t.Errorf("%+v", r)
		}
		return nil
	})
	if err != nil || len(ids) != 2 || ids[0] != "144158449488730278" {
		t.Errorf("campaigns %v, %v", ids, err)
	}
	if nulls := rows.Nulls(); len(nulls) != 1 || nulls[0].Column != "attributedConversions14d" {
		t.Errorf("nulls %v", nulls)
	}
}
