package engine

import (
	"context"
	"fmt"
	"time"
)

// A living engine answers the smallest question, if only to say that it is
// busy; one that is silent for watchFailures questions in a row is frozen and
// is killed. One that is dead is started by whoever asks it next, this watch
// at the latest.
const (
	watchEvery    = time.Second
	watchPatience = 5 * time.Second
	watchFailures = 3
)

// Watch keeps the engine running until the context ends. failed hears of every
// question without an answer, and restarted of each engine that took the place
// of another. It asks over a connection of its own, so that nothing that waits
// for the engine can hold it up.
func (e *Engine) Watch(ctx context.Context, failed func(error), restarted func()) {
	silent, met := 0, ""
	ticker := time.NewTicker(watchEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		at, err := e.look(ctx)
		if err == nil && met != "" && met != at.Gate {
			restarted()
		}
		if err == nil {
			met = at.Gate
		}
		if err == nil || ctx.Err() != nil {
			silent = 0
			continue
		}
		failed(err)
		if silent++; silent == watchFailures {
			silent = 0
			if err := e.Kill(); err != nil {
				failed(err)
			}
		}
	}
}

// look starts the engine where it is dead, and asks it where it lives. Any
// answer at all will do.
func (e *Engine) look(ctx context.Context) (Endpoint, error) {
	running, err := held(e.home.engineLock())
	if err != nil {
		return Endpoint{}, err
	}
	if !running {
		return e.Endpoint(ctx)
	}
	at, err := e.home.readEndpoint()
	if err != nil {
		return at, err
	}
	ctx, cancel := context.WithTimeout(ctx, watchPatience)
	defer cancel()
	if _, err := at.ask(ctx); err != nil {
		return at, fmt.Errorf("the engine is silent: %w", err)
	}
	return at, nil
}
