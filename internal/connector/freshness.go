package connector

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"adlens"
	"adlens/internal/recent"
	"adlens/loader"
)

// Bounds of reading lists.
const (
	listLife       = 30 * time.Minute // a list that is older is read again when it is requested
	listDay        = 23 * time.Hour   // lists that were read longer ago are read though no client requests them
	listPatience   = 20 * time.Minute // for one list, whatever the platform asks to wait
	readPatience   = 90 * time.Minute // for all lists of a marketplace, three of which are read one after the other
	othersPatience = 2 * time.Minute  // for lists that another process reads
	readsAtOnce    = 64               // of all accounts; they mostly wait for the platform
	heldAtOnce     = 256              // of all accounts in memory, from reading until they are stored
	beginPatience  = 10 * time.Second // for the database, to note that a read begins: a client waits for it
	lookEvery      = 2 * time.Second  // at what other processes do
)

// Lists keeps the lists of connected marketplaces fresh while a client asks
// for them, and no older than a day otherwise: reports lack campaigns that only lists name.
type Lists struct {
	store  Store
	locks  Locks
	owner  func(ctx context.Context, account, marketplaceID string) (c adlens.Connection, found bool, err error)
	read   func(ctx context.Context, account, marketplaceID string) error
	report func(account, marketplaceID string, took time.Duration, err error)

	ctx     context.Context // of the reads
	running sync.WaitGroup

	mu      sync.Mutex
	markets map[string]*market
}

// market is what this process knows of the lists of one marketplace.
type market struct {
	sync.Mutex           // held during a look
	syncing    bool      // they are being read, here or elsewhere
	connected  bool      // at the last look
	here       bool      // by this process
	began      time.Time // when this process read them last
	look       time.Time // no need to look again before
	daily      time.Time // no need to look before whether the lists are a day old
	missing    bool      // a report names a campaign that they lack

	through string             // the connection of the read that runs here, as lookKey has it
	stop    context.CancelFunc // of that read
}

// NewLists returns lists that are read until the context ends. report hears
// how each read ended; it may be called from several goroutines.
func NewLists(ctx context.Context, c *Connector, report func(account, marketplaceID string, took time.Duration, err error)) *Lists {
	return &Lists{store: c.Store, locks: c.Locks, owner: c.connectionOf, read: c.ReadLists, report: report, ctx: ctx, markets: map[string]*market{}}
}

// Wait waits for the reads that run; the context that was given to NewLists
// must have ended.
func (l *Lists) Wait() { l.running.Wait() }

// Asked is told that a client asks for a marketplace's lists of a time (nil
// where none are held). It starts to read them again where they are old, and
// reports whether they are being read, and where not, whether a reading may have ended
// since that time was read. It never waits for the platform.
func (l *Lists) Asked(ctx context.Context, account, marketplaceID string, listed *time.Time) (syncing, ended bool, err error) {
	m := l.marketOf(account + "/" + marketplaceID)
	m.Lock()
	defer m.Unlock()
	old := listed == nil || time.Since(*listed) > listLife || time.Until(*listed) > loader.ClockSlack // dated by a wrong clock
	switch {
	case m.here:
		return true, false, nil
	case !old, !m.began.IsZero() && recent.Elapsed(m.began, time.Now()) < listLife: // whatever jumps the database's clock makes
		return false, old, nil
	case !time.Now().Before(m.look):
		m.syncing, err = l.beginRead(ctx, m, account, marketplaceID, listLife)
		m.look = time.Now().Add(lookEvery)
	}
	return m.syncing, m.connected && !m.syncing, err
}

// ReadDaily begins to read a marketplace's lists where no process did within a day: there
// may be no client that ever asks for them. It never waits for the platform.
func (l *Lists) ReadDaily(ctx context.Context, account, marketplaceID string) (err error) {
	m := l.marketOf(account + "/" + marketplaceID)
	m.Lock()
	defer m.Unlock()
	if m.here || time.Now().Before(m.daily) {
		return nil
	}
	unread, err := l.countUnread(ctx, account, marketplaceID)
	if err != nil {
		return err
	}
	rest := listDay
	if unread > 0 {
		rest = marketRest(unread)
	}
	m.syncing, err = l.beginRead(ctx, m, account, marketplaceID, rest)
	m.daily = time.Now().Add(listLife)
	return err
}

