package platform_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"adlens"
	"adlens/internal/platform"

	"github.com/google/go-cmp/cmp"
)

// reportObject is a good report object with some members replaced; a nil
// value takes a member out. Names of the configuration have a dot.
func reportObject(t testing.TB, changes map[string]any) string {
	t.Helper()
	object := map[string]any{
		"reportId": "r-1", "profileId": 9007199254740993, "status": "COMPLETED", "startDate": "2026-01-01", "endDate": "2026-01-31",
		"generatedAt": "2026-02-01T04:00:00.123Z", "url": nil, "unknown": map[string]any{"status": "FAILED"},
	}
	configuration := map[string]any{
		"adProduct": "SPONSORED_PRODUCTS", "reportTypeId": "spAdvertisedProduct", "timeUnit": "DAILY", "groupBy": []string{"advertiser"},
		"columns": []string{"date", "advertisedAsin", "impressions", "clicks", "cost"}, "filters": nil,
	}
	object["configuration"] = configuration
	for name, value := range changes {
		into := object
		if short, inside := strings.CutPrefix(name, "configuration."); inside {
			name, into = short, configuration
		}
		if into[name] = value; value == nil {
			delete(into, name)
		}
	}
	text, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestAGoodReportObjectIsRead(t *testing.T) {
	sp, _ := platform.FindReportType("spAdvertisedProduct")
	want := &platform.Report{ID: "r-1", ProfileID: "9007199254740993", Type: sp, Start: adlens.Date(2026, time.January, 1), End: adlens.Date(2026, time.January, 31),
		GeneratedAt: time.Date(2026, 2, 1, 4, 0, 0, 123000000, time.UTC), Columns: []string{"date", "advertisedAsin", "impressions", "clicks", "cost"}}
	for name, text := range map[string]string{
		"numbers":             reportObject(t, nil),
		"text ids":            reportObject(t, map[string]any{"profileId": "9007199254740993"}),
		"a byte order mark":   "\xef\xbb\xbf" + reportObject(t, nil),
		"another offset":      reportObject(t, map[string]any{"generatedAt": "2026-02-01T06:30:00.123+02:30"}),
		"no filters":          reportObject(t, map[string]any{"configuration.filters": []any{}}),
		"surrounding spaces":  " \r\n" + reportObject(t, nil) + "\n",
		"one day ahead of it": reportObject(t, nil),
	} {
		got, err := platform.DecodeReport(strings.NewReader(text))
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", name, err, diff)
		}
	}
	ahead := reportObject(t, map[string]any{"generatedAt": "2026-01-30T23:59:59Z"})
	if _, err := platform.DecodeReport(strings.NewReader(ahead)); err != nil {
		t.Errorf("an endDate one day after generatedAt: %v", err)
	}
}

