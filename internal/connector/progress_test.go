package connector

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"adlens"
	"adlens/integration/standin"
	"adlens/internal/platform"
	"adlens/internal/secret"
	"adlens/loader"
)

// world is an account, its platform and a server over some weeks in which much
// goes wrong. Its clock stands still while a refresh runs.
type world struct {
	*noted
	t        *testing.T
	platform *standin.Platform
	daily    *Daily
	dir      string
	key      secret.Key

	dice   sync.Mutex // for what follows
	random *rand.Rand
	faults float64 // how probable each is
	now    time.Time
	lacks  adlens.Day                       // reports that begin before it lack rates
	losses int                              // loads after which a restore takes all away
	held   map[string]map[adlens.Day]figure // by profile and report type
	reads  map[string]string                // report by those, day, and the ended day that it was requested after
}

// figure is a day's, out of the newest report of it that was loaded.
type figure struct {
	generated time.Time
	readOn    adlens.Day
	cost      string
}

func newWorld(t *testing.T, seed uint64, others ...standin.Profile) *world {
	t.Helper()
	w := &world{t: t, dir: t.TempDir(), random: rand.New(rand.NewPCG(seed, 23)), faults: 0.15, now: time.Date(2026, 9, 1, 20, 0, 0, 0, time.UTC),
		held: map[string]map[adlens.Day]figure{}, reads: map[string]string{}, noted: newNoted("one", 1<<30)}
	profiles := append([]standin.Profile{{ID: 7}}, others...)
	w.platform = standin.New(standin.Config{Profiles: profiles, Facts: factsOf(w.now, profiles), Now: w.clock})
	t.Cleanup(w.platform.Close)
	key, err := secret.ReadOrMakeKey(filepath.Join(t.TempDir(), "key"))
	if err != nil {
		t.Fatal(err)
	}
	w.key = key
	w.start()
	if w.profiles, err = w.daily.Connector.Connect(t.Context(), adlens.Connection{Account: "one", Name: "NA", Region: "NA", ClientID: standin.DefaultClientID},
		Secrets{standin.DefaultClientSecret, standin.DefaultRefreshToken}); err != nil {
		t.Fatal(err)
	}
	w.platform.PlanReportsBy(func(standin.ReportOrder) standin.JobPlan {
		if w.goesWrong() {
			return standin.JobPlan{FailureReason: "out of order"}
		}
		return standin.JobPlan{}
	})
	for endpoint, answer := range map[standin.Endpoint]standin.Effect{
		standin.ReportCreate: standin.Error(400, standin.Detail, "not today"),
		standin.ReportFile:   standin.Error(403, standin.Detail, "Request has expired"),
	} {
		w.platform.Inject(standin.Fault{On: endpoint, Times: -1, When: func(standin.Call) bool { return w.goesWrong() }, Do: answer})
	}
	return w
}

// factsOf has a cost of its own for each profile, ad product and day around a time.
func factsOf(now time.Time, profiles []standin.Profile) (all []standin.Fact) {
	for n, profile := range profiles {
		for day := -110; day < 60; day++ {
			for i, product := range []string{standin.SponsoredProducts, standin.SponsoredBrands, standin.SponsoredDisplay} {
				all = append(all, standin.Fact{Profile: profile.ID, AdProduct: product, Day: now.AddDate(0, 0, day).Format(time.DateOnly),
					CampaignID: 1, Clicks: 1, Cost: fmt.Sprintf("%d%d.%d", n+1, 200+day, i)})
			}
		}
	}
	return all
}

func (w *world) clock() time.Time {
	w.dice.Lock()
	defer w.dice.Unlock()
	return w.now
}

func (w *world) goesWrong() bool {
	w.dice.Lock()
	defer w.dice.Unlock()
	return w.random.Float64() < w.faults
}

// start is a server that knows what is stored, and nothing else.
func (w *world) start() {
	w.daily = &Daily{Dir: w.dir, Poll: time.Millisecond, Connector: New(Config{Store: w, Loader: w, Locks: w.noted, Now: w.clock,
		BaseURL: Addresses{all: w.platform.URL()}, TokenURL: Addresses{all: w.platform.TokenURL()}, Key: func() (secret.Key, error) { return w.key, nil }, Notice: func(string, string) {}})}
}

