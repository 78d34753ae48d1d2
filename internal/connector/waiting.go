package connector

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"adlens"
	"adlens/internal/platform"
	"adlens/loader"
)

// waitingError is the error of a pull of which reports wait for rates or a list: not
// all that was requested is loaded.
func waitingError(r loader.Result) error {
	n, days := MissingRates(r)
	if n == 0 {
		return UnlistedError(r)
	}
	return fmt.Errorf("%d reports were downloaded and wait for rates: %s; load them with adlens load --account ID rates.csv: serve, or the next pull, then loads these reports, which are not downloaded again", n, days)
}

// UnlistedError is the error of a pull of which legacy reports wait for a list of
// campaigns; nil where none does.
func UnlistedError(r loader.Result) error {
	for _, f := range r.Files {
		if f.Status == loader.Waiting && f.Unlisted {
			return fmt.Errorf("%s waits for a list of campaigns: %s", f.File, *f.Error)
		}
	}
	return nil
}

// MissingRates counts the reports of a result that wait for rates, and writes
// which: each currency with its days.
func MissingRates(r loader.Result) (reports int, days string) {
	missing := map[string][]adlens.Day{}
	for _, f := range r.Files {
		if f.Status == loader.Waiting && f.MissingRates != nil {
			reports++
			missing[f.MissingRates.Currency] = append(missing[f.MissingRates.Currency], f.MissingRates.Days...)
		}
	}
	var all []string
	for _, currency := range slices.Sorted(maps.Keys(missing)) {
		all = append(all, currency+" on "+writeDays(missing[currency]))
	}
	return reports, strings.Join(all, "; ")
}

// writeDays writes days in order, those in a row by the first and the last.
func writeDays(days []adlens.Day) string {
	slices.Sort(days)
	days = slices.Compact(days)
	var all []string
	for len(days) > 0 {
		n := 1
		for n < len(days) && days[n] == days[0]+adlens.Day(n) {
			n++
		}
		text := days[0].String()
		if n > 1 {
			text += " to " + days[n-1].String()
		}
		all, days = append(all, text), days[n:]
	}
	return strings.Join(all, ", ")
}

// keepWaiting copies a report that waits to where a server finds it, where it is
// elsewhere: the pull may go on for hours, and be killed.
func (p *pull) keepWaiting(w *window) error {
	if p.kept == "" || p.kept == p.out || isOnDisk(p.kept, w.request) {
		return nil
	}
	return copyReport(p.kept, p.out, w.windowName())
}

// bringWaiting copies reports that a server has downloaded, and that wait there, to where
// the pull leaves its own: no report is downloaded twice.
func (p *pull) bringWaiting() error {
	var failures []error
	for _, w := range p.windows() {
		if w.progress == onDisk && !isOnDisk(p.out, w.request) {
			failures = append(failures, copyReport(p.out, p.kept, w.windowName()))
		}
	}
	return errors.Join(failures...)
}

// copyReport copies the files of a report in the order in which they are saved.
func copyReport(to, from, name string) error {
	if err := errors.Join(os.MkdirAll(to, 0o700), removeIfThere(filepath.Join(to, name+reportSuffix))); err != nil {
		return err
	}
	for _, suffix := range []string{downloadSuffix, reportSuffix} {
		if err := copyFile(filepath.Join(to, name+suffix), filepath.Join(from, name+suffix)); err != nil {
			return err
		}
	}
	return nil
}

func copyFile(to, from string) error {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	return writeAtomic(to, func(f *os.File) error {
		_, err := io.Copy(f, source)
		return err
	})
}

// countWaiting counts the reports of a connection's profiles that are not loaded yet.
func (d *Daily) countWaiting(ctx context.Context, c adlens.Connection) (n int, err error) {
	if isUnconnected(c) {
		return 0, nil
	}
	own, err := d.Connector.profilesOf(ctx, c)
	if err != nil {
		return 0, err
	}
	all, err := d.Connector.WaitingReports(ctx, c.Account, d.accountDir(c.Account))
	for _, r := range all {
		if slices.ContainsFunc(own, func(p platform.Profile) bool { return p.ID == r.MarketplaceID }) {
			n++
		}
	}
	return n, err
}

