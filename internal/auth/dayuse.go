package auth

import (
	"time"

	"adlens"
)

// DayUse is how many requests of an account were let in on a day of UTC.
type DayUse struct {
	Account string
	Day     adlens.Day
	Used    int
}

// DayUses returns the accounts that have called since the last DayUses, with
// all requests that this limiter let in on their day.
func (l *Limiter) DayUses() []DayUse {
	l.mu.Lock()
	defer l.mu.Unlock()
	var uses []DayUse
	for account, windows := range l.accounts {
		for _, w := range windows {
			if d, ok := w.(*dayCount); ok && d.used != d.told {
				uses = append(uses, DayUse{Account: account, Day: d.day, Used: d.used})
				d.told = d.used
			}
		}
	}
	return uses
}

// TakeElsewhere tells the limiter how many requests others let in, servers
// that ended before included. It replaces what was told before.
func (l *Limiter) TakeElsewhere(uses []DayUse, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, u := range uses {
		for _, w := range l.windows(u.Account, now) {
			if d, ok := w.(*dayCount); ok && d.day == u.Day {
				d.elsewhere = u.Used
			}
		}
	}
}

// Count counts a call that was let in by somebody else's decision.
func (l *Limiter) Count(account string, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, w := range l.windows(account, now) {
		w.wait(now) // begins a new day, and forgets what left the minute
		w.take(now)
	}
}
