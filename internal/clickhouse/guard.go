package clickhouse

import (
	"context"
	"fmt"
	"maps"
	"sync"

	"adlens"
	"adlens/internal/commits"
	"adlens/internal/query"
)

// guard withholds what is stored of accounts that lost something. An engine
// that starts anew passes over what is not on its disk any more without a
// word, so each one is looked through before the first figure is read from it.
type guard struct {
	mu      sync.Mutex
	on      bool
	lost    map[string]Faults // by account, in the text form of parameters
	found   map[string]int    // how often something of an account was found lost
	alarmed error             // what met rows that cannot be read
	alarm   chan struct{}     // has a value after that, and after a loss was found
}

func newGuard() *guard {
	return &guard{lost: map[string]Faults{}, found: map[string]int{}, alarm: make(chan struct{}, 1)}
}

// Guard has every engine that this process will meet looked through before it
// is read from, this one first.
func (db *DB) Guard(ctx context.Context) error {
	db.guard.mu.Lock()
	db.guard.on = true
	db.guard.mu.Unlock()
	return db.Inspect(ctx)
}

// Inspect looks for what is missing, and withholds accounts that miss
// something from now on.
func (db *DB) Inspect(ctx context.Context) error {
	return db.whereReachable(ctx, func(s *server) error {
		p, err := s.connect(ctx)
		if err != nil {
			return err
		}
		return s.inspectPool(ctx, p)
	})
}

func (s *server) inspectPool(ctx context.Context, p *pool) error {
	losses, err := s.lossesAt(context.WithValue(ctx, inspecting{}, nil), p)
	if adlens.KindOf(err) == adlens.Damaged {
		s.guard.sound(err) // the engine itself refuses to read what is damaged
		return nil
	}
	if err != nil {
		return err
	}
	lost := map[string]Faults{}
	for _, l := range losses {
		account := query.Text(l.Account)
		lost[account] = append(lost[account], l.What)
	}
	s.guard.mu.Lock()
	defer s.guard.mu.Unlock()
	for account, faults := range lost {
		s.guard.lost[account] = faults
		s.guard.found[account]++
		s.guard.ring()
	}
	return nil
}

// Withhold has nothing of an account read any more, for these reasons, until
// LookAgain finds it whole.
func (db *DB) Withhold(account string, faults ...string) {
	db.guard.mu.Lock()
	defer db.guard.mu.Unlock()
	account = query.Text(account)
	db.guard.lost[account] = append(db.guard.lost[account], faults...)
	db.guard.found[account]++
}

// LookAgain looks through everything of an account that is withheld. Where
// nothing is wrong with it any more, it is read again.
func (db *DB) LookAgain(ctx context.Context, account string) (whole bool, err error) {
	id := query.Text(account)
	before := db.guard.timesFound(id)
	faults, err := db.Faults(ctx, account)
	if err != nil || len(faults) > 0 {
		return false, err
	}
	db.guard.mu.Lock()
	defer db.guard.mu.Unlock()
	if db.guard.found[id] != before {
		return false, nil // an engine that was started meanwhile lost something
	}
	delete(db.guard.lost, id)
	return true, nil
}

// Damage is what is known to be wrong with the stored data.
type Damage struct {
	Lost    map[string]Faults // by account: what is missing
	Unread  error             // what was met that cannot be read, nil for nothing
	Refused []error           // of each shard that is not the server that its accounts are on
}

// Damage returns what is known now.
func (db *DB) Damage() Damage {
	var refused []error
	for _, s := range db.shards {
		s.mu.Lock()
		if s.refused != nil {
			refused = append(refused, s.refused)
		}
		s.mu.Unlock()
	}
	db.guard.mu.Lock()
	defer db.guard.mu.Unlock()
	return Damage{maps.Clone(db.guard.lost), db.guard.alarmed, refused}
}

// Alarms has a value whenever something was found lost, or rows were met that
// cannot be read.
func (db *DB) Alarms() <-chan struct{} { return db.guard.alarm }

// Calm forgets what was met: everything was looked through since.
func (db *DB) Calm() {
	db.guard.mu.Lock()
	defer db.guard.mu.Unlock()
	db.guard.alarmed = nil
}

func (g *guard) isOn() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.on
}

func (g *guard) timesFound(account string) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.found[account]
}

func (g *guard) sound(err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.alarmed = err
	g.ring()
}

func (g *guard) ring() {
	select {
	case g.alarm <- struct{}{}:
	default:
	}
}

type inspecting struct{}

// Inspecting is a context for those who read an account to find out what is
// wrong with it.
func Inspecting(ctx context.Context) context.Context {
	return context.WithValue(ctx, inspecting{}, true)
}

// refuse tells why nothing of an account, in the text form of a parameter, is
// to be read.
func (g *guard) refuse(ctx context.Context, account string) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	faults := g.lost[account]
	if len(faults) == 0 || ctx.Value(inspecting{}) != nil {
		return nil
	}
	return damaged(account, faults)
}

func damaged(account string, faults Faults) error {
	return &adlens.Error{Kind: adlens.Damaged, Err: fmt.Errorf("stored data of account %s is damaged: %s", account, faults)}
}

// Faults are what is wrong with an account.
type Faults []string

// String cuts a long list short.
func (faults Faults) String() string { return commits.Summary(faults) }
