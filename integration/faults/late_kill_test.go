package faults_test

import (
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"adlens/integration/house"
)

// mishap is what befalls the first loader of a round.
type mishap struct {
	signal   syscall.Signal
	anywhere bool // at any moment of the load, not in its commit
}

var mishaps = []mishap{{syscall.SIGKILL, false}, {syscall.SIGTERM, false}, {syscall.SIGKILL, false}, {syscall.SIGKILL, true}, {syscall.SIGKILL, false}, {syscall.SIGTERM, true}}

func (m mishap) String() string {
	if m.anywhere {
		return m.signal.String() + " anywhere"
	}
	return m.signal.String() + " in its commit"
}

// killDuel is a duel on the embedded engine, which outlives the loader that is
// killed: the server uses it too. What it had been sent, it goes on with.
type killDuel struct {
	*duel
	toCommit, commit time.Duration // how long a load takes to its commit, and the commit, when nothing befalls it
	struck           int           // loads that a signal has met before their end
}

// A lock on files ends with its holder, what the engine does does not.
func TestAKilledLoadersInsertSpoilsNoLaterLoad(t *testing.T) {
	t.Parallel()
	house.NeedEngine(t)
	rounds, struck := house.Scaled(4), 0
	kind := func(round int) string { return mishaps[round%len(mishaps)].String() }
	var ground *killDuel
	open := func(t *testing.T, from uint64) *duel {
		p := house.OwnProgram(t)
		ground = &killDuel{duel: openDuel(t, p, p, from)}
		ground.measure(t)
		t.Cleanup(func() { struck += ground.struck })
		return ground.duel
	}
	duels(t, rounds, kind, open, func(t *testing.T, _ *duel, round int) { ground.fight(t, round, mishaps[round%len(mishaps)]) })
	t.Logf("%d of %d loads were struck before their end", struck, rounds)
	if struck == 0 {
		t.Error("no load was struck before its end")
	}
}

// underway reports whether the loader has announced a commit that it has not
// settled.
func (d *killDuel) underway(t *testing.T) bool {
	t.Helper()
	mark, err := os.ReadFile(filepath.Join(d.DataDir, "engine", "marks", hex.EncodeToString([]byte(d.One.Files.ID))))
	house.Need(t, err)
	return len(mark) > 0 && mark[0]&1 == 1
}

// awaitMark waits until a commit is announced, or settled, or the load ends.
func (d *killDuel) awaitMark(t *testing.T, c *contender, underway bool) {
	t.Helper()
	for d.underway(t) != underway && !c.within(200*time.Microsecond) {
	}
}

// measure loads a round's reports with nothing amiss.
func (d *killDuel) measure(t *testing.T) {
	t.Helper()
	paths, others := d.rivals(t, -1)
	for _, some := range [][]string{others, paths} {
		began := time.Now()
		c := d.begin(t, d.Program, some)
		d.awaitMark(t, c, true)
		d.toCommit = time.Since(began)
		d.awaitMark(t, c, false)
		d.commit = time.Since(began) - d.toCommit
		<-c.ended
		if !c.acknowledged() {
			t.Fatal(c)
		}
		d.One.Model.Load(some...)
	}
	t.Logf("a load needs %v to its commit, and %v for that", d.toCommit, d.commit)
}

func (d *killDuel) fight(t *testing.T, round int, m mishap) {
	paths, others := d.rivals(t, round)
	first := d.begin(t, d.Program, paths)
	d.awaitLock(t, first)
	second := d.begin(t, d.Program, others)
	window := d.toCommit + d.commit
	if !m.anywhere {
		d.awaitMark(t, first, true)
		window = d.commit
	}
	switch {
	case !first.within(time.Duration(d.Int64N(int64(window) + 1))):
		first.send(m.signal)
		d.struck++
	case d.struck == 0: // loads may have been measured while the machine had other work
		d.toCommit, d.commit = d.toCommit/2, d.commit/2
	}
	d.settles(t, first, second)
}

// awaitLock waits until a load holds the account, so that another one waits for
// its end.
func (d *duel) awaitLock(t *testing.T, c *contender) {
	t.Helper()
	path := filepath.Join(d.DataDir, "locks", hex.EncodeToString([]byte(d.One.Files.ID))+".lock")
	for !c.within(time.Millisecond) {
		if holder, err := os.ReadFile(path); err == nil && strings.HasPrefix(string(holder), fmt.Sprintf("process %d ", c.Process.Pid)) {
			return
		}
	}
	t.Fatalf("it was never seen that a load holds its account by %s: %s", path, c)
}
