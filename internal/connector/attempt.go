package connector

import (
	"context"
	"errors"
	"time"

	"adlens"
)

// turn says whether work may begin.
type turn int

const (
	free    turn = iota // it has begun; it must be ended
	working             // it is being done, here or by another process
	resting             // it was begun not long ago
)

// work is something that is asked of the platform now and then. It has a name,
// is done by one process at a time, and rests after it was begun, for longer
// after each failure in a row.
type work struct {
	store Store
	locks Locks
	name  string
	rest  func(failures int) time.Duration
	// outcome is how many failures are noted where it did not end well, after so many
	// before; nil counts each, and being stopped as no further one.
	outcome func(before int, err error) int
}

// beginWork begins the work where it is not under way and has rested. end must be
// called with what came of it.
func (w work) beginWork(ctx context.Context) (end func(error) error, t turn, err error) {
	if t, err := w.currentTurn(ctx); err != nil || t != free {
		return nil, t, err
	}
	release, ok, err := w.locks.Try(ctx, w.name)
	if err != nil || !ok {
		return nil, working, err
	}
	// Another may have begun and ended since the first look.
	before, rested, err := w.hasRested(ctx)
	if err == nil && rested {
		err = w.store.BeginAttempt(ctx, w.name, before.Failures+1)
	}
	if err != nil || !rested {
		return nil, resting, errors.Join(err, release())
	}
	return func(err error) error {
		failures := 0
		switch {
		case err != nil && w.outcome != nil:
			failures = w.outcome(before.Failures, err)
		case err != nil:
			failures = failuresAfter(before.Failures, err)
		}
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), endPatience)
		defer cancel()
		return errors.Join(w.store.EndAttempt(ending, w.name, failures), release())
	}, free, nil
}

// failuresAfter is how many failures in a row are noted after so many and one more. What
// was stopped is not done, and is due soon; it says nothing of the platform.
func failuresAfter(before int, err error) int {
	if errors.Is(err, context.Canceled) {
		return max(before, 1)
	}
	return before + 1
}

const endPatience = 10 * time.Second

// currentTurn looks without taking the lock.
func (w work) currentTurn(ctx context.Context) (turn, error) {
	held, err := w.locks.Held(ctx, w.name)
	if err != nil || held {
		return working, err
	}
	if _, rested, err := w.hasRested(ctx); err != nil || !rested {
		return resting, err
	}
	return free, nil
}

// hasRested reports whether the last attempt is long enough ago.
func (w work) hasRested(ctx context.Context) (before adlens.Attempt, rested bool, err error) {
	before, found, err := w.store.Attempt(ctx, w.name)
	return before, err == nil && (!found || isLongAgo(before, w.rest(before.Failures))), err
}

// longestRest is the longest that work rests which fails.
const longestRest = 6 * time.Hour

// isLongAgo reports whether an attempt began longer ago than its work rests. One of the
// near future did not. One of a future that no rest reaches was dated by a wrong clock,
// and says nothing: its work would rest until that day.
func isLongAgo(a adlens.Attempt, rest time.Duration) bool {
	return a.Age >= rest || a.Age < -longestRest
}

// exponentialBackoff is a rest that is first after a success and after one failure, and
// grows by a factor with each further one.
func exponentialBackoff(first time.Duration, factor int, longest time.Duration) func(failures int) time.Duration {
	return func(failures int) time.Duration {
		rest := first
		for range failures - 1 {
			if rest = min(rest*time.Duration(factor), longest); rest == longest {
				break
			}
		}
		return rest
	}
}
