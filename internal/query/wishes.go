package query

import (
	"slices"
	"sync"
)

// maxWishes bounds the accounts whose units wait to be read.
const maxWishes = 1_000

// wishes are what accounts have asked memory for in vain, and which of them
// are asking at all. An account that asks much does not keep others waiting.
type wishes struct {
	mu     sync.Mutex
	of     map[string]Request // the last one of each account
	turns  []string           // the accounts in the order of their wishes
	wished chan struct{}      // has a value where there may be something to read

	ahead    []string          // the accounts of which more may be read ahead
	expected map[string]uint32 // the version of each account that is read ahead, or was
}

func newWishes() *wishes {
	return &wishes{of: map[string]Request{}, wished: make(chan struct{}, 1), expected: map[string]uint32{}}
}

// queueMiss notes what an account asked for in vain.
func (w *wishes) queueMiss(account string, r Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, waits := w.of[account]; !waits {
		if len(w.of) >= maxWishes {
			return
		}
		w.turns = append(w.turns, account)
	}
	w.of[account] = r
	w.signalWork()
}

// nextMiss takes the wish that waits for the longest time.
func (w *wishes) nextMiss() (account string, r Request, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.turns) == 0 {
		return "", r, false
	}
	account, w.turns = w.turns[0], w.turns[1:]
	r = w.of[account]
	delete(w.of, account)
	return account, r, true
}

// queueAhead has an account read ahead: who asks for something asks for more soon,
// also of what a load has changed.
func (w *wishes) queueAhead(account string, version uint32) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if known, ok := w.expected[account]; ok && known == version {
		return
	}
	if len(w.expected) >= maxWishes {
		clear(w.expected)
	}
	w.expected[account] = version
	if len(w.ahead) < maxWishes && !slices.Contains(w.ahead, account) {
		w.ahead = append(w.ahead, account)
		w.signalWork()
	}
}

// nextAhead takes the account whose turn it is to be read ahead.
func (w *wishes) nextAhead() (account string, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.ahead) == 0 {
		return "", false
	}
	account, w.ahead = w.ahead[0], w.ahead[1:]
	return account, true
}

// goOn has more of an account read ahead, behind the others.
func (w *wishes) goOn(account string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !slices.Contains(w.ahead, account) {
		w.ahead = append(w.ahead, account)
	}
}

// forgetAccount has an account read ahead again when it asks next.
func (w *wishes) forgetAccount(account string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.expected, account)
}

func (w *wishes) signalWork() {
	select {
	case w.wished <- struct{}{}:
	default:
	}
}
