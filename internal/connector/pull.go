package connector

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
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
	// askingAt is how many reports are asked for at once. Each is remembered
	// before the next, so that a kill forgets hardly any.
	askingAt = 2
	// requestLife is for how long a report that was asked for is waited on
	// after a restart. The platform needs three hours at most.
	requestLife = 12 * time.Hour
	// reportPatience is for how long a report is waited for at a time. One
	// that hangs for longer is asked for anew by the next pull.
	reportPatience = 4 * time.Hour
	// loadEvery is how long a fetched report waits for others to be loaded
	// with: together they cost little more than one.
	loadEvery = time.Minute
)

// PullOptions say what is fetched.
type PullOptions struct {
	Days int           // up to yesterday; 0 is all that the platform has
	Out  string        // directory that the extracts are left in
	Poll time.Duration // the first wait between two looks at a report
	// Fetched hears how many of the reports are here.
	Fetched func(done, total int)
}

// Pull fetches the platform's own reports of an account's last days, leaves
// them in the layout of extracts, and loads them.
func (c *Connector) Pull(ctx context.Context, account string, o PullOptions) (loader.Result, error) {
	release, err := c.Locks.Lock(ctx, ReportsWork(account), func(holder string) {
		c.Notice(account, fmt.Sprintf("waiting for another pull of account %s (%s)", account, holder))
	})
	if err != nil {
		return loader.Result{}, err
	}
	defer release()
	days := o.Days
	if days == 0 {
		days = lookBack[adlens.SponsoredProducts] // the longest
	}
	p := &pull{connector: c, account: account, out: o.Out, poll: o.Poll, fetched: o.Fetched}
	err = p.runPull(ctx, func(all []platform.Profile) error {
		if err := c.pullRates(ctx, account, o.Out, time.Now()); err != nil {
			c.Notice(account, fmt.Sprintf("rates could not be fetched; --rates-url none leaves them to you: %v", err))
		}
		for _, profile := range all {
			last := LastEnded(profile, time.Now())
			for _, t := range platform.ReportTypes {
				p.windows = append(p.windows, reportWindows(profile, t, last, days)...)
			}
		}
		return nil
	})
	return p.result, errors.Join(err, p.forgetLoaded(ctx, p.windows))
}

// ReportsWork is the name under which one process at a time fetches an
// account's reports.
func ReportsWork(account string) string { return "reports/" + account }

// pull is one run over an account's windows.
type pull struct {
	connector *Connector
	account   string
	out       string
	poll      time.Duration
	fetched   func(done, total int)

	client  *api.Client
	asking  chan struct{}
	windows []window
	running map[string]adlens.ReportRequest // by name of the window, from before a restart

	mu     sync.Mutex
	asked  map[string]adlens.ReportRequest // by name of the window
	failed map[string]error                // by name of the window

	// Of the goroutine that loads.
	loaded map[string]bool // names of windows
	result loader.Result
}

// runPull opens the connection, lets choose name the windows that are fetched of
// the profiles found, and fetches and loads them.
func (p *pull) runPull(ctx context.Context, choose func([]platform.Profile) error) error {
	connection, client, err := p.connector.openClient(ctx, p.account)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(p.out, 0o700); err != nil {
		return err
	}
	p.client, p.asking = client, make(chan struct{}, askingAt)
	profiles, err := p.connector.takeProfiles(ctx, client, p.account)
	if err := p.connector.noteAccepted(ctx, connection, err); err != nil {
		return err
	}
	if err := errors.Join(choose(profiles), p.readRequests(ctx)); err != nil {
		return err
	}
	return p.fetchAll(ctx)
}

// readRequests reads which reports were asked for and are still needed.
func (p *pull) readRequests(ctx context.Context) error {
	p.running, p.asked, p.loaded = map[string]adlens.ReportRequest{}, map[string]adlens.ReportRequest{}, map[string]bool{}
	p.failed = map[string]error{}
	open, err := p.connector.Store.OpenRequests(ctx, p.account)
	for _, r := range open {
		if time.Since(r.RequestedAt) < requestLife {
			p.running[requestName(r.MarketplaceID, r.ReportType, r.Start, r.End)] = r
		}
	}
	return err
}

func requestName(profile, reportType string, start, end adlens.Day) string {
	return fmt.Sprintf("%s-%s-%s-%s", profile, reportType, start, end)
}

func (w window) windowName() string { return requestName(w.profile.ID, w.report.ID, w.start, w.end) }

// fetchAll fetches the windows side by side, and loads what has come so far
// now and then: one that takes hours, or fails, does not keep the others back.
func (p *pull) fetchAll(ctx context.Context) error {
	slots, fetched := make(chan struct{}, inFlight), make(chan string)
	var all sync.WaitGroup
	for _, w := range p.windows {
		all.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			path, err := p.fetchReport(ctx, w)
			if err != nil {
				p.mu.Lock()
				defer p.mu.Unlock()
				p.failed[w.windowName()] = err
				return
			}
			fetched <- path
		})
	}
	go func() {
		all.Wait()
		close(fetched)
	}()
	err := p.loadFetched(ctx, fetched)
	return errors.Join(p.joinFailures(), err)
}

