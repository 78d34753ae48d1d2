package main

import (
	"context"
	"time"

	"adlens/internal/query"

	"go.uber.org/zap"
)

const (
	// fillPatience bounds one reading into memory. Generations that die
	// meanwhile are there for much longer (loader.CollectAfter).
	fillPatience = time.Minute
	// afterFailure is how long an engine that failed is left alone.
	afterFailure = time.Second
)

// keepFigures reads into memory what requests have missed. It rests as long as
// it worked, so that those who wait for the engine have it.
func keepFigures(ctx context.Context, figures *query.Service, log *zap.Logger) {
	for {
		began := time.Now()
		worked, err := fill(ctx, figures)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			log.Warn("figures could not be read into memory", zap.Error(err))
			rest(ctx, afterFailure)
		case worked:
			rest(ctx, time.Since(began))
		default:
			select {
			case <-ctx.Done():
			case <-figures.Missed():
			}
		}
	}
}

func fill(ctx context.Context, figures *query.Service) (worked bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, fillPatience)
	defer cancel()
	return figures.Fill(ctx)
}

func rest(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
