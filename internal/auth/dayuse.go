package auth

import (
	"time"

	"adlens"
)

// DayUse is how many requests of an account were let in on a day of UTC, or are
// reserved.
type DayUse struct {
	Account string
	Day     adlens.Day
	Used    int
}

// TakeElsewhere takes how many requests others let in or reserved, servers that
// ended before included. It replaces what it took before.
func (l *Limiter) TakeElsewhere(uses []DayUse, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, u := range uses {
		for _, w := range l.accountWindows(u.Account, now) {
			if d, ok := w.(*dayCount); ok && d.day == u.Day {
				d.elsewhere = u.Used
			}
		}
	}
}

// Count counts a call that another limiter let in.
func (l *Limiter) Count(account string, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, w := range l.accountWindows(account, now) {
		w.waitTime(now) // begins a new day, and forgets what left the minute
		w.countCall(now)
	}
}
