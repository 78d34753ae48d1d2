package connector

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"adlens"
	"adlens/internal/platform"
	"adlens/internal/platform/api"
	"adlens/loader"
)

// Bounds of refreshing figures.
const (
	scanEvery    = 5 * time.Second  // for connections
	lookAgain    = 10 * time.Minute // at an account of which nothing was due
	lookSoon     = time.Minute      // at an account that was busy or failed
	betweenTwo   = time.Hour        // refreshes of an account that succeed
	firstRetry   = time.Minute      // after a refresh that failed
	retryFactor  = 4
	longestRetry = 6 * time.Hour
	accountsAt   = 512 // refreshes at once; they mostly wait for the platform
)

// Daily refreshes the figures of connected accounts once the day of each
// marketplace has ended.
type Daily struct {
	Connector *Connector
	Dir       string        // extracts are left in a directory for each account below it
	Poll      time.Duration // the first wait between two looks at a report
	Now       func() time.Time
	// Report hears how each refresh ended. It may be called from several
	// goroutines.
	Report func(account string, result loader.Result, took time.Duration, err error)

	mu      sync.Mutex
	looks   map[string]look             // by account
	refused map[string]adlens.Refreshed // what the platform refused, as it would be noted had it not
	running sync.WaitGroup
}

// look is when an account has to be looked at.
type look struct {
	connectedAt time.Time // a connection that is new is looked at at once
	next        time.Time
	busy        bool
}

