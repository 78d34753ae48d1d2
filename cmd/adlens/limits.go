package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"time"

	"adlens/internal/auth"
	"adlens/internal/redis"

	"go.uber.org/zap"
)

// limits are the limits of accounts as one server holds them.
type limits struct {
	*auth.StoredLimiter
	shared *redis.Limiter // nil where each server counts for itself
	log    *zap.Logger
}

// daysEvery is how often calls of the day are reserved ahead.
const daysEvery = 250 * time.Millisecond

// newLimits returns the limits of a server, with what was used of the day before
// it started. Where that cannot be read, requests are admitted as by a server
// that loses the store later: a limit never makes a server unavailable.
func (d *data) newLimits(ctx context.Context, so serveOptions, log *zap.Logger) (*limits, error) {
	local := auth.NewReservingLimiter(so.limitMinute, so.limitDay)
	l := &limits{StoredLimiter: auth.NewStoredLimiter(local, d.DayUses, rand.Text(), time.Now), log: log}
	l.Warn = func(text string, err error) { log.Warn(text, zap.Error(err)) }
	if so.redis != "" {
		shared, err := redis.New(so.redis, d.Cluster.Identity, so.limitMinute, so.limitDay, local, l.logRedisState)
		if err != nil {
			return nil, fmt.Errorf("--redis: %w", err)
		}
		l.Decide, l.shared = shared.AllowKey, shared
	}
	if err := l.ReadElsewhere(ctx); err != nil && ctx.Err() == nil {
		l.Warn("what was let in before the start could not be read", err)
	}
	return l, ctx.Err()
}

func (l *limits) logRedisState(err error) {
	if err == nil {
		l.log.Info("Redis answers again; limits are shared")
		return
	}
	l.log.Warn("Redis does not answer, or refuses; this server holds limits by itself", zap.Error(err))
}

// keepReservations reserves calls of the day ahead until the context ends, and gives back
// then what was not used.
func (l *limits) keepReservations(ctx context.Context) {
	if l.shared != nil {
		defer l.shared.Close()
	}
	runEvery(ctx, daysEvery, l.Keep)
	l.GiveBack(context.Background())
}
