package moves

import (
	"context"
	"time"

	"adlens"
	"adlens/internal/flight"
	"adlens/internal/lru"
	"adlens/internal/recent"
)

const (
	// PlaceLife is for how long a process believes where an account is. A move
	// keeps others from loading for longer than that, so that nothing new is ever
	// missed by those who still ask the old place.
	PlaceLife = 2 * time.Second
	// Settling is for how long a move waits after the account has its new place: by
	// then every process has read it again. No place is used that is older.
	Settling = 2 * PlaceLife
	// findPatience is for how long a place is asked again that was not answered in time.
	findPatience = time.Minute
	// maxPlaces bounds what is kept.
	maxPlaces = 100_000
)

// Place is where an account is.
type Place struct {
	Shard   uint16
	Version uint64 // of its places; 0 where it has none
}

// Places finds on which shard each account is, by what one process read a moment ago. It is
// safe for concurrent use.
type Places struct {
	// Now is the time by the process's clock. Tests replace it.
	Now func() time.Time
	// Ready reaches the server that is asked, which may take longer than its answer is used.
	Ready func(context.Context) error

	read   func(ctx context.Context, account string) (Place, error)
	known  *lru.Cache[string, knownPlace] // by account
	asking flight.Group[string, knownPlace]
	moved  func(account string) // hears of accounts that have another place
}

// knownPlace is where an account was when that was read.
type knownPlace struct {
	Place
	asked time.Time
}

// NewPlaces returns the places of accounts, which read reads.
func NewPlaces(read func(ctx context.Context, account string) (Place, error)) *Places {
	return &Places{Now: time.Now, Ready: func(context.Context) error { return nil }, read: read, known: lru.New(maxPlaces, func(string, knownPlace) int { return 1 }), moved: func(string) {}}
}

// OnMove has a function hear of each account whose place is found changed, or is changed here:
// at another one, as after a lost shard was restored, its loads may have numbers that others
// had before. It is set before the first account is looked up.
func (ps *Places) OnMove(moved func(account string)) { ps.moved = moved }

// Find returns the shard of an account. It may have moved a moment ago. A server that
// stands still is asked again, and once more one that went away.
func (ps *Places) Find(ctx context.Context, account string) (uint16, error) {
	if p, ok := ps.known.Get(account); ok && ps.isYounger(p, PlaceLife) {
		return p.Shard, nil
	}
	began := ps.Now()
	for again := false; ; again = true {
		p, err := ps.asking.Do(ctx, account, func(ctx context.Context) (p knownPlace, err error) {
			if err := ps.Ready(ctx); err != nil {
				return p, err
			}
			ctx, cancel := context.WithTimeout(ctx, Settling) // no later answer is used
			defer cancel()
			p.asked = ps.Now()
			if p.Place, err = ps.read(ctx, account); err != nil {
				return p, err
			}
			before, known := ps.known.Get(account)
			ps.known.Put(account, p)
			if known && before.Version != p.Version {
				ps.moved(account)
			}
			return p, nil
		})
		switch kind := adlens.KindOf(err); {
		case err == nil && ps.isYounger(p, Settling):
			return p.Shard, nil
		case err == nil:
		case ctx.Err() == nil && kind == adlens.QueryTimeout && recent.Elapsed(began, ps.Now()) < findPatience:
		case ctx.Err() == nil && kind == adlens.EngineUnavailable && !again:
		default:
			return p.Shard, err
		}
		// The answer was on its way for long, as where the network stood still, or
		// callers before this one waited for it: the account may have moved since.
	}
}

// isYounger reports whether a place was read within a time.
func (ps *Places) isYounger(p knownPlace, than time.Duration) bool {
	return recent.Elapsed(p.asked, ps.Now()) < than
}

// Note has an account found on a shard where this process has just put it.
func (ps *Places) Note(account string, shard uint16) {
	ps.known.Put(account, knownPlace{Place{Shard: shard}, ps.Now()})
	ps.moved(account)
}
