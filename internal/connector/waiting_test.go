package connector

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"adlens"
	"adlens/integration/standin"
	"adlens/internal/platform"
	"adlens/loader"
)

func TestDaysWithoutRatesAreWrittenInOrder(t *testing.T) {
	waits := func(currency string, days ...adlens.Day) loader.FileResult {
		return loader.FileResult{Status: loader.Waiting, MissingRates: &loader.MissingRates{Currency: currency, Days: days}}
	}
	first := adlens.Date(2026, time.January, 30)
	for want, files := range map[string][]loader.FileResult{
		"":                  {{Status: loader.Loaded}, {Status: loader.Refused, MissingRates: &loader.MissingRates{Currency: "CAD", Days: []adlens.Day{first}}}},
		"CAD on 2026-01-30": {waits("CAD", first)},
		"CAD on 2026-01-30 to 2026-02-02, 2026-02-04; GBP on 2026-01-31":      {waits("GBP", first+1), waits("CAD", first+2, first+3, first+5), waits("CAD", first, first+1, first+2)},
		"EUR on 2026-01-30, 2026-02-01, 2026-02-03 to 2026-02-04, 2026-02-06": {waits("EUR", first, first+2, first+4, first+5, first+7)},
	} {
		if n, got := MissingRates(loader.Result{Files: files}); got != want || (n == 0) != (want == "") {
			t.Errorf("%d reports lack %q, want %q", n, got, want)
		}
	}
}

func TestWaitingReportsOfAllConnectionsAreCounted(t *testing.T) {
	d := &Daily{looks: map[string]look{"one/NA": {waiting: 2}, "one/EU": {}, "two/NA": {waiting: 1}}}
	if n := d.Waiting(); n != 3 {
		t.Errorf("%d reports wait, want 3", n)
	}
}

// Reports that waited for rates until the platform had their first days no longer are
// loaded when the rates come, and what is due waits for none of them.
func TestReportsThatWaitedLongAreLoaded(t *testing.T) {
	t.Parallel()
	for name, some := range map[string]bool{"all reports lack rates": false, "the oldest report lacks rates": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 1)
			w.faults = 0
			oldest := LastEnded(w.profiles[0], w.now) - adlens.Day(lookBack[adlens.SponsoredProducts]) + 1
			if some {
				w.noted.rates, w.lacks = 1, oldest+1
			}
			w.refresh(1 << 30)
			pass := func(days int) {
				w.now = w.now.Add(time.Duration(days) * 24 * time.Hour)
				w.refresh(1 << 30)
			}
			pass(week + 1)
			if some { // of the oldest day alone
				w.wantAllRead()
			}
			w.noted.rates, w.lacks = 2, 0
			if some {
				w.now = w.now.Add(24 * time.Hour)
			}
			w.refresh(1 << 30) // what is on the disk comes first
			w.refresh(1 << 30)
			w.wantAllRead()
			if have, ok := w.held[readKey("7", platform.ReportTypes[0].ID)][oldest]; !ok {
				t.Errorf("%s is not loaded: %v", oldest, have)
			}
			for _, r := range w.requests {
				if !r.Done {
					t.Errorf("the request of %s from %s to %s is still open", r.ReportType, r.Start, r.End)
				}
			}
		})
	}
}

// heldDays counts the days of figures that are held.
func (w *world) heldDays() (n int) {
	w.noted.mu.Lock()
	defer w.noted.mu.Unlock()
	for _, days := range w.held {
		n += len(days)
	}
	return n
}

// What waits on the disk needs no platform, however it refuses what else is due.
func TestReportsThatWaitAreLoadedThoughThePlatformRefuses(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]standin.Fault{
		"the credentials": {On: standin.Token, Times: -1, Do: standin.Error(400, standin.Detail, "invalid_grant")},
		"other reports":   {On: standin.ReportCreate, Times: -1, Do: standin.Error(400, standin.Detail, "not today")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 1)
			w.faults = 0
			w.refresh(1 << 30)
			w.platform.Inject(fault)
			w.now = w.now.Add(24 * time.Hour)
			w.start()
			w.refresh(1 << 30) // it is refused
			w.noted.rates = 1
			w.refresh(1 << 30)
			if n := w.heldDays(); n < 95+60+65-3 {
				t.Errorf("%d days are held", n)
			}
		})
	}
}