// joinFailures says of each report type of a profile what went wrong first, and how
// often.
func (p *pull) joinFailures() error {
	var all []error
	for i, w := range p.windows {
		of := func(o window) bool { return o.profile.ID == w.profile.ID && o.report == w.report }
		if slices.ContainsFunc(p.windows[:i], of) {
			continue
		}
		windows, failed := 0, 0
		var first error
		for _, o := range p.windows {
			if !of(o) {
				continue
			}
			windows++
			if err := p.failed[o.windowName()]; err != nil {
				failed++
				if first == nil {
					first = fmt.Errorf("%s of %s %s, %s to %s: %w", o.report.ID, o.profile.Country, o.profile.ID, o.start, o.end, err)
				}
			}
		}
		if failed > 1 {
			first = fmt.Errorf("%w (so failed %d of its %d reports)", first, failed, windows)
		}
		all = append(all, first)
	}
	return errors.Join(all...)
}

// loadFetched loads reports as they come, until there are no more.
func (p *pull) loadFetched(ctx context.Context, fetched <-chan string) (failure error) {
	ticker := time.NewTicker(loadEvery)
	defer ticker.Stop()
	var waiting []string
	count := 0
	for {
		select {
		case path, more := <-fetched:
			if !more {
				return errors.Join(failure, p.loadReports(ctx, waiting))
			}
			count++
			waiting = append(waiting, path)
			p.fetched(count, len(p.windows))
		case <-ticker.C:
			failure = errors.Join(failure, p.loadReports(ctx, waiting))
			waiting = nil
		}
	}
}

// fetchReport gets the report of a window and returns the path of its object.
func (p *pull) fetchReport(ctx context.Context, w window) (path string, err error) {
	request, err := p.requestReport(ctx, w)
	if err != nil {
		return "", err
	}
	waiting, cancel := context.WithTimeout(ctx, reportPatience)
	defer cancel()
	status, err := p.client.Await(waiting, w.profile.ID, request.ReportID, p.poll, nil)
	if errors.Is(err, api.ReportFailed) || errors.Is(err, api.Refused) || errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return "", errors.Join(err, p.forgetRequest(ctx, request)) // the next pull asks anew
	}
	if err != nil {
		return "", err
	}
	return p.saveReport(ctx, w, status)
}

// requestReport returns the running report of a window, asked for where there is
// none. It is remembered before it is waited for.
func (p *pull) requestReport(ctx context.Context, w window) (adlens.ReportRequest, error) {
	r, ok := p.running[w.windowName()]
	if !ok {
		p.asking <- struct{}{}
		defer func() { <-p.asking }()
		id, err := p.client.CreateReport(ctx, w.profile.ID, api.ReportRequest{Type: w.report, Start: w.start, End: w.end,
			Columns: w.report.RequestColumns(), Name: "adlens " + w.windowName()})
		if err != nil {
			return adlens.ReportRequest{}, err
		}
		r = adlens.ReportRequest{Account: p.account, MarketplaceID: w.profile.ID, ReportType: w.report.ID, Start: w.start, End: w.end,
			ReportID: id, RequestedAt: time.Now().UTC().Truncate(time.Millisecond)}
		if err := p.connector.Store.PutRequest(ctx, r); err != nil {
			return r, err
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked[w.windowName()] = r
	return r, nil
}

// forgetLoaded forgets the requests of those windows whose reports are visible.
// It comes after everything else that a pull notes: a request that a kill leaves
// behind is fetched once more, which changes nothing, but one forgotten too early
// is asked of the platform again.
func (p *pull) forgetLoaded(ctx context.Context, windows []window) error {
	var failures []error
	for _, w := range windows {
		if p.loaded[w.windowName()] {
			failures = append(failures, p.forgetRequest(context.WithoutCancel(ctx), p.asked[w.windowName()]))
		}
	}
	return errors.Join(failures...)
}

// forgetRequest notes that a request need not be waited for any more.
func (p *pull) forgetRequest(ctx context.Context, r adlens.ReportRequest) error {
	r.Done = true
	return p.connector.Store.PutRequest(ctx, r)
}

// loadReports loads reports, and notes those that are visible now.
func (p *pull) loadReports(ctx context.Context, paths []string) error {
	if len(paths) == 0 {
		return nil
	}
	result, err := p.connector.Loader.Load(ctx, p.account, paths)
	p.result.Files = append(p.result.Files, result.Files...)
	for _, f := range result.Files {
		if name, _ := cutReport(filepath.Base(f.File)); f.Status == loader.Loaded || f.Status == loader.Unchanged {
			p.loaded[name] = true
		}
	}
	return err
}
