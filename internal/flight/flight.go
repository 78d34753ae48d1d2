// Package flight is what runs side by side: everybody who asks for the same
// thing at the same time shares one computation, and steps that do not need one
// another are taken together.
package flight

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"

	"adlens"
)

// Group is the computations under way, by what they compute. The zero value
// is ready; it is safe for concurrent use.
type Group[K comparable, V any] struct {
	mu      sync.Mutex
	flights map[K]*flight[V]
}

// flight is one computation. Its value and error may be read once done is
// closed.
type flight[V any] struct {
	done    chan struct{}
	cancel  context.CancelFunc
	waiting int // guarded by the group
	value   V
	err     error
}

// Do returns the result of compute, or that of a computation of the same key
// that is under way. A computation is shared by all waiters: it goes on while one
// is left, not only the caller that began it, and then its context ends. A caller
// whose context ends gets ctx.Err(). A panic is an error too.
func (g *Group[K, V]) Do(ctx context.Context, key K, compute func(context.Context) (V, error)) (value V, err error) {
	f := g.board(ctx, key, compute)
	select {
	case <-f.done:
		return f.value, f.err
	case <-ctx.Done():
		g.leave(key, f)
		return value, ContextError(ctx)
	}
}

// ContextError is the error of a context that has ended, of the same kind as if
// a computation had ended with it.
func ContextError(ctx context.Context) error {
	kind := adlens.Cancelled
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		kind = adlens.QueryTimeout
	}
	return &adlens.Error{Kind: kind, Err: ctx.Err()}
}

// board joins the computation of a key, and begins it where there is none.
func (g *Group[K, V]) board(ctx context.Context, key K, compute func(context.Context) (V, error)) *flight[V] {
	g.mu.Lock()
	defer g.mu.Unlock()
	f, ok := g.flights[key]
	if !ok {
		f = &flight[V]{done: make(chan struct{})}
		var own context.Context
		own, f.cancel = context.WithCancel(context.WithoutCancel(ctx))
		if g.flights == nil {
			g.flights = map[K]*flight[V]{}
		}
		g.flights[key] = f
		go g.run(own, key, f, compute)
	}
	f.waiting++
	return f
}

func (g *Group[K, V]) run(ctx context.Context, key K, f *flight[V], compute func(context.Context) (V, error)) {
	defer func() {
		f.cancel()
		g.mu.Lock()
		defer g.mu.Unlock()
		g.forget(key, f)
		close(f.done)
	}()
	f.err = guarded(func() (err error) {
		f.value, err = compute(ctx)
		return err
	})
}

// guarded makes a panic an error: here it would end the program, where no
// handler is above it.
func guarded(compute func() error) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("panic: %v\n%s", cause, debug.Stack())
		}
	}()
	return compute()
}

// leave stops waiting. Who asks after the last one left gets a new
// computation, because this one was told to end.
func (g *Group[K, V]) leave(key K, f *flight[V]) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if f.waiting--; f.waiting == 0 {
		g.forget(key, f)
		f.cancel()
	}
}

func (g *Group[K, V]) forget(key K, f *flight[V]) {
	if g.flights[key] == f {
		delete(g.flights, key)
	}
}

// Together runs steps that do not need one another side by side, and waits for
// all of them, whichever fails: one waits for the disk while another computes.
// It returns the error of the first step that failed, in their order: failures
// often share a cause. A panic is an error too.
func Together(steps ...func() error) error {
	faults := make([]error, len(steps))
	var running sync.WaitGroup
	for i, step := range steps {
		running.Go(func() { faults[i] = guarded(step) })
	}
	running.Wait()
	for _, err := range faults {
		if err != nil {
			return err
		}
	}
	return nil
}
