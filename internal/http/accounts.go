package http

import (
	"context"
	"fmt"
	"time"

	"adlens"
	"adlens/internal/recent"
)

// An account that is remembered is never older than accountsFor, so that a
// changed subscription shows within seconds; at most maxAccounts are remembered.
const (
	accountsFor = 2 * time.Second
	maxAccounts = 10_000
)

// accounts remembers accounts for a moment, because every request asks.
type accounts struct {
	known *recent.Values[string, adlens.Account]
}

func newAccounts(store AccountStore) *accounts {
	return &accounts{recent.New(accountsFor, maxAccounts, func(ctx context.Context, id string) (adlens.Account, bool, error) {
		return store.Account(ctx, id)
	})}
}

func (a *accounts) get(ctx context.Context, id string, now time.Time) (adlens.Account, error) {
	account, found, err := a.known.Get(ctx, id, now)
	if err == nil && !found {
		err = fmt.Errorf("a key belongs to account %q, which does not exist", id)
	}
	return account, err
}
