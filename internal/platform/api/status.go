package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"adlens/internal/platform"

	"github.com/go-json-experiment/json"
)

// ReportState is how far a report is, in the platform's words.
type ReportState string

// The states of a report. Some clients have met others that mean a failure.
const (
	Pending    ReportState = "PENDING"
	Processing ReportState = "PROCESSING"
	Completed  ReportState = "COMPLETED"
	Failed     ReportState = "FAILED"
)

// reportStates are the platform's words.
var reportStates = map[string]ReportState{
	"PENDING": Pending, "PROCESSING": Processing, "IN_PROGRESS": Processing, "COMPLETED": Completed,
	"FAILED": Failed, "FAILURE": Failed, "CANCELLED": Failed, "CANCELED": Failed,
}

// Status is one look at a report.
type Status struct {
	State         ReportState
	FailureReason string // the platform's, made safe to print; "" unless failed
	URL           string // of the download, for about an hour; "" unless completed. It is a credential
	Raw           []byte // the platform's object as it came
}

type statusObject struct {
	ReportID      platform.ID `json:"reportId"`
	Status        string      `json:"status"`
	FailureReason *string     `json:"failureReason"`
	URL           *string     `json:"url"`
}

// reportStatus looks at a report.
func (c *Client) reportStatus(ctx context.Context, profileID, id string) (Status, error) {
	if err := checkReport(profileID, id); err != nil {
		return Status{}, err
	}
	if isLegacyReport(id) {
		return c.legacyStatus(ctx, profileID, id)
	}
	var status Status
	look := &call{method: http.MethodGet, path: reportPath + "/" + id, profileID: profileID, accepts: plainJSON}
	look.read = func(body []byte) (err error) {
		status, err = c.readStatus(id, body)
		return err
	}
	if err := c.sendCall(ctx, look); err != nil {
		return Status{}, err
	}
	return status, nil
}

func checkReport(profileID, id string) error {
	if !reportIDForm.MatchString(id) && !isLegacyReport(id) {
		return &Error{Kind: Invalid, Reason: "a report's id is 1 to 128 letters, digits and -"}
	}
	return checkProfile(profileID)
}

func (c *Client) readStatus(id string, body []byte) (Status, error) {
	var o statusObject
	if err := json.Unmarshal(body, &o); err != nil {
		return Status{}, errors.New("it is no report object, or a damaged one")
	}
	state, known := reportStates[strings.ToUpper(o.Status)]
	switch {
	case string(o.ReportID) != id:
		return Status{}, fmt.Errorf("reportId is %q, expected %s", o.ReportID, id)
	case !known:
		return Status{}, fmt.Errorf("its status is %q, expected PENDING, PROCESSING, COMPLETED or FAILED", o.Status)
	case state == Completed && (o.URL == nil || *o.URL == ""):
		return Status{}, errors.New("the report is completed but has no url")
	}
	status := Status{State: state, Raw: body}
	if state == Completed {
		status.URL = *o.URL
	}
	if state == Failed {
		status.FailureReason = c.failureReason(o)
	}
	return status, nil
}

func (c *Client) failureReason(o statusObject) string {
	if o.FailureReason == nil || strings.TrimSpace(*o.FailureReason) == "" {
		return "the platform gives no reason"
	}
	return c.scrub.cleanText(*o.FailureReason, maxReason)
}
