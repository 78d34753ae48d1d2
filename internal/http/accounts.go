package http

import (
	"context"
	"fmt"
	"sync"
	"time"

	"adlens"
)

// An account is read again after accountsFor, so that a changed subscription
// shows within seconds; at most maxAccounts are remembered.
const (
	accountsFor = 2 * time.Second
	maxAccounts = 10_000
)

// accounts remembers accounts for a moment, because every request asks.
type accounts struct {
	store AccountStore

	mu    sync.Mutex
	known map[string]knownAccount
}

type knownAccount struct {
	account adlens.Account
	read    time.Time
}

func newAccounts(store AccountStore) *accounts {
	return &accounts{store: store, known: map[string]knownAccount{}}
}

func (a *accounts) get(ctx context.Context, id string, now time.Time) (adlens.Account, error) {
	a.mu.Lock()
	known, ok := a.known[id]
	a.mu.Unlock()
	if ok && now.Sub(known.read).Abs() < accountsFor {
		return known.account, nil
	}
	account, found, err := a.store.Account(ctx, id)
	if err != nil {
		return account, err
	}
	if !found {
		return account, fmt.Errorf("a key belongs to account %q, which does not exist", id)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.known) >= maxAccounts {
		clear(a.known)
	}
	a.known[id] = knownAccount{account, now}
	return account, nil
}
