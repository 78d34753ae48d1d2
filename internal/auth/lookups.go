package auth

import (
	"context"
	"errors"
	"sync"

	"adlens"
)

// lookups lets concurrent look-ups of one hash share one query, so that a
// burst of requests with one key does not reach the store as a burst.
type lookups struct {
	mu      sync.Mutex
	running map[[32]byte]*lookup
}

// lookup is a running query. Its other fields may be read once done is closed.
type lookup struct {
	done      chan struct{}
	record    Record
	found     bool
	err       error
	abandoned bool // its request went away: the answer is nobody else's
}

// share returns the answer of a query, one's own or that of another request
// for the same hash which is on its way.
func (l *lookups) share(ctx context.Context, hash [32]byte, query func() (Record, bool, error)) (Record, bool, error) {
	for {
		one, own := l.join(hash)
		if own {
			l.run(ctx, hash, one, query)
			return one.record, one.found, one.err
		}
		select {
		case <-ctx.Done():
			return Record{}, false, gaveUp(ctx)
		case <-one.done:
		}
		if !one.abandoned {
			return one.record, one.found, one.err
		}
	}
}

// join returns the look-up of a hash, and whether the caller has to run it.
func (l *lookups) join(hash [32]byte) (one *lookup, own bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if one, ok := l.running[hash]; ok {
		return one, false
	}
	if l.running == nil {
		l.running = map[[32]byte]*lookup{}
	}
	one = &lookup{done: make(chan struct{}), abandoned: true}
	l.running[hash] = one
	return one, true
}

// run asks, and lets the others have the answer. They ask again where the
// query panicked or failed because its own request was cancelled.
func (l *lookups) run(ctx context.Context, hash [32]byte, one *lookup, query func() (Record, bool, error)) {
	defer func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.running, hash)
		close(one.done)
	}()
	one.record, one.found, one.err = query()
	one.abandoned = one.err != nil && ctx.Err() != nil
}

// gaveUp is the error of a request that ended while it waited for another's
// query, of the same kind as if the query had been its own.
func gaveUp(ctx context.Context) error {
	kind := adlens.Cancelled
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		kind = adlens.QueryTimeout
	}
	return &adlens.Error{Kind: kind, Err: ctx.Err()}
}
