package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"adlens"
	"adlens/internal/platform"

	"github.com/go-json-experiment/json"
)

// Where reports of version 2 are requested and looked at
// (amzn/ads-advanced-tools-docs issues 93 and 113).
const (
	legacyCreatePath = "/v2/hsa/campaigns/report"
	legacyPath       = "/v2/reports"
)

// legacyIDForm is the form of a version 2 report's id, such as
// amzn1.clicksAPI.v1.p1.64770154.aba44b77-4e10: dots tell it from those of version 3.
var legacyIDForm = regexp.MustCompile(`^[0-9A-Za-z-]{1,64}(\.[0-9A-Za-z-]{1,64}){1,8}$`)

func isLegacyReport(id string) bool { return legacyIDForm.MatchString(id) }

// tooFarBack is the refusal of a day that version 2 has no more: "Report date is too
// far in the past. Reports are only available for 60 days."
var tooFarBack = regexp.MustCompile(`(?i)\breport date is too far in the past\b`)

// IsTooFarBack reports whether an error is the refusal of a day that the platform has
// no report of any more.
func IsTooFarBack(err error) bool {
	var e *Error
	return errors.As(err, &e) && errors.Is(e, Refused) && tooFarBack.MatchString(e.Reason)
}

// MostDays returns how many days a report of a type may span.
func MostDays(t *platform.ReportType) adlens.Day {
	if t.Legacy {
		return 1
	}
	return MaxReportDays
}

// noResource are the answers where there is no such address: the platform does not
// offer these reports, or not any more. Another refusal may be about the day.
var noResource = []int{http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusGone}

// createLegacy requests a report of version 2 and returns its id.
func (c *Client) createLegacy(ctx context.Context, profileID string, r ReportRequest) (id string, err error) {
	if r.Start != r.End {
		return "", &Error{Kind: Invalid, Reason: fmt.Sprintf("%s to %s are several days, a report of %s is of one", r.Start, r.End, r.Type.ID)}
	}
	body, err := json.Marshal(struct {
		ReportDate   string `json:"reportDate"`
		Metrics      string `json:"metrics"`
		CreativeType string `json:"creativeType"`
	}{platform.LegacyDay(r.Start), platform.LegacyMetrics(), platform.AllCreatives})
	if err != nil {
		return "", err
	}
	create := &call{method: http.MethodPost, path: legacyCreatePath, profileID: profileID, body: body, sends: plainJSON, accepts: plainJSON}
	create.read = func(answer []byte) error {
		var o struct {
			ReportID platform.ID `json:"reportId"`
		}
		if json.Unmarshal(answer, &o) != nil || !isLegacyReport(string(o.ReportID)) {
			return errors.New("it has no reportId")
		}
		id = string(o.ReportID)
		return nil
	}
	err = c.sendCall(ctx, create)
	var e *Error
	if errors.As(err, &e) && e.Kind == Refused && slices.Contains(noResource, e.Status) {
		e.Kind = NotOffered
	}
	return id, creationError(err)
}

// legacyStatus looks at a report of version 2. Of a finished one the address of its
// download is requested: the platform answers with a redirect to it.
func (c *Client) legacyStatus(ctx context.Context, profileID, id string) (status Status, err error) {
	look := &call{method: http.MethodGet, path: legacyPath + "/" + id, profileID: profileID, accepts: plainJSON}
	look.read = func(body []byte) (err error) {
		status, err = c.readLegacyStatus(id, body)
		return err
	}
	if err := c.sendCall(ctx, look); err != nil || status.State != Completed {
		return status, err
	}
	find := &call{method: http.MethodGet, path: legacyPath + "/" + id + "/download", profileID: profileID, accepts: plainJSON, also: http.StatusTemporaryRedirect}
	find.readHeader = func(header http.Header) error {
		if status.URL = header.Get("Location"); status.URL == "" {
			return errors.New("it has no Location")
		}
		return nil
	}
	return status, c.sendCall(ctx, find)
}

func (c *Client) readLegacyStatus(id string, body []byte) (Status, error) {
	var o struct {
		ReportID platform.ID `json:"reportId"`
		Status   string      `json:"status"`
		Details  string      `json:"statusDetails"`
	}
	if err := json.Unmarshal(body, &o); err != nil {
		return Status{}, errors.New("it is no report object, or a damaged one")
	}
	if string(o.ReportID) != id {
		return Status{}, fmt.Errorf("reportId is %q, expected %s", o.ReportID, id)
	}
	switch strings.ToUpper(o.Status) {
	case "IN_PROGRESS":
		return Status{State: Processing, Raw: body}, nil
	case "SUCCESS":
		return Status{State: Completed, Raw: body}, nil
	case "FAILURE":
		return Status{State: Failed, Raw: body, FailureReason: c.scrub.cleanText(o.Details, maxReason)}, nil
	}
	return Status{}, fmt.Errorf("its status is %q, expected IN_PROGRESS, SUCCESS or FAILURE", o.Status)
}
