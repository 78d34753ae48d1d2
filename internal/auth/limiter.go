package auth

import (
	"sync"
	"time"
)

// Limiter holds the limits of accounts within one process. It is safe for
// concurrent use.
//
// Its memory is a few dozen bytes for each account that called within two
// days, and the times of the calls that it let in within the last minute.
type Limiter struct {
	minute, day int
	reserves    bool // calls of a day are let in only once they are reserved

	mu       sync.Mutex
	accounts map[string][]window
	swept    time.Time
}

// Decision is the answer to one call.
type Decision struct {
	Allowed    bool
	Unreserved bool          // neither let in nor refused: first what ReserveWaiting returns has to be stored
	Limit      string        // of a refused call: the limit that it has to wait for longest
	RetryAfter time.Duration // of a refused call: after exactly this time one is let in
	Windows    []Window      // as they are after the call; those switched off are left out
}

// The names of the limits.
const (
	LimitMinute = "minute"
	LimitDay    = "day"
)

// Window is the state of one limit of an account.
type Window struct {
	Name          string
	Quota         int
	WindowSeconds int
	Remaining     int
	ResetSeconds  int // until more than Remaining can be had; 0 where nothing is used
}

// window is one limit of one account.
type window interface {
	// wait returns after what time a call would be let in: 0 for now.
	waitTime(now time.Time) time.Duration
	// take counts a call for which wait has just returned 0.
	countCall(now time.Time)
	// uncount takes a call back that was counted at a time.
	uncountCall(at time.Time)
	// state describes the window; wait was just called.
	windowState(now time.Time) Window
	// forgettable reports whether a new window would decide the same.
	isForgettable(now time.Time) bool
}

// NewLimiter returns a limiter that lets an account make so many calls in any
// 60 seconds and on any calendar day of UTC. 0 switches a limit off.
func NewLimiter(minute, day int) *Limiter {
	return &Limiter{minute: minute, day: day, accounts: map[string][]window{}}
}

// NewReservingLimiter returns a limiter that lets calls in only once they are
// counted where a kill does not lose them.
func NewReservingLimiter(minute, day int) *Limiter {
	l := NewLimiter(minute, day)
	l.reserves = true
	return l
}

// Allow decides about a call of an account. A call that is let in counts in
// all windows, a refused one in none.
func (l *Limiter) Allow(account string, now time.Time) Decision {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sweepIdle(now)
	windows := l.accountWindows(account, now)
	decision := decideCall(windows, now)
	if decision.Allowed && awaitsReservation(windows) {
		return Decision{Unreserved: true}
	}
	for _, w := range windows {
		if decision.Allowed {
			w.countCall(now)
		}
		decision.Windows = append(decision.Windows, w.windowState(now))
	}
	return decision
}

// TakeBack takes a call back that was let in at a time, and that something else
// refused then: what is not answered does not count (contract B5).
func (l *Limiter) TakeBack(account string, at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, w := range l.accounts[account] {
		w.uncountCall(at)
	}
}

// decideCall asks all windows, also where one has refused: the longest wait is
// the true one.
func decideCall(windows []window, now time.Time) Decision {
	decision := Decision{Allowed: true}
	for _, w := range windows {
		if wait := w.waitTime(now); wait > decision.RetryAfter {
			decision = Decision{Limit: w.windowState(now).Name, RetryAfter: wait}
		}
	}
	return decision
}

func (l *Limiter) accountWindows(account string, now time.Time) []window {
	windows, ok := l.accounts[account]
	if ok {
		return windows
	}
	if l.minute > 0 {
		windows = append(windows, &minuteLog{quota: l.minute})
	}
	if l.day > 0 {
		d := newDayCount(l.day, now)
		if l.reserves {
			d.reservation = &reservation{}
		}
		windows = append(windows, d)
	}
	l.accounts[account] = windows
	return windows
}

// sweepIdle forgets, at most once a minute, the accounts that have not called for
// so long that nothing about them matters any more.
func (l *Limiter) sweepIdle(now time.Time) {
	if now.Sub(l.swept) < time.Minute {
		return
	}
	l.swept = now
	for account, windows := range l.accounts {
		if allForgettable(windows, now) {
			delete(l.accounts, account)
		}
	}
}

func allForgettable(windows []window, now time.Time) bool {
	all := true
	for _, w := range windows {
		all = w.isForgettable(now) && all // each is asked: the minute's drops old times
	}
	return all
}

// wholeSeconds rounds up, so that who waits that long has waited long enough.
func wholeSeconds(d time.Duration) int {
	return int((max(d, 0) + time.Second - 1) / time.Second)
}
