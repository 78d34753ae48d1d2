package platform

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"adlens"

	"github.com/go-json-experiment/json/jsontext"
)

// maxReportObject bounds a report object; the platform's have about 2 KB.
const maxReportObject = 1 << 20

// Report is a completed report of the platform: what its download speaks for.
type Report struct {
	ID          string
	ProfileID   string
	Type        *ReportType
	Start, End  adlens.Day // both included
	GeneratedAt time.Time
	Columns     []string
}

// Has reports whether the report was asked for a column.
func (r *Report) Has(column string) bool { return slices.Contains(r.Columns, column) }

// KeptColumns returns the columns of the report that are kept, with commas between
// them: those that say what a row is of, and the measures.
func (r *Report) KeptColumns() string {
	var kept []string
	for _, column := range []string{CampaignColumn, AdGroupColumn, r.Type.ProductColumn} {
		if column != "" && r.Has(column) {
			kept = append(kept, column)
		}
	}
	for _, m := range r.Type.Measures {
		if r.Has(m.Column) {
			kept = append(kept, m.Column)
		}
	}
	return strings.Join(kept, ",")
}

// reportObject is the part of the platform's report object that matters here
// (platform reports, version 3), with profileId added.
type reportObject struct {
	legacyObject
	ReportID      ID     `json:"reportId"`
	ProfileID     ID     `json:"profileId"`
	Status        string `json:"status"`
	StartDate     string `json:"startDate"`
	EndDate       string `json:"endDate"`
	GeneratedAt   string `json:"generatedAt"`
	Configuration struct {
		AdProduct    string           `json:"adProduct"`
		ReportTypeID string           `json:"reportTypeId"`
		GroupBy      []string         `json:"groupBy"`
		Columns      []string         `json:"columns"`
		TimeUnit     string           `json:"timeUnit"`
		Filters      []jsontext.Value `json:"filters"`
	} `json:"configuration"`
}

// DecodeReport reads a report object and checks that figures may come from
// it. The error joins a Fault for each thing that is wrong.
func DecodeReport(r io.Reader) (*Report, error) {
	var o reportObject
	if err := decodeObject(r, maxReportObject, &o); err != nil {
		return nil, err
	}
	c := checker{}
	if o.isLegacy() {
		legacy := c.checkLegacy(o)
		if err := errors.Join(c.faults...); err != nil {
			return nil, err
		}
		return legacy, nil
	}
	report := &Report{ID: string(o.ReportID), ProfileID: string(o.ProfileID), Columns: o.Configuration.Columns}
	c.requireID("reportId", report.ID)
	c.requireID("profileId", report.ProfileID)
	c.checkValue(o.Status == "COMPLETED", "status", o.Status, "COMPLETED")
	report.Type = c.reportType(o)
	report.Start, report.End = c.dateRange(o)
	report.GeneratedAt = c.generatedAt(o.GeneratedAt, report.End)
	if err := errors.Join(c.faults...); err != nil {
		return nil, err
	}
	return report, nil
}

// decodeObject reads exactly one JSON value of at most limit bytes.
func decodeObject(r io.Reader, limit int64, into any) error {
	text, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return err
	}
	if int64(len(text)) > limit {
		return &Fault{Expected: fmt.Sprintf("at most %d bytes", limit)}
	}
	if len(text) == 0 {
		return &Fault{Expected: "JSON, but the file is empty"}
	}
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")) // the byte order mark that Windows programs write
	if err := Decode(text, into, 0); err != nil {
		var fault *Fault
		if errors.As(err, &fault) {
			return err
		}
		return Damage(err)
	}
	return nil
}

// checker collects what is wrong with a report object.
type checker struct{ faults []error }

func (c *checker) checkValue(ok bool, field, value, expected string) bool {
	if !ok {
		if value == "" {
			value = "missing"
		}
		c.faults = append(c.faults, &Fault{Field: field, Value: value, Expected: expected})
	}
	return ok
}

func (c *checker) requireID(field, value string) {
	c.checkValue(value != "", field, "", "an id")
}

