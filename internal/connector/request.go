package connector

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"adlens"
	"adlens/internal/platform/api"
)

// wallTries is how often a report is requested whose first day the platform
// says that it has no more. Its day may end meanwhile; more is no answer.
const wallTries = 3

// requestReport requests the report of a window, of the days that the platform
// still has: where it names the first of them it is asked again from there. The
// request is remembered before its report is waited for.
func (p *pull) requestReport(ctx context.Context, w *window) (err error) {
	p.asking <- struct{}{}
	defer func() { <-p.asking }()
	if p.givesWay() {
		return errOverdue
	}
	for range wallTries {
		start, no := p.heard(w)
		if no != nil {
			return no
		}
		if start > w.end {
			w.progress = outside
			return nil
		}
		w.start = start
		var id string
		id, err = p.client.CreateReport(ctx, w.profile.ID, api.ReportRequest{Type: w.report, Start: w.start, End: w.end,
			Columns: w.report.RequestColumns(), Name: "adlens " + w.windowName()})
		wall, isWall := api.RetentionStart(err)
		switch {
		case w.report.Legacy && api.IsTooFarBack(err):
			p.connector.outside.Add(1)
			w.progress = outside
			return nil
		case err == nil:
			return p.rememberRequest(ctx, w, id)
		case errors.Is(err, api.Closed):
			p.mu.Lock()
			if p.closed == nil {
				p.closed = map[string]error{}
			}
			p.closed[w.profile.ID] = err
			p.mu.Unlock()
			return err
		case errors.Is(err, api.NotOffered):
			p.noteNever(w, err)
			return err
		case !isWall || wall <= start || wall > w.last:
			return err
		}
		p.connector.outside.Add(1)
		p.mu.Lock()
		w.wall = max(w.wall, wall)
		p.mu.Unlock()
	}
	return err
}

// noteNever notes that the platform says that it never gives the profile such reports,
// unless it took a request for another of them since the last day ended: the refusal is
// of the window alone then. That an address is missing may be true for a moment alone, so
// after a first or weekly reading of legacy reports all days are due again on the next day.
func (p *pull) noteNever(w *window, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if slices.ContainsFunc(w.open, func(a asked) bool { return a.readOn == w.last }) {
		return
	}
	w.never = err
	if w.deep && w.report.Legacy {
		w.after.DeepThrough = min(w.after.DeepThrough, w.last-week+1)
	}
}

// heard returns from which day on a window can be requested, or why it cannot, as far
// as the platform said so of other reports of its task or its profile.
func (p *pull) heard(w *window) (start adlens.Day, no error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return max(w.start, w.wall), cmp.Or(w.never, p.closed[w.profile.ID])
}

func (p *pull) rememberRequest(ctx context.Context, w *window, id string) error {
	w.request = adlens.ReportRequest{Account: p.account, MarketplaceID: w.profile.ID, ReportType: w.report.ID, Start: w.start, End: w.end,
		ReportID: id, RequestedAt: p.connector.Now().UTC().Truncate(time.Millisecond)}
	if err := p.connector.Store.PutRequest(ctx, w.request); err != nil {
		return err
	}
	w.progress = running
	p.mu.Lock()
	defer p.mu.Unlock()
	w.open = append(w.open, asked{ReportRequest: w.request, readOn: w.last, progress: running})
	return nil
}