// Load takes reports where there are rates.
func (w *world) Load(_ context.Context, _ string, paths []string) (r loader.Result, _ error) {
	if !strings.HasSuffix(paths[0], reportSuffix) {
		return r, nil // profiles
	}
	if w.goesWrong() {
		return r, errors.New("the database is away")
	}
	for _, path := range paths {
		f := loader.FileResult{File: path, Status: loader.Loaded}
		if report, err := readReport(path); err != nil || w.noted.rates == 0 || report.Start < w.lacks {
			missing := &loader.MissingRates{Currency: "USD"}
			text := missing.Error()
			f = loader.FileResult{File: path, Status: loader.Refused, Error: &text, MissingRates: missing}
		} else {
			w.take(path)
		}
		r.Files = append(r.Files, f)
	}
	if w.losses--; w.losses >= 0 {
		w.noted.mu.Lock()
		defer w.noted.mu.Unlock()
		clear(w.visible)
		clear(w.held)
		clear(w.reads)
	}
	return r, nil
}

func (w *world) ReplaceLists(context.Context, string, loader.Lists) error { return nil }

// HeldDays are those of files and reports.
func (w *world) HeldDays(_ context.Context, _, marketplaceID string, p adlens.AdProduct) (map[adlens.Day]bool, error) {
	w.noted.mu.Lock()
	defer w.noted.mu.Unlock()
	days := map[adlens.Day]bool{}
	for _, t := range platform.ReportTypes {
		for day := range w.held[readKey(marketplaceID, t.ID)] {
			days[day] = days[day] || t.AdProduct == p
		}
	}
	maps.DeleteFunc(days, func(_ adlens.Day, held bool) bool { return !held })
	return days, nil
}

// take folds a report into the figures.
func (w *world) take(path string) {
	report, err := readReport(path)
	if err != nil {
		w.t.Fatal(err)
	}
	rows := map[adlens.Day]string{}
	for _, row := range readRows(w.t, strings.TrimSuffix(path, reportSuffix)+downloadSuffix) {
		day, err := report.Start, error(nil)
		if !report.Type.Legacy { // whose rows say no day
			day, err = adlens.ParseDay(row.Date)
		}
		if err != nil {
			w.t.Fatal(err)
		}
		rows[day] = row.Cost.String()
	}
	w.noted.mu.Lock()
	defer w.noted.mu.Unlock()
	first := !w.visible[report.ID]
	w.visible[report.ID] = true
	i := slices.IndexFunc(w.profiles, func(p platform.Profile) bool { return p.ID == report.ProfileID })
	readOn, key := LastEnded(w.profiles[i], w.made[report.ID].RequestedAt), readKey(report.ProfileID, report.Type.ID)
	if w.held[key] == nil {
		w.held[key] = map[adlens.Day]figure{}
	}
	for day := report.Start; day <= report.End; day++ {
		if have, ok := w.held[key][day]; !ok || report.GeneratedAt.After(have.generated) {
			w.held[key][day] = figure{report.GeneratedAt, readOn, rows[day]}
		}
		read := fmt.Sprintf("%s of %s after %s", key, day, readOn)
		if other, twice := w.reads[read]; first && twice {
			w.t.Errorf("%s was read by report %s and by %s", read, other, report.ID)
		}
		w.reads[read] = report.ID
	}
}

type costRow struct {
	Date string
	Cost json.Number
}

func readRows(t *testing.T, path string) (rows []costRow) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	unpacked, err := gzip.NewReader(f)
	if err == nil {
		err = json.NewDecoder(unpacked).Decode(&rows)
	}
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return rows
}

// refresh looks once. After so many notes the server is killed, and begins
// again.
func (w *world) refresh(notes int) {
	w.noted.notes = notes
	_, _, _ = w.daily.refreshConnection(w.t.Context(), w.connection) // what failed is the fault's
	w.noted.notes = 1 << 30
	if notes < 1<<30 {
		w.start()
	}
}

