package simulation

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"adlens/internal/auth"
	"adlens/internal/commits"
	"adlens/internal/moves"
	"adlens/internal/recent"
	"adlens/internal/tables"
)

// world is the store, the processes and the truth of one run.
type world struct {
	scheduler
	plan   *Plan
	rows   *tables.Memory
	ledger map[string][]ledgerRow // by account
	truths map[string]*truth      // by account
	fault  string                 // the first thing that was wrong
	broken Broken

	processes []*process // in no order
	landing   bool       // a late insert is being carried out
	shards    []*shard   // where the store has several; rows and ledger are those of the first, or of here
	here      *shard     // whose call is being carried out
	noted     map[string]moves.Place
	sessions  map[string]*session
	claims    map[string][]*process // who holds an account's lock; several where it failed
	epoch     int                   // starts of the engine
	started   time.Time             // the last of them
	putBacks  int                   // how often the disk was put back as it was
	stormed   int                   // steps of the storm
	diskCopy  *diskCopy
	calm      bool // nothing fails any more
	running   int  // actors
	ops       int
	listTimes map[fileLoad]time.Time
	marks     map[string]*mark // of accounts, and of the directory

	// of backups
	disk      map[string][]byte
	unsettled []string // files that a power cut may cut
	handles   []any    // of rows in backups
	copies    []*copied
	shown     []string // accounts that were restored
	restoring string
	added     bool // the accounts that are shown were added by hand, and not restored
	budget    int  // inserts that a restore has left before it is killed

	// of keys and limits
	servers     map[int]*server
	everServers []*server
	starts      int
	secrets     []auth.Key
	keyTruths   []keyTruth
	keyRows     []keyRow
	linkRows    []keyRow
	readRows    []readRow
	useRows     []useRow
	set         time.Duration                  // how far the servers' wall clock was set
	kept        map[string]map[int]auth.Record // of a fault of the program
}

// process is one process of the system that is simulated.
type process struct {
	world  *world
	name   string
	writer bool
	ctx    context.Context
	cancel context.CancelCauseFunc

	killed       bool
	stalledUntil time.Time
	claimUntil   time.Time      // of one that was killed: when its lease ends
	renewed      time.Time      // when it was stopped, and has not renewed its lease since
	distrusted   bool           // its lease could not be renewed
	excused      bool           // the store's clock jumped under a reader
	looked       map[string]int // at an account: in which epoch of the engine
	guard        *guard         // of a reader in a run that has such; nil for none
	asked        string         // the account that is to be answered; "" for none
	views        *recent.Views[seen]
	met          int // which of the disks that were put back it read last
	op           *op
	session      *session
	tokens       int
	lastToken    string
	reserved     uint32  // where the block begins that it took last
	view         visible // what was read last: the state that an answer has to be of
	viewed       int     // the step of that

	replicas []*replica // of each shard
	places   *moves.Places
	lease    *lease
	hooks    hooks
	disk     map[string][]byte
}

// session is what a writer does between taking the lock and giving it back.
type session struct {
	account  string
	first    uint32
	complete bool // it writes what it is going to commit
}

// op is one thing that an actor does, like a load.
type op struct {
	id      int
	process *process
	account string // "" for all
	files   []int  // of the universe
	current int    // the file that is being loaded
	marred  bool   // something failed or was delayed for it
	begun   int    // the step
	backup  uint32 // the commit of the backup that it restores; 0 for none
	atoms   map[uint32]*atom
	results []string
	placed  bool // of a move: it has begun to write the new place
	looked  int  // likewise: the step at which it looked last whether what the account's shard has is all
}

