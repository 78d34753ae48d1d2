// Package integrity finds out whether what is stored is what was loaded, keeps
// damaged accounts from being read, and mends what can be mended.
package integrity

import (
	"context"
	"sync"

	"adlens"
	"adlens/internal/clickhouse/conn"
	"adlens/internal/commits"
	"adlens/internal/query"
)

var _ conn.Guard = (*Guard)(nil)

// Guard withholds what is stored of accounts that lost something. An engine that
// restarts silently skips missing parts, so each session is inspected before the
// first figure is read from it. A Guard is safe for concurrent use.
type Guard struct {
	withheld commits.Withheld // accounts in the text form of parameters

	mu      sync.Mutex
	on      bool
	renewed func()        // hears of servers that are met for the first time; nil for none
	leave   leaveLosses   // what is found at a server and is none; nil for nothing
	alarmed error         // what met rows that cannot be read
	alarms  int           // how often such were met
	alarm   chan struct{} // has a value after that, and after a loss was found
}

// leaveLosses leaves out of what a session's server lost what is no loss of an account.
type leaveLosses func(ctx context.Context, c *conn.Session, losses []commits.Loss) ([]commits.Loss, error)

// NewGuard returns a guard that inspects nothing until it is started.
func NewGuard() *Guard { return &Guard{alarm: make(chan struct{}, 1)} }

// Start has every session inspected from now on.
func (g *Guard) Start() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.on = true
}

// OnRenewal has a function hear of each server that is met for the first time, or after it
// was restarted: what was read before may be of another disk.
func (g *Guard) OnRenewal(renewed func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.renewed = renewed
}

// Renew tells of such a server.
func (g *Guard) Renew() {
	g.mu.Lock()
	renewed := g.renewed
	g.mu.Unlock()
	if renewed != nil {
		renewed()
	}
}

// Inspect looks for what is missing, and withholds accounts that miss something
// from now on.
func (g *Guard) Inspect(ctx context.Context, c *conn.Session) error {
	if !g.isOn() {
		return nil
	}
	losses, err := commits.FindLosses(conn.Watching(ctx), databaseOf(c))
	if adlens.KindOf(err) == adlens.Damaged {
		g.Alarm(err)
		losses, err = commits.FindLossesEach(conn.Inspecting(ctx), databaseOf(c))
	}
	if err != nil {
		return err
	}
	if g.leave != nil {
		left, err := g.leave(conn.Inspecting(ctx), c, losses)
		if err != nil && adlens.KindOf(err) != adlens.Damaged { // where it cannot be told, all count
			return err
		}
		if err == nil {
			losses = left
		}
	}
	g.withholdLosses(losses)
	return nil
}

func (g *Guard) withholdLosses(losses []commits.Loss) {
	lost := map[string][]string{}
	for _, l := range losses {
		lost[l.Account] = append(lost[l.Account], l.What)
	}
	for account, faults := range lost {
		g.Withhold(account, faults...)
		g.ring()
	}
}

// Withhold has nothing of an account read any more, for these reasons, until
// Inspector.LookAgain finds it whole.
func (g *Guard) Withhold(account string, faults ...string) {
	g.withheld.Withhold(query.Text(account), faults...)
}

// Alarms has a value whenever something was found lost, or rows were met that
// cannot be read.
func (g *Guard) Alarms() <-chan struct{} { return g.alarm }

// Calmer returns what forgets all that was met by now, once everything was inspected.
// Of what is met meanwhile nothing is forgotten.
func (g *Guard) Calmer() (calm func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	by := g.alarms
	return func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		if g.alarms == by {
			g.alarmed = nil
		}
	}
}

// Alarm notes rows that were lost or cannot be read.
func (g *Guard) Alarm(err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.alarmed = err
	g.alarms++
	g.ring()
}

// Admit returns why nothing of an account, in the text form of a parameter, may be
// read.
func (g *Guard) Admit(account string) error { return g.withheld.Admit(account) }

// IsQuiet reports whether nothing is withheld, and nothing was met that cannot be read.
func (g *Guard) IsQuiet() bool {
	lost, unread := g.known()
	return len(lost) == 0 && unread == nil
}

// known returns what is missing of each account, and what cannot be read.
func (g *Guard) known() (map[string][]string, error) {
	lost := g.withheld.Lost()
	g.mu.Lock()
	defer g.mu.Unlock()
	return lost, g.alarmed
}

func (g *Guard) isOn() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.on
}

func (g *Guard) ring() {
	select {
	case g.alarm <- struct{}{}:
	default:
	}
}
