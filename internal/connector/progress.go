package connector

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"adlens"
	"adlens/internal/platform"
	"adlens/internal/platform/api"
)

// progress is how far a report is. A report that came further is worth more: a
// later try takes it up where it is.
type progress int

const (
	missing progress = iota // it is to be requested
	lost                    // it was requested too long ago to be waited for
	running                 // the platform makes it, or keeps it for us
	onDisk                  // it was downloaded
	loaded                  // its figures are visible
	outside                 // the platform has nothing of its days
)

// asked is a report that was requested for a task that is not done.
type asked struct {
	adlens.ReportRequest
	readOn   adlens.Day // the newest ended day of the profile when it was requested
	progress progress
}

// openReports reads which reports of some profiles were requested and not yet
// noted as read, those that came furthest first. What is visible is known by the
// record of loads, and what was downloaded by the directory that it is in, one of
// several: so nothing is requested, awaited or downloaded again that was before a kill
// or a failure of other reports.
func (c *Connector) openReports(ctx context.Context, account string, profiles []platform.Profile, dirs ...string) ([]asked, error) {
	open, err := c.Store.OpenRequests(ctx, account)
	if err != nil || len(open) == 0 {
		return nil, err
	}
	visible, err := c.Store.LoadedReports(ctx, account)
	if err != nil {
		return nil, err
	}
	var all []asked
	for _, r := range open {
		i := slices.IndexFunc(profiles, func(p platform.Profile) bool { return p.ID == r.MarketplaceID })
		if i < 0 {
			continue
		}
		a := asked{ReportRequest: r, readOn: LastEnded(profiles[i], r.RequestedAt)}
		switch {
		case visible[r.ReportID]:
			a.progress = loaded
		case slices.ContainsFunc(dirs, func(dir string) bool { return isOnDisk(dir, r) }):
			a.progress = onDisk
		case c.Now().Sub(r.RequestedAt) < requestLife:
			a.progress = running
		default:
			a.progress = lost
		}
		all = append(all, a)
	}
	slices.SortStableFunc(all, func(a, b asked) int {
		return cmp.Or(cmp.Compare(b.progress, a.progress), b.RequestedAt.Compare(a.RequestedAt))
	})
	return all, nil
}

// isOnDisk reports whether a directory has the report of a request, and no other
// report of the same days.
func isOnDisk(dir string, r adlens.ReportRequest) bool {
	stem := filepath.Join(dir, requestName(r.MarketplaceID, r.ReportType, r.Start, r.End))
	report, err := readReport(stem + reportSuffix)
	if err != nil || report.ID != r.ReportID || report.ProfileID != r.MarketplaceID {
		return false
	}
	info, err := os.Stat(stem + downloadSuffix)
	return err == nil && info.Mode().IsRegular()
}

// isDownloaded reports whether the download of a window is whole on its disk.
func (p *pull) isDownloaded(w *window) bool {
	f, err := os.Open(filepath.Join(p.out, w.windowName()) + downloadSuffix)
	if err != nil {
		return false
	}
	defer f.Close()
	return api.CheckWhole(f) == nil
}

// needsPlatform reports whether some report of the task is to be requested or
// downloaded.
func (t *task) needsPlatform() bool {
	return slices.ContainsFunc(t.windows, func(w *window) bool { return w.progress < onDisk })
}

// isHere reports whether some report of the task is on the disk.
func (t *task) isHere() bool {
	return slices.ContainsFunc(t.windows, func(w *window) bool { return w.progress == onDisk })
}

// isRead reports whether all that the platform has of the task's days is
// visible.
func (t *task) isRead() bool {
	return !t.later && !slices.ContainsFunc(t.windows, func(w *window) bool { return w.progress < loaded && !w.spare })
}

// forgetLost looks whether what the pull has loaded is still there: a restore of the
// account may have taken it away meanwhile. Nothing of that is read; the next try loads
// it from its files.
func (p *pull) forgetLost(ctx context.Context) (visible map[string]bool, err error) {
	visible, err = p.connector.Store.LoadedReports(ctx, p.account)
	gone := 0
	for _, t := range p.tasks {
		for _, w := range t.windows {
			if w.progress == loaded && !visible[w.request.ReportID] {
				w.progress = onDisk
				gone++
			}
		}
	}
	if err == nil && gone > 0 {
		err = fmt.Errorf("%d reports that were loaded are gone, as after a restore; the next try loads them from their files", gone)
	}
	return visible, err
}

// NotOffered counts how often the platform said that it never gives a profile
// the reports of a type.
func (c *Connector) NotOffered() uint64 { return c.notOffered.Load() }

// OutsideRetention counts reports of days that the platform had no more, at least
// of the first of them.
func (c *Connector) OutsideRetention() uint64 { return c.outside.Load() }

// noteNothing notes of which days the platform said that it has nothing.
func (p *pull) noteNothing(ctx context.Context, t *task) error {
	r := adlens.ReportRequest{Account: p.account, MarketplaceID: t.profile.ID, ReportType: t.report.ID,
		Start: t.first, End: t.last, RequestedAt: p.connector.Now().UTC().Truncate(time.Millisecond), Done: true}
	switch {
	case t.never != nil:
	case t.wall > t.first:
		r.End = t.wall - 1
	default:
		return nil
	}
	return p.connector.Store.PutRequest(ctx, r)
}

// closeRequests closes the requests of a task that is read, and those which cannot count
// again, read or not, unless they wait on the disk. It comes after everything else that
// is noted: a request that a kill leaves open costs a look at the record of loads, but one
// that was closed too early is made again.
func (p *pull) closeRequests(ctx context.Context, t *task, read bool) error {
	for _, a := range t.open {
		spent := a.progress == lost || a.readOn <= t.last-week
		waits := slices.ContainsFunc(t.windows, func(w *window) bool { return w.progress == onDisk && w.request.ReportID == a.ReportID })
		if !waits && (spent || read && t.first <= a.Start && a.End <= t.last) {
			if err := p.forgetRequest(ctx, a.ReportRequest); err != nil {
				return err
			}
		}
	}
	return nil
}

// forgetRequest notes that a request is done with: its report is read, or given
// up.
func (p *pull) forgetRequest(ctx context.Context, r adlens.ReportRequest) error {
	r.Done = true
	return p.connector.Store.PutRequest(context.WithoutCancel(ctx), r)
}
