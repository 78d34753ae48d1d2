package connector

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"adlens"
	"adlens/internal/platform"
	"adlens/internal/platform/api"
	"adlens/loader"
)

const (
	// inFlight is how many reports are waited for at once. The platform works
	// on them side by side, and some hang for hours: these must not keep others
	// back. How many calls run at once is the client's business.
	inFlight = 256
	// askingAt is how many reports are requested at once. Each is remembered
	// before the next, so that a kill forgets hardly any.
	askingAt = 2
	// requestLife is for how long a report that was requested is waited on
	// after a restart. The platform needs three hours at most.
	requestLife = 12 * time.Hour
	// reportPatience is for how long a report is waited for after it was requested. One
	// that hangs for longer is requested again by the next pull.
	reportPatience = 4 * time.Hour
	// leastPatience is for how long at least: nothing may have run for hours, and the
	// platform may have every call wait for half of one.
	leastPatience = time.Hour
	// loadEvery is how long a fetched report waits for others to be loaded
	// with: together they cost little more than one.
	loadEvery = time.Minute
)

// PullOptions say what is fetched.
type PullOptions struct {
	Days int           // up to yesterday; 0 is all that is not read for good
	Out  string        // directory that the extracts are left in
	Kept string        // the directory that a server takes the account's extracts from
	Poll time.Duration // the first wait between two looks at a report
	// Fetched hears how many of the reports are here.
	Fetched func(done, total int)
}

// pullConnection fetches the platform's own reports of the last days of a
// connection's profiles, leaves them in the layout of extracts, and loads them. The
// requests of the pull that it returns, which is nil where it did not begin, stay open.
func (c *Connector) pullConnection(ctx context.Context, connection adlens.Connection, o PullOptions) (*pull, error) {
	account := connection.Account
	release, err := c.Locks.Lock(ctx, ReportsWork(account, connection.Name), func(holder string) {
		c.Notice(account, fmt.Sprintf("waiting for another pull of account %s through connection %s (%s)", account, connection.Name, holder))
	})
	if err != nil {
		return nil, err
	}
	defer release()
	p := &pull{connector: c, account: account, connection: connection, out: o.Out, kept: o.Kept, poll: o.Poll, fetched: o.Fetched}
	err = p.runPull(ctx, func(all []platform.Profile) error {
		if err := c.pullRates(ctx, account, o.Out, c.Now()); err != nil {
			c.Notice(account, fmt.Sprintf("rates could not be fetched; --rates-url none leaves them to you: %v", err))
		}
		c.readListsOf(ctx, account, all) // they say who needs legacy reports
		legacy, err := c.Store.LegacyProfiles(ctx, account)
		states, unread := c.Store.Refreshed(ctx, account)
		err = errors.Join(err, unread)
		for _, profile := range all {
			for _, t := range reportTypesOf(profile, legacy) {
				now := c.Now()
				before, _ := stateOf(states, profile, t, now)
				one := chosenTask(account, profile, t, before, LastEnded(profile, now), o.Days)
				if o.Days == 0 { // days that were chosen are read, whatever is held
					err = errors.Join(err, c.keepHeld(ctx, account, &one))
				}
				p.tasks = append(p.tasks, &one)
			}
		}
		if err == nil {
			err = p.planReports(ctx)
		}
		p.planned = err == nil
		return err
	})
	if !p.planned { // nothing of its tasks is read
		return p, errors.Join(err, p.leftOut)
	}
	_, gone := p.forgetLost(context.WithoutCancel(ctx))
	err = errors.Join(err, gone, p.noteRead(ctx))
	for _, t := range p.tasks {
		err = errors.Join(err, p.noteNothing(ctx, t))
	}
	return p, errors.Join(err, p.leftOut, waitingError(p.result))
}

// closePulls closes the requests of the pulls of an account once all have ended. Where
// reports of any connection are missing, the next pull begins with all that are there. A
// connection may fail for weeks: what can count no more, a week later, is closed anyway.
func closePulls(ctx context.Context, pulls []*pull) (err error) {
	whole := !slices.ContainsFunc(pulls, func(p *pull) bool { return p == nil || !p.isWhole() })
	for _, p := range pulls {
		if p == nil || !p.planned {
			continue
		}
		for _, t := range p.tasks {
			err = errors.Join(err, p.closeRequests(ctx, t, whole))
		}
	}
	return err
}

