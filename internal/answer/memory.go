package answer

import (
	"context"
	"slices"
	"sync"
	"time"

	"adlens/internal/flight"
)

const (
	// rowBytes is about what a row takes while an answer is made of it: what was
	// read, its text while that grows, and copies of it. Twice as much where it
	// is compared.
	rowBytes = 1 << 10
	// runWeight is about what the record of a rule's run takes likewise, for each byte
	// of it: what was read, its values, and their text while that grows.
	runWeight = 5
	// ordinaryAnswer is what a page takes at most. An eighth of the memory is
	// left to such answers, so that they do not wait for larger ones.
	ordinaryAnswer = 2 << 20
)

// MemoryPatience is how long an answer waits for memory. What is left of Timeout is for
// computing it.
const MemoryPatience = Timeout - 10*time.Second

// memory bounds the memory that all answers take together, from before
// they are computed until they were written. An account has half of it at
// most, so that clients of one account that do not read their answers do not
// take it from the others. An answer that is larger than its bound is made
// while there is no other.
type memory struct {
	limit int // bytes; 0 is no bound

	mu       sync.Mutex
	used     int
	accounts map[string]int // used, by account
	waiting  []*memoryWaiter
}

// memoryWaiter is an answer that waits for memory.
type memoryWaiter struct {
	account  string
	bytes    int
	admitted chan struct{} // closed when it has the memory
}

func newMemory(limit int) *memory {
	return &memory{limit: limit, accounts: map[string]int{}}
}

// reserveBytes waits until there is memory for an answer, and takes it. The context
// is one of withWaitTimeout.
func (m *memory) reserveBytes(ctx context.Context, account string, bytes int) error {
	w := &memoryWaiter{account, bytes, make(chan struct{})}
	m.mu.Lock()
	m.waiting = append(m.waiting, w)
	m.admitWaiting()
	m.mu.Unlock()
	select {
	case <-w.admitted:
		return nil
	case <-ctx.Done():
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if i := slices.Index(m.waiting, w); i >= 0 {
		m.waiting = slices.Delete(m.waiting, i, i+1)
	} else {
		m.addBytesLocked(account, -bytes) // it was admitted meanwhile
	}
	m.admitWaiting() // those that it held up
	return waitingError(ctx)
}

// withWaitTimeout returns a context that ends with ErrOverloaded when an answer
// waited too long for memory, or for its turn to be written.
func withWaitTimeout(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, MemoryPatience, ErrOverloaded)
}

// waitingError is the error of a context of withWaitTimeout that has ended.
func waitingError(ctx context.Context) error {
	if cause := context.Cause(ctx); cause == ErrOverloaded {
		return cause
	}
	return flight.ContextError(ctx)
}

// addBytes counts memory that is taken already, or gives it back.
func (m *memory) addBytes(account string, bytes int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.addBytesLocked(account, bytes)
	m.admitWaiting()
}

// addBytesLocked counts memory. The caller holds the lock.
func (m *memory) addBytesLocked(account string, bytes int) {
	m.used += bytes
	if m.accounts[account] += bytes; m.accounts[account] == 0 {
		delete(m.accounts, account)
	}
}

// admitWaiting gives free memory to those that wait, in their order. Ordinary
// answers pass larger ones. The caller holds the lock.
func (m *memory) admitWaiting() {
	full := false
	m.waiting = slices.DeleteFunc(m.waiting, func(w *memoryWaiter) bool {
		limit := m.limit
		if w.bytes > ordinaryAnswer {
			limit -= m.limit / 8
			if full {
				return false
			}
		}
		if m.limit > 0 && m.accounts[w.account] > 0 && m.accounts[w.account]+w.bytes > m.limit/2 {
			return false
		}
		if m.limit > 0 && m.used > 0 && m.used+w.bytes > limit {
			full = full || w.bytes > ordinaryAnswer
			return false
		}
		m.addBytesLocked(w.account, w.bytes)
		close(w.admitted)
		return true
	})
}
