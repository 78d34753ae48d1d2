package simulation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing/synctest"
	"time"

	"adlens"
	"adlens/internal/tables"
)

// choice is what the seed decides of one step: which call goes on, what
// becomes of it, and what else happens. A muted part is 0: the call that went
// on last goes on, nothing fails, nothing happens.
type choice struct{ pick, fault, event uint32 }

// Mutes are the steps at which a part of the choice is muted.
type Mutes struct{ Pick, Fault, Event map[int]bool }

// choices draws three numbers for every step, muted or not, so that muting one
// changes no other.
type choices struct {
	random *rand.Rand
	mutes  Mutes
	step   int
}

func (c *choices) next() choice {
	drawn := choice{c.random.Uint32(), c.random.Uint32(), c.random.Uint32()}
	if c.mutes.Pick[c.step] {
		drawn.pick = 0
	}
	if c.mutes.Fault[c.step] {
		drawn.fault = 0
	}
	if c.mutes.Event[c.step] {
		drawn.event = 0
	}
	c.step++
	return drawn
}

// call is a process's call that waits for its turn.
type call struct {
	process      *process
	name, detail string
	ctx          context.Context
	ready        func() bool // nil: always
	until        time.Time   // when it will be, if it waits for a time
	local        bool        // does not reach the store
	do           func() error
	pieces       []func() // of an insert, each carried out or not; nil for a read

	order  string // its place among parked calls: key, built once
	broken bool   // the engine died meanwhile
	err    error
	done   chan struct{}
}

func (c *call) key() string { return c.process.name + " " + c.name + " " + c.detail }

// isNumbered reports whether the call writes rows of generations.
func (c *call) isNumbered() bool {
	verb, table, _ := strings.Cut(c.name, " ")
	return verb == "copy" || verb == "derive" || slices.Contains(tables.OfGenerations(), table) && verb != "clear"
}

// lateInsert is a part of an insert whose caller had no answer. It is carried
// out at a later step, if at all.
type lateInsert struct {
	what     string
	from     int // the first step at which it may be carried out
	sent     time.Time
	numbered bool
	piece    func()
}

// scheduler lets one call go on at a time.
type scheduler struct {
	mu       sync.Mutex
	arriving []*call

	parked  []*call
	late    []*lateInsert
	last    *process // whose call went on last
	choices choices
	steps   int
	slow    bool          // readers go on seldom
	jumped  time.Duration // of the store's clock
	trace   *trace
}

var errKilled = errors.New("the process was killed")

// run parks a call until its turn, and returns what became of it.
func (s *scheduler) run(c *call) error {
	c.done, c.order = make(chan struct{}), c.key()
	s.mu.Lock()
	if c.process.killed {
		s.mu.Unlock()
		return errKilled
	}
	s.arriving = append(s.arriving, c)
	s.mu.Unlock()
	<-c.done
	return c.err
}

// gather waits until every goroutine is parked or blocked, and puts the parked
// calls in an order that does not depend on which came first.
func (s *scheduler) gather() {
	synctest.Wait()
	if len(s.arriving) == 0 {
		return
	}
	s.parked = append(s.parked, s.arriving...)
	s.arriving = s.arriving[:0]
	slices.SortStableFunc(s.parked, func(a, b *call) int { return cmp.Compare(a.order, b.order) })
}

// finish ends a parked call.
func (s *scheduler) finish(c *call, err error) {
	s.parked = slices.DeleteFunc(s.parked, func(other *call) bool { return other == c })
	c.err = err
	close(c.done)
}

// now is the time by the processes' clocks. Each step takes a millisecond.
func (s *scheduler) now() time.Time { return time.Now().Add(time.Duration(s.steps) * time.Millisecond) }

// storeNow is the time by the store's clock, which may jump.
func (s *scheduler) storeNow() time.Time { return s.now().Add(s.jumped) }

// runnable are the parked calls that may go on now.
func (s *scheduler) runnable() []*call {
	var all []*call
	for _, c := range s.parked {
		if !c.process.stalledUntil.After(s.now()) && (c.ready == nil || c.ready()) {
			all = append(all, c)
		}
	}
	return all
}

