package connector

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"adlens"
	"adlens/integration/standin"
	"adlens/internal/platform"
)

// A report that the platform made and does not give is requested again by the next try;
// only one that it refuses to make has its task rest until the next day.
func TestOnlyARefusedRequestRestsUntilTheNextDay(t *testing.T) {
	t.Parallel()
	for endpoint, answer := range map[standin.Endpoint]standin.Effect{
		standin.ReportPoll:   standin.Error(404, standin.Detail, "no such report"),
		standin.ReportFile:   standin.Error(404, standin.Detail, "no such file"),
		standin.ReportCreate: standin.Error(400, standin.Detail, "not today"),
	} {
		t.Run(string(endpoint), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 1)
			w.faults, w.noted.rates = 0, 1
			var broken string // the first that is called
			w.platform.Inject(standin.Fault{On: endpoint, Times: -1, When: func(c standin.Call) bool {
				if broken == "" {
					broken = c.Path
				}
				return c.Path == broken
			}, Do: answer})
			refused := endpoint == standin.ReportCreate
			_, _, err := w.daily.refreshConnection(t.Context(), w.connection)
			if failures := w.attempts[ReportsWork("one", "NA")].failures; err == nil || (failures == 0) != refused {
				t.Errorf("%d failures are noted of %v", failures, err)
			}
			due, err := w.daily.dueTasks(t.Context(), "one", w.profiles)
			if err != nil || (len(due) == 0) != refused {
				t.Errorf("%d tasks are due, %v", len(due), err)
			}
			if refused {
				return
			}
			w.refresh(1 << 30)
			w.wantAllRead()
			if n := w.platform.Calls(standin.ReportCreate); n != 4+2+3+1 {
				t.Errorf("%d reports were requested, want one for another and else each once", n)
			}
		})
	}
}

// An address of legacy reports that is missing for a moment costs the reports of no other
// day: not those that the platform makes before and after, and not those of a first or
// weekly reading that begins with it.
func TestALegacyAddressThatIsMissingForAMomentLosesNoDay(t *testing.T) {
	t.Parallel()
	legacy := platform.LegacyReportType.ID
	all := lookBack[adlens.SponsoredBrands]
	for name, c := range map[string]struct {
		fault standin.Fault
		read  int  // of the first day's reports
		noted bool // that they are, as far as there are some
	}{
		"once":        {standin.Fault{Nth: 5}, all - 1, false},
		"from a time": {standin.Fault{Nth: 21, Times: -1}, 20, false},
		"all day":     {standin.Fault{Times: -1}, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 1)
			w.faults, w.noted.rates, w.legacy = 0, 1, map[string]bool{"7": true}
			w.daily.Connector.Loader = taken{w.noted}
			c.fault.On, c.fault.Do = standin.LegacyCreate, standin.Error(404, standin.Details, "Method Not Found")
			w.platform.Inject(c.fault)
			last := LastEnded(w.profiles[0], w.now)
			others := 2 + 3 + 4
			_, _, err := w.daily.refreshConnection(t.Context(), w.connection)
			if len(w.visible) != others+c.read || (err == nil) != c.noted {
				t.Errorf("%d reports are read, want %d: %v", len(w.visible)-others, c.read, err)
			}
			if r, noted := w.refreshed[readKey("7", legacy)]; noted != c.noted || noted && r.Through != last {
				t.Errorf("noted is %v", r)
			}
			if due, err := w.daily.dueTasks(t.Context(), "one", w.profiles); len(due) > 0 || err != nil {
				t.Errorf("%d tasks are due on the same day, %v", len(due), err)
			}
			w.platform.Heal()
			w.now = w.now.Add(24 * time.Hour)
			w.refresh(1 << 30)
			read := map[adlens.Day]bool{}
			for id, r := range w.made {
				if w.visible[id] && r.ReportType == legacy {
					read[r.Start] = true
				}
			}
			for day := last + 1; day > last+1-adlens.Day(all); day-- {
				if !read[day] {
					t.Errorf("%s was not read on the next day", day)
				}
			}
			if r := w.refreshed[readKey("7", legacy)]; r.Through != last+1 {
				t.Errorf("noted is %v then", r)
			}
		})
	}
}