func TestAReportObjectThatFiguresCannotComeFromIsRefusedWithTheReason(t *testing.T) {
	for _, c := range []struct {
		changes map[string]any
		want    []string
	}{
		{map[string]any{"reportId": nil}, []string{"reportId is missing, expected an id"}},
		{map[string]any{"reportId": ""}, []string{"reportId is missing, expected an id"}},
		{map[string]any{"reportId": 1.5}, []string{"reportId is 1.5, expected an id: text or a whole number"}},
		{map[string]any{"profileId": nil}, []string{"profileId is missing, expected an id"}},
		{map[string]any{"profileId": -3}, []string{"profileId is -3, expected an id: text or a whole number"}},
		{map[string]any{"profileId": "a\x00b"}, []string{`profileId is "a\u0000b", expected an id`}},
		{map[string]any{"status": "PENDING"}, []string{"status is PENDING, expected COMPLETED"}},
		{map[string]any{"status": "completed"}, []string{"status is completed, expected COMPLETED"}},
		{map[string]any{"status": nil}, []string{"status is missing, expected COMPLETED"}},
		{map[string]any{"startDate": "2026-02-30"}, []string{"startDate is 2026-02-30, expected a day written YYYY-MM-DD"}},
		{map[string]any{"startDate": nil, "endDate": "x"}, []string{"startDate is missing", "endDate is x"}},
		{map[string]any{"startDate": "1969-12-31"}, []string{"startDate is 1969-12-31"}},
		{map[string]any{"startDate": "2026-02-01"}, []string{"endDate is 2026-01-31, expected a day not before startDate 2026-02-01"}},
		{map[string]any{"generatedAt": "2026-01-29T23:59:59Z"}, []string{"endDate is 2026-01-31, expected a day at most one after the report's generatedAt 2026-01-29T23:59:59Z"}},
		// It is the UTC day that counts.
		{map[string]any{"generatedAt": "2026-01-30T00:30:00+01:00"}, []string{"endDate is 2026-01-31"}},
		{map[string]any{"generatedAt": "2026-02-01"}, []string{"generatedAt is 2026-02-01, expected a time like"}},
		{map[string]any{"generatedAt": nil}, []string{"generatedAt is missing, expected a time like"}},
		{map[string]any{"configuration.reportTypeId": "spCampaigns"}, []string{"configuration.reportTypeId is spCampaigns, expected spAdvertisedProduct, sbCampaigns or sdAdvertisedProduct",
			"; request spAdvertisedProduct with groupBy [advertiser], timeUnit DAILY and no filters"}},
		{map[string]any{"configuration.reportTypeId": "sbAds", "configuration.adProduct": "SPONSORED_BRANDS"}, []string{"; request sbCampaigns with groupBy [campaign], timeUnit DAILY"}},
		{map[string]any{"configuration.reportTypeId": "stCampaigns", "configuration.adProduct": "SPONSORED_TELEVISION"},
			[]string{"spAdvertisedProduct with groupBy [advertiser], sbCampaigns with groupBy [campaign], sdAdvertisedProduct with groupBy [advertiser], timeUnit DAILY"}},
		{map[string]any{"configuration": nil}, []string{"configuration.reportTypeId is missing"}},
		{map[string]any{"configuration.adProduct": "SPONSORED_BRANDS"}, []string{"configuration.adProduct is SPONSORED_BRANDS, expected SPONSORED_PRODUCTS for spAdvertisedProduct"}},
		{map[string]any{"configuration.timeUnit": "SUMMARY"}, []string{"configuration.timeUnit is SUMMARY, expected DAILY"}},
		{map[string]any{"configuration.groupBy": []string{"advertiser", "campaign"}}, []string{"configuration.groupBy is [advertiser, campaign], expected [advertiser]"}},
		{map[string]any{"configuration.groupBy": nil}, []string{"configuration.groupBy is [], expected [advertiser]"}},
		{map[string]any{"configuration.filters": []any{map[string]any{"field": "x"}}}, []string{"configuration.filters is [{\"field\":\"x\"}], expected none"}},
		{map[string]any{"configuration.columns": []string{"date", "clicks"}}, []string{"expected the column impressions among them", "expected the column cost among them", "expected the column advertisedAsin among them"}},
		// Every fault is named at once.
		{map[string]any{"status": "FAILED", "startDate": "x", "configuration.timeUnit": "MONTHLY"}, []string{"status is FAILED", "startDate is x", "timeUnit is MONTHLY"}},
	} {
		report, err := platform.DecodeReport(strings.NewReader(reportObject(t, c.changes)))
		if err == nil || report != nil {
			t.Errorf("%v is accepted", c.changes)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%v:\n got: %v\nwant: %s", c.changes, err, want)
			}
		}
	}
}

func TestADamagedReportObjectIsRefused(t *testing.T) {
	good := reportObject(t, nil)
	for text, want := range map[string]string{
		"":                                      "the file is empty",
		"[]":                                    "is [], expected an object in braces",
		"7":                                     "is 7, expected an object in braces",
		good + "{}":                             "damaged JSON",
		good[:len(good)-1] + `,"status":1}`:     "damaged JSON",
		strings.Replace(good, "r-1", "\xff", 1): "damaged JSON",
		good + strings.Repeat(" ", 1<<20):       "at most 1048576 bytes",
	} {
		if _, err := platform.DecodeReport(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.80s: %v, expected %s", text, err, want)
		}
	}
	for cut := range len(good) {
		if _, err := platform.DecodeReport(strings.NewReader(good[:cut])); err == nil {
			t.Errorf("cut off after %d bytes, it is accepted", cut)
		}
	}
}

// The store keeps the time to the nanosecond in 64 bits, which end in 2262.
// A time beyond would be stored as another, and decide between reports.
func TestATimeThatCannotBeStoredIsRefused(t *testing.T) {
	for _, text := range []string{"2263-01-01T00:00:00Z", "9999-12-31T23:59:59Z"} {
		if report, err := platform.DecodeReport(strings.NewReader(reportObject(t, map[string]any{"generatedAt": text}))); err == nil {
			t.Errorf("generatedAt %s is accepted as %v", text, report.GeneratedAt)
		}
	}
}