// Whatever fails and is killed when: all that is due is read in the end, and
// nothing is downloaded or read twice for it.
func TestProgressIsKeptWhateverFails(t *testing.T) {
	t.Parallel()
	for seed := range uint64(8) {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			t.Parallel()
			// The day of the second ends three hours before that of the first.
			w := newWorld(t, seed, []standin.Profile{{ID: 8, Country: "MX", TimeZone: "America/Sao_Paulo"}}[:seed%2]...)
			lacks := 5 + w.random.IntN(20) // steps without rates
			for step := range 50 {
				if step == lacks {
					w.noted.rates = 1
				}
				for _, profile := range w.profiles {
					id, _ := strconv.ParseInt(profile.ID, 10, 64)
					w.platform.MoveWall(id, w.random.IntN(2))
				}
				w.dice.Lock()
				w.now = w.now.Add(time.Duration(w.random.IntN(9*60)) * time.Minute)
				notes := 1 << 30
				if w.random.Float64() < 0.3 {
					notes = w.random.IntN(12)
				}
				w.dice.Unlock()
				w.refresh(notes)
			}
			w.dice.Lock()
			w.faults = 0
			w.dice.Unlock()
			w.platform.Heal()
			w.start() // one that does not remember what was refused today
			w.refresh(1 << 30)
			w.start() // nor of which earlier request it has just learnt that it failed
			w.refresh(1 << 30)
			w.refresh(1 << 30)
			w.wantAllRead()
			w.dice.Lock()
			w.now = w.now.Add(24 * time.Hour)
			w.dice.Unlock()
			w.refresh(1 << 30)
			w.wantAllRead()
			w.wantNoOldRequests()
		})
	}
}

// What a restore takes away while a refresh goes on is not noted as read, and is loaded
// from its files.
func TestWhatARestoreTakesAwayIsNotRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	w.faults, w.noted.rates, w.losses = 0, 1, 1
	_, _, err := w.daily.refreshConnection(t.Context(), w.connection)
	if err == nil || !strings.Contains(err.Error(), "are gone, as after a restore") {
		t.Errorf("the refresh ended with %v", err)
	}
	if len(w.refreshed) == len(platform.ReportTypes) {
		t.Errorf("all is noted as read: %v", w.refreshed)
	}
	w.refresh(1 << 30)
	w.wantAllRead()
}

// What was loaded from files stays where the platform may give less: when the account is
// connected, and after an outage in which files were loaded.
func TestOldDaysOfFilesStay(t *testing.T) {
	t.Parallel()
	for name, outage := range map[string]int{"connected later": 0, "after an outage": 80} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 1)
			w.faults, w.noted.rates = 0, 1
			if outage > 0 {
				w.refresh(1 << 30)
				w.now = w.now.Add(time.Duration(outage) * 24 * time.Hour)
			}
			sp, last := readKey("7", platform.ReportTypes[0].ID), LastEnded(w.profiles[0], w.now)
			w.platform.Withdraw(func(f standin.Fact) bool { return f.Day <= (last - reliable).String() })
			if w.held[sp] == nil {
				w.held[sp] = map[adlens.Day]figure{}
			}
			for day := last - 94; day <= last; day++ {
				w.held[sp][day] = figure{generated: w.now.Add(-time.Hour), cost: "of a file"}
			}
			w.refresh(1 << 30)
			for day := last - 94; day <= last; day++ {
				if kept := w.held[sp][day].cost == "of a file"; kept != (day <= last-reliable) {
					t.Errorf("%s, %d days before, is of a file: %v", day, last-day, kept)
				}
			}
			if due, err := w.daily.dueTasks(t.Context(), "one", w.profiles); err != nil || len(due) > 0 {
				t.Errorf("%d tasks are still due: %v", len(due), err)
			}
		})
	}
}

