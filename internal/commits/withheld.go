package commits

import (
	"maps"
	"sync"
)

// Withheld are accounts of which nothing is read, because something of them was lost. The
// zero value has none. It is safe for concurrent use.
type Withheld struct {
	mu    sync.Mutex
	lost  map[string][]string // by account
	found map[string]int      // how often something of an account was found lost
}

// Withhold has nothing of an account read any more, for these reasons, until LookAgain finds
// it whole.
func (w *Withheld) Withhold(account string, faults ...string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.lost == nil {
		w.lost, w.found = map[string][]string{}, map[string]int{}
	}
	w.lost[account] = faults
	w.found[account]++
}

// Admit returns why nothing of an account may be read, an error of kind adlens.Damaged.
func (w *Withheld) Admit(account string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return requireNone(account, w.lost[account])
}

// Lost returns what is missing of each account.
func (w *Withheld) Lost() map[string][]string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return maps.Clone(w.lost)
}

// LookAgain looks for faults of an account, and has it read again where there are none, unless
// more was found lost meanwhile, as of an engine that was started.
func (w *Withheld) LookAgain(account string, look func() (faults []string, err error)) (whole bool, err error) {
	before := w.timesFound(account)
	if faults, err := look(); err != nil || len(faults) > 0 {
		return false, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.found[account] != before {
		return false, nil
	}
	delete(w.lost, account)
	return true, nil
}

func (w *Withheld) timesFound(account string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.found[account]
}
