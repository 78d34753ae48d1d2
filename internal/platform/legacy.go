package platform

import (
	"errors"
	"io"
	"slices"
	"strings"
	"time"

	"adlens"
	"adlens/internal/catalogue"
)

// LegacyReportType is the type of the reports of version 2 that have what v3 ones
// of Sponsored Brands leave out: campaigns with one ad group (amzn/ads-advanced-tools-docs
// issues 402 and 113). Sales and purchases are those of 14 days after a click.
var LegacyReportType = &ReportType{ID: "hsaCampaigns", AdProduct: adlens.SponsoredBrands, Legacy: true, Measures: legacyMeasures()}

// legacyColumns are the names of the headline's measures in version 2
// (amzn/ads-advanced-tools-docs issues 93 and 113).
var legacyColumns = map[string]string{"impressions": "impressions", "clicks": "clicks", "cost": "cost",
	"purchases": "attributedConversions14d", "sales": "attributedSales14d"}

func legacyMeasures() (all []catalogue.Measure) {
	for _, m := range catalogue.Headline {
		m.Column = legacyColumns[m.ColumnOf(adlens.SponsoredBrands, false)]
		all = append(all, m)
	}
	return all
}

func (t *ReportType) measureColumns() (columns []string) {
	for _, m := range t.Measures {
		columns = append(columns, m.Column)
	}
	return columns
}

// Values of version 2 of the platform's reporting.
const (
	// LegacyRecords is the recordType of a report of campaigns.
	LegacyRecords = "campaigns"
	// AllCreatives is the creativeType of a report of campaigns of all forms.
	AllCreatives = "all"
	// legacyDayLayout is how version 2 writes days.
	legacyDayLayout = "20060102"
)

// LegacyDay writes a day as version 2 of the platform's reporting does.
func LegacyDay(day adlens.Day) string { return day.Time().Format(legacyDayLayout) }

// LegacyMetrics are the metrics to request of a report of version 2, with commas
// between them.
func LegacyMetrics() string {
	return strings.Join(append([]string{CampaignColumn, campaignNameColumn}, LegacyReportType.measureColumns()...), ",")
}

// legacyObject is the part of the report object of version 2 that matters here
// (GET /v2/reports/{reportId}), and what is added to it: it says neither whose nor
// of which day it is, nor when it was made. By the platform's description only the
// answer to a request has recordType (denisneuf/python-amazon-ad-api docs/sb/reports.rst).
type legacyObject struct {
	RecordType   string `json:"recordType"`
	CreativeType string `json:"creativeType"`
	ReportDate   string `json:"reportDate"`
}

// IsLegacy reports whether a report object is of version 2. One that cannot be read
// is not.
func IsLegacy(r io.Reader) bool {
	var o legacyObject
	return decodeObject(r, maxReportObject, &o) == nil && o.isLegacy()
}

func (o legacyObject) isLegacy() bool { return o.RecordType != "" || o.ReportDate != "" }

// checkLegacy checks a report object of version 2.
func (c *checker) checkLegacy(o reportObject) *Report {
	report := &Report{ID: string(o.ReportID), ProfileID: string(o.ProfileID), Type: LegacyReportType, Columns: strings.Split(LegacyMetrics(), ",")}
	c.requireID("reportId", report.ID)
	c.requireID("profileId", report.ProfileID)
	c.checkValue(o.Status == "SUCCESS", "status", o.Status, "SUCCESS")
	// The answer to a request says "campaign" (amzn/ads-advanced-tools-docs issue 93).
	c.checkValue(slices.Contains([]string{"", "campaign", LegacyRecords}, o.RecordType), "recordType", o.RecordType,
		"campaigns (figures of other reports of version 2 would count twice)")
	c.checkValue(o.CreativeType == AllCreatives, "creativeType", o.CreativeType, AllCreatives+" (a report of some creatives is not the whole)")
	day, err := parseLegacyDay(o.ReportDate)
	c.checkValue(err == nil, "reportDate", o.ReportDate, "a day written YYYYMMDD that exists, as it was requested")
	report.Start, report.End = day, day
	report.GeneratedAt = c.generatedAt(o.GeneratedAt, report.End)
	return report
}

func parseLegacyDay(text string) (adlens.Day, error) {
	t, err := time.Parse(legacyDayLayout, text)
	if err == nil && len(text) != len(legacyDayLayout) {
		err = errors.New("no day of eight digits")
	}
	if err != nil {
		return 0, err
	}
	return storableDay(adlens.DayOf(t).String())
}