// isWhole reports whether all that the platform gives of what is due is read.
func (p *pull) isWhole() bool {
	return p.planned && !slices.ContainsFunc(p.tasks, func(t *task) bool { return t.never == nil && !t.isRead() })
}

// planReports plans the reports of the tasks, with those that wait here or in the directory
// of a server. Where days are requested only once such a report is loaded, that is tried
// first.
func (p *pull) planReports(ctx context.Context) error {
	dirs := []string{p.out}
	if p.kept != "" {
		dirs = append(dirs, p.kept)
	}
	for tried := false; ; tried = true {
		open, err := p.connector.openReports(ctx, p.account, p.profiles, dirs...)
		if err != nil {
			return err
		}
		for _, t := range p.tasks {
			t.planWindows(open)
		}
		if err := p.bringWaiting(); err != nil || tried || !slices.ContainsFunc(p.tasks, func(t *task) bool { return t.later }) {
			return err
		}
		if _, err := p.loadHere(ctx); err != nil {
			return err
		}
	}
}

// noteRead notes which tasks are read, so that doctor and the times of the last
// refreshes know, and a server does not read the same days once more. Where all that
// is due is read, the server's failures are over too.
func (p *pull) noteRead(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx)
	var read []adlens.Refreshed
	for _, t := range p.tasks {
		if t.after.Account != "" && t.isDone() {
			read = append(read, t.after)
		}
	}
	err := p.connector.Store.PutRefreshed(ctx, read)
	if p.isWhole() && len(p.tasks) > 0 && !slices.ContainsFunc(p.tasks, func(t *task) bool { return t.short }) {
		err = errors.Join(err, p.connector.Store.EndAttempt(ctx, ReportsWork(p.account, p.connection.Name), 0))
	}
	return err
}

// reportTypesOf are the types of the reports that a profile needs: legacy ones of
// Sponsored Brands only where they have campaigns that others leave out.
func reportTypesOf(profile platform.Profile, legacy map[string]bool) []*platform.ReportType {
	if legacy[profile.ID] {
		return append(slices.Clone(platform.ReportTypes), platform.LegacyReportType)
	}
	return platform.ReportTypes
}

// ReportsWork is the name under which one process at a time fetches the reports of
// an account's connection.
func ReportsWork(account, connection string) string { return "reports/" + account + "/" + connection }

// pull is one run over the tasks of a connection.
type pull struct {
	connector  *Connector
	account    string
	connection adlens.Connection
	out        string
	kept       string // the directory that a server takes the account's extracts from; "" for out
	poll       time.Duration
	fetched    func(done, total int)
	// saidBefore leaves reports out of the result that wait for rates or a list since
	// an earlier try.
	saidBefore bool

	// readLists begins to read a profile's lists where they have rested: a legacy report has
	// a campaign that none of them names. It is nil for a pull that has read them itself.
	readLists func(ctx context.Context, account, profileID string) error

	// isOverdue reports whether another pull is due of these profiles, in which reports
	// failed or not; nil for a pull that waits for all that it has requested.
	isOverdue func(profiles []platform.Profile, failed bool) bool

	client   *api.Client
	asking   chan struct{}
	profiles []platform.Profile // that it reads
	leftOut  error              // why profiles of the connection are not read, or not kept
	tasks    []*task
	planned  bool             // the tasks of a pull by hand have their windows
	closed   map[string]error // by profile, that it is not open to the connection; guarded by mu

	waiting     context.Context // for the reports that the platform makes
	stopWaiting context.CancelCauseFunc
	failed      atomic.Bool // some report did

	mu sync.Mutex // for what tasks know of the platform, and what was requested

	// Of the goroutine that loads.
	result  loader.Result
	awaited uint32 // the version of rates and lists that reports which wait were last tried with
}