// ReadAgain is told that a report names a campaign that none of a marketplace's lists has,
// and begins to read them once they have rested. It never waits for the platform.
func (l *Lists) ReadAgain(ctx context.Context, account, marketplaceID string) error {
	m := l.marketOf(account + "/" + marketplaceID)
	m.Lock()
	m.missing = true
	m.Unlock()
	return l.ReadMissing(ctx, account, marketplaceID)
}

// ReadMissing begins to read a marketplace's lists where ReadAgain could not yet, or what it
// began failed.
func (l *Lists) ReadMissing(ctx context.Context, account, marketplaceID string) (err error) {
	m := l.marketOf(account + "/" + marketplaceID)
	m.Lock()
	defer m.Unlock()
	if !m.missing || m.here {
		return nil
	}
	unread, err := l.countUnread(ctx, account, marketplaceID)
	if err == nil {
		m.syncing, err = l.beginRead(ctx, m, account, marketplaceID, marketRest(unread))
	}
	return err
}

// countUnread returns how often in a row that list of a marketplace failed which failed
// most often, as it is stored: another process may have read it, or the account have been
// connected again.
func (l *Lists) countUnread(ctx context.Context, account, marketplaceID string) (most int, _ error) {
	for _, name := range loader.ListNames() {
		attempt, _, err := l.store.Attempt(ctx, ListWork(account, marketplaceID, name))
		if err != nil {
			return 0, err
		}
		most = max(most, attempt.Failures)
	}
	return most, nil
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

// marketRest is how long a marketplace rests of which so many reads in a row failed.
var marketRest = exponentialBackoff(listLife, 2, longestRest)

// beginRead starts a read where it is time for one, which after one that went well is
// when it has rested, and reports whether one runs.
func (l *Lists) beginRead(ctx context.Context, m *market, account, marketplaceID string, rest time.Duration) (syncing bool, err error) {
	through, connected, err := l.owner(ctx, account, marketplaceID)
	if m.connected = connected; err != nil || !connected {
		return false, err
	}
	w := work{store: l.store, locks: l.locks, name: ListsWork(account, marketplaceID), rest: func(failures int) time.Duration {
		if failures == 0 {
			return rest
		}
		return marketRest(failures)
	}}
	// A caller that goes away leaves no half-begun work behind.
	beginning, cancel := context.WithTimeout(context.WithoutCancel(ctx), beginPatience)
	defer cancel()
	end, turn, err := w.beginWork(beginning)
	if turn == free && err == nil {
		m.here, m.began, m.through = true, time.Now(), lookKey(through)
		reading, stop := context.WithCancel(l.ctx)
		m.stop = stop
		l.running.Go(func() {
			defer stop()
			l.runRead(reading, m, account, marketplaceID, end)
		})
	}
	return turn != resting && err == nil, err
}

// ListsWork is the name under which one process at a time reads the lists of a
// marketplace.
func ListsWork(account, marketplaceID string) string { return "lists/" + account + "/" + marketplaceID }

func (l *Lists) runRead(ctx context.Context, m *market, account, marketplaceID string, end func(error) error) {
	began := time.Now()
	err := l.read(ctx, account, marketplaceID)
	took := time.Since(began)
	err = errors.Join(err, end(marketError(err)))
	m.Lock()
	m.here, m.syncing, m.look, m.missing = false, false, time.Now(), m.missing && err != nil
	m.Unlock()
	if ctx.Err() == nil {
		l.report(account, marketplaceID, took, err)
	}
}

// stopOthers stops the reads through connections that are not among these. One whose
// credentials were renewed meanwhile is ended with those before.
func (l *Lists) stopOthers(connections map[string]bool) {
	l.mu.Lock()
	markets := slices.Collect(maps.Values(l.markets))
	l.mu.Unlock()
	for _, m := range markets {
		m.Lock()
		if m.here && !connections[m.through] {
			m.stop()
		}
		m.Unlock()
	}
}

// marketError is the error of a reading that makes its marketplace rest. Lists that could
// not be read rest for themselves, and keep no other from being read.
func marketError(err error) error {
	if unread := (*UnreadLists)(nil); errors.As(err, &unread) {
		return nil
	}
	return err
}