// Legacy reports, of a day each, wait over a change of day though the days of the newest are
// due again: these are requested once what waits is loaded, whatever the platform answers
// meanwhile.
func TestLegacyReportsThatWaitAreLoadedOverAChangeOfDay(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fault  standin.Fault
		byHand bool
	}{
		"it answers":          {},
		"it answers a person": {byHand: true},
		"no credentials":      {fault: standin.Fault{On: standin.Token, Do: standin.Error(400, standin.Detail, "invalid_grant")}},
		"400":                 {fault: standin.Fault{On: standin.LegacyCreate, Do: standin.Error(400, standin.Details, "not today")}},
		"404":                 {fault: standin.Fault{On: standin.LegacyCreate, Do: standin.Error(404, standin.Details, "Method Not Found")}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 1)
			w.faults, w.legacy = 0, map[string]bool{"7": true}
			w.refresh(1 << 30) // all wait
			if c.fault.On != "" {
				c.fault.Times = -1
				w.platform.Inject(c.fault)
			}
			w.now = w.now.Add(24 * time.Hour)
			w.start()
			w.refresh(1 << 30)
			w.noted.rates = 1
			if c.byHand {
				if _, err := w.daily.Connector.pullConnection(t.Context(), w.connection, PullOptions{Out: t.TempDir(), Kept: w.daily.accountDir("one"), Poll: time.Millisecond, Fetched: func(int, int) {}}); err != nil {
					t.Error(err)
				}
			} else {
				w.refresh(1 << 30)
			}
			if n := len(w.held[readKey("7", platform.LegacyReportType.ID)]); n < lookBack[adlens.SponsoredBrands] {
				t.Errorf("%d days of legacy reports are held", n)
			}
			w.platform.Heal()
			w.start()
			if !c.byHand { // which has read all
				w.refresh(1 << 30)
				w.refresh(1 << 30)
			}
			w.wantAllRead()
			last := LastEnded(w.profiles[0], w.now)
			for day := last - restatedDaily + 1; day <= last; day++ {
				if have := w.held[readKey("7", platform.LegacyReportType.ID)][day]; have.readOn != last {
					t.Errorf("the legacy report of %s was read after %s, want %s", day, have.readOn, last)
				}
			}
		})
	}
}

// unlisting is a loader that knows no campaign of legacy reports.
type unlisting struct{ *world }

func (u unlisting) Load(ctx context.Context, account string, paths []string) (loader.Result, error) {
	r, err := u.world.Load(ctx, account, paths)
	for i, f := range r.Files {
		if strings.Contains(f.File, platform.LegacyReportType.ID) {
			r.Files[i] = loader.FileResult{File: f.File, Status: loader.Refused, Error: new("no list"), Unlisted: true}
		}
	}
	return r, err
}

// A legacy report of a campaign that no list names has the lists read when they may be, and
// not with each load and each try.
func TestAReportOfAnUnknownCampaignWaitsForTheNextLists(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	w.faults, w.noted.rates, w.legacy = 0, 1, map[string]bool{"7": true}
	w.daily.Connector.Loader = unlisting{w}
	r := &reads{began: map[string][]time.Time{}}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	w.daily.Lists = NewLists(ctx, w.daily.Connector, func(string, string, time.Duration, error) {})
	w.daily.Lists.read = r.read
	for range 3 {
		if _, _, err := w.daily.refreshConnection(t.Context(), w.connection); err != nil {
			t.Fatal(err)
		}
		w.now = w.now.Add(24 * time.Hour)
	}
	stop()
	w.daily.Lists.Wait()
	if n := w.platform.Calls(standin.SBCampaigns); n != 0 || len(r.of("one/7")) != 1 {
		t.Errorf("the list was read %d times by pulls, and lists %d times, want 0 and 1", n, len(r.of("one/7")))
	}
}

// opening is a loader during whose first load without rates they come.
type opening struct{ *world }

func (o opening) Load(ctx context.Context, account string, paths []string) (loader.Result, error) {
	r, err := o.world.Load(ctx, account, paths)
	if len(r.Files) == 0 {
		return r, err
	}
	o.noted.mu.Lock()
	o.noted.rates = 1
	o.noted.mu.Unlock()
	if o.heldDays() == 60+65 { // all others
		o.dice.Lock()
		defer o.dice.Unlock()
		o.now = o.now.Add(2 * time.Hour) // what was not ready is
	}
	return r, err
}

// Reports that wait are loaded when the rates come, though the pull still waits for others.
func TestReportsThatWaitAreLoadedDuringAPull(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	w.faults = 0
	w.platform.PlanReportsBy(func(o standin.ReportOrder) standin.JobPlan {
		if o.ReportTypeID == platform.ReportTypes[0].ID {
			return standin.JobPlan{Duration: time.Hour}
		}
		return standin.JobPlan{}
	})
	w.daily.Connector.Pace, w.daily.Connector.Loader = 6000, opening{w}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	result, _, err := w.daily.refreshConnection(ctx, w.connection)
	if err != nil || ctx.Err() != nil {
		t.Fatal(err, ctx.Err())
	}
	for _, f := range result.Files {
		if f.Status != loader.Loaded {
			t.Errorf("%s is %s", f.File, f.Status)
		}
	}
	w.wantAllRead()
}