// Run refreshes what is due until the context ends.
func (d *Daily) Run(ctx context.Context) {
	d.looks, d.refused = map[string]look{}, map[string]adlens.Refreshed{}
	defer d.running.Wait()
	slots := make(chan struct{}, accountsAt)
	ticker := time.NewTicker(scanEvery)
	defer ticker.Stop()
	for {
		connections, err := d.Connector.Store.Connections(ctx, "")
		if err != nil && ctx.Err() == nil {
			d.Report("", loader.Result{}, 0, fmt.Errorf("connections could not be read: %w", err))
		}
		for _, c := range connections {
			d.startRefresh(ctx, slots, c)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// startRefresh looks after an account in the background where it is time to, unless
// that is being done already or too much is.
func (d *Daily) startRefresh(ctx context.Context, slots chan struct{}, c adlens.Connection) {
	d.mu.Lock()
	defer d.mu.Unlock()
	last := d.looks[c.Account]
	if last.busy || last.connectedAt.Equal(c.ConnectedAt) && d.Now().Before(last.next) {
		return
	}
	select {
	case slots <- struct{}{}:
	default:
		return
	}
	d.looks[c.Account] = look{connectedAt: c.ConnectedAt, busy: true}
	d.running.Go(func() {
		pause := d.lookAfter(ctx, c.Account)
		d.mu.Lock()
		defer d.mu.Unlock()
		d.looks[c.Account] = look{connectedAt: c.ConnectedAt, next: d.Now().Add(pause)}
		<-slots
	})
}

// lookAfter refreshes what is due, and returns when to look again.
func (d *Daily) lookAfter(ctx context.Context, account string) time.Duration {
	began := d.Now()
	// Rates come first: reports that wait for them are tried again right after.
	if err := d.Connector.freshenRates(ctx, account, filepath.Join(d.Dir, account), began); err != nil && ctx.Err() == nil {
		d.Connector.Notice(account, fmt.Sprintf("rates could not be fetched; it is tried again: %v", err))
	}
	result, did, err := d.refreshAccount(ctx, account)
	if (did == refreshed || err != nil) && ctx.Err() == nil {
		d.Report(account, result, d.Now().Sub(began), err)
	}
	if did == nothingDue && err == nil {
		return lookAgain
	}
	return lookSoon
}

// did says what came of a look.
type did int

const (
	nothingDue did = iota
	notNow         // something is due, but somebody is at it or it has to rest
	refreshed
)

// refreshAccount reads what is due of an account, if anything is and nobody else is
// at it.
func (d *Daily) refreshAccount(ctx context.Context, account string) (result loader.Result, _ did, err error) {
	profiles, err := d.Connector.Store.Profiles(ctx, account)
	if err != nil {
		return result, notNow, err
	}
	tasks, err := d.dueTasks(ctx, account, profiles)
	if err != nil || len(tasks) == 0 {
		return result, nothingDue, err
	}
	w := work{store: d.Connector.Store, locks: d.Connector.Locks, name: ReportsWork(account), rest: func(failures int) time.Duration {
		if failures == 0 {
			// What is due says when; this only bounds how often the platform
			// is asked in vain for a marketplace that it lists no more.
			return betweenTwo
		}
		return exponentialBackoff(firstRetry, retryFactor, longestRetry)(failures)
	}}
	end, turn, err := w.beginWork(ctx)
	if err != nil || turn != free {
		return result, notNow, err
	}
	result, failed, err := d.pullAccount(ctx, account)
	ending := end(failed)
	return result, refreshed, errors.Join(err, ending)
}

// task is what is due of one report type of a profile.
type task struct {
	after   adlens.Refreshed
	windows []window
}

// dueTasks finds what is due of some profiles.
func (d *Daily) dueTasks(ctx context.Context, account string, profiles []platform.Profile) ([]task, error) {
	states, err := d.Connector.Store.Refreshed(ctx, account)
	if err != nil {
		return nil, err
	}
	var tasks []task
	for _, profile := range profiles {
		last := LastEnded(profile, d.Now())
		for _, t := range platform.ReportTypes {
			var before *adlens.Refreshed
			if i := slices.IndexFunc(states, func(r adlens.Refreshed) bool { return r.MarketplaceID == profile.ID && r.ReportType == t.ID }); i >= 0 {
				before = &states[i]
			}
			if one, ok := newTask(account, profile, t, before, last); ok && !d.isRefused(one) {
				tasks = append(tasks, one)
			}
		}
	}
	return tasks, nil
}

func newTask(account string, profile platform.Profile, t *platform.ReportType, before *adlens.Refreshed, last adlens.Day) (task, bool) {
	days, deep := dueDays(before, t, last)
	if days == 0 {
		return task{}, false
	}
	one := task{windows: reportWindows(profile, t, last, days),
		after: adlens.Refreshed{Account: account, MarketplaceID: profile.ID, ReportType: t.ID, Through: last, DeepThrough: last}}
	if !deep {
		one.after.DeepThrough = before.DeepThrough
	}
	return one, true
}

// isRefused reports whether the platform refused a task of the same day. It may be
// asked again on the next one: who had no right to it may have by then.
func (d *Daily) isRefused(one task) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.refused[one.taskKey()] == one.after
}

func (one task) taskKey() string {
	return one.after.Account + " " + one.after.MarketplaceID + " " + one.after.ReportType
}

// pullAccount fetches and loads what is due of the profiles that the platform lists
// now, and notes what came through whole. failed is the part of the error that
// another try may mend.
func (d *Daily) pullAccount(ctx context.Context, account string) (result loader.Result, failed, err error) {
	p := &pull{connector: d.Connector, account: account, out: filepath.Join(d.Dir, account), poll: d.Poll, fetched: func(done, total int) {
		d.Connector.Notice(account, fmt.Sprintf("%d of %d reports fetched", done, total))
	}}
	var tasks []task
	err = p.runPull(ctx, func(all []platform.Profile) (err error) {
		tasks, err = d.dueTasks(ctx, account, all)
		for _, one := range tasks {
			p.windows = append(p.windows, one.windows...)
		}
		return err
	})
	err = errors.Join(err, refusedFiles(p.result))
	var through []adlens.Refreshed
	var done []window
	refusedAll := true // that failed, and nothing else did
	for _, one := range tasks {
		switch {
		case one.allWindows(func(name string) bool { return p.loaded[name] }):
			through, done = append(through, one.after), append(done, one.windows...)
		case one.allWindows(func(name string) bool { return errors.Is(p.failed[name], api.Refused) }):
			d.noteRefused(one)
		default:
			refusedAll = false
		}
	}
	if len(through) > 0 {
		noting := errors.Join(d.Connector.Store.PutRefreshed(context.WithoutCancel(ctx), through), pruneReports(p.out))
		if noting == nil {
			noting = p.forgetLoaded(ctx, done)
		}
		err, refusedAll = errors.Join(err, noting), refusedAll && noting == nil
	}
	if len(tasks) > 0 && refusedAll {
		return p.result, nil, err
	}
	return p.result, err, err
}

// allWindows reports whether something is true of all windows of a task.
func (one task) allWindows(so func(name string) bool) bool {
	return !slices.ContainsFunc(one.windows, func(w window) bool { return !so(w.windowName()) })
}

func (d *Daily) noteRefused(one task) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.refused[one.taskKey()] = one.after
}
