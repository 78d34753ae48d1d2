package query

import (
	"context"
	"sync"
	"time"
)

// engagement reports whether something is under way. The zero value is ready.
type engagement struct {
	mu   sync.Mutex
	many int
	over chan struct{} // closed when nothing is under way any more
}

// beginWork says that something is under way, until it is ended.
func (e *engagement) beginWork() (end func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.many++; e.many == 1 {
		e.over = make(chan struct{})
	}
	return e.endWork
}

func (e *engagement) endWork() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.many--; e.many == 0 {
		close(e.over)
	}
}

// waitIdle returns once nothing is under way, or when its patience ends.
func (e *engagement) waitIdle(ctx context.Context, patience time.Duration) {
	e.mu.Lock()
	over, many := e.over, e.many
	e.mu.Unlock()
	if many == 0 {
		return
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-over:
	case <-timer.C:
	case <-ctx.Done():
	}
}
