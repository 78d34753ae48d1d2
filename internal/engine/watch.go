package engine

import (
	"context"
	"time"
)

// A living engine answers the smallest question at once; one that is silent
// for watchFailures questions in a row is frozen and is killed. One that is
// dead is started by whoever asks it next, this watch at the latest.
const (
	watchEvery    = time.Second
	watchPatience = 5 * time.Second
	watchFailures = 3
)

// Watch keeps the engine answering until the context ends. failed hears of
// every ping without an answer.
func (e *Engine) Watch(ctx context.Context, ping func(context.Context) error, failed func(error)) {
	failures := 0
	ticker := time.NewTicker(watchEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		err := e.look(ctx, ping)
		if err == nil || ctx.Err() != nil {
			failures = 0
			continue
		}
		failed(err)
		if failures++; failures == watchFailures {
			failures = 0
			if err := e.Kill(); err != nil {
				failed(err)
			}
		}
	}
}

func (e *Engine) look(ctx context.Context, ping func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, watchPatience)
	defer cancel()
	return ping(ctx)
}