// wantAllRead demands that nothing is due, that the figures are the platform's,
// and that no file was fetched twice.
func (w *world) wantAllRead() {
	w.t.Helper()
	due, err := w.daily.dueTasks(w.t.Context(), "one", w.profiles)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, one := range due {
		w.t.Errorf("%s of %s is still due", one.report.ID, one.profile.ID)
	}
	truth := map[string]string{}
	for _, f := range w.platform.Facts() {
		truth[fmt.Sprint(f.Profile)+f.AdProduct+f.Day] = f.Cost
	}
	for _, profile := range w.profiles {
		last := LastEnded(profile, w.clock())
		for _, t := range platform.ReportTypes {
			key := readKey(profile.ID, t.ID)
			for day := last - adlens.Day(lookBack[t.AdProduct]) + 2; day <= last; day++ {
				have, ok := w.held[key][day]
				if want := strings.TrimSuffix(truth[profile.ID+t.AdProduct.String()+day.String()], ".0"); !ok || have.cost != want {
					w.t.Errorf("%s of %s is %q, want %q", key, day, have.cost, want)
				}
				if day > last-restatedWeekly+week && have.readOn < readSince(day, last)-1 || day > last-restatedDaily && have.readOn != last {
					w.t.Errorf("%s of %s was read after %s alone, want it on %s", key, day, have.readOn, last)
				}
			}
		}
	}
	fetched := map[string]int{}
	for _, call := range w.platform.Recorded(standin.ReportFile) {
		if call.Status == 200 {
			fetched[call.Path]++
		}
	}
	for path, times := range fetched {
		if times > 1 {
			w.t.Errorf("%s was downloaded %d times", path, times)
		}
	}
}

// wantNoOldRequests demands that requests are forgotten some day.
func (w *world) wantNoOldRequests() {
	w.t.Helper()
	last := LastEnded(w.profiles[0], w.clock())
	for _, r := range w.requests {
		if !r.Done && LastEnded(w.profiles[0], r.RequestedAt) < last-week {
			w.t.Errorf("the request of %s from %s to %s is open for more than a week", r.ReportType, r.Start, r.End)
		}
	}
}

// A clock that is ahead has a day read before it ended, or a day that never was. Once it is
// right, that day is read again as soon as it has ended.
func TestADayThatAWrongClockShowedIsReadOnceItEnded(t *testing.T) {
	t.Parallel()
	for _, ahead := range []time.Duration{12 * time.Hour, 9 * 24 * time.Hour} {
		w := newWorld(t, 1)
		w.faults, w.noted.rates = 0, 1
		sp, right := readKey("7", platform.ReportTypes[0].ID), w.now
		before := LastEnded(w.profiles[0], right)
		w.now = right.Add(ahead)
		w.refresh(1 << 30)
		if through := w.refreshed[sp].Through; through <= before {
			t.Fatalf("%v ahead: read through %s, which has ended", ahead, through)
		}
		clear(w.reads) // days of that clock are read again
		for hours := range 24 {
			w.now = right.Add(time.Duration(hours) * time.Hour)
			w.refresh(1 << 30)
			if last, got := LastEnded(w.profiles[0], w.now), w.refreshed[sp]; got.Through != last || got.DeepThrough > last {
				t.Errorf("%v ahead, then right for %d hours: read through %s, all through %s, and %s has ended", ahead, hours, got.Through, got.DeepThrough, last)
			}
		}
	}
}

// Work of a moment ago rests; the day that it read too early stays due until it is read.
func TestADayThatAWrongClockShowedStaysDueWhileWorkRests(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	w.faults, w.noted.rates = 0, 1
	right := time.Date(2026, 9, 2, 6, 20, 0, 0, time.UTC) // 23:20 where the profile is
	w.now = right.Add(50 * time.Minute)
	w.refresh(1 << 30)
	for _, later := range []time.Duration{0, 37 * time.Minute, 2 * time.Hour} {
		w.now = right.Add(later)
		due, err := w.daily.dueTasks(t.Context(), "one", w.profiles)
		if last := LastEnded(w.profiles[0], w.now); err != nil || len(due) == 0 && later > 0 || w.refreshed[readKey("7", platform.ReportTypes[0].ID)].Through > last {
			t.Errorf("%v after the clock was set right %d tasks are due: %v", later, len(due), err)
		}
	}
}
