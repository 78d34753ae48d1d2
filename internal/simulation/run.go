package simulation

import (
	"context"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"adlens"
	"adlens/internal/commits"
	"adlens/internal/manifest"
	"adlens/internal/tables"
	"adlens/loader"
)

// outcome is what came of a run.
type outcome struct {
	fault    string // "" where all was right
	trace    string
	steps    int
	flickers int
	left     int // rows that no collection would have found
}

// start is the time at which every run begins.
var start = time.Date(2026, time.March, 5, 6, 0, 0, 0, time.UTC)

// watchRun ends the tests where a run stands still, with what each goroutine does and, at
// the end, which seed it is. It looks twice, since a machine that was suspended may find
// that a minute has passed.
func watchRun(seed uint64) (stop func() bool) {
	var looks int
	var timer *time.Timer
	timer = time.AfterFunc(time.Minute, func() {
		if looks++; looks == 1 {
			timer.Reset(time.Minute)
			return
		}
		stacks := make([]byte, 1<<20)
		fmt.Fprintf(os.Stderr, "%s\n\nseed %d stands still\n", stacks[:runtime.Stack(stacks, true)], seed)
		os.Exit(2)
	})
	return timer.Stop
}

// runPlan runs a plan to its end. A run takes no time but the processor's: one that
// stands still holds a lock across a wait.
func runPlan(t *testing.T, plan *Plan, traced bool) (o outcome) {
	defer watchRun(plan.Seed)()
	synctest.Test(t, func(*testing.T) {
		time.Sleep(time.Until(start))
		w := newWorld(plan, traced)
		w.calm = true
		w.prepare()
		w.calm = false
		w.running = len(plan.Actors)
		for _, a := range plan.Actors {
			go (&actor{world: w, plan: a}).run()
		}
		w.storm()
		if w.fault == "" {
			w.calmDown()
			if plan.World == Keys {
				w.askOnce()
			} else {
				if plan.World == Backups {
					w.restoreAll()
				}
				if plan.World == Repairs {
					w.repairAll()
				}
				if plan.World == Moves {
					w.settleMoves()
				}
				o.left = w.end()
			}
		}
		w.abandon()
		o.fault, o.trace, o.steps = w.fault, string(w.trace.text), w.steps
		for _, t := range w.truths {
			o.flickers += t.flickers
		}
	})
	return o
}

// prepare makes what the actors begin with.
func (w *world) prepare() {
	if w.plan.World == Keys {
		if w.plan.Ahead {
			w.jumped = time.Hour
		}
		w.alone(func(p *process) { p.operate(p.ctx, Step{Key: 0, Do: "create"}) })
		w.jumped = 0
		return
	}
	for _, account := range w.plan.Accounts {
		w.alone(func(p *process) { p.load(p.ctx, p.begin(account, baseProfiles, baseRates, baseBankRates, baseBrands)) })
		w.lengthen(account, w.plan.Chain)
	}
	if w.plan.World == Repairs {
		w.damage()
	}
}

// askOnce sends a request with each key to a server that has just started.
func (w *world) askOnce() {
	w.sleep(2 * obeyed)
	for key := range keysMade {
		w.alone(func(p *process) { p.call(p.ctx, Step{Key: key, Count: 1}) })
	}
}

// lengthen gives a record of commits the fences that so many writers left who
// died before their first commit.
func (w *world) lengthen(account string, fences int) {
	if fences == 0 {
		return
	}
	ctx := context.Background()
	reservations, _ := w.rows.Reservations().Read(ctx, account)
	all, _ := w.rows.Commits().Read(ctx, account)
	chain, _ := manifest.FollowChain(all)
	last, c := reservations[len(reservations)-1], chain.Head()
	for i := range fences {
		last = tables.Reservation{First: last.Next, Next: last.Next + 1024, Token: fmt.Sprint("died/", i)}
		c = manifest.Commit{Number: last.First, Base: c.Number, Rows: c.Rows, Digest: c.Digest}
		w.rows.Reservations().Append(ctx, account, last)
		w.rows.Commits().Append(ctx, account, c)
		w.truths[account].landed(nil, c)
	}
	w.rows.Settled().Append(ctx, account, tables.Settled{Next: last.Next})
}

// learnLines loads every report once, and remembers what the ledger says of it.
func learnLines(t *testing.T, u *universe) {
	u.lines = map[int][]ledgerRow{}
	synctest.Test(t, func(*testing.T) {
		w := newWorld(&Plan{universe: u, Accounts: []string{"acme"}}, false)
		w.calm = true
		for _, files := range [][]int{{baseProfiles, baseRates, baseBankRates, baseBrands}, u.last()} {
			w.alone(func(p *process) { p.load(p.ctx, p.begin("acme", files...)) })
		}
		for _, line := range w.ledger["acme"] {
			f := u.paths[line.File]
			u.lines[f] = append(u.lines[f], line)
		}
	})
}

// alone runs a process to its end while there is no other.
func (w *world) alone(do func(*process)) {
	if w.fault != "" {
		return
	}
	p := w.start(fmt.Sprint("alone ", len(w.processes)), true)
	w.running = 1
	go func() {
		do(p)
		w.mu.Lock()
		w.running--
		w.mu.Unlock()
	}()
	w.storm()
}