// runPull opens the connection, lets choose name the tasks of the profiles
// found, and fetches and loads their reports.
func (p *pull) runPull(ctx context.Context, choose func([]platform.Profile) error) error {
	client, err := p.connector.openClient(p.connection)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(p.out, 0o700); err != nil {
		return err
	}
	p.client, p.asking = client, make(chan struct{}, askingAt)
	profiles, listed, leftOut, err := p.connector.takeProfiles(ctx, client, p.connection)
	if err := p.connector.noteAccepted(ctx, p.connection, err); err != nil {
		return fmt.Errorf("connection %s: %w", p.connection.Name, err)
	}
	if err := p.keepProfiles(ctx, listed); err != nil { // their reports are read all the same
		leftOut = errors.Join(leftOut, client.HideSecrets(fmt.Errorf("the profiles could not be kept with the reports: %w", err)))
	}
	if leftOut != nil {
		p.leftOut = fmt.Errorf("connection %s: %w", p.connection.Name, leftOut)
	}
	p.profiles = profiles
	if err := choose(profiles); err != nil {
		return err
	}
	return p.fetchAll(ctx)
}

func requestName(profile, reportType string, start, end adlens.Day) string {
	return fmt.Sprintf("%s-%s-%s-%s", profile, reportType, start, end)
}

func (w *window) windowName() string { return requestName(w.profile.ID, w.report.ID, w.start, w.end) }

// windows are the reports of all tasks that are not visible yet.
func (p *pull) windows() (all []*window) {
	for _, t := range p.tasks {
		for _, w := range t.windows {
			if w.progress < loaded {
				all = append(all, w)
			}
		}
	}
	return all
}

// fetchAll fetches the windows side by side, and loads what has come so far
// now and then: one that takes hours, or fails, does not keep the others back.
func (p *pull) fetchAll(ctx context.Context) error {
	p.waiting, p.stopWaiting = context.WithCancelCause(ctx)
	defer p.stopWaiting(nil)
	windows := p.windows()
	slots, fetched := make(chan struct{}, inFlight), make(chan *window)
	var all sync.WaitGroup
	for _, w := range windows {
		all.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			if w.err = p.fetchReport(ctx, w); w.err == nil {
				fetched <- w
			} else {
				p.failed.Store(true)
			}
		})
	}
	go func() {
		all.Wait()
		close(fetched)
	}()
	err := p.loadFetched(ctx, len(windows), fetched)
	return errors.Join(p.joinFailures(), err)
}

// joinFailures says of each task what went wrong first, and how often. That a
// profile never has such reports is no failure.
func (p *pull) joinFailures() error {
	var all []error
	for _, t := range p.tasks {
		if t.never != nil {
			p.connector.notOffered.Add(1)
			p.connector.Notice(p.account, fmt.Sprintf("%s of %s %s: the platform has no such reports of this profile: %v", t.report.ID, t.profile.Country, t.profile.ID, t.never))
		}
		if t.wall > t.first {
			p.connector.Notice(p.account, fmt.Sprintf("%s of %s %s: the platform has no figures before %s any more", t.report.ID, t.profile.Country, t.profile.ID, t.wall))
		}
		if t.gone > 0 {
			p.connector.Notice(p.account, fmt.Sprintf("%s of %s %s: %s to %s were not read while the platform had them, and are missing unless they are loaded from files",
				t.report.ID, t.profile.Country, t.profile.ID, t.first-adlens.Day(t.gone), t.first-1))
		}
		failed := 0
		var first error
		for _, w := range t.windows {
			if w.err == nil || errors.Is(w.err, errOverdue) || t.never != nil && errors.Is(w.err, api.NotOffered) {
				continue
			}
			if failed++; first == nil {
				first = fmt.Errorf("%s of %s %s, %s to %s: %w", t.report.ID, t.profile.Country, t.profile.ID, w.start, w.end, w.err)
			}
		}
		if failed > 1 {
			first = fmt.Errorf("%w (so failed %d of its %d reports)", first, failed, len(t.windows))
		}
		all = append(all, first)
	}
	return errors.Join(all...)
}

