package auth

import (
	"time"

	"adlens"
)

// DayUse is how many requests of an account, or of a key that has a limit of its own,
// were let in on a day of UTC, or are reserved.
type DayUse struct {
	Account string
	Key     string // its id; "" for all of the account
	Day     adlens.Day
	Used    int
}

func (u DayUse) counted() counted { return counted{u.Account, u.Key} }

// TakeElsewhere takes how many requests others let in or reserved, servers that
// ended before included. It replaces what it took before.
func (l *Limiter) TakeElsewhere(uses []DayUse, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.elsewhere = map[counted]DayUse{}
	for _, u := range uses {
		windows := l.windows[u.counted()]
		if u.Key == "" {
			windows = l.windowsOf(u.counted(), Quotas{l.minute, l.day}, now)
		} else {
			l.elsewhere[u.counted()] = u // what its limit is shows when it calls
		}
		for _, w := range windows {
			if d, ok := w.(*dayCount); ok {
				if d.rollDay(now); d.day == u.Day {
					d.elsewhere = u.Used
				}
			}
		}
	}
}

// CountKey counts a call that another limiter let in, and returns the windows after it.
// That limiter keeps the count too, so nothing is reserved ahead: servers that share it
// would take what is reserved for calls.
func (l *Limiter) CountKey(account string, key KeyLimit, now time.Time) (after []Window) {
	l.mu.Lock()
	defer l.mu.Unlock()
	windows, _ := l.allWindows(account, key, now)
	for _, w := range windows {
		w.waitTime(now) // begins a new day, and forgets what left the minute
		if d, ok := w.(*dayCount); ok {
			d.used++
		} else {
			w.countCall(now)
		}
	}
	return windowStates(windows, now)
}