// calmDown ends the storm: no process is left, and what was on its way has
// arrived or never will.
func (w *world) calmDown() {
	r := w.eventRandom()
	for _, l := range slices.Clone(w.late) {
		if r.IntN(2) == 0 {
			w.land(l)
		}
	}
	w.late, w.claims, w.calm = nil, map[string][]*process{}, true
	w.jumped += 12 * time.Hour // what was noted before a jump backwards is no longer of the future
	for _, s := range w.shards {
		s.jumped += 12 * time.Hour
	}
	for _, p := range w.processes {
		p.killed = true
	}
}

// abandon lets goroutines end that a failed run has left.
func (w *world) abandon() {
	for _, p := range w.processes {
		w.mu.Lock()
		p.killed = true
		w.mu.Unlock()
	}
	for {
		w.gather()
		if len(w.parked) == 0 && w.running == 0 {
			return
		}
		for _, c := range slices.Clone(w.parked) {
			w.finish(c, errKilled)
		}
		for _, p := range w.processes {
			w.mu.Lock()
			p.killed = true
			w.mu.Unlock()
		}
		if len(w.parked) == 0 {
			time.Sleep(time.Minute)
		}
	}
}

// end loads all files once more, when nothing fails any more, and makes sure
// that all is there, and nothing else once what is dead was collected.
func (w *world) end() (left int) {
	var whole []string
	for _, account := range w.plan.Accounts {
		if w.lastLoad(account, loader.Loaded) && w.lastLoad(account, loader.Unchanged) {
			whole = append(whole, account)
		}
		w.ask(account) // and be refused, or answered rightly
	}
	w.collect()
	for _, account := range whole {
		left += w.leftOver(account)
	}
	if left > 0 {
		// A session that does not end makes the next one look for what is left.
		for _, account := range whole {
			w.alone(func(p *process) {
				if s, err := commits.Begin(p.ctx, port{p}, account, p.token()); err == nil {
					s.Number(p.ctx)
				}
			})
		}
		w.collect()
	}
	for _, account := range whole {
		w.ask(account)
		if rows := w.leftOver(account); rows > 0 && w.lost(account) == "" {
			w.truths[account].fail("%d rows are left that nothing needs", rows)
		}
	}
	return left
}

// lastLoad loads all files, all of which have to come in, and reports whether
// the account is whole.
func (w *world) lastLoad(account string, second loader.Status) (whole bool) {
	w.alone(func(p *process) {
		result, err := p.load(p.ctx, p.begin(account, w.plan.universe.last()...))
		if err != nil && w.lost(account) != "" && adlens.KindOf(err) == adlens.Damaged {
			return
		}
		if err != nil {
			w.truths[account].fail("after the storm, a load fails: %v", err)
		}
		for _, f := range result.Files {
			if second == loader.Unchanged && f.Status != loader.Unchanged {
				w.truths[account].fail("%s is loaded again, and is %s", f.File, f.Status)
			}
		}
		whole = true
	})
	return whole
}

// ask asks every question.
func (w *world) ask(account string) {
	for _, q := range questions {
		w.alone(func(p *process) { p.writer = false; p.look(p.ctx, account, q) })
	}
}

func (w *world) collect() {
	for range 2 {
		w.sleep(20 * time.Minute)
		w.alone(func(p *process) { p.collect(p.ctx, p.begin("")) })
	}
}

// leftOver counts rows that are not of a live generation. What cannot be read of one account
// keeps those of all.
func (w *world) leftOver(account string) (left int) {
	w.on(w.shardOf(account), func() { left = w.countLeft(account) })
	return left
}

func (w *world) countLeft(account string) int {
	if slices.ContainsFunc(w.plan.Accounts, func(of string) bool { return w.truths[of].spoiled }) {
		return 0
	}
	all, _ := w.rows.Commits().Read(context.Background(), account)
	units, _ := w.rows.Units().Read(context.Background(), account)
	chain, _ := manifest.FollowChain(all)
	newest := map[manifest.Unit]tables.Unit{}
	for _, u := range units {
		if chain.Has(u.Number) && newest[u.Unit].Number <= u.Number {
			newest[u.Unit] = u
		}
	}
	live := map[uint32]bool{}
	for _, u := range newest {
		live[u.Generation] = true
	}
	counts, _ := w.rows.CountRows(context.Background(), account, tables.OfGenerations()...)
	left := 0
	for _, c := range counts {
		if !live[c.Generation] {
			left += int(c.Rows)
		}
	}
	return left
}

// differs says where answers to a question differ from others.
func (a *answers) differs(want *answers, q Question) string {
	levels := map[Question][]string{Days: {"day_totals"}, Products: slices.Concat(tables.OfKind(manifest.Month)[2:], tables.OfKind(manifest.Year)), Facts: {"facts"}}[q]
	expected := map[figureKey][summed]uint64{}
	for key, sums := range want.figures {
		if slices.Contains(levels, key.level) {
			expected[key] = sums
		}
	}
	texts := want.texts
	if q != Texts {
		texts = map[string]string{}
	}
	if maps.Equal(a.figures, expected) && maps.Equal(a.texts, texts) {
		return ""
	}
	return firstDifference(a.figures, expected) + firstDifference(a.texts, texts)
}

func firstDifference[K, V comparable](got, want map[K]V) (first string) {
	for key, value := range want {
		if got[key] != value {
			text := fmt.Sprintf("%v is %v, expected %v", key, got[key], value)
			if first == "" || text < first {
				first = text
			}
		}
	}
	for key, value := range got {
		if _, ok := want[key]; !ok {
			text := fmt.Sprintf("%v is %v, expected none", key, value)
			if first == "" || text < first {
				first = text
			}
		}
	}
	return first
}
