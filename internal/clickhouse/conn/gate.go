package conn

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"adlens"
)

const (
	// queuePatience is how long a statement waits for its turn.
	queuePatience = 10 * time.Second
	// A full queue rejects immediately: the wait would be longer than the
	// patience.
	maxQueue        = 1024
	maxAccountQueue = 256
)

// gate lets a few reading statements run at a time. More than twice the cores
// would only slow each other down.
//
// Accounts take turns. One account alone never has all places, so that
// however much it asks, the first statement of another finds one soon.
type gate struct {
	places int

	mu      sync.Mutex
	running int
	queued  int
	lines   map[string]*line // of accounts that run or wait
	waiting []*line          // those that wait, in the order of their turns
}

// line is an account before the gate.
type line struct {
	running int
	queue   []chan struct{} // each closed when its turn has come
}

func newGate(places int) *gate { return &gate{places: places, lines: map[string]*line{}} }

// countStatements returns how many statements run and wait.
func (g *gate) countStatements() (running, queued int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.running, g.queued
}

// acquirePlace waits for a place. The caller gives it back with leave.
func (g *gate) acquirePlace(ctx context.Context, account string) (leave func(), err error) {
	turn, err := g.joinQueue(account)
	if err != nil {
		return nil, err
	}
	leave = func() { g.freePlace(account) }
	patience := time.NewTimer(queuePatience)
	defer patience.Stop()
	select {
	case <-turn:
		return leave, nil
	case <-patience.C:
		err = &adlens.Error{Kind: adlens.Overloaded, Err: fmt.Errorf("no turn within %s", queuePatience)}
	case <-ctx.Done():
		err = &adlens.Error{Kind: KindOf(ctx, ctx.Err()), Err: ctx.Err()}
	}
	if !g.leaveQueue(account, turn) {
		leave() // the turn came in the meantime
	}
	return nil, err
}

// joinQueue puts a statement at the end of its account's line.
func (g *gate) joinQueue(account string) (turn chan struct{}, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	l, ok := g.lines[account]
	if !ok {
		l = &line{}
		g.lines[account] = l
	}
	if len(l.queue) >= maxAccountQueue || g.queued >= maxQueue {
		g.forgetIdle(account, l)
		return nil, &adlens.Error{Kind: adlens.Overloaded,
			Err: fmt.Errorf("%d statements wait for a turn, %d of them the account's", g.queued, len(l.queue))}
	}
	turn = make(chan struct{})
	if len(l.queue) == 0 {
		g.waiting = append(g.waiting, l)
	}
	l.queue = append(l.queue, turn)
	g.queued++
	g.admitNext()
	return turn, nil
}

func (g *gate) freePlace(account string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	l := g.lines[account]
	g.running--
	l.running--
	g.forgetIdle(account, l)
	g.admitNext()
}

// leaveQueue takes a statement out of its line; ok is false where the turn has come already.
func (g *gate) leaveQueue(account string, turn chan struct{}) (ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	l := g.lines[account]
	i := slices.Index(l.queue, turn)
	if i < 0 {
		return false
	}
	l.queue = slices.Delete(l.queue, i, i+1)
	g.queued--
	if len(l.queue) == 0 {
		g.waiting = slices.DeleteFunc(g.waiting, func(w *line) bool { return w == l })
	}
	g.forgetIdle(account, l)
	return true
}

func (g *gate) forgetIdle(account string, l *line) {
	if l.running == 0 && len(l.queue) == 0 {
		delete(g.lines, account)
	}
}

// admitNext gives free places away: to the account that has the fewest, of those
// to the one whose last turn is the longest ago.
func (g *gate) admitNext() {
	for g.running < g.places {
		next := g.findNext()
		if next < 0 {
			return
		}
		l := g.waiting[next]
		close(l.queue[0])
		l.queue = l.queue[1:]
		l.running++
		g.running++
		g.queued--
		g.waiting = slices.Delete(g.waiting, next, next+1)
		if len(l.queue) > 0 {
			g.waiting = append(g.waiting, l)
		}
	}
}

// findNext returns the index of the line whose turn it is, -1 where none may enter.
func (g *gate) findNext() int {
	next, fewest := -1, max(1, g.places-1)
	for i, l := range g.waiting {
		if l.running < fewest {
			next, fewest = i, l.running
		}
	}
	return next
}
