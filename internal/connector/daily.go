package connector

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"adlens"
	"adlens/internal/platform"
	"adlens/internal/platform/api"
	"adlens/loader"
)

// Bounds of refreshing figures.
const (
	scanEvery   = 5 * time.Second  // for connections
	scanAgain   = time.Minute      // for those that no mark tells of
	lookAgain   = 10 * time.Minute // at an account of which nothing was due
	lookSoon    = time.Minute      // at an account that was busy, or failed once
	betweenTwo  = time.Hour        // refreshes of an account that succeed
	firstRetry  = time.Minute      // after a refresh that failed
	retryFactor = 4
	accountsAt  = 512 // refreshes at once; they mostly wait for the platform
)

// Daily refreshes the figures of connected accounts once the day of each
// marketplace has ended, and the rates of exchange of all accounts.
type Daily struct {
	Connector *Connector
	Dir       string        // extracts are left in a directory for each account below it
	Poll      time.Duration // the first wait between two looks at a report
	Lists     *Lists        // those of the profiles are read once a day, after their reports; nil for never
	// Report hears how each refresh ended. It may be called from several
	// goroutines.
	Report func(account, connection string, result loader.Result, took time.Duration, err error)
	// Unread hears of a scan that could not read the connections, where the one before could.
	Unread func(error)
	// Mark stays the same while connections do; settled is false where nothing follows
	// from it. Without it they are read at each scan.
	Mark func() (mark uint64, settled bool)

	mu      sync.Mutex
	looks   map[string]look       // by connection
	refused map[string]refusal    // by task
	tried   map[string]uint32     // by connection, the AwaitedVersion with which reports on the disk were last tried
	begun   map[string]bool       // by task, that legacy reports were requested by this process
	told    map[string]adlens.Day // by connection, the day on which it was last told that profiles are left out
	running sync.WaitGroup
}

// look is when an account has to be looked at.
type look struct {
	sealed   string // a connection with other credentials, or a new one, is looked at at once
	next     time.Time
	busy     bool
	again    bool // look at it again right after the look that runs
	waiting  int  // reports on the disk that are not loaded
	failures int  // looks in a row that failed

	stop context.CancelFunc // of the look that runs
}

