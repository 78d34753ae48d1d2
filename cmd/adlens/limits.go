package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"time"

	"adlens"
	"adlens/internal/auth"
	adhttp "adlens/internal/http"
	"adlens/internal/redis"

	"go.uber.org/zap"
)

// limits are the limits of accounts as one server holds them.
type limits struct {
	adhttp.Limiter
	local  *auth.Limiter
	shared *redis.Limiter // nil where each server counts for itself
	server string         // this server's name among those that counted
	db     *data
	log    *zap.Logger
}

const (
	daysEvery      = 250 * time.Millisecond // how often the day's counts are stored
	elsewhereEvery = 2 * time.Second        // how often those of other servers are read
)

// limits returns the limits of a server, with what was used of the day before
// it started.
func (d *data) limits(ctx context.Context, so serveOptions, log *zap.Logger) (*limits, error) {
	if so.limitMinute < 0 || so.limitDay < 0 {
		return nil, fmt.Errorf("a limit cannot be negative: --limit-minute %d, --limit-day %d; 0 is off", so.limitMinute, so.limitDay)
	}
	l := &limits{local: auth.NewLimiter(so.limitMinute, so.limitDay), server: rand.Text(), db: d, log: log}
	l.Limiter = l.local
	if so.redis != "" {
		shared, err := redis.New(so.redis, so.limitMinute, so.limitDay, l.local, l.notice)
		if err != nil {
			return nil, fmt.Errorf("--redis: %w", err)
		}
		l.Limiter, l.shared = shared, shared
	}
	if so.limitDay == 0 {
		return l, nil
	}
	return l, l.readElsewhere(ctx)
}

func (l *limits) notice(err error) {
	if err == nil {
		l.log.Info("Redis answers again; limits are shared")
		return
	}
	l.log.Warn("Redis does not answer; this server holds limits by itself", zap.Error(err))
}

// keep stores the day's counts until the context ends, and once more then.
func (l *limits) keep(ctx context.Context) {
	if l.shared != nil {
		defer l.shared.Close()
	}
	var read time.Time
	every(ctx, daysEvery, func(ctx context.Context) {
		if l.store(ctx) && time.Since(read) > elsewhereEvery {
			read = time.Now()
			if err := l.readElsewhere(ctx); err != nil && ctx.Err() == nil {
				l.log.Warn("what other servers let in could not be read", zap.Error(err))
			}
		}
	})
	l.store(context.Background())
}

// store notes what was let in, and tells whether anything was.
func (l *limits) store(ctx context.Context) (any bool) {
	uses := l.local.DayUses()
	if len(uses) == 0 {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if err := l.db.PutDayUses(ctx, l.server, uses); err != nil {
		l.log.Warn("the day's counts could not be stored", zap.Error(err))
	}
	return true
}

func (l *limits) readElsewhere(ctx context.Context) error {
	now := time.Now()
	uses, err := l.db.DayUses(ctx, l.server, adlens.DayOf(now.UTC()))
	if err == nil {
		l.local.TakeElsewhere(uses, now)
	}
	return err
}
