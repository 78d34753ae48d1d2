package auth

import (
	"sync"
	"time"

	"adlens/internal/recent"
)

const (
	// usageSize bounds the remembered keys. Past it, last uses of further keys
	// are forgotten: they are a courtesy, the memory is not.
	usageSize = 100_000
	// usageFor is how long a use is remembered after it was drained: until no
	// cached record can hold an older one.
	usageFor = recent.LongestTrust + time.Minute
	// disorder is how much later than a call a use before it may be noted: calls overtake
	// one another, and clocks of servers differ. A later one is of a clock that was ahead.
	disorder = time.Minute
)

// Usage remembers when keys were last used, between two times of persisting
// it. It is safe for concurrent use.
type Usage struct {
	mu     sync.Mutex
	uses   map[string]use
	newest time.Time
}

type use struct {
	at      time.Time
	drained bool
}

// NewUsage returns a memory of no uses.
func NewUsage() *Usage { return &Usage{uses: map[string]use{}} }

// Touch notes a use of a key and returns the last one before it, which is never after
// now: the newer of the persisted use and the one in memory, or nil where none is known.
func (u *Usage) Touch(keyID string, persisted *time.Time, now time.Time) (previous *time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	now = now.Round(0) // what is shown and persisted is the wall clock's
	previous = useBefore(persisted, now)
	if known, ok := u.uses[keyID]; ok {
		at := useBefore(&known.at, now)
		if at == nil {
			delete(u.uses, keyID)
		} else if previous == nil || at.After(*previous) {
			previous = at
		}
	}
	u.noteUse(keyID, now)
	return previous
}

// useBefore returns a noted use as of now, nil for none and for one of a clock that was
// ahead.
func useBefore(noted *time.Time, now time.Time) *time.Time {
	if noted == nil || noted.Sub(now) > disorder {
		return nil
	}
	if noted.After(now) {
		return &now
	}
	return noted
}

// Drain returns the uses since the last Drain, for persisting them.
func (u *Usage) Drain() map[string]time.Time {
	u.mu.Lock()
	defer u.mu.Unlock()
	drained := map[string]time.Time{}
	for id, one := range u.uses {
		switch {
		case !one.drained:
			drained[id] = one.at
			u.uses[id] = use{at: one.at, drained: true}
		case u.newest.Sub(one.at) > usageFor:
			delete(u.uses, id)
		}
	}
	return drained
}

// PutBack takes back what Drain gave, where persisting it failed: the next
// Drain gives it again, or a newer use of the same key.
func (u *Usage) PutBack(uses map[string]time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for id, at := range uses {
		u.noteUse(id, at)
	}
}

// noteUse never goes back in time: requests may arrive here out of their order.
func (u *Usage) noteUse(keyID string, at time.Time) {
	known, ok := u.uses[keyID]
	if !ok && len(u.uses) >= usageSize {
		return
	}
	u.uses[keyID] = use{at: laterTime(known.at, at)}
	u.newest = laterTime(u.newest, at)
}

func laterTime(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
