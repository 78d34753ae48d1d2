package http

import (
	"context"
	"errors"
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
	// ordinaryAnswer is what a page takes at most. An eighth of the memory is
	// left to such answers, so that they do not wait for larger ones.
	ordinaryAnswer = 2 << 20
	// memoryPatience is how long an answer waits for memory. What is left of
	// queryTimeout is for computing it.
	memoryPatience = queryTimeout - 10*time.Second
)

// answerMemory bounds the memory that all answers take together, from before
// they are computed until they were written. An account has half of it at
// most, so that clients of one account that do not read what they asked for do
// not take it from the others. An answer that is larger than its bound is made
// while there is no other.
type answerMemory struct {
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

func newAnswerMemory(limit int) *answerMemory {
	return &answerMemory{limit: limit, accounts: map[string]int{}}
}

// reserve waits until there is memory for an answer, and takes it. The context
// is one of patiently.
func (m *answerMemory) reserve(ctx context.Context, account string, bytes int) error {
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
		m.take(account, -bytes) // it was admitted meanwhile
	}
	m.admitWaiting() // those that it held up
	return waitingError(ctx)
}

// patiently is a context that ends with answersOverloaded where an answer
// waited too long for memory, or for its turn to be written.
func patiently(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, memoryPatience, answersOverloaded())
}

// waitingError is why a context of patiently has ended.
func waitingError(ctx context.Context) error {
	var p *problem
	if errors.As(context.Cause(ctx), &p) {
		return p
	}
	return flight.ContextError(ctx)
}

func answersOverloaded() *problem {
	return &problem{code: codeOverloaded, retry: unavailableRetry,
		detail: "the answers that are being made and sent take all the memory that the server has for them; ask again, one question at a time, or for fewer rows"}
}

// add counts memory that is taken already, or gives it back.
func (m *answerMemory) add(account string, bytes int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.take(account, bytes)
	m.admitWaiting()
}

// take counts memory. The caller holds the lock.
func (m *answerMemory) take(account string, bytes int) {
	m.used += bytes
	if m.accounts[account] += bytes; m.accounts[account] == 0 {
		delete(m.accounts, account)
	}
}

// admitWaiting gives free memory to those that wait, in their order. Ordinary
// answers pass larger ones. The caller holds the lock.
func (m *answerMemory) admitWaiting() {
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
		m.take(w.account, w.bytes)
		close(w.admitted)
		return true
	})
}

// weightOf is about what an answer of so many rows takes while it is made.
func weightOf(rows int, compared bool) int {
	bytes := rowBytes * (rows + 16)
	if compared {
		bytes *= 2
	}
	return bytes
}

// use is the memory of one answer, shared by all requests that have the same
// answer at the same time. It is given back when the last of them has ended.
type use struct {
	answers       *answers
	name, account string
	holders       int // requests, and computations; guarded by answers.mu
	bytes         int // guarded by answers.mu
}

// hold begins a request for an answer. The caller ends it.
func (as *answers) hold(account, name string) *use {
	as.mu.Lock()
	defer as.mu.Unlock()
	u, ok := as.uses[name]
	if !ok {
		u = &use{answers: as, name: name, account: account}
		as.uses[name] = u
	}
	u.holders++
	return u
}

func (u *use) end() {
	u.answers.mu.Lock()
	defer u.answers.mu.Unlock()
	if u.holders--; u.holders == 0 {
		delete(u.answers.uses, u.name)
		u.answers.memory.add(u.account, -u.bytes)
	}
}

// reserve waits for memory that is going to be taken.
func (u *use) reserve(ctx context.Context, bytes int) error {
	err := u.answers.memory.reserve(ctx, u.account, bytes)
	if err == nil {
		u.answers.mu.Lock()
		defer u.answers.mu.Unlock()
		u.bytes += bytes
	}
	return err
}

// change counts more of the memory, or less.
func (u *use) change(bytes int) {
	u.answers.mu.Lock()
	defer u.answers.mu.Unlock()
	u.bytes += bytes
	u.answers.memory.add(u.account, bytes)
}

// atLeast counts memory that is taken already, where it was not counted yet.
func (u *use) atLeast(bytes int) {
	u.answers.mu.Lock()
	defer u.answers.mu.Unlock()
	if more := bytes - u.bytes; more > 0 {
		u.bytes = bytes
		u.answers.memory.add(u.account, more)
	}
}
