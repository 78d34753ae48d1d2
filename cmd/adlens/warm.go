package main

import (
	"context"
	"errors"
	"time"

	"adlens/internal/query"

	"go.uber.org/zap"
)

const (
	// warmAccounts bounds the accounts that a start prepares for.
	warmAccounts = 32
	// warmPatience bounds what a start waits before it serves.
	warmPatience = 2 * time.Second
)

// warmCaches asks what the first requests will ask. The first statement of each kind
// takes the engine ten times as long as those after it, and accounts that were
// served before are likely to be requested again. Where it takes too long, the
// rest is left to those who ask.
func (d *data) warmCaches(ctx context.Context, figures *query.Service, log *zap.Logger) {
	ctx, cancel := context.WithTimeout(ctx, warmPatience)
	defer cancel()
	if err := d.runFirstQueries(ctx, figures); err != nil && ctx.Err() == nil {
		log.Warn("the first requests will wait for the engine", zap.Error(err))
	}
}

// runFirstQueries goes the way of a request: the key, its account, the account's figures.
func (d *data) runFirstQueries(ctx context.Context, figures *query.Service) error {
	var unused [32]byte
	_, _, unknown := d.Keys.KeyByHash(ctx, unused)
	accounts, err := d.Keys.LastServed(ctx, warmAccounts)
	if err := errors.Join(unknown, err); err != nil {
		return err
	}
	for _, account := range accounts {
		if _, _, err := d.Accounts.Account(ctx, account); err != nil {
			return err
		}
		if err := figures.Warm(ctx, account); err != nil {
			return err
		}
	}
	return nil
}
