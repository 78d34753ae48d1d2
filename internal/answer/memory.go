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
	// such answers' own, and half of that an account's, so that they do not wait for
	// larger ones, of whatever size those are.
	ordinaryAnswer = 2 << 20
)

// MemoryPatience is how long an answer waits for memory. What is left of Timeout is for
// computing it.
const MemoryPatience = Timeout - 10*time.Second

// memory bounds the memory that all answers take together, from before
// they are computed until they were written. An account has half of it at
// most, so that clients of one account that do not read their answers do not
// take it from the others. An answer that is larger than its bound is made
// while there is no other but ordinary ones.
type memory struct {
	limit int // bytes; 0 is no bound

	mu       sync.Mutex
	used     inUse
	accounts map[string]inUse
	waiting  []*memoryWaiter
}

// inUse is how many bytes answers take, and of them the ordinary ones.
type inUse struct{ all, ordinary int }

func (u inUse) plus(bytes int, ordinary bool) inUse {
	u.all += bytes
	if ordinary {
		u.ordinary += bytes
	}
	return u
}

// large are the bytes of answers that are not ordinary.
func (u inUse) large() int { return u.all - u.ordinary }

// memoryWaiter is an answer that waits for memory.
type memoryWaiter struct {
	account  string
	bytes    int
	admitted chan struct{} // closed when it has the memory
}

func newMemory(limit int) *memory {
	return &memory{limit: limit, accounts: map[string]inUse{}}
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
		m.addBytesLocked(account, -bytes, w.isOrdinary()) // it was admitted meanwhile
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

// addBytes counts memory that is taken already, of an ordinary answer or another, or gives
// it back.
func (m *memory) addBytes(account string, bytes int, ordinary bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.addBytesLocked(account, bytes, ordinary)
	m.admitWaiting()
}

// addBytesLocked counts memory. The caller holds the lock.
func (m *memory) addBytesLocked(account string, bytes int, ordinary bool) {
	m.used = m.used.plus(bytes, ordinary)
	m.accounts[account] = m.accounts[account].plus(bytes, ordinary)
	if m.accounts[account] == (inUse{}) {
		delete(m.accounts, account)
	}
}

func isOrdinary(bytes int) bool { return bytes <= ordinaryAnswer }

func (w *memoryWaiter) isOrdinary() bool { return isOrdinary(w.bytes) }

// admitWaiting gives free memory to those that wait, in their order. Ordinary
// answers pass larger ones. The caller holds the lock.
func (m *memory) admitWaiting() {
	full := false
	m.waiting = slices.DeleteFunc(m.waiting, func(w *memoryWaiter) bool {
		if !m.hasOwnRoom(w) {
			if full && !w.isOrdinary() || !m.hasAccountRoom(w) {
				return false
			}
			if !m.hasRoom(w) {
				full = full || !w.isOrdinary()
				return false
			}
		}
		m.addBytesLocked(w.account, w.bytes, w.isOrdinary())
		close(w.admitted)
		return true
	})
}

// hasOwnRoom reports whether an answer fits into what ordinary ones have for themselves.
func (m *memory) hasOwnRoom(w *memoryWaiter) bool {
	return w.isOrdinary() && m.used.ordinary+w.bytes <= m.limit/8 && m.accounts[w.account].ordinary+w.bytes <= m.limit/16
}

// hasAccountRoom reports whether an answer fits into what an account may have.
func (m *memory) hasAccountRoom(w *memoryWaiter) bool {
	own, others := m.accounts[w.account], m.accounts[w.account].all
	if !w.isOrdinary() {
		others = own.large()
	}
	return m.limit == 0 || others == 0 || own.all+w.bytes <= m.limit/2
}

// hasRoom reports whether an answer fits into what is free.
func (m *memory) hasRoom(w *memoryWaiter) bool {
	limit, others := m.limit, m.used.all
	if !w.isOrdinary() {
		limit -= m.limit / 8
		others = m.used.large()
	}
	return m.limit == 0 || m.used.all+w.bytes <= limit || w.bytes > limit && others == 0
}
