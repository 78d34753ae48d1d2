package auth

import (
	"cmp"
	"slices"
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

	mu        sync.Mutex
	windows   map[counted][]window
	elsewhere map[counted]DayUse // of keys that did not call here yet
	swept     time.Time
}

// counted is whose calls are counted: an account's, or those of one of its keys.
type counted struct{ account, key string }

// KeyLimit is the limit that a key has of its own, within its account's. The zero
// value is none.
type KeyLimit struct {
	KeyID string
	Quotas
}

// Decision is the answer to one call.
type Decision struct {
	Allowed    bool
	Unreserved bool          // neither let in nor refused: first what ReserveWaiting returns has to be stored
	Limit      string        // of a refused call: the limit that it has to wait for longest
	Own        bool          // it is one of the key's own
	RetryAfter time.Duration // of a refused call: after exactly this time one is let in
	Windows    []Window      // as they are after the call, of each name the tightest; those switched off are left out
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
	// waitTime returns after what time a call would be let in: 0 for now.
	waitTime(now time.Time) time.Duration
	// countCall counts a call for which waitTime has just returned 0.
	countCall(now time.Time)
	// uncountCall takes a call back that was counted at a time.
	uncountCall(at time.Time)
	// windowState describes the window; waitTime was just called.
	windowState(now time.Time) Window
	// isForgettable reports whether a new window would decide the same.
	isForgettable(now time.Time) bool
}

// NewLimiter returns a limiter that lets an account make so many calls in any
// 60 seconds and on any calendar day of UTC. 0 switches a limit off.
func NewLimiter(minute, day int) *Limiter {
	return &Limiter{minute: minute, day: day, windows: map[counted][]window{}}
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
	return l.AllowKey(account, KeyLimit{}, now)
}

// AllowKey decides about a call of an account's key; a zero KeyLimit is no limit of
// the key.
func (l *Limiter) AllowKey(account string, key KeyLimit, now time.Time) Decision {
	l.mu.Lock()
	defer l.mu.Unlock()
	windows, shared := l.allWindows(account, key, now)
	decision := decideCall(windows, shared, now)
	if decision.Allowed {
		if awaitsReservation(windows) {
			return Decision{Unreserved: true}
		}
		for _, w := range windows {
			w.countCall(now)
		}
	}
	decision.Windows = windowStates(windows, now)
	return decision
}

// PeekKey returns what AllowKey would decide about a call, and counts and reserves
// nothing.
func (l *Limiter) PeekKey(account string, key KeyLimit, now time.Time) Decision {
	l.mu.Lock()
	defer l.mu.Unlock()
	windows, shared := l.allWindows(account, key, now)
	decision := decideCall(windows, shared, now)
	decision.Windows = windowStates(windows, now)
	return decision
}

// allWindows returns the windows of an account, which are the first shared ones, and
// those of its key.
func (l *Limiter) allWindows(account string, key KeyLimit, now time.Time) (windows []window, shared int) {
	l.sweepIdle(now)
	of := l.windowsOf(counted{account: account}, Quotas{l.minute, l.day}, now)
	return slices.Concat(of, l.keyWindows(account, key, now)), len(of)
}

func windowStates(windows []window, now time.Time) (states []Window) {
	for _, w := range windows {
		states = append(states, w.windowState(now))
	}
	return Tightest(states)
}

// Tightest returns of each name the window that leaves least, and of equals the one
// that leaves more last: what a client has to go by where two limits hold at once.
func Tightest(windows []Window) (tightest []Window) {
	for _, name := range []string{LimitMinute, LimitDay} {
		first := true
		for _, w := range windows {
			if w.Name != name {
				continue
			}
			if first {
				tightest, first = append(tightest, w), false
				continue
			}
			if least := &tightest[len(tightest)-1]; cmp.Or(cmp.Compare(w.Remaining, least.Remaining), cmp.Compare(least.ResetSeconds, w.ResetSeconds), cmp.Compare(w.Quota, least.Quota)) < 0 {
				*least = w
			}
		}
	}
	return tightest
}

// TakeBack takes a call back that was let in at a time, and that something else
// refused then: what is not answered does not count (contract B5). It returns the
// windows without the call.
func (l *Limiter) TakeBack(account string, at time.Time) (after []Window) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, w := range l.windows[counted{account: account}] {
		w.uncountCall(at)
		after = append(after, w.windowState(at))
	}
	return after
}

// decideCall asks all windows, also where one has refused: the longest wait is
// the true one. The first ones are the account's.
func decideCall(windows []window, shared int, now time.Time) Decision {
	decision := Decision{Allowed: true}
	for i, w := range windows {
		if wait := w.waitTime(now); wait > decision.RetryAfter {
			decision = Decision{Limit: w.windowState(now).Name, Own: i >= shared, RetryAfter: wait}
		}
	}
	return decision
}

// keyWindows are those of a key, none where it has no limit of its own.
func (l *Limiter) keyWindows(account string, key KeyLimit, now time.Time) []window {
	if key.Quotas == (Quotas{}) {
		return nil
	}
	return l.windowsOf(counted{account, key.KeyID}, key.Quotas, now)
}

func (l *Limiter) windowsOf(of counted, quotas Quotas, now time.Time) []window {
	windows, ok := l.windows[of]
	if ok {
		return windows
	}
	if quotas.Minute > 0 {
		windows = append(windows, &minuteLog{quota: quotas.Minute})
	}
	if quotas.Day > 0 {
		d := newDayCount(quotas.Day, now)
		if use := l.elsewhere[of]; use.Day == d.day {
			d.elsewhere = use.Used
		}
		if l.reserves {
			d.reservation = &reservation{}
		}
		windows = append(windows, d)
	}
	l.windows[of] = windows
	return windows
}

// sweepIdle forgets, at most once a minute, the accounts that have not called for
// so long that nothing about them matters any more.
func (l *Limiter) sweepIdle(now time.Time) {
	if now.Sub(l.swept) < time.Minute {
		return
	}
	l.swept = now
	for of, windows := range l.windows {
		if allForgettable(windows, now) {
			delete(l.windows, of)
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

// WholeSeconds rounds up, so that who waits that long has waited long enough.
func WholeSeconds(d time.Duration) int {
	return int((max(d, 0) + time.Second - 1) / time.Second)
}
