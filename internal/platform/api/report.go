package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"

	"adlens"
	"adlens/internal/platform"

	"github.com/go-json-experiment/json"
)

// MaxReportDays is how many days one report may span, both ends included.
const MaxReportDays = 31

// reportPath is where reports are requested and looked at.
const reportPath = "/reporting/reports"

// ReportRequest is a report to ask for: figures by the day, of all that the
// type covers, without filters.
type ReportRequest struct {
	Type       *platform.ReportType
	Start, End adlens.Day // both included, in the profile's time zone
	Columns    []string   // the date among them: without it the rows have no days, and the platform does not mind
	Name       string     // free text
}

// checkRequest refuses locally what the platform would refuse, or accept to no use.
func (r *ReportRequest) checkRequest() error {
	reason := ""
	switch {
	case r.Type == nil:
		reason = "a report needs a type"
	case r.Start > r.End:
		reason = fmt.Sprintf("the report's first day %s is after its last %s", r.Start, r.End)
	case r.End-r.Start >= MaxReportDays:
		reason = fmt.Sprintf("%s to %s are %d days, a report spans at most %d", r.Start, r.End, r.End-r.Start+1, MaxReportDays)
	case !r.Type.Legacy && !slices.Contains(r.Columns, platform.DateColumn):
		reason = "the report's columns lack " + platform.DateColumn
	default:
		return nil
	}
	return &Error{Kind: Invalid, Reason: reason}
}

// reportBody is the request as the platform wants it.
type reportBody struct {
	Name          string        `json:"name,omitempty"`
	StartDate     string        `json:"startDate"`
	EndDate       string        `json:"endDate"`
	Configuration configuration `json:"configuration"`
}

type configuration struct {
	AdProduct    string   `json:"adProduct"`
	ReportTypeID string   `json:"reportTypeId"`
	GroupBy      []string `json:"groupBy"`
	Columns      []string `json:"columns"`
	TimeUnit     string   `json:"timeUnit"`
	Format       string   `json:"format"`
}

func (r *ReportRequest) encodeBody() ([]byte, error) {
	return json.Marshal(reportBody{
		Name: r.Name, StartDate: r.Start.String(), EndDate: r.End.String(),
		Configuration: configuration{
			AdProduct: r.Type.AdProduct.String(), ReportTypeID: r.Type.ID, GroupBy: []string{r.Type.GroupBy},
			Columns: r.Columns, TimeUnit: "DAILY", Format: "GZIP_JSON",
		},
	})
}

var (
	reportIDForm = regexp.MustCompile(`^[0-9A-Za-z-]{1,128}$`)
	duplicateOf  = regexp.MustCompile(`(?i)duplicate of\s*:\s*([0-9A-Za-z-]{1,128})`)
)

// retentionStart finds the day in the refusal of a report that begins before
// the platform's figures do. It names two days, of which the first is the one
// that was requested: "startDate (2025-01-01) must be equal to or after report
// type data retention start date (2025-01-03)" (airbytehq/airbyte pull/55217).
// The wall moves with each day: 95, 65 and 60 days back were read out of
// refusals of one day.
var retentionStart = regexp.MustCompile(`(?i)data retention start date\W{0,4}([0-9]{4}-[0-9]{2}-[0-9]{2})\b`)

// RetentionStart returns the first day that the platform still has, where an
// error of CreateReport is its refusal of an earlier one.
func RetentionStart(err error) (adlens.Day, bool) {
	var e *Error
	if !errors.As(err, &e) || e.Kind != Refused {
		return 0, false
	}
	m := retentionStart.FindStringSubmatch(e.Reason)
	if m == nil {
		return 0, false
	}
	day, err := adlens.ParseDay(m[1])
	return day, err == nil
}

// CreateReport asks for a report and returns its id. Where the platform says
// that it is making this very report already, that one's id is returned.
//
// After a failure the request is sent again, even where its answer was lost:
// an identical report still being made is answered with its id, and one that
// is done only costs the platform a second making.
func (c *Client) CreateReport(ctx context.Context, profileID string, r ReportRequest) (id string, err error) {
	if err := errors.Join(checkProfile(profileID), r.checkRequest()); err != nil {
		return "", err
	}
	if r.Type.Legacy {
		return c.createLegacy(ctx, profileID, r)
	}
	body, err := r.encodeBody()
	if err != nil {
		return "", &Error{Kind: Invalid, Reason: "the report's name or columns are not UTF-8"}
	}
	create := &call{
		method: http.MethodPost, path: reportPath, profileID: profileID, body: body,
		sends: "application/vnd.createasyncreportrequest.v3+json", accepts: plainJSON,
		also: http.StatusTooEarly,
	}
	create.read = func(answer []byte) (err error) {
		id, err = createdID(answer)
		return err
	}
	if err := c.sendCall(ctx, create); err != nil {
		return "", creationError(err)
	}
	return id, nil
}

// creationError is the error of a request for a report. That the platform is making this
// report already, where it does not say which it is, is no refusal: it may be requested
// again later.
func creationError(err error) error {
	var e *Error
	if errors.As(err, &e) && e.Kind == Refused && (e.Status == http.StatusTooEarly || e.Status == http.StatusConflict) {
		e.Kind = Unavailable
	}
	return err
}

// createdID finds the id in either good answer: the report object, or the
// words that it is being made already.
func createdID(answer []byte) (string, error) {
	var o struct {
		ReportID platform.ID `json:"reportId"`
	}
	if json.Unmarshal(answer, &o) == nil && reportIDForm.MatchString(string(o.ReportID)) {
		return string(o.ReportID), nil
	}
	if m := duplicateOf.FindSubmatch(answer); m != nil {
		return string(m[1]), nil
	}
	return "", errors.New("it has no reportId")
}