func newWorld(plan *Plan, traced bool) *world {
	w := &world{plan: plan, sessions: map[string]*session{}, listTimes: map[fileLoad]time.Time{}, marks: map[string]*mark{},
		disk: map[string][]byte{}, ledger: map[string][]ledgerRow{}, truths: map[string]*truth{}, claims: map[string][]*process{}}
	w.trace = &trace{on: traced}
	w.choices = choices{random: rand.New(rand.NewPCG(plan.Seed, 77)), mutes: plan.Mutes}
	w.slow = plan.World == SlowReaders
	w.rows = tables.NewMemory(w.storeNow)
	if plan.World == Moves {
		w.addShards(2)
	}
	if plan.World == Keys {
		w.servers, w.kept = map[int]*server{}, map[string]map[int]auth.Record{}
	}
	if plan.World == Keys || plan.World == Backups {
		w.newSecrets()
	}
	for _, account := range plan.Accounts {
		w.truths[account] = newTruth(w, account)
	}
	w.broken = plan.Broken
	return w
}

// start begins a process.
func (w *world) start(name string, writer bool) *process {
	p := &process{world: w, name: name, writer: writer, looked: map[string]int{}, disk: w.disk, met: w.putBacks}
	if hasGuards(w.plan) {
		p.guard = &guard{}
	}
	for range max(1, len(w.shards)) {
		p.replicas = append(p.replicas, newReplica(name))
	}
	p.places = moves.NewPlaces(p.readPlace)
	p.places.Now = w.broken.placeClock(w)
	p.places.OnMove(func(account string) {
		p.catchUp()
		p.views.Forget(account)
	})
	p.hooks, p.views = w.broken.hooks(p), recent.NewViews(viewSource{p}, maxSeen, func(seen) int { return 1 })
	p.ctx, p.cancel = context.WithCancelCause(context.Background())
	w.mu.Lock()
	w.processes = append(w.processes, p)
	w.mu.Unlock()
	return p
}

// sleep makes time pass for all.
func (w *world) sleep(d time.Duration) { time.Sleep(d) }

// fail notes the first thing that is wrong.
func (w *world) fail(format string, args ...any) {
	if w.fault == "" {
		w.fault = fmt.Sprintf(format, args...)
		w.trace.add("%d WRONG: %s", w.steps, w.fault)
	}
}

// storm runs until all actors have ended.
func (w *world) storm() {
	for {
		w.gather()
		if w.running == 0 && len(w.parked) == 0 || w.fault != "" {
			return
		}
		if w.steps++; w.steps > maxSteps {
			w.fail("the run does not end: %d steps", w.steps)
			return
		}
		w.useCopy()
		drawn := w.choices.next()
		if !w.calm && drawn.event != 0 && drawn.event&0xffff < w.plan.EventRate {
			w.happen(drawn.event >> 16)
		}
		if w.plan.World == Repairs {
			w.forgetLate()
		}
		c, late := w.choose(drawn.pick)
		switch {
		case c != nil:
			w.goOn(c, drawn.fault)
		case late != nil:
			w.land(late)
		default:
			w.waitForSomething()
		}
	}
}

const maxSteps = 20_000

func (w *world) goOn(c *call, fault uint32) {
	w.last = c.process
	if !c.local {
		c.process.begunBuilding(c)
	}
	v, err := w.carryOut(c, fault)
	if v != done && c.process.op != nil {
		c.process.op.marred = true
	}
	if w.trace.on {
		result := string(v)
		if v == done && err != nil {
			result = err.Error()
		}
		if result != "" {
			result = "  -> " + result
		}
		w.trace.add("%d %s %s%s", w.steps, c.process.name, trim(c.name+" "+c.detail), result)
	}
	w.finish(c, err)
}

func trim(s string) string {
	if len(s) > 150 {
		return s[:150] + "..."
	}
	return s
}

func (w *world) land(l *lateInsert) {
	w.trace.add("%d LATE %s", w.steps, l.what)
	w.late = slices.DeleteFunc(w.late, func(other *lateInsert) bool { return other == l })
	w.landing = true
	l.piece()
	w.landing = false
}

// forgetLate has nothing carried out that is older than a restore in place waits, but for
// rows of generations, which get others: of what clears a table, or has no generations, it
// relies on that.
func (w *world) forgetLate() {
	w.late = slices.DeleteFunc(w.late, func(l *lateInsert) bool { return !l.numbered && w.now().Sub(l.sent) >= commits.Leaving })
}

