package query

import (
	"slices"
	"sync"
)

// maxQueued bounds the accounts whose units wait to be read.
const maxQueued = 1_000

// readQueue is what is to be read into memory: cache misses of accounts, and accounts
// that are read ahead. An account that asks much does not keep others waiting.
type readQueue struct {
	mu    sync.Mutex
	of    map[string]Request // the last one of each account
	turns []string           // the accounts in the order of their misses
	ready chan struct{}      // has a value where there may be something to read

	ahead    []string          // the accounts of which more may be read ahead
	expected map[string]uint32 // the version of each account that is read ahead, or was
}

func newReadQueue() *readQueue {
	return &readQueue{of: map[string]Request{}, ready: make(chan struct{}, 1), expected: map[string]uint32{}}
}

// queueMiss notes a cache miss of an account.
func (q *readQueue) queueMiss(account string, r Request) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if _, waits := q.of[account]; !waits {
		if len(q.of) >= maxQueued {
			return
		}
		q.turns = append(q.turns, account)
	}
	q.of[account] = r
	q.signalWork()
}

// nextMiss takes the miss that waits for the longest time.
func (q *readQueue) nextMiss() (account string, r Request, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.turns) == 0 {
		return "", r, false
	}
	account, q.turns = q.turns[0], q.turns[1:]
	r = q.of[account]
	delete(q.of, account)
	return account, r, true
}

// queueAhead has an account read ahead: who asks for something asks for more soon,
// also of what a load has changed.
func (q *readQueue) queueAhead(account string, version uint32) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if known, ok := q.expected[account]; ok && known == version {
		return
	}
	if len(q.expected) >= maxQueued {
		clear(q.expected)
	}
	q.expected[account] = version
	if len(q.ahead) < maxQueued && !slices.Contains(q.ahead, account) {
		q.ahead = append(q.ahead, account)
		q.signalWork()
	}
}

// nextAhead takes the account whose turn it is to be read ahead.
func (q *readQueue) nextAhead() (account string, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.ahead) == 0 {
		return "", false
	}
	account, q.ahead = q.ahead[0], q.ahead[1:]
	return account, true
}

// goOn has more of an account read ahead, behind the others.
func (q *readQueue) goOn(account string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !slices.Contains(q.ahead, account) {
		q.ahead = append(q.ahead, account)
	}
}

// forgetAccount has an account read ahead again when it asks next.
func (q *readQueue) forgetAccount(account string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.expected, account)
}

func (q *readQueue) signalWork() {
	select {
	case q.ready <- struct{}{}:
	default:
	}
}