func (c *checker) reportType(o reportObject) *ReportType {
	config := o.Configuration
	t, ok := FindReportType(config.ReportTypeID)
	if !c.checkValue(ok, "configuration.reportTypeId", config.ReportTypeID,
		"spAdvertisedProduct, sbCampaigns or sdAdvertisedProduct (figures of another type would count twice or have no cost); "+rightRequest(config.AdProduct)) {
		return nil
	}
	c.checkValue(config.AdProduct == t.AdProduct.String(), "configuration.adProduct", config.AdProduct, t.AdProduct.String()+" for "+t.ID)
	c.checkValue(config.TimeUnit == "DAILY", "configuration.timeUnit", config.TimeUnit, "DAILY (figures of another unit have no days)")
	c.checkValue(slices.Equal(config.GroupBy, []string{t.GroupBy}), "configuration.groupBy", "["+strings.Join(config.GroupBy, ", ")+"]",
		"["+t.GroupBy+"] (another grouping would count twice)")
	c.checkValue(len(config.Filters) == 0, "configuration.filters", fmt.Sprintf("%s", config.Filters), "none (a filtered report is not the whole)")
	for _, column := range t.neededColumns() {
		c.checkValue(slices.Contains(config.Columns, column), "configuration.columns", "["+strings.Join(config.Columns, ", ")+"]", "the column "+column+" among them")
	}
	return t
}

// rightRequest says how to get the figures of an ad product; of each where it is
// none.
func rightRequest(adProduct string) string {
	var ways []string
	for _, t := range ReportTypes {
		if _, known := adlens.ParseAdProduct(adProduct); !known || t.AdProduct.String() == adProduct {
			ways = append(ways, fmt.Sprintf("%s with groupBy [%s]", t.ID, t.GroupBy))
		}
	}
	return "request " + strings.Join(ways, ", ") + ", timeUnit DAILY and no filters, as adlens pull does"
}

// neededColumns are the columns without which no profile's figures can be had; headline
// columns that depend on the profile are checked with it.
func (t *ReportType) neededColumns() []string {
	columns := []string{DateColumn}
	for _, column := range t.Headline(false) {
		if slices.Contains(t.Headline(true), column) {
			columns = append(columns, column)
		}
	}
	if t.ProductColumn != "" {
		columns = append(columns, t.ProductColumn)
	}
	return columns
}

func (c *checker) dateRange(o reportObject) (start, end adlens.Day) {
	start, errStart := storableDay(o.StartDate)
	end, errEnd := storableDay(o.EndDate)
	okStart := c.checkValue(errStart == nil, "startDate", o.StartDate, aStorableDay)
	okEnd := c.checkValue(errEnd == nil, "endDate", o.EndDate, aStorableDay)
	if okStart && okEnd {
		c.checkValue(start <= end, "endDate", o.EndDate, "a day not before startDate "+o.StartDate)
	}
	return start, end
}

// What days and times are expected to be.
var (
	aStorableDay  = fmt.Sprintf("a day written YYYY-MM-DD that exists, from %s to %s", adlens.FirstStorableDay, adlens.LastStorableDay)
	aStorableTime = fmt.Sprintf("a time like 2026-11-20T10:24:00.000Z, of the years %d to %d", firstStorableYear, lastStorableYear)
)

// The years whose times fit into 64 bits of nanoseconds.
const (
	firstStorableYear = 1970
	lastStorableYear  = 2261
)

func storableDay(text string) (adlens.Day, error) {
	day, err := adlens.ParseDay(text)
	if err == nil && (day < adlens.FirstStorableDay || day > adlens.LastStorableDay) {
		err = errors.New("a day that cannot be stored")
	}
	return day, err
}

// ParseTime reads a time as the platform writes it, with a zone, that fits into 64
// bits of nanoseconds.
func ParseTime(text string) (time.Time, error) {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err == nil && (t.Year() < firstStorableYear || t.Year() > lastStorableYear) {
		err = errors.New("a time that cannot be stored")
	}
	return t.UTC(), err
}

func (c *checker) generatedAt(text string, end adlens.Day) time.Time {
	t, err := ParseTime(text)
	if !c.checkValue(err == nil, "generatedAt", text, aStorableTime) {
		return t
	}
	c.checkValue(end <= adlens.DayOf(t)+1, "endDate", end.String(),
		"a day at most one after the report's generatedAt "+text+" (a report cannot speak for the future)")
	return t
}