// What is all on the disk waits through a pull of others, and is loaded in it.
func TestReportsThatWaitedBeforeAPullAreLoadedDuringIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	w.faults = 0
	w.lacks = 1 << 20 // all of them
	ofSP := func(o standin.ReportOrder) bool { return o.ReportTypeID == platform.ReportTypes[0].ID }
	w.platform.PlanReportsBy(func(o standin.ReportOrder) standin.JobPlan {
		if ofSP(o) {
			return standin.JobPlan{FailureReason: "out of order"}
		}
		return standin.JobPlan{}
	})
	w.refresh(1 << 30)
	w.platform.PlanReportsBy(func(o standin.ReportOrder) standin.JobPlan {
		if ofSP(o) && w.heldDays() < 60+65 { // after which no load puts the clock forward
			return standin.JobPlan{Duration: time.Hour}
		}
		return standin.JobPlan{}
	})
	w.lacks = 0
	w.daily.Connector.Pace, w.daily.Connector.Loader = 6000, opening{w}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for range 2 { // what is on the disk comes first
		if _, _, err := w.daily.refreshConnection(ctx, w.connection); err != nil || ctx.Err() != nil {
			t.Fatal(err, ctx.Err())
		}
	}
	w.wantAllRead()
}

// Reports whose load failed are loaded at the next look, though others, which were tried
// before, wait on.
func TestReportsWhoseLoadFailedWaitForNoRates(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	w.faults, w.noted.rates = 0, 1
	w.lacks = LastEnded(w.profiles[0], w.now) - 40
	w.refresh(1 << 30)
	w.refresh(1 << 30) // tries what waits once more
	w.now = w.now.Add(24 * time.Hour)
	w.daily.Connector.Loader = killedLoader{w}
	if _, _, err := w.daily.refreshConnection(t.Context(), w.connection); !errors.Is(err, errKilled) {
		t.Fatal(err)
	}
	w.daily.Connector.Loader = w
	w.refresh(1 << 30)
	last := LastEnded(w.profiles[0], w.now)
	for _, report := range platform.ReportTypes {
		if _, held := w.held[readKey("7", report.ID)][last]; !held {
			t.Errorf("%s of %s is not loaded", report.ID, last)
		}
	}
}

// killedLoader is a loader whose process is killed as it begins.
type killedLoader struct{ *world }

func (k killedLoader) Load(ctx context.Context, account string, paths []string) (r loader.Result, _ error) {
	if !strings.HasSuffix(paths[0], reportSuffix) {
		return k.world.Load(ctx, account, paths)
	}
	return r, errKilled
}

// What a killed pull leaves on the disk is loaded at the next look, each time.
func TestWhatAKilledPullLeavesIsLoaded(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	w.faults, w.noted.rates = 0, 1
	server := w.daily
	for range 3 {
		w.start()
		w.daily.Connector.Loader = killedLoader{w}
		if _, _, err := w.daily.refreshConnection(t.Context(), w.connection); !errors.Is(err, errKilled) {
			t.Fatal(err)
		}
		w.daily = server
		w.refresh(1 << 30)
		w.wantAllRead()
		w.now = w.now.Add(24 * time.Hour)
	}
}

// A download that is not whole any more, and a report that the loader refuses, are
// requested once more: neither waits on the disk for good.
func TestWhatCannotBeLoadedIsRequestedAgain(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(*world, string) error{
		"cut off": func(_ *world, path string) error { return os.Truncate(path, 30) },
		"empty":   func(_ *world, path string) error { return os.Truncate(path, 0) },
		"refused": func(w *world, _ string) error {
			w.daily.Connector.Loader = &refusing{world: w}
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 1)
			w.faults = 0
			w.refresh(1 << 30) // all wait for rates
			downloads, err := filepath.Glob(filepath.Join(w.daily.accountDir("one"), "*"+downloadSuffix))
			if err != nil || len(downloads) == 0 {
				t.Fatal(downloads, err)
			}
			if err := spoil(w, downloads[0]); err != nil {
				t.Fatal(err)
			}
			w.noted.rates = 1
			for range 3 {
				_, _, err = w.daily.refreshConnection(t.Context(), w.connection)
			}
			if due, unread := w.daily.dueTasks(t.Context(), "one", w.profiles); len(due) > 0 || unread != nil || err != nil {
				t.Errorf("%d tasks are due: %v, %v", len(due), err, unread)
			}
		})
	}
}

// refusing is a loader that finds the first report that it is given damaged.
type refusing struct {
	*world
	damaged string
}

func (r *refusing) Load(ctx context.Context, account string, paths []string) (result loader.Result, err error) {
	var sound []string
	for _, path := range paths {
		report, err := readReport(path)
		switch {
		case err != nil || r.damaged != "" && r.damaged != report.ID:
			sound = append(sound, path)
		default:
			r.damaged = report.ID
			result.Files = append(result.Files, loader.FileResult{File: path, Status: loader.Refused, Error: new("it is damaged")})
		}
	}
	if len(sound) > 0 {
		rest, failed := r.world.Load(ctx, account, sound)
		result.Files, err = append(result.Files, rest.Files...), failed
	}
	return result, err
}
