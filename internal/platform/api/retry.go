package api

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

// Retry is a wait that another try follows. It holds no secret.
type Retry struct {
	Call   string // such as "GET /v2/profiles"
	Detail string // why
	Wait   time.Duration
}

func (c *Client) noticeRetry(r Retry) {
	if c.cfg.Notice != nil {
		c.cfg.Notice(r)
	}
}

// again is a failure after which the same call may succeed.
type again struct {
	err       *Error
	after     time.Duration // that the platform asked to wait; 0 where it did not
	throttled bool
}

func (a *again) Error() string { return a.err.Error() }
func (a *again) Unwrap() error { return a.err }

// retryCall makes attempts until one succeeds, fails for good, or the tries are
// used up. Between them it waits longer and longer, and at least as long as
// the platform asks. What grows with each failure of one cause begins at the
// first wait again for another: a 429 after a 500 is a first 429.
func (c *Client) retryCall(ctx context.Context, name string, attempt func() error) error {
	failures := map[bool]int{} // by whether they were throttled
	for try := 1; ; try++ {
		err := attempt()
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return contextError(ctx.Err(), name, err)
		}
		var failure *again
		if !errors.As(err, &failure) {
			return err
		}
		if try >= c.limits.tries {
			return c.givenUp(failure, try)
		}
		failures[failure.throttled]++
		wait := c.retryWait(failure, failures[failure.throttled])
		c.noticeRetry(Retry{Call: name, Detail: failure.err.Reason, Wait: wait})
		if err := c.cfg.Sleep(ctx, wait); err != nil {
			return contextError(err, name, failure)
		}
	}
}

func (c *Client) givenUp(failure *again, tries int) error {
	e := *failure.err
	e.Reason += fmt.Sprintf("; given up after %d tries", tries)
	return &e
}

// contextError says that the caller's context ended, and what stood in the way
// until then.
func contextError(cause error, name string, last error) error {
	var e *Error
	if errors.As(last, &e) {
		return fmt.Errorf("%s: %w; before that: %s", name, cause, e)
	}
	return fmt.Errorf("%s: %w", name, cause)
}

// retryWait says how long to wait after a failure that is the nth of its cause.
func (c *Client) retryWait(failure *again, nth int) time.Duration {
	switch {
	case failure.after > 0:
		// A little later than asked, so that many clients do not come at once.
		return min(failure.after+randomJitter(failure.after/10), c.limits.longestWait)
	case failure.throttled:
		return c.backoffWait(c.limits.throttledWait, 3, nth)
	default:
		return c.backoffWait(c.limits.firstWait, 2, nth)
	}
}

// backoffWait grows a first wait by a factor with each failure and spreads it
// over half to one and a half of that.
func (c *Client) backoffWait(first time.Duration, factor float64, nth int) time.Duration {
	wait := float64(first)
	for range nth - 1 {
		wait = min(wait*factor, float64(c.limits.longestWait))
	}
	return min(time.Duration(wait/2)+randomJitter(time.Duration(wait)), c.limits.longestWait)
}

func randomJitter(most time.Duration) time.Duration {
	if most <= 0 {
		return 0
	}
	return rand.N(most)
}
