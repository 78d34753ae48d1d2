package connector

import (
	"context"
	"testing"
	"time"

	"adlens"
	"adlens/integration/standin"
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
}
