package auth

import (
	"context"
	"sync/atomic"
	"time"

	"adlens"
)

// DayStore keeps the counts of a day of all servers of a database.
type DayStore interface {
	// PutDayUses notes how many requests a server has let in or reserved, in
	// place of what it noted at an earlier time.
	PutDayUses(ctx context.Context, server string, uses []DayUse, at time.Time) error
	// DayUses reads how many requests all other servers have let in on a day.
	DayUses(ctx context.Context, server string, day adlens.Day) ([]DayUse, error)
}

const (
	daysPatience   = time.Second     // how long a call waits until it is reserved
	elsewhereEvery = 2 * time.Second // how often the counts of other servers are read
)

// StoredLimiter lets calls in once they are counted where a kill loses none of
// them, and counts what other servers let in. It is safe for concurrent use.
type StoredLimiter struct {
	// Decide decides about a call: AllowKey of the local limiter, or of one that
	// others share and that falls back to it.
	Decide func(account string, key KeyLimit, now time.Time) Decision
	// Warn hears of a count that could not be stored or read.
	Warn func(text string, err error)

	local   *Limiter
	store   DayStore
	server  string // this server's name among those that count
	now     func() time.Time
	began   time.Time     // with its monotonic reading
	called  atomic.Int64  // when a call was last decided about, since began
	read    time.Duration // when the counts of other servers were last read, since began
	storing chan struct{} // held while counts are stored, so that they are in order
	turns   atomic.Int64  // how often that was begun
	failing bool          // the last time nothing was stored; under storing
}

// NewStoredLimiter returns a limiter of a server that has a name of its own.
func NewStoredLimiter(local *Limiter, store DayStore, server string, now func() time.Time) *StoredLimiter {
	return &StoredLimiter{Decide: local.AllowKey, Warn: func(string, error) {}, local: local, store: store, server: server,
		now: now, began: now(), storing: make(chan struct{}, 1)}
}

// AllowKey decides about a call of an account's key; a zero KeyLimit is no limit of
// the key. A call that is not reserved yet waits until it is.
func (l *StoredLimiter) AllowKey(account string, key KeyLimit, now time.Time) Decision {
	l.called.Store(int64(l.now().Sub(l.began)))
	for {
		d := l.Decide(account, key, now)
		if !d.Unreserved {
			return d
		}
		turn := l.turns.Load()
		l.storing <- struct{}{}
		if l.turns.Load() == turn { // else what another stored had this call in it
			l.putUses(context.Background(), l.local.ReserveWaiting)
		}
		<-l.storing
	}
}

// PeekKey returns what AllowKey would decide about a call by what this server let in and
// read of the day's other counts, and counts and reserves nothing. A limiter that servers
// share is left alone, so that a refused call costs no look at it: of a minute's calls,
// those that others let in are not known.
func (l *StoredLimiter) PeekKey(account string, key KeyLimit, now time.Time) Decision {
	return l.local.PeekKey(account, key, now)
}

// Keep is to be called every few moments: it reserves calls ahead, and reads what
// other servers let in where calls came since it did.
func (l *StoredLimiter) Keep(ctx context.Context) {
	l.storeUses(ctx, l.local.ReserveAhead)
	now := l.now().Sub(l.began)
	if time.Duration(l.called.Load()) <= l.read || now-l.read <= elsewhereEvery {
		return
	}
	l.read = now
	if err := l.ReadElsewhere(ctx); err != nil && ctx.Err() == nil {
		l.Warn("what other servers let in could not be read", err)
	}
}

// GiveBack is for when no further calls come.
func (l *StoredLimiter) GiveBack(ctx context.Context) { l.storeUses(ctx, l.local.GiveBack) }

func (l *StoredLimiter) storeUses(ctx context.Context, reserve func(now time.Time) []DayUse) {
	l.storing <- struct{}{}
	defer func() { <-l.storing }()
	l.putUses(ctx, reserve)
}

// putUses stores what was reserved, in the caller's turn. Its times are by a clock that is
// never set: of this server's counts the last one is the newest.
func (l *StoredLimiter) putUses(ctx context.Context, reserve func(now time.Time) []DayUse) {
	l.turns.Add(1)
	now := l.now()
	uses := reserve(now)
	if len(uses) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, daysPatience)
	defer cancel()
	err := l.store.PutDayUses(ctx, l.server, uses, l.began.Add(now.Sub(l.began)))
	if err != nil && !l.failing {
		l.Warn("the day's counts cannot be stored; it is tried again until they are", err)
	}
	l.failing = err != nil
	l.local.Reserved(uses, err == nil)
}

// ReadElsewhere reads what other servers let in, servers that ended included.
func (l *StoredLimiter) ReadElsewhere(ctx context.Context) error {
	now := l.now()
	uses, err := l.store.DayUses(ctx, l.server, adlens.DayOf(now.UTC()))
	if err == nil {
		l.local.TakeElsewhere(uses, now)
	}
	return err
}