// The platform may say for some minutes that a profile is not open to a connection that it
// is open to. That delays its figures by minutes, and not by a day.
func TestAProfileThatIsClosedForAWhileIsReadTheSameDay(t *testing.T) {
	t.Parallel()
	for endpoint, ends := range map[standin.Endpoint]int{standin.ReportCreate: 3, standin.ReportPoll: 3, "create, all day": closedTries} {
		t.Run(string(endpoint), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 1)
			w.faults, w.noted.rates = 0, 1
			on := standin.Endpoint(strings.Replace(string(endpoint), "create, all day", string(standin.ReportCreate), 1))
			opened := w.platform.Inject(standin.Fault{On: on, Times: -1, Do: standin.Error(401, standin.Detail, "not this profile")})
			for try := 1; try <= ends; try++ {
				_, _, err := w.daily.refreshConnection(t.Context(), w.connection)
				if err == nil || !strings.Contains(err.Error(), "is not open to the stored connection") {
					t.Fatalf("try %d: %v", try, err)
				}
				if failures := w.attempts[ReportsWork("one", "NA")].failures; (failures > 0) != (try < closedTries) {
					t.Errorf("%d failures are noted of try %d", failures, try)
				}
			}
			due, err := w.daily.dueTasks(t.Context(), "one", w.profiles)
			if given := ends == closedTries; err != nil || (len(due) == 0) != given {
				t.Fatalf("%d tasks are due, %v", len(due), err)
			} else if given {
				return
			}
			// Of its reports those alone are requested that were under way together.
			if n := w.platform.Calls(standin.ReportCreate); on == standin.ReportCreate && n > ends*askingAt*2 {
				t.Errorf("%d calls in %d tries, each with an old and a new token", n, ends)
			}
			opened()
			w.refresh(1 << 30)
			w.wantAllRead()
			if made := len(w.made); made != 4+2+3 {
				t.Errorf("%d reports were made, want each once", made)
			}
		})
	}
}

// restingStore is a store whose work rests after it failed.
type restingStore struct{ *noted }

func (r restingStore) Attempt(ctx context.Context, name string) (adlens.Attempt, bool, error) {
	return r.memory.Attempt(ctx, name)
}

// However often a report failed, what is due of a day that ended since the last try does
// not rest with it.
func TestADayThatEndedDoesNotRestWithWhatFails(t *testing.T) {
	t.Parallel()
	midnight := time.Date(2026, 9, 2, 7, 0, 0, 0, time.UTC) // where the profile is
	for _, c := range []struct {
		now  time.Time
		age  time.Duration // of the last try
		want did
	}{
		{midnight.Add(time.Minute), 30 * time.Second, notNow},
		{midnight.Add(time.Minute), 2 * time.Minute, refreshed},
		{midnight.Add(10 * time.Minute), 2 * time.Minute, notNow},
		{midnight.Add(5 * time.Hour), 3 * time.Hour, notNow},
		{midnight.Add(5 * time.Hour), 7 * time.Hour, refreshed},
	} {
		w := newWorld(t, 1)
		w.faults, w.noted.rates, w.now = 0, 1, c.now
		w.daily.Connector.Store = restingStore{w.noted}
		w.attempts[ReportsWork("one", "NA")] = attempt{time.Now().Add(-c.age), 8}
		if _, did, err := w.daily.refreshConnection(t.Context(), w.connection); did != c.want || err != nil {
			t.Errorf("%s after midnight, %s after the last try: %v, %v, want %v", c.now.Sub(midnight), c.age, did, err, c.want)
		}
	}
	// Nor does what fails then.
	for age, want := range map[time.Duration]int{2 * time.Minute: 1, 7 * time.Hour: 9} {
		w := newWorld(t, 1)
		w.faults, w.noted.rates, w.now = 0, 1, midnight.Add(time.Minute)
		if want > 1 {
			w.now = midnight.Add(8 * time.Hour)
		}
		w.daily.Connector.Store = restingStore{w.noted}
		w.attempts[ReportsWork("one", "NA")] = attempt{time.Now().Add(-age), 8}
		w.platform.PlanReports(standin.JobPlan{FailureReason: "out of order"})
		_, _, err := w.daily.refreshConnection(t.Context(), w.connection)
		if failures := w.attempts[ReportsWork("one", "NA")].failures; err == nil || failures != want {
			t.Errorf("%s after the last try %d failures are noted, want %d: %v", age, failures, want, err)
		}
	}
}

