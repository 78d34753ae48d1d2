package api

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// defaultLook is the first wait where the caller names none: reports take from
// two minutes to three hours.
const defaultLook = 30 * time.Second

// Await looks at a report until it is completed, and returns that look. The
// first wait between two looks is given (30 seconds where it is 0); the next
// ones grow by half each, to five minutes. A report may hang for hours, so only
// the context ends the waiting. A report that the platform gave up is an error
// of the kind ReportFailed.
//
// A failing look is no failed report: what is only unavailable for now is
// looked at again, some times in a row.
func (c *Client) Await(ctx context.Context, profileID, id string, firstWait time.Duration) (Status, error) {
	w := watch{client: c, profileID: profileID, id: id, wait: firstWait}
	if w.wait <= 0 {
		w.wait = defaultLook
	}
	for {
		status, err := w.pollStatus(ctx)
		if err != nil || status.State == Completed {
			return status, err
		}
		if err := c.cfg.Sleep(ctx, w.wait); err != nil {
			return status, fmt.Errorf("report %s is still %s: %w", id, w.lastState(), err)
		}
		w.wait = w.nextWait()
	}
}

// watch is the waiting for one report.
type watch struct {
	client        *Client
	profileID, id string
	wait          time.Duration
	state         ReportState // when last seen
	missed        int         // looks that failed since
}

// pollStatus looks once. A look that failed for now counts as one at a pending
// report.
func (w *watch) pollStatus(ctx context.Context) (Status, error) {
	status, err := w.client.reportStatus(ctx, w.profileID, w.id)
	if err != nil {
		return w.countFailure(err)
	}
	w.missed, w.state = 0, status.State
	if status.State == Failed {
		return status, &Error{Kind: ReportFailed, Call: "report " + w.id, Reason: "the platform gave it up: " + status.FailureReason}
	}
	return status, nil
}

func (w *watch) countFailure(err error) (Status, error) {
	w.missed++
	if !isTransient(err) || w.missed >= w.client.limits.missedLook {
		return Status{}, err
	}
	w.client.noticeRetry(Retry{Call: "report " + w.id, Detail: err.Error(), Wait: w.wait})
	return Status{State: w.lastState()}, nil
}

// isTransient reports whether a failure may be over at the next look.
func isTransient(err error) bool {
	return errors.Is(err, Unavailable) || errors.Is(err, BadAnswer)
}

func (w *watch) lastState() ReportState {
	if w.state == "" {
		return Pending
	}
	return w.state
}

// nextWait is the next wait. A caller that wants to look more rarely than the cap
// keeps its wish.
func (w *watch) nextWait() time.Duration {
	return max(w.wait, min(w.wait+w.wait/2, w.client.limits.longestLook))
}
