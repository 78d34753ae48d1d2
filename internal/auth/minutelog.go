package auth

import (
	"slices"
	"time"
)

// minuteLog lets in at most quota calls in any 60 seconds. It keeps the time
// of each: counters by the minute would let twice as many in around the turn
// of a minute.
//
// It goes by the monotonic clock, which cannot be set.
type minuteLog struct {
	quota    int
	accepted []time.Time // of the last 60 seconds, in order of arrival
}

func (m *minuteLog) waitTime(now time.Time) time.Duration {
	m.dropExpired(now)
	if len(m.accepted) < m.quota {
		return 0
	}
	return m.untilMore(now)
}

// Concurrent calls may have read the clock in another order than they come
// here: a time behind a later one leaves with that.
func (m *minuteLog) countCall(now time.Time) { m.accepted = append(m.accepted, now) }

func (m *minuteLog) uncountCall(at time.Time) {
	if i := slices.IndexFunc(m.accepted, at.Equal); i >= 0 {
		m.accepted = slices.Delete(slices.Clone(m.accepted), i, i+1)
	}
}

func (m *minuteLog) windowState(now time.Time) Window {
	return Window{
		Name:          LimitMinute,
		Quota:         m.quota,
		WindowSeconds: int(time.Minute / time.Second),
		Remaining:     max(0, m.quota-len(m.accepted)),
		ResetSeconds:  WholeSeconds(m.untilMore(now)),
	}
}

func (m *minuteLog) isForgettable(now time.Time) bool {
	m.dropExpired(now)
	return len(m.accepted) == 0
}

// untilMore returns when the call leaves the window whose leaving makes room:
// the oldest, or a later one where others let in more than the quota.
func (m *minuteLog) untilMore(now time.Time) time.Duration {
	if len(m.accepted) == 0 {
		return 0
	}
	return m.accepted[max(0, len(m.accepted)-m.quota)].Add(time.Minute).Sub(now)
}

func (m *minuteLog) dropExpired(now time.Time) {
	expired := 0
	for expired < len(m.accepted) && now.Sub(m.accepted[expired]) >= time.Minute {
		expired++
	}
	m.accepted = m.accepted[expired:]
	if len(m.accepted) == 0 {
		m.accepted = nil // an idle account shall not keep the memory of a busy one
	}
}