// A report that hangs does not keep the connection from the days that end meanwhile: it
// is waited for beside theirs, and not requested again.
func TestAReportThatHangsDelaysNoOtherDay(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	w.faults, w.noted.rates = 0, 1
	w.daily.Connector.Pace = 1 << 12
	midnight := time.Date(2026, 9, 2, 7, 0, 0, 0, time.UTC) // where the profile is
	move := func(to time.Time) {
		w.dice.Lock()
		defer w.dice.Unlock()
		w.now = to
	}
	move(midnight.Add(-30 * time.Minute))
	overdue := w.daily.newPull(w.connection).isOverdue
	for after, want := range map[time.Duration]bool{-time.Minute: false, 29 * time.Minute: false, 30 * time.Minute: true} {
		if move(midnight.Add(after)); overdue(w.profiles, false) != want {
			t.Errorf("%s after midnight another day is due: %v, want %v", after, !want, want)
		}
		if move(midnight.Add(after - 5*time.Hour)); overdue(w.profiles, true) { // its clock was set back
			t.Errorf("%s after a refresh began what failed is due again", after)
		}
	}
	move(midnight.Add(-3 * time.Hour))
	overdue = w.daily.newPull(w.connection).isOverdue
	if move(midnight.Add(-2 * time.Hour)); overdue(w.profiles, false) || !overdue(w.profiles, true) {
		t.Error("an hour later what failed is not due again, or another day is")
	}
	move(midnight.Add(-30 * time.Minute))
	hanging := make(chan struct{}, 10)
	w.platform.PlanReportsBy(func(o standin.ReportOrder) (plan standin.JobPlan) {
		if o.AdProduct == standin.SponsoredProducts && o.EndDate < "2026-06-10" {
			hanging <- struct{}{}
			plan.Duration = 2 * time.Hour
		}
		return plan
	})
	refresh := func() <-chan error {
		ended := make(chan error, 1)
		go func() {
			_, did, err := w.daily.refreshConnection(t.Context(), w.connection)
			if err == nil && did != refreshed {
				err = fmt.Errorf("it did %v", did)
			}
			ended <- err
		}()
		return ended
	}
	late := time.After(time.Minute)
	untilLoaded := func(n int, ended <-chan error) {
		count := func() int {
			w.mu.Lock()
			defer w.mu.Unlock()
			return len(w.visible)
		}
		for count() < n {
			select {
			case err := <-ended:
				t.Fatalf("%d reports are loaded, want %d: %v", count(), n, err)
			case <-late:
				t.Fatalf("%d reports are loaded, want %d", count(), n)
			case <-time.After(time.Millisecond):
			}
		}
	}
	untilEnded := func(ended <-chan error) {
		select {
		case err := <-ended:
			if err != nil {
				t.Error(err)
			}
		case <-late:
			t.Fatal("the report is still waited for")
		}
	}
	first := refresh()
	untilLoaded(4+2+3-1, first)
	move(midnight.Add(45 * time.Minute))
	untilEnded(first)
	if failures := w.attempts[ReportsWork("one", "NA")].failures; failures != 0 {
		t.Errorf("%d failures are noted", failures)
	}
	second := refresh()
	untilLoaded(4+2+3-1+3, second)
	move(midnight.Add(2 * time.Hour))
	untilEnded(second)
	w.wantAllRead()
	if n := len(hanging); n != 1 {
		t.Errorf("the report that hangs was requested %d times", n)
	}
}

// A report is given up some hours after it was requested, however often the waiting for it
// begins, and never without a look.
func TestTheWaitingForAReportEnds(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 9, 2, 7, 0, 0, 0, time.UTC)
	p := &pull{connector: New(Config{Now: func() time.Time { return now }})}
	for age, want := range map[time.Duration]time.Duration{-time.Hour: reportPatience, 0: reportPatience, 2 * time.Hour: 2 * time.Hour, 9 * time.Hour: leastPatience} {
		w := &window{request: adlens.ReportRequest{RequestedAt: now.Add(-age)}}
		if got := p.patienceFor(w); got != want {
			t.Errorf("after %s it is waited for %s longer, want %s", age, got, want)
		}
	}
}

// What a pull that gives way has not requested yet is left to the next one.
func TestAPullThatGivesWayRequestsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	p := w.daily.newPull(w.connection)
	client, err := w.daily.Connector.openClient(w.connection)
	if err != nil {
		t.Fatal(err)
	}
	p.client, p.asking = client, make(chan struct{}, 1)
	p.waiting, p.stopWaiting = context.WithCancelCause(t.Context())
	p.stopWaiting(errOverdue)
	err = p.requestReport(t.Context(), &window{task: &task{profile: w.profiles[0], report: platform.ReportTypes[0]}, start: 1, end: 1})
	if n := w.platform.Calls(standin.ReportCreate); !errors.Is(err, errOverdue) || n > 0 {
		t.Errorf("%d reports were requested: %v", n, err)
	}
}