// Waiting returns how many reports of connected accounts are on the disk here and not
// loaded.
func (d *Daily) Waiting() (n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, l := range d.looks {
		n += l.waiting
	}
	return n
}

// loadHere loads what is on the disk of some tasks, unless that was tried with the rates
// and lists that there are.
func (d *Daily) loadHere(ctx context.Context, c adlens.Connection, tasks []*task) (result loader.Result, did did, err error) {
	version, err := d.Connector.Store.AwaitedVersion(ctx, c.Account)
	if err != nil || !d.isNews(c, version) {
		return result, notNow, err
	}
	release, ok, err := d.Connector.Locks.Try(ctx, ReportsWork(c.Account, c.Name))
	if err != nil || !ok {
		return result, notNow, err
	}
	defer func() { err = errors.Join(err, release()) }()
	p := d.newPull(c)
	p.tasks = tasks
	here, err := p.loadHere(ctx)
	err = errors.Join(err, refusedFiles(p.result))
	err = errors.Join(err, d.noteRead(ctx, p))
	if err == nil && slices.ContainsFunc(here, func(w *window) bool { return w.waits }) {
		d.noteTried(c, version)
	}
	if len(p.result.Files) == 0 {
		return p.result, notNow, err
	}
	return p.result, refreshed, err
}

// loadHere loads what is whole on the disk of the tasks, and returns which reports these
// are.
func (p *pull) loadHere(ctx context.Context) (here []*window, err error) {
	for _, w := range p.windows() {
		switch {
		case w.progress < onDisk:
		case p.isDownloaded(w):
			here = append(here, w)
		default: // it is downloaded again
			err = errors.Join(err, removeIfThere(filepath.Join(p.out, w.windowName())+reportSuffix))
		}
	}
	return here, errors.Join(err, p.loadReports(ctx, here))
}

// takeWaiting returns the reports among some, all of which were tried, that wait for
// something which has come since. Rates are fetched where they are due: the pull may
// take hours.
func (p *pull) takeWaiting(ctx context.Context, tried []*window) []*window {
	tried = slices.DeleteFunc(tried, func(w *window) bool { return !w.waits || w.progress == loaded })
	if len(tried) == 0 {
		return nil
	}
	if err := p.connector.freshenRates(ctx, p.account, p.out, p.connector.Now()); err != nil {
		p.connector.Notice(p.account, fmt.Sprintf("rates could not be fetched; it is tried again: %v", err))
	}
	version, err := p.connector.Store.AwaitedVersion(ctx, p.account)
	if err != nil || version == p.awaited { // the next pull tries them
		return nil
	}
	p.awaited = version
	return tried
}

// isNews reports whether the reports on the disk were not tried by this process with
// this version of what they wait for.
func (d *Daily) isNews(c adlens.Connection, awaited uint32) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	tried, ok := d.tried[lookKey(c)]
	return !ok || tried != awaited
}

func (d *Daily) noteTried(c adlens.Connection, awaited uint32) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.tried == nil {
		d.tried = map[string]uint32{}
	}
	d.tried[lookKey(c)] = awaited
}

// forgetTried has what is on the disk of a connection tried again: a load failed.
func (d *Daily) forgetTried(c adlens.Connection) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.tried, lookKey(c))
}

// WaitingReports lists the reports of an account that were downloaded into a
// directory and are not visible: those that wait for rates or a list, or whose load
// failed, and others for a moment after their download.
func (c *Connector) WaitingReports(ctx context.Context, account, dir string) ([]adlens.ReportRequest, error) {
	if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	profiles, err := c.Store.Profiles(ctx, account)
	if err != nil {
		return nil, err
	}
	open, err := c.openReports(ctx, account, profiles, dir)
	var all []adlens.ReportRequest
	for _, a := range open {
		if a.progress == onDisk {
			all = append(all, a.ReportRequest)
		}
	}
	return all, err
}
