package simulation

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"time"

	"adlens/internal/manifest"
	"adlens/internal/tables"
)

// truth knows which files of an account are visible and what was told of them. It sees rows
// of the record of commits being carried out, and nothing else of the program.
type truth struct {
	world    *world
	account  string
	vanished string            // the table that lost rows, until the account is reopened
	lostAt   int               // the step
	spoiled  bool              // they are there, and cannot be read, until they are set aside
	mended   int               // the step at which it was whole again
	copies   map[*shard]string // likewise of shards where the account is not

	states   map[uint32]visible // by the number of their newest commit, also those that are not live
	now      visible
	told     map[fileLoad]claim // what was reported of a load of a file
	seen     map[fileLoad]bool  // by a reader
	numbers  map[uint32]*session
	expects  map[string]*answers
	history  []moment
	fenced   []moment // commits that were carried out too late to become visible
	flickers int      // what a reader saw went with a fence
	strays   []moment // commits where the account is not: of writers that stood still until it had moved
}

// visible is what is visible at one moment: the loads in the order of their
// commits.
type visible struct {
	number uint32
	loads  []*atom
	disk   int // how often the disk had been put back
}

// atom is what one commit makes visible.
type atom struct {
	op    *op
	files []int
	at    time.Time // of lists, when they were read
}

// claim is that a load of a file is visible, or that it is not and never will
// be.
type claim struct {
	visible bool
	step    int
}

// fileLoad is a file that was loaded by an op.
type fileLoad struct{ op, file int }

func newTruth(w *world, account string) *truth {
	return &truth{world: w, account: account, states: map[uint32]visible{}, told: map[fileLoad]claim{}, seen: map[fileLoad]bool{}, numbers: map[uint32]*session{}, expects: map[string]*answers{}, copies: map[*shard]string{}, history: []moment{{}}}
}

// fail notes the first thing that is wrong.
func (t *truth) fail(format string, args ...any) {
	if len(t.world.plan.Accounts) > 1 {
		format = t.account + ": " + format
	}
	t.world.fail(format, args...)
}

func (t *truth) head() visible { return t.now }

func (v visible) has(l fileLoad) bool {
	return slices.ContainsFunc(v.loads, func(a *atom) bool { return a.op.id == l.op && slices.Contains(a.files, l.file) })
}

func (v visible) all() (all []fileLoad) {
	for _, a := range v.loads {
		for _, f := range a.files {
			all = append(all, fileLoad{a.op.id, f})
		}
	}
	return all
}

// begins notes which files a commit is about, from the units that it names.
func (o *op) begins(units []tables.Unit) {
	number, kinds := units[0].Number, map[manifest.Kind]bool{}
	for _, u := range units {
		if u.Number == u.Generation || u.Generation > number {
			kinds[u.Kind] = true
		}
	}
	u := o.process.world.plan.universe
	a := &atom{op: o, files: o.together(o.current), at: u.files[o.current].madeAt()}
	switch f := u.files[o.current]; {
	case f.kind == "lists":
		a.at = o.process.world.listTimes[fileLoad{o.id, o.current}]
	case kinds[manifest.Month] && !kinds[manifest.Rates]:
		a.files = nil
		for _, file := range o.files {
			if r := u.files[file].report; r != nil && r.legacy == f.report.legacy && speaks(units, r) {
				a.files = append(a.files, file)
			}
		}
	}
	if o.atoms == nil {
		o.atoms = map[uint32]*atom{}
	}
	o.atoms[number] = a
}

// together are the files of a load that become visible with one of them, in the order in
// which they are loaded: all of a kind of which each is put over the ones before.
func (o *op) together(file int) []int {
	u := o.process.world.plan.universe
	kind := u.files[file].kind
	if !slices.Contains([]string{"rates", "bank rates", "titles", "rules"}, kind) {
		return []int{file}
	}
	files := slices.DeleteFunc(slices.Clone(o.files), func(f int) bool { return u.files[f].kind != kind })
	slices.SortFunc(files, func(a, b int) int { return cmp.Compare(u.files[a].path, u.files[b].path) })
	return files
}

// madeAt is when the list of an export was made; zero of other files.
func (e *extract) madeAt() (at time.Time) {
	if e.kind == "export" {
		at = e.list.generated
	}
	return at
}

// speaks reports whether a report is a source of one of the units.
func speaks(units []tables.Unit, r *report) bool {
	return slices.ContainsFunc(units, func(u tables.Unit) bool {
		return slices.ContainsFunc(u.Sources, r.isSource)
	})
}

