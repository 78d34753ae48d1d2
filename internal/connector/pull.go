package connector

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"adlens"
	"adlens/loader"
	"adlens/platform/api"
)

// inFlight is how many reports are waited for at once. The platform works on
// them side by side; more would only meet its limits.
const inFlight = 8

// requestLife is for how long a report that was asked for is waited on after a
// restart. The platform needs three hours at most.
const requestLife = 12 * time.Hour

// PullOptions say what is fetched.
type PullOptions struct {
	Days int           // up to yesterday; 0 is all that the platform has
	Out  string        // directory that the extracts are left in
	Poll time.Duration // the first wait between two looks at a report
}

// Pull fetches the platform's own reports of an account's last days, leaves
// them in the layout of extracts, and loads them.
func (c *Connector) Pull(ctx context.Context, account string, o PullOptions) (loader.Result, error) {
	connection, client, err := c.open(ctx, account)
	if err != nil {
		return loader.Result{}, err
	}
	if err := os.MkdirAll(o.Out, 0o700); err != nil {
		return loader.Result{}, err
	}
	profiles, err := c.takeProfiles(ctx, client, account)
	if err := c.accepted(ctx, connection, err); err != nil {
		return loader.Result{}, err
	}
	p := &pull{connector: c, client: client, account: account, options: o}
	if err := p.remember(ctx); err != nil {
		return loader.Result{}, err
	}
	for _, profile := range profiles {
		all, err := windows(profile, o.Days, time.Now())
		if err != nil {
			return loader.Result{}, fmt.Errorf("profile %s: %w", profile.ID, err)
		}
		p.windows = append(p.windows, all...)
	}
	fetching := p.fetchAll(ctx)
	if len(p.fetched) == 0 {
		return loader.Result{}, fetching
	}
	result, err := c.Load(ctx, account, p.fetched)
	return result, errors.Join(fetching, err, p.done(ctx, result))
}

// pull is one run over an account's windows.
type pull struct {
	connector *Connector
	client    *api.Client
	account   string
	options   PullOptions
	windows   []window
	running   map[string]adlens.ReportRequest // by name, from before a restart

	mu      sync.Mutex
	fetched []string // report objects, whole
	asked   map[string]adlens.ReportRequest
}

// remember reads which reports were asked for and are not loaded yet.
func (p *pull) remember(ctx context.Context) error {
	p.running, p.asked = map[string]adlens.ReportRequest{}, map[string]adlens.ReportRequest{}
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

func (w window) name() string { return requestName(w.profile.ID, w.report.ID, w.start, w.end) }

// fetchAll fetches the windows side by side. One that fails does not keep the
// others back.
func (p *pull) fetchAll(ctx context.Context) error {
	slots := make(chan struct{}, inFlight)
	failures := make([]error, len(p.windows))
	var all sync.WaitGroup
	for i, w := range p.windows {
		all.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			if err := p.fetch(ctx, w); err != nil {
				failures[i] = fmt.Errorf("%s of %s %s, %s to %s: %w", w.report.ID, w.profile.Country, w.profile.ID, w.start, w.end, err)
			}
		})
	}
	all.Wait()
	return errors.Join(failures...)
}

func (p *pull) fetch(ctx context.Context, w window) error {
	request, err := p.request(ctx, w)
	if err != nil {
		return err
	}
	status, err := p.client.Await(ctx, w.profile.ID, request.ReportID, p.options.Poll, func(api.Status) {})
	if err != nil {
		return err
	}
	if err := p.save(ctx, w, status); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fetched = append(p.fetched, filepath.Join(p.options.Out, w.name()+".report.json"))
	p.asked[w.name()] = request
	p.connector.Notice(fmt.Sprintf("%d of %d reports fetched", len(p.fetched), len(p.windows)))
	return nil
}

// request returns the running report of a window, asked for where there is
// none. It is remembered before it is waited for.
func (p *pull) request(ctx context.Context, w window) (adlens.ReportRequest, error) {
	if r, ok := p.running[w.name()]; ok {
		return r, nil
	}
	id, err := p.client.CreateReport(ctx, w.profile.ID, api.ReportRequest{Type: w.report, Start: w.start, End: w.end,
		Columns: w.report.RequestColumns(), Name: "adlens " + w.name()})
	if err != nil {
		return adlens.ReportRequest{}, err
	}
	r := adlens.ReportRequest{Account: p.account, MarketplaceID: w.profile.ID, ReportType: w.report.ID, Start: w.start, End: w.end,
		ReportID: id, RequestedAt: time.Now().UTC().Truncate(time.Millisecond)}
	return r, p.connector.Store.PutRequest(ctx, r)
}

// done notes which requests need not be waited for any more.
func (p *pull) done(ctx context.Context, result loader.Result) error {
	var failures []error
	for _, f := range result.Files {
		name, _ := cutReport(filepath.Base(f.File))
		if r, ok := p.asked[name]; ok && (f.Status == loader.Loaded || f.Status == loader.Unchanged) {
			r.Done = true
			failures = append(failures, p.connector.Store.PutRequest(ctx, r))
		}
	}
	return errors.Join(failures...)
}