// loadFetched loads reports as they come, until there are no more.
func (p *pull) loadFetched(ctx context.Context, total int, fetched <-chan *window) (failure error) {
	ticker := time.NewTicker(p.connector.paced(loadEvery))
	defer ticker.Stop()
	p.awaited, failure = p.connector.Store.AwaitedVersion(ctx, p.account) // before anything is tried with it
	var here, tried []*window
	count := 0
	for {
		select {
		case w, more := <-fetched:
			if !more {
				failure = errors.Join(failure, p.loadReports(ctx, here))
				return errors.Join(failure, p.loadReports(ctx, p.takeWaiting(ctx, append(tried, here...))))
			}
			count++
			if w.progress == onDisk {
				here = append(here, w)
			}
			p.fetched(count, total)
		case <-ticker.C:
			failure = errors.Join(failure, p.loadReports(ctx, here))
			tried, here = append(tried, here...), nil
			failure = errors.Join(failure, p.loadReports(ctx, p.takeWaiting(ctx, slices.Clone(tried))))
			if p.isOverdue != nil && !p.givesWay() && p.isOverdue(p.profiles, p.failed.Load()) {
				p.connector.Notice(p.account, "the platform is still making reports; the next refresh, which is due, waits for them")
				p.stopWaiting(errOverdue)
			}
		}
	}
}

// errOverdue ends the waiting for reports that the platform makes where others are due:
// the next pull requests these, and waits for all of them.
var errOverdue = errors.New("other reports are due meanwhile")

// givesWay reports whether the pull waits for no more reports.
func (p *pull) givesWay() bool { return context.Cause(p.waiting) == errOverdue }

// patienceFor is how much longer the report of a window is waited for.
func (p *pull) patienceFor(w *window) time.Duration {
	left := reportPatience - p.connector.Now().Sub(w.request.RequestedAt)
	return min(max(left, leastPatience), reportPatience)
}

// fetchReport brings the report of a window onto the disk, unless it is there or
// the platform has nothing of its days.
func (p *pull) fetchReport(ctx context.Context, w *window) error {
	if w.progress == onDisk && p.isDownloaded(w) {
		return nil
	}
	if w.progress == missing {
		if err := p.requestReport(ctx, w); err != nil || w.progress == outside {
			return err
		}
	}
	waiting, cancel := context.WithTimeout(p.waiting, p.patienceFor(w))
	defer cancel()
	status, err := p.client.Await(waiting, w.profile.ID, w.request.ReportID, p.poll)
	if errors.Is(err, context.Canceled) && p.givesWay() {
		return errOverdue
	}
	spent := errors.Is(err, api.ReportFailed) || errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil
	if err == nil {
		err = p.saveReport(ctx, w, status)
		spent = errors.Is(err, api.LinkExpired) || errors.Is(err, errOtherReport) // neither is another at the next look
	}
	if spent || errors.Is(err, api.Refused) && !w.mayOpen(err) {
		err = errors.Join(fmt.Errorf("%w; the next pull requests this report again", err), p.forgetRequest(ctx, w.request))
	}
	if err == nil {
		w.progress, w.fresh = onDisk, true
	}
	return err
}

// loadReports loads reports that are on the disk. A legacy one with campaigns that no list
// knows waits for the next list.
func (p *pull) loadReports(ctx context.Context, here []*window) error {
	if len(here) == 0 {
		return nil
	}
	paths, of := make([]string, len(here)), map[string]*window{}
	for i, w := range here {
		paths[i], of[w.windowName()] = filepath.Join(p.out, w.windowName()+reportSuffix), w
	}
	p.result.Files = slices.DeleteFunc(p.result.Files, func(f loader.FileResult) bool { return slices.Contains(paths, f.File) }) // of an earlier try
	result, err := p.connector.load(ctx, p.account, paths)
	for _, f := range result.Files {
		name, _ := cutReport(filepath.Base(f.File))
		w := of[name]
		switch {
		case w == nil:
		case f.Status == loader.Loaded || f.Status == loader.Unchanged:
			w.progress = loaded
		case f.MissingRates != nil || f.Unlisted:
			w.waits = true
			err = errors.Join(err, p.keepWaiting(w))
			if f.Unlisted && p.readLists != nil {
				err = errors.Join(err, p.readLists(ctx, p.account, w.profile.ID))
			}
			if p.saidBefore && !w.fresh {
				continue
			}
			f.Status = loader.Waiting
			if f.MissingRates != nil {
				text := "no rate for " + f.MissingRates.Currency + " on " + writeDays(f.MissingRates.Days)
				f.Error = &text
			}
		case f.Status == loader.Refused:
			err = errors.Join(err, p.forgetRequest(ctx, w.request)) // the next pull requests another
		}
		p.result.Files = append(p.result.Files, f)
	}
	return err
}