// waitForSomething lets time pass until a call may go on.
func (w *world) waitForSomething() {
	d := time.Minute
	for _, p := range w.processes {
		if left := p.stalledUntil.Sub(w.now()); left > 0 {
			d = min(d, left)
		}
	}
	if len(w.parked) == 0 && w.running == 0 {
		return
	}
	for _, c := range w.parked {
		if left := c.until.Sub(w.now()); left > 0 {
			d = min(d, left)
		}
	}
	w.sleep(d)
}

// happen is an event of the world.
func (w *world) happen(bits uint32) {
	kind, bits := bits&15, bits>>4
	switch {
	case kind <= 12:
	case slices.Contains([]World{Losses, Backups, Repairs}, w.plan.World):
		kind = 9
	case w.plan.World == Moves:
		w.stallSender(bits)
		return
	}
	switch {
	case kind < 5:
		w.kill(w.victim(bits, true))
	case kind < 9:
		w.stall(w.victim(bits, false), w.stalls()[int(bits>>4)%5], bits>>7&1 == 1)
	case kind < 11:
		w.killEngine(bits)
	case kind < 12:
		d := []time.Duration{5 * time.Minute, time.Hour, -5 * time.Minute, -time.Hour}[bits&3]
		if w.plan.World == Keys && bits&4 == 0 {
			w.trace.add("%d the servers' wall clock is set by %s", w.steps, d)
			w.set += d
			break
		}
		if w.plan.World == Backups {
			w.set += d // the clock of those who take them too
		}
		if w.isSharded() && bits&4 == 0 {
			w.jumpShard(w.shards[1], d)
			break
		}
		w.jump(d)
	case kind < 13:
		if p := w.victim(bits, true); p != nil {
			w.trace.add("%d %s is interrupted", w.steps, p.name)
			p.cancel(context.Canceled)
		}
	default:
		d := []time.Duration{5 * time.Second, 61 * time.Second, 16 * time.Minute}[int(bits)%3]
		w.trace.add("%d %s pass", w.steps, d)
		w.sleep(d)
	}
}

// stalls are for how long a process is stopped. Where accounts move, a reader that is stopped
// for less than a move waits is still right.
func (w *world) stalls() []time.Duration {
	if w.isSharded() {
		return []time.Duration{15 * time.Second, 35 * time.Second, 70 * time.Second, 70 * time.Second, 20 * time.Minute}
	}
	return []time.Duration{time.Second, 40 * time.Second, 70 * time.Second, 70 * time.Second, 20 * time.Minute}
}

// eventRandom decides what an event is about. It hangs on the step alone.
func (w *world) eventRandom() *rand.Rand {
	return rand.New(rand.NewPCG(w.plan.Seed, 1<<32+uint64(w.steps)))
}

// victim is a process that is in the middle of something.
func (w *world) victim(bits uint32, writers bool) *process {
	var all []*process
	for _, p := range w.processes {
		if !p.killed && (p.writer || !writers) && slices.ContainsFunc(w.parked, func(c *call) bool { return c.process == p }) {
			all = append(all, p)
		}
	}
	if len(all) == 0 {
		return nil
	}
	slices.SortFunc(all, func(a, b *process) int { return cmp.Compare(a.name, b.name) })
	return all[int(bits&15)%len(all)]
}

