package engine

import (
	"context"
	"fmt"
	"time"
)

// A living engine answers the smallest question, if only to say that it is
// busy; one that is silent for watchFailures questions in a row is frozen and
// is killed. One that never answered yet is starting, which takes its time on a
// busy machine. One that is dead is started by the process that asks it next, this watch
// at the latest.
const (
	watchEvery    = time.Second // whether it is there
	pingEvery     = 3           // looks, whether it answers; each of them where it did not
	watchPatience = 5 * time.Second
	watchFailures = 3

	// silencePatience is how long an engine may be silent for others.
	silencePatience = watchFailures * watchPatience
)

// watch is what was seen of the engine so far.
type watch struct {
	engine    *Engine
	failed    func(error)
	restarted func()

	met    string    // the gate of the last engine that answered
	looks  int       // since it was asked last
	silent int       // questions in a row without an answer
	coming string    // the gate of one that never answered
	since  time.Time // when that was first seen
}

// Watch keeps the engine running until the context ends. failed hears of every
// question without an answer, and restarted of each engine that took the place
// of another. It asks over a connection of its own, so that nothing that waits
// for the engine can hold it up.
func (e *Engine) Watch(ctx context.Context, failed func(error), restarted func()) {
	w := &watch{engine: e, failed: failed, restarted: restarted}
	if at, err := e.home.readEndpoint(); err == nil {
		w.met = at.Gate // it answered when it was opened
	}
	ticker := time.NewTicker(watchEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			w.checkEngine(ctx)
		}
	}
}

func (w *watch) checkEngine(ctx context.Context) {
	trusted := w.met
	if w.looks++; w.looks >= pingEvery || w.silent > 0 {
		w.looks, trusted = 0, ""
	}
	at, err := w.engine.ensureAlive(ctx, trusted)
	switch {
	case ctx.Err() != nil:
	case err == nil:
		if w.met != "" && w.met != at.Gate {
			w.restarted()
		}
		w.met, w.silent = at.Gate, 0
	case w.isStarting(at, time.Now(), err):
		w.failed(err)
	default:
		w.failed(err)
		w.silent++
		if w.silent < watchFailures {
			return
		}
		w.silent = 0
		if err := w.engine.killFrozen(ctx, at); err != nil {
			w.failed(err)
		}
	}
}

// isStarting reports whether an engine that does not answer may still be starting.
func (w *watch) isStarting(at Endpoint, now time.Time, silent error) bool {
	if at.Gate == w.met {
		return false
	}
	if at.Gate != w.coming {
		w.coming, w.since, w.silent = at.Gate, now, 0
	}
	return now.Sub(w.since) < patienceFor(silent)
}

// ensureAlive starts the engine where it is dead, and asks it where it lives, unless it
// has the gate of one that is trusted to answer. Any answer at all will do.
func (e *Engine) ensureAlive(ctx context.Context, trusted string) (Endpoint, error) {
	running, err := isHeld(e.home.engineLock())
	if err != nil {
		return Endpoint{}, err
	}
	if !running {
		return e.Endpoint(ctx)
	}
	at, err := e.home.readEndpoint()
	if err != nil || at.Gate == trusted {
		return at, err
	}
	ctx, cancel := context.WithTimeout(ctx, watchPatience)
	defer cancel()
	if _, err := at.pingEngine(ctx); err != nil {
		return at, fmt.Errorf("the engine is silent: %w", err)
	}
	return at, nil
}
