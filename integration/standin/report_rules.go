package standin

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// ReportRules settles what is open about the creation of reports.
type ReportRules struct {
	// AllowDay32 lets through a range whose end is 31 days after its start,
	// 32 dates: the refusal's text counts that way, the documents do not.
	AllowDay32 bool
	// NamelessDuplicates leaves the running report's id out of a 425.
	NamelessDuplicates bool
	// RenewURL gives a finished report a fresh address at each look.
	RenewURL bool
	// OmitEmpty leaves a text column without a value out of the row; it is
	// null otherwise.
	OmitEmpty bool
}

const longestRange = 31

type reportRequest struct {
	Name          *string             `json:"name"`
	StartDate     string              `json:"startDate"`
	EndDate       string              `json:"endDate"`
	Configuration reportConfiguration `json:"configuration"`
}

type reportConfiguration struct {
	AdProduct    string         `json:"adProduct"`
	ReportTypeID string         `json:"reportTypeId"`
	GroupBy      []string       `json:"groupBy"`
	Columns      []string       `json:"columns"`
	TimeUnit     string         `json:"timeUnit"`
	Format       string         `json:"format"`
	Filters      []reportFilter `json:"filters"`
}

type reportFilter struct {
	Field  string   `json:"field"`
	Values []string `json:"values"`
}

// duplicateKey is what makes two requests the same: all but the name.
func (r reportRequest) duplicateKey(profile int64) string {
	r.Name = nil
	text, _ := json.Marshal(struct {
		Profile int64
		Request reportRequest
	}{profile, r})
	return string(text)
}

// checkReport finds the first thing that the platform would refuse.
func (p *Platform) checkReport(request reportRequest, profile Profile) (reportType, *reply) {
	c := request.Configuration
	kind, known := reportTypes[c.ReportTypeID]
	bad := func(format string, values ...any) (reportType, *reply) {
		answer := refuseCall(http.StatusBadRequest, Detail, format, values...)
		return kind, &answer
	}
	switch {
	case !known:
		return bad("Invalid reportTypeId: %s", c.ReportTypeID)
	case c.AdProduct != kind.adProduct:
		return bad("configuration adProduct %s is not supported for reportTypeId %s", c.AdProduct, c.ReportTypeID)
	case profile.SubType == "KDP_AUTHOR" && kind.adProduct == SponsoredBrands:
		return bad("KDP authors do not have access to Sponsored Brands functionality")
	case c.Format != "GZIP_JSON":
		return bad("Invalid format: %q. Allowed values: (GZIP_JSON)", c.Format)
	case c.TimeUnit != "DAILY" && c.TimeUnit != "SUMMARY":
		return bad("Invalid timeUnit: %q. Allowed values: (DAILY, SUMMARY)", c.TimeUnit)
	}
	for _, fault := range []string{p.rangeFault(request, kind, profile), groupFault(c, kind), columnFault(c, kind), filterFault(c, kind)} {
		if fault != "" {
			return bad("%s", fault)
		}
	}
	return kind, nil
}

func (p *Platform) rangeFault(request reportRequest, kind reportType, profile Profile) string {
	start, err1 := time.Parse(time.DateOnly, request.StartDate)
	end, err2 := time.Parse(time.DateOnly, request.EndDate)
	if err1 != nil || err2 != nil {
		return "startDate and endDate must be dates of the form YYYY-MM-DD"
	}
	// The count as the platform does it, end minus start; the strict reading
	// turns down one that is at the limit, too.
	days := int(end.Sub(start).Hours() / 24)
	if days == longestRange && !p.config.Rules.AllowDay32 {
		days++
	}
	switch {
	case days < 0:
		return "startDate must not be after endDate"
	case days > longestRange:
		return fmt.Sprintf("startDate to endDate range (%d days) must not exceed maximum range (%d days)", days, longestRange)
	}
	if wall := p.wallOf(kind, profile); start.Before(wall) {
		// Recorded: airbytehq/airbyte pull/55217.
		return fmt.Sprintf("startDate (%s) must be equal to or after report type data retention start date (%s)", request.StartDate, wall.Format(time.DateOnly))
	}
	return ""
}

// wallOf is the first day of which the platform still has a type's figures.
func (p *Platform) wallOf(kind reportType, profile Profile) time.Time {
	p.reports.mu.Lock()
	defer p.reports.mu.Unlock()
	return profile.todayAt(p.config.Now()).AddDate(0, 0, p.reports.walls[profile.ID]-kind.lookBack)
}

// MoveWall has the platform forget a profile's figures so many days earlier than
// its own today says. By one day it is the wall as an advertiser in America
// meets it in the afternoon, when the day after has begun elsewhere.
func (p *Platform) MoveWall(profile int64, days int) {
	p.reports.mu.Lock()
	defer p.reports.mu.Unlock()
	if p.reports.walls == nil {
		p.reports.walls = map[int64]int{}
	}
	p.reports.walls[profile] = days
}

func groupFault(c reportConfiguration, kind reportType) string {
	allowed := kind.groupNames()
	var wrong []string
	for _, name := range c.GroupBy {
		if !slices.Contains(allowed, name) {
			wrong = append(wrong, name)
		}
	}
	if len(c.GroupBy) == 0 || wrong != nil {
		return fmt.Sprintf("invalid groupBy values: (%s). Allowed values: (%s)", strings.Join(wrong, ", "), strings.Join(allowed, ", "))
	}
	return ""
}

func columnFault(c reportConfiguration, kind reportType) string {
	if len(c.Columns) == 0 {
		return "configuration columns must not be empty"
	}
	allowed := kind.allowedColumns(c.GroupBy)
	otherUnit := map[string][]string{"DAILY": {"startDate", "endDate"}, "SUMMARY": {"date"}}[c.TimeUnit]
	var wrong []string
	for _, name := range c.Columns {
		if slices.Contains(otherUnit, name) {
			return name + " is not a supported column for this time unit"
		}
		if _, known := allowed[name]; !known {
			wrong = append(wrong, name)
		}
	}
	if wrong != nil {
		return fmt.Sprintf("configuration columns includes invalid values: (%s)", strings.Join(wrong, ", "))
	}
	return ""
}

func filterFault(c reportConfiguration, kind reportType) string {
	allowed := kind.filtersOf(c.GroupBy)
	var wrong []string
	for _, filter := range c.Filters {
		if !slices.Contains(allowed, filter.Field) {
			wrong = append(wrong, filter.Field)
		}
	}
	if wrong != nil {
		return fmt.Sprintf("configuration filters includes fields: (%s) which are invalid for groupBys: %s. Allowed filters (%s)",
			strings.Join(wrong, ", "), strings.Join(c.GroupBy, ", "), strings.Join(allowed, ", "))
	}
	return ""
}