// Run refreshes what is due until the context ends.
func (d *Daily) Run(ctx context.Context) {
	defer d.running.Wait()
	slots := make(chan struct{}, accountsAt)
	ticker := time.NewTicker(d.Connector.paced(scanEvery))
	defer ticker.Stop()
	var known scan
	away := false // the last scan failed
	for {
		connections, err := d.scanConnections(ctx, &known)
		if err != nil && ctx.Err() == nil && !away {
			d.Unread(err)
		}
		if away = err != nil; !away {
			d.stopOthers(connections)
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

// stopOthers stops what is under way through connections that are not among these any
// more, or have other credentials, and forgets those that are gone.
func (d *Daily) stopOthers(connections []adlens.Connection) {
	sealed, keys := map[string]string{}, map[string]bool{}
	for _, c := range connections {
		sealed[lookKey(c)], keys[lookKey(c)] = c.Sealed, true
	}
	d.mu.Lock()
	for key, l := range d.looks {
		switch {
		case l.busy && !(keys[key] && sealed[key] == l.sealed):
			l.stop()
		case !l.busy && !keys[key]:
			delete(d.looks, key)
		}
	}
	d.mu.Unlock()
	if d.Lists != nil {
		d.Lists.stopOthers(keys)
	}
}

// startRefresh looks after a connection in the background where it is time to, unless
// that is being done already or too much is.
func (d *Daily) startRefresh(ctx context.Context, slots chan struct{}, c adlens.Connection) {
	d.mu.Lock()
	defer d.mu.Unlock()
	key := lookKey(c)
	last := d.looks[key]
	if !last.busy && last.sealed != c.Sealed { // what was refused may not be any more
		maps.DeleteFunc(d.refused, func(task string, _ refusal) bool { return strings.HasPrefix(task, c.Account+" ") })
	}
	if last.busy || last.sealed == c.Sealed && d.Connector.Now().Before(last.next) {
		return
	}
	select {
	case slots <- struct{}{}:
	default:
		return
	}
	if d.looks == nil {
		d.looks = map[string]look{}
	}
	ctx, stop := context.WithCancel(ctx)
	d.looks[key] = look{sealed: c.Sealed, busy: true, waiting: last.waiting, stop: stop}
	d.running.Go(func() {
		defer stop()
		pause, err := d.lookAfter(ctx, c)
		failures := 0
		if err != nil {
			failures = last.failures + 1
			pause = exponentialBackoff(d.Connector.paced(lookSoon), retryFactor, d.Connector.paced(lookAgain))(failures)
		}
		waiting, err := d.countWaiting(ctx, c)
		if err != nil {
			waiting = last.waiting
		}
		d.mu.Lock()
		defer d.mu.Unlock()
		next := d.Connector.Now().Add(pause)
		if d.looks[key].again {
			next = d.Connector.Now()
		}
		d.looks[key] = look{sealed: c.Sealed, next: next, waiting: waiting, failures: failures}
		<-slots
	})
}

// LookAgain has the connections of an account looked at with the next scan: lists
// were read, which may name campaigns that only legacy reports have, or that such a
// report waits for.
func (d *Daily) LookAgain(account string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for key, l := range d.looks {
		if strings.HasPrefix(key, account+"/") {
			l.next, l.again = d.Connector.Now(), l.busy
			d.looks[key] = l
		}
	}
}

// lookKey tells the looks at connections apart.
func lookKey(c adlens.Connection) string { return c.Account + "/" + c.Name }

// lookAfter refreshes what is due, and returns when to look again.
func (d *Daily) lookAfter(ctx context.Context, c adlens.Connection) (time.Duration, error) {
	began := d.Connector.Now()
	// Rates come first: reports that wait for them are tried again right after.
	if err := d.Connector.freshenRates(ctx, c.Account, d.accountDir(c.Account), began); err != nil && ctx.Err() == nil {
		d.Connector.Notice(c.Account, fmt.Sprintf("rates could not be fetched; it is tried again: %v", err))
	}
	if isUnconnected(c) {
		return d.Connector.paced(lookAgain), nil
	}
	result, did, err := d.refreshConnection(ctx, c)
	if (did == refreshed || err != nil) && ctx.Err() == nil {
		d.Report(c.Account, c.Name, result, d.Connector.Now().Sub(began), err)
	}
	read := (*Lists).ReadMissing
	if did == nothingDue || did == refreshed && (err == nil || len(result.Files) > 0) { // the platform answers
		read = (*Lists).ReadDaily
	}
	d.readLists(ctx, c, read)
	if did == nothingDue {
		return d.Connector.paced(lookAgain), err
	}
	return d.Connector.paced(lookSoon), err
}

// readLists has the lists of a connection's profiles read once a day, or only those that
// miss something: an account of which no client asks for campaigns has to know too which of
// them only legacy reports have.
func (d *Daily) readLists(ctx context.Context, c adlens.Connection, read func(l *Lists, ctx context.Context, account, marketplaceID string) error) {
	if d.Lists == nil {
		return
	}
	profiles, err := d.Connector.profilesOf(ctx, c)
	for _, profile := range profiles {
		err = errors.Join(err, read(d.Lists, ctx, c.Account, profile.ID))
	}
	if err != nil && ctx.Err() == nil {
		d.Connector.Notice(c.Account, fmt.Sprintf("lists of campaigns could not be looked at; it is tried again: %v", err))
	}
}

// did says what came of a look.
type did int

const (
	nothingDue did = iota
	notNow         // something is due, but it is under way or has to rest
	refreshed
)

// refreshConnection reads what is due of a connection's profiles, if anything is and
// no other process is at it.
func (d *Daily) refreshConnection(ctx context.Context, c adlens.Connection) (result loader.Result, _ did, err error) {
	account := c.Account
	profiles, err := d.Connector.profilesOf(ctx, c)
	if err != nil {
		return result, notNow, err
	}
	tasks, err := d.dueTasks(ctx, account, profiles)
	// Where the account holds none of its profiles any more, as one that was given up with its
	// shard, a pull takes them, and finds what is due.
	isUnheld := len(profiles) == 0 && len(c.Profiles) > 0
	if err != nil || len(tasks) == 0 && !isUnheld {
		return result, nothingDue, err
	}
	here, away := splitTasks(tasks)
	if len(here) > 0 {
		result, did, err := d.loadHere(ctx, c, here)
		if err != nil || did == refreshed || len(away) == 0 {
			return result, did, err
		}
	}
	name := ReportsWork(account, c.Name)
	last, _, err := d.Connector.Store.Attempt(ctx, name)
	if err != nil {
		return result, notNow, err
	}
	isNewDay := hasEndedSince(away, d.Connector.Now().Add(-last.Age))
	w := work{store: d.Connector.Store, locks: d.Connector.Locks, name: name, outcome: func(before int, err error) int {
		if isNewDay { // what failed on the day before says nothing of it
			before = 0
		}
		return failuresAfter(before, err)
	}, rest: func(failures int) time.Duration {
		switch {
		case failures == 0 && d.hasNewLegacy(away):
			return 0
		case failures == 0:
			// What is due says when; this only bounds how often the platform
			// is asked without success for a marketplace that it lists no more.
			return betweenTwo
		case isNewDay: // one report that keeps failing delays no other marketplace
			return d.Connector.paced(firstRetry)
		}
		return exponentialBackoff(d.Connector.paced(firstRetry), retryFactor, longestRest)(failures)
	}}
	end, turn, err := w.beginWork(ctx)
	if err != nil || turn != free {
		return result, notNow, err
	}
	d.noteBegun(away)
	result, failed, err := d.pullConnection(ctx, c)
	ending := end(failed)
	return result, refreshed, errors.Join(err, ending)
}

// hasNewLegacy reports whether legacy reports are due that this process never
// requested: a list named the campaigns that need them after the last refresh, so
// they do not rest with it.
func (d *Daily) hasNewLegacy(tasks []*task) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.ContainsFunc(tasks, func(t *task) bool { return t.report == platform.LegacyReportType && !d.begun[t.taskKey()] })
}

// hasEndedSince reports whether the last day of some task ended after a time.
func hasEndedSince(tasks []*task, then time.Time) bool {
	return slices.ContainsFunc(tasks, func(t *task) bool { return LastEnded(t.profile, then) < t.last })
}

func (d *Daily) noteBegun(tasks []*task) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.begun == nil {
		d.begun = map[string]bool{}
	}
	for _, t := range tasks {
		if t.report == platform.LegacyReportType {
			d.begun[t.taskKey()] = true
		}
	}
}

// dueTasks finds what is due of some profiles, and how far it is.
func (d *Daily) dueTasks(ctx context.Context, account string, profiles []platform.Profile) ([]*task, error) {
	states, err := d.Connector.Store.Refreshed(ctx, account)
	if err != nil {
		return nil, err
	}
	open, err := d.Connector.openReports(ctx, account, profiles, d.accountDir(account))
	if err != nil {
		return nil, err
	}
	legacy, err := d.Connector.Store.LegacyProfiles(ctx, account)
	if err != nil {
		return nil, err
	}
	var tasks []*task
	var doubted []adlens.Refreshed
	for _, profile := range profiles {
		now := d.Connector.Now()
		last := LastEnded(profile, now)
		for _, t := range reportTypesOf(profile, legacy) {
			before, isDoubted := stateOf(states, profile, t, now)
			if isDoubted {
				doubted = append(doubted, *before)
			}
			one, ok := newTask(account, profile, t, before, last)
			if !ok {
				continue
			}
			if err := d.Connector.keepHeld(ctx, account, &one); err != nil {
				return nil, err
			}
			one.refusals = d.countRefusals(&one)
			one.planWindows(open)
			if one.refusals < closedTries || one.isHere() {
				tasks = append(tasks, &one)
			}
		}
	}
	if len(doubted) > 0 { // noted now: by the time that the work has rested, the day may have ended
		return tasks, d.Connector.Store.PutRefreshed(ctx, doubted)
	}
	return tasks, nil
}

// stateOf is how far a report type of a profile was read; nil for never. Where the last day
// has not ended, a clock that was ahead took it for ended: it was read in part, if at all,
// and is doubted.
func stateOf(states []adlens.Refreshed, profile platform.Profile, t *platform.ReportType, now time.Time) (state *adlens.Refreshed, doubted bool) {
	i := slices.IndexFunc(states, func(r adlens.Refreshed) bool { return r.MarketplaceID == profile.ID && r.ReportType == t.ID })
	if i < 0 {
		return nil, false
	}
	one := states[i]
	ended := LastEnded(profile, now.Add(loader.ClockSlack))
	if doubted = one.Through > ended; doubted {
		one.Through, one.DeepThrough = ended-1, min(one.DeepThrough, ended-1)
	}
	return &one, doubted
}

// splitTasks finds the tasks of which something can be done here, without the platform,
// and those that need it. A task may be both: what is on the disk waits for no other report.
func splitTasks(tasks []*task) (here, away []*task) {
	for _, t := range tasks {
		if t.isHere() || !t.needsPlatform() {
			here = append(here, t)
		}
		if t.needsPlatform() && t.refusals < closedTries {
			away = append(away, t)
		}
	}
	return here, away
}

func (t *task) taskKey() string {
	return t.after.Account + " " + t.profile.ID + " " + t.report.ID
}

// accountDir is where an account's extracts are.
func (d *Daily) accountDir(account string) string { return filepath.Join(d.Dir, account) }

func (d *Daily) newPull(c adlens.Connection) *pull {
	began := d.Connector.Now()
	p := &pull{connector: d.Connector, account: c.Account, connection: c, out: d.accountDir(c.Account), poll: d.Poll, saidBefore: true,
		fetched: func(done, total int) {
			d.Connector.Notice(c.Account, fmt.Sprintf("%d of %d reports fetched", done, total))
		},
		// After a success the next pull begins no sooner.
		isOverdue: func(profiles []platform.Profile, failed bool) bool {
			now := d.Connector.Now()
			return now.Sub(began) >= betweenTwo && (failed || slices.ContainsFunc(profiles, func(p platform.Profile) bool { return LastEnded(p, began) < LastEnded(p, now) }))
		}}
	if d.Lists != nil {
		p.readLists = d.Lists.ReadAgain
	}
	return p
}

// pullConnection fetches and loads what is due of those of a connection's profiles
// that the platform lists now, and notes what came through whole. failed is the part of the error that
// another try may mend.
func (d *Daily) pullConnection(ctx context.Context, c adlens.Connection) (result loader.Result, failed, err error) {
	p := d.newPull(c)
	err = p.runPull(ctx, func(all []platform.Profile) error {
		tasks, err := d.dueTasks(ctx, c.Account, all)
		// What waits on the disk waits on, for what may come meanwhile.
		here, away := splitTasks(tasks)
		p.tasks = append(away, slices.DeleteFunc(here, (*task).needsPlatform)...)
		return err
	})
	err = errors.Join(err, refusedFiles(p.result))
	if err != nil {
		d.forgetTried(c)
	}
	noting := d.noteRead(ctx, p)
	err = errors.Join(err, noting)
	d.tellLeftOut(c, p.leftOut)
	if noting == nil && len(p.tasks) > 0 && !slices.ContainsFunc(p.tasks, (*task).isWanting) {
		return p.result, nil, err
	}
	return p.result, err, err
}

// tellLeftOut tells why profiles of a connection are not read, at most once a day: no
// other try mends it, and the others are read.
func (d *Daily) tellLeftOut(c adlens.Connection, leftOut error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	today := adlens.DayOf(d.Connector.Now().UTC())
	if leftOut == nil || d.told[lookKey(c)] == today {
		return
	}
	if d.told == nil {
		d.told = map[string]adlens.Day{}
	}
	d.told[lookKey(c)] = today
	d.Connector.Notice(c.Account, leftOut.Error())
}

// isDone reports whether a task is read as far as the platform has its days.
func (t *task) isDone() bool { return t.isRead() || t.never != nil && !t.isWanting() && !t.isHere() }

// noteRead notes of the tasks of a pull which are read, as far as the platform has
// their days, and which the platform refused.
func (d *Daily) noteRead(ctx context.Context, p *pull) error {
	ctx = context.WithoutCancel(ctx)
	visible, gone := p.forgetLost(ctx)
	var read []*task
	var through []adlens.Refreshed
	for _, t := range p.tasks {
		switch {
		case t.isDone():
			read, through = append(read, t), append(through, t.after)
		case !t.isWanting() && slices.ContainsFunc(t.windows, func(w *window) bool { return w.err != nil }):
			d.noteRefused(t, closedTries)
		case slices.ContainsFunc(t.windows, func(w *window) bool { return errors.Is(w.err, api.Closed) }):
			d.noteRefused(t, min(t.refusals+1, closedTries-1))
		}
	}
	if len(read) == 0 {
		return gone
	}
	err := errors.Join(d.Connector.Store.PutRefreshed(ctx, through), pruneReports(p.out, visible))
	for _, t := range read {
		if err == nil {
			err = errors.Join(p.noteNothing(ctx, t), p.closeRequests(ctx, t, true))
		}
	}
	return errors.Join(gone, err)
}
