package connector

import (
	"context"
	"errors"
	"sync"
	"time"

	"adlens"
)

// Bounds of reading lists.
const (
	listLife     = 30 * time.Minute // a list that is older is read again when it is asked for
	clockSlack   = 5 * time.Minute  // a list of a time beyond it was dated by a wrong clock, and says nothing of its age
	longestRest  = 6 * time.Hour    // of a marketplace whose reads fail
	listPatience = 20 * time.Minute // for one list, whatever the platform asks to wait
	readPatience = 90 * time.Minute // for all lists of a marketplace, three of which are read one after the other
	readsAtOnce  = 64               // of all accounts; they mostly wait for the platform
	lookEvery    = 2 * time.Second  // at what other processes do
)

// Lists keeps the lists of connected marketplaces fresh while somebody asks
// for them.
type Lists struct {
	store  Store
	locks  Locks
	owner  func(ctx context.Context, account, marketplaceID string) (c adlens.Connection, found bool, err error)
	read   func(ctx context.Context, account, marketplaceID string) error
	report func(account, marketplaceID string, took time.Duration, err error)

	ctx     context.Context // of the reads
	running sync.WaitGroup
	slots   chan struct{}

	mu      sync.Mutex
	markets map[string]*market
}

// market is what this process knows of the lists of one marketplace.
type market struct {
	sync.Mutex           // held while somebody looks
	syncing    bool      // they are being read, here or elsewhere
	here       bool      // by this process
	began      time.Time // when this process read them last
	look       time.Time // no need to look again before
}

// NewLists returns lists that are read until the context ends. report hears
// how each read ended; it may be called from several goroutines.
func NewLists(ctx context.Context, c *Connector, report func(account, marketplaceID string, took time.Duration, err error)) *Lists {
	return &Lists{store: c.Store, locks: c.Locks, owner: c.connectionOf, read: c.ReadLists, report: report, ctx: ctx, slots: make(chan struct{}, readsAtOnce), markets: map[string]*market{}}
}

// Wait waits for the reads that run; the context that was given to NewLists
// must have ended.
func (l *Lists) Wait() { l.running.Wait() }

// Asked is told that somebody asks for a marketplace's lists of a time (nil
// where none are held). It starts to read them anew where they are old, and
// tells whether they are being read. It never waits for the platform.
func (l *Lists) Asked(ctx context.Context, account, marketplaceID string, listed *time.Time) (syncing bool, err error) {
	m := l.marketOf(account + "/" + marketplaceID)
	m.Lock()
	defer m.Unlock()
	old := listed == nil || time.Since(*listed) > listLife || time.Until(*listed) > clockSlack
	switch {
	case m.here:
		return true, nil
	case !old, !m.began.IsZero() && time.Since(m.began) < listLife: // whatever jumps the database's clock makes
		return false, nil
	case time.Now().Before(m.look):
		return m.syncing, nil
	}
	m.syncing, err = l.beginRead(ctx, m, account, marketplaceID)
	m.look = time.Now().Add(lookEvery)
	return m.syncing, err
}

func (l *Lists) marketOf(key string) *market {
	l.mu.Lock()
	defer l.mu.Unlock()
	m, ok := l.markets[key]
	if !ok {
		m = &market{}
		l.markets[key] = m
	}
	return m
}

// beginRead starts a read where it is time for one, and reports whether one runs.
func (l *Lists) beginRead(ctx context.Context, m *market, account, marketplaceID string) (syncing bool, err error) {
	_, connected, err := l.owner(ctx, account, marketplaceID)
	if err != nil || !connected {
		return false, err
	}
	w := work{store: l.store, locks: l.locks, name: ListsWork(account, marketplaceID),
		rest: exponentialBackoff(listLife, 2, longestRest)}
	// A caller that goes away leaves no half-begun work behind.
	end, turn, err := w.beginWork(context.WithoutCancel(ctx))
	if turn == free && err == nil {
		m.here, m.began = true, time.Now()
		l.running.Go(func() { l.runRead(m, account, marketplaceID, end) })
	}
	return turn != resting && err == nil, err
}

// ListsWork is the name under which one process at a time reads the lists of a
// marketplace.
func ListsWork(account, marketplaceID string) string { return "lists/" + account + "/" + marketplaceID }

func (l *Lists) runRead(m *market, account, marketplaceID string, end func(error) error) {
	began := time.Now()
	err := l.readInTurn(account, marketplaceID)
	took := time.Since(began)
	outcome := err
	if unread := (*UnreadLists)(nil); errors.As(err, &unread) {
		outcome = nil // they rest for themselves, and keep no other list from being read
	}
	err = errors.Join(err, end(outcome))
	m.Lock()
	m.here, m.syncing, m.look = false, false, time.Now()
	m.Unlock()
	if l.ctx.Err() == nil {
		l.report(account, marketplaceID, took, err)
	}
}

func (l *Lists) readInTurn(account, marketplaceID string) error {
	select {
	case l.slots <- struct{}{}:
		defer func() { <-l.slots }()
	case <-l.ctx.Done():
		return l.ctx.Err()
	}
	ctx, cancel := context.WithTimeout(l.ctx, readPatience)
	defer cancel()
	return l.read(ctx, account, marketplaceID)
}