// choose picks the next call or late insert; both are nil where nothing may go
// on now.
func (s *scheduler) choose(pick uint32) (*call, *lateInsert) {
	calls := s.runnable()
	if s.slow && pick != 0 {
		calls = ofReaders(calls, pick>>28 == 0)
	}
	var late []*lateInsert
	for _, l := range s.late {
		if l.from <= s.steps {
			late = append(late, l)
		}
	}
	if pick == 0 {
		for _, c := range calls {
			if c.process == s.last {
				return c, nil
			}
		}
		if len(calls) > 0 {
			return calls[0], nil
		}
	}
	if len(calls)+len(late) == 0 {
		return nil, nil
	}
	// Most of the time the one that went on last does so again: a process that
	// waits long while another works is what finds faults.
	if pick&3 != 0 {
		for _, c := range calls {
			if c.process == s.last {
				return c, nil
			}
		}
	}
	at := int(pick>>2) % (len(calls) + len(late))
	if at < len(calls) {
		return calls[at], nil
	}
	return nil, late[at-len(calls)]
}

// ofReaders returns the calls of readers, or those of the others, or all where
// there are none of them.
func ofReaders(all []*call, readers bool) []*call {
	of := slices.DeleteFunc(slices.Clone(all), func(c *call) bool { return c.process.writer == readers })
	if len(of) == 0 {
		return all
	}
	return of
}

// What becomes of a call.
type verdict string

const (
	done     verdict = ""
	lost     verdict = "done, and the answer is lost"
	delayed  verdict = "no answer, to be carried out later"
	dropped  verdict = "no answer, never carried out"
	refused  verdict = "refused: the disk is full"
	failed   verdict = "failed"
	tornOff  verdict = "done in part, then the disk was full"
	gone     verdict = "the engine died"
	canceled verdict = "the caller gave up"
)

// delays are after how many steps an insert is carried out that is late.
var delays = []int{1, 3, 10, 30, 100, 300}

// carryOut decides what becomes of a call and does it.
func (w *world) carryOut(c *call, fault uint32) (verdict, error) {
	v := w.judge(c, fault)
	bits := fault >> 20
	switch v {
	case done, lost:
		w.takeUnread()
		for _, piece := range c.pieces {
			piece()
		}
		if c.do != nil {
			if err := c.do(); err != nil {
				return v, err
			}
		}
		if table := w.takeUnread(); table != "" && !c.local && w.broken != SkipUnread {
			return v, &adlens.Error{Kind: adlens.Damaged, Err: fmt.Errorf("rows of %s cannot be read", table)}
		}
	case delayed:
		w.delay(c, bits)
	case tornOff:
		for i, piece := range c.pieces {
			if bits>>i&1 == 1 {
				piece()
			}
		}
	case gone, canceled:
		switch {
		case c.pieces == nil || bits%4 == 0:
		case bits%4 == 1 && v == canceled:
			w.delay(c, bits>>2)
		case bits%2 == 0:
			for _, piece := range c.pieces {
				piece()
			}
		}
	}
	return v, errorOf(v, c)
}

// takeUnread returns a table of which something was needed since the last time that cannot be
// read, "" where there is none.
func (w *world) takeUnread() (table string) {
	for _, at := range w.everywhere() {
		w.on(at, func() { table, w.rows.Unread = cmp.Or(table, w.rows.Unread), "" })
	}
	return table
}

func (w *world) delay(c *call, bits uint32) {
	from := w.steps + delays[int(bits)%len(delays)]
	for _, piece := range c.pieces {
		w.late = append(w.late, &lateInsert{c.key(), from, w.now(), c.isNumbered(), piece})
	}
}

func (w *world) judge(c *call, fault uint32) verdict {
	switch {
	case c.local:
		if c.ctx.Err() != nil {
			return canceled
		}
		return done
	case c.broken:
		return gone
	case c.ctx.Err() != nil:
		return canceled
	case w.calm || fault&0xffff >= w.plan.FaultRate || fault == 0:
		return done
	case c.pieces == nil:
		if fault>>16&3 != 0 { // reads fail less often: nothing is learnt from most
			return done
		}
		return failed
	}
	return []verdict{lost, delayed, delayed, dropped, refused, tornOff, lost, delayed}[fault>>16&7]
}

func errorOf(v verdict, c *call) error {
	switch v {
	case done:
		return nil
	case refused, tornOff:
		return &adlens.Error{Kind: adlens.DiskFull, Err: errors.New("no space is left on the disk")}
	case canceled:
		return context.Cause(c.ctx)
	}
	return &adlens.Error{Kind: adlens.EngineUnavailable, Err: errors.New("the connection to the engine was lost")}
}

// trace is what happened, one line for each step.
type trace struct {
	text []byte
	on   bool
}

func (t *trace) add(format string, args ...any) {
	if t.on {
		t.text = fmt.Appendf(t.text, format+"\n", args...)
	}
}