// landed is called when a commit has been carried out.
func (t *truth) landed(owner *op, c manifest.Commit) {
	switch {
	case c.Number == manifest.Closed:
		if t.vanished == "" { // a restore before it was overtaken by its own late end
			t.vanished = "all, which is being restored"
		}
		for _, p := range t.world.processes {
			if t.world.landing && p.op != nil && p.op.account == t.account {
				p.op.marred = true // a restore takes it for another one that has begun
			}
		}
		return
	case owner != nil && owner.backup != 0:
		t.restored(c.Number, t.states[owner.backup].loads)
		return
	}
	if _, twice := t.states[c.Number]; twice {
		t.fail("two commits have the number %d", c.Number)
	}
	base := t.states[c.Base]
	if c.Base == 0 {
		base = t.stateBelow(c.Number) // it names all units that are live
	}
	next := visible{number: c.Number, loads: base.loads, disk: t.world.putBacks}
	var a *atom
	if owner != nil {
		a = owner.atoms[c.Number]
	}
	if a != nil {
		// A report that was visible before is a source of the same months still.
		a.files = slices.DeleteFunc(a.files, func(file int) bool {
			return t.world.plan.universe.files[file].report != nil && slices.ContainsFunc(base.all(), func(l fileLoad) bool { return l.file == file })
		})
		next.loads = append(slices.Clip(base.loads), a)
	}
	t.states[c.Number] = next
	if t.world.here != t.world.shardOf(t.account) {
		t.strays = append(t.strays, moment{t.world.steps, next})
		return
	}
	if c.Number < t.now.number {
		t.fenced = append(t.fenced, moment{t.world.steps, next})
		return
	}
	if a != nil {
		for _, s := range t.world.sessions {
			if s.account == t.account && s.complete && s.first > c.Number {
				t.fail("commit %d became visible after a writer of greater numbers had begun to build", c.Number)
			}
		}
	}
	t.show(next, a == nil)
}

// stateBelow is what was visible before a commit where it has been carried out.
func (t *truth) stateBelow(number uint32) visible {
	if !t.world.isSharded() {
		return t.now
	}
	rows, _ := t.world.rows.Commits().Read(context.Background(), t.account)
	rows = slices.DeleteFunc(rows, func(c manifest.Commit) bool { return c.Number >= number })
	return t.states[newestCommit(rows)]
}

// moved has what another shard has become visible. It is what was visible, unless something
// was lost on the way.
func (t *truth) moved() {
	rows, _ := t.world.rows.Commits().Read(context.Background(), t.account)
	if next := t.states[newestCommit(rows)]; next.number != t.now.number {
		t.show(next, false)
	}
}

// restored is called when a backup was restored over the account. What was loaded
// since the backup is gone, and may be loaded once more.
func (t *truth) restored(number uint32, loads []*atom) {
	t.states[number] = visible{number: number, loads: loads}
	t.become(t.states[number])
}

// become has what was loaded later gone.
func (t *truth) become(v visible) {
	t.now = v
	t.history = append(t.history, moment{t.world.steps, v})
	maps.DeleteFunc(t.told, func(l fileLoad, told claim) bool { return told.visible && !v.has(l) })
	maps.DeleteFunc(t.seen, func(l fileLoad, _ bool) bool { return !v.has(l) })
}

// show makes another state visible.
func (t *truth) show(next visible, fence bool) {
	before := t.now
	t.now = next
	t.history = append(t.history, moment{t.world.steps, next})
	for _, l := range before.all() {
		switch {
		case next.has(l):
		case t.told[l].visible:
			t.fail("commit %d takes away what was reported to be loaded: %s", next.number, t.name(l))
		case t.seen[l] && !fence:
			t.fail("commit %d takes away what a reader has seen: %s", next.number, t.name(l))
		case t.seen[l]:
			t.flickers++
		}
	}
	for _, l := range next.all() {
		if told, any := t.told[l]; any && !told.visible {
			t.fail("%s was reported not to be visible, and commit %d shows it", t.name(l), next.number)
		}
	}
}

func (t *truth) name(l fileLoad) string {
	return fmt.Sprintf("%s of load %d", t.world.plan.universe.title(l.file), l.op)
}

// recount finds the newest commit once more, after rows have gone.
func (t *truth) recount() {
	rows, _ := t.world.rows.Commits().Read(context.Background(), t.account)
	t.now = visible{}
	for _, c := range rows {
		if c.Number >= t.now.number {
			t.now = t.states[c.Number]
		}
	}
	t.history = append(t.history, moment{t.world.steps, t.now})
}

// acknowledge is told that a load of a file is visible, or that it is not and
// never will be.
func (t *truth) acknowledge(l fileLoad, is bool) {
	if is != t.now.has(l) && t.vanished == "" {
		t.fail("%s was reported to be visible: %t, and is: %t", t.name(l), is, !is)
	}
	t.told[l] = claim{is, t.world.steps}
}

// holds is told that files which are visible are loaded: who hears so loads them no more.
func (t *truth) holds(files []int) {
	for _, l := range t.now.all() {
		if slices.Contains(files, l.file) {
			t.told[l] = claim{true, t.world.steps}
		}
	}
}

// read is called with the state of which a reader's answer was.
func (t *truth) read(v visible) {
	for _, l := range v.all() {
		t.seen[l] = true
	}
}

// numbered is called when a row is stored under a generation.
func (t *truth) numbered(generation uint32, s *session) {
	if before := t.numbers[generation]; before != nil && before != s {
		t.fail("two writers use the number %d", generation)
	}
	t.numbers[generation] = s
}

// expected returns the answers that are right for a state.
func (t *truth) expected(v visible) *answers {
	var loaded []loadedFile
	for _, a := range v.loads {
		for _, f := range a.files {
			loaded = append(loaded, loadedFile{f, a.at})
		}
	}
	loaded = t.world.plan.universe.settled(loaded)
	var key []byte
	for _, l := range loaded {
		key = binary.LittleEndian.AppendUint64(append(key, byte(l.file)), uint64(l.at.UnixNano()))
	}
	if t.expects[string(key)] == nil {
		t.expects[string(key)] = t.world.plan.universe.expected(loaded)
	}
	return t.expects[string(key)]
}

// title names a file.
func (u *universe) title(file int) string {
	return fmt.Sprintf("%s (file %d)", u.files[file].kind, file)
}