// kill ends a process. What it has sent may still be carried out.
func (w *world) kill(p *process) {
	if p == nil {
		return
	}
	w.trace.add("%d %s is killed", w.steps, p.name)
	w.mu.Lock()
	p.killed = true
	w.mu.Unlock()
	w.stopRenewing(p, 0)
	if w.plan.Lock == lockFile {
		w.release(p)
	}
	r := w.eventRandom()
	if w.plan.World == Backups && strings.HasPrefix(p.name, "backupper") && r.IntN(2) == 0 {
		w.cutPower()
	}
	for _, c := range slices.Clone(w.parked) {
		if c.process != p {
			continue
		}
		bits := r.Uint32()
		for _, piece := range c.pieces {
			switch bits & 3 {
			case 0:
				piece()
			case 1, 2:
				w.late = append(w.late, &lateInsert{c.key(), w.steps + delays[int(bits>>2)%len(delays)], w.now(), c.isNumbered(), piece})
			}
		}
		w.finish(c, errKilled)
	}
}

// stall stops a process for a while; then it goes on as if nothing had been.
func (w *world) stall(p *process, d time.Duration, distrust bool) {
	if p == nil {
		return
	}
	w.trace.add("%d %s is stopped for %s", w.steps, p.name, d)
	if w.isSharded() {
		w.stopRenewing(p, d)
	} else {
		p.claimUntil = w.storeNow().Add(leaseLife)
		p.distrusted = p.distrusted || distrust && d > leaseTrust
	}
	p.stalledUntil = w.now().Add(d)
	if p.op != nil {
		p.op.marred = true
	}
}

// killEngine ends the engine, and starts it again at once. What was on its way
// to it is carried out now or never. Rows may be gone afterwards.
func (w *world) killEngine(bits uint32) {
	w.epoch++
	w.started = w.now()
	w.trace.add("%d the engine is killed", w.steps)
	r := w.eventRandom()
	for _, l := range slices.Clone(w.late) {
		if r.Uint32()&1 == 0 {
			w.land(l)
		}
	}
	w.late = nil
	// A load that was between two statements sends the next one to the engine that is back.
	between := rand.New(rand.NewPCG(w.plan.Seed, 2<<32+uint64(w.steps)))
	var building []string // accounts of such loads
	for _, c := range w.parked {
		if c.local {
			continue
		}
		if c.process.writer && between.Uint32()&1 == 0 {
			if op := c.process.op; op != nil && op.account != "" {
				building = append(building, op.account)
			}
			continue
		}
		// Decided now: nothing of it is carried out once the engine is back.
		if r.Uint32()&3 == 0 {
			for _, piece := range c.pieces {
				piece()
			}
		}
		c.pieces, c.broken = nil, true
	}
	if !w.plan.Vanish || bits&1 == 0 {
		return
	}
	if len(building) > 0 && w.lost("") == "" && between.Uint32()&1 == 0 {
		w.vanish(between, building, losableMeanwhile)
		return
	}
	r = w.eventRandom()
	if w.lost("") == "" {
		w.vanish(r, w.plan.Accounts, losable)
	}
	if hasGuards(w.plan) {
		w.vanish(r, w.plan.Accounts, losable)
	}
}

func (w *world) jump(d time.Duration) {
	w.trace.add("%d the store's clock jumps by %s", w.steps, d)
	w.jumped += d
	w.excuseReaders()
}

// Leases as internal/clickhouse has them.
const (
	leaseLife  = 60 * time.Second
	leaseTrust = 30 * time.Second
)

// lockFree reports whether no other process is seen to hold an account's lock.
func (w *world) lockFree(p *process, account string) bool {
	if w.plan.Lock == lockNone && !w.calm {
		return true
	}
	for _, other := range w.claims[account] {
		if other != p && w.claimed(other) {
			return false
		}
	}
	return true
}

func (w *world) claimed(p *process) bool {
	if w.plan.Lock == lockLease && (p.killed || p.stalledUntil.After(w.now()) || p.distrusted && w.isSharded()) {
		return p.claimUntil.After(w.storeNow())
	}
	return !p.killed
}

func (w *world) release(p *process) {
	if p.lease != nil {
		p.lease.released = true
	}
	for account, holders := range w.claims {
		w.claims[account] = slices.DeleteFunc(holders, func(other *process) bool { return other == p })
	}
}

func (w *world) String() string { return fmt.Sprintf("seed %d", w.plan.Seed) }
