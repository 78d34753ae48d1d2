package connector

import (
	"context"
	"slices"
	"testing"
	"time"

	"adlens"
	"adlens/internal/platform"
	"adlens/loader"
)

// A clock that was ahead for a moment does not end what is asked of the platform until the
// day that it showed; one that jumps by little breaks no distance.
func TestWorkOfAWrongClockDoesNotRestUntilThen(t *testing.T) {
	t.Parallel()
	name := loader.ListName{Entity: platform.Ads, AdProduct: adlens.SponsoredProducts}
	for ahead, want := range map[time.Duration]turn{
		-7 * time.Hour: free, 0: resting, time.Hour: resting, longestRest - time.Minute: resting, longestRest + time.Minute: free, 30 * 24 * time.Hour: free,
	} {
		m := newMemory("one")
		for _, of := range []string{"work", ListWork("one", "1", name)} {
			m.attempts[of] = attempt{time.Now().Add(ahead), 9}
		}
		w := work{store: m, locks: m, name: "work", rest: marketRest}
		if got, err := w.currentTurn(t.Context()); got != want || err != nil {
			t.Errorf("work that began %s from now: turn %d, want %d, %v", ahead, got, want, err)
		}
		r := &listReader{store: m, account: "one", profile: "1", failed: map[loader.ListName]error{}, before: map[loader.ListName]int{}}
		if rests := r.isResting(t.Context(), name); rests != (want == resting) {
			t.Errorf("a list that failed %s from now rests: %v", ahead, rests)
		}
	}
}

// What accounts, connections, profiles and reports are told apart by differs where any of
// these does.
func TestNamesTellWhatIsDoneApart(t *testing.T) {
	names := map[string]bool{}
	note := func(kind, name string) {
		t.Helper()
		if key := kind + ": " + name; names[key] {
			t.Errorf("%s is named twice", key)
		} else {
			names[key] = true
		}
	}
	for _, account := range []string{"one", "two"} {
		note("rates", ratesWork(account))
		for _, connection := range []string{"NA", "EU"} {
			note("reports", ReportsWork(account, connection))
			note("look", lookKey(adlens.Connection{Account: account, Name: connection}))
		}
		for _, profile := range []string{"1", "2"} {
			note("lists", ListsWork(account, profile))
			for _, list := range loader.ListNames() {
				note("list", ListWork(account, profile, list))
			}
			for _, report := range append(slices.Clone(platform.ReportTypes), platform.LegacyReportType) {
				one := task{profile: platform.Profile{ID: profile}, report: report, after: adlens.Refreshed{Account: account}}
				note("task", one.taskKey())
			}
		}
	}
}

// late has another process do the work between the first look and the lock.
type late struct {
	*memory
	other func()
}

func (l *late) Try(ctx context.Context, name string) (func() error, bool, error) {
	l.other()
	return l.memory.Try(ctx, name)
}

func TestWorkThatAnotherHasJustDoneIsNotBegun(t *testing.T) {
	m := newMemory()
	l := &late{m, func() { m.attempts["work"] = attempt{began: time.Now()} }}
	w := work{store: m, locks: l, name: "work", rest: func(int) time.Duration { return time.Hour }}
	if _, turn, err := w.beginWork(t.Context()); turn != resting || err != nil || m.held["work"] {
		t.Errorf("the turn is %v, %v; the lock is held: %t", turn, err, m.held["work"])
	}
}
