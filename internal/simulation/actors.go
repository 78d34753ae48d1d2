package simulation

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"adlens"
	"adlens/internal/commits"
	"adlens/internal/manifest"
	"adlens/internal/platform"
	"adlens/internal/tables"
	"adlens/loader"
)

// actor does one thing after the other. When its process is killed, it goes on
// in another one.
type actor struct {
	world   *world
	plan    Actor
	process *process
	starts  int
}

func (a *actor) run() {
	defer func() {
		a.world.mu.Lock()
		a.world.running--
		a.world.mu.Unlock()
	}()
	for _, step := range a.plan.Steps {
		if a.process == nil || a.process.killed {
			a.starts++
			a.process = a.world.start(fmt.Sprintf("%s.%d", a.plan.Name, a.starts), slices.Contains([]string{"loader", "lister", "collector", "backupper", "restorer", "mover"}, a.plan.Kind))
		}
		a.step(a.process, step)
	}
}

func (a *actor) step(p *process, step Step) {
	ctx := p.ctx
	switch a.plan.Kind {
	case "reader":
		p.wait(ctx, step.Wait)
		p.look(ctx, step.Account, step.Question)
		return
	case "backupper":
		p.takeBackup(ctx, step)
		return
	case "restorer":
		p.restoreInPlace(ctx, step.Account, step.Wait)
		return
	case "operator", "client", "guesser", "keeper":
		p.wait(ctx, step.Wait)
		map[string]func(context.Context, Step){"operator": p.operate, "client": p.call, "guesser": p.call, "keeper": p.tick}[a.plan.Kind](ctx, step)
		return
	}
	o := p.begin(step.Account, step.Files...)
	p.wait(ctx, step.Wait)
	switch a.plan.Kind {
	case "loader":
		p.loadAndNote(ctx, o)
	case "lister":
		p.list(ctx, o)
	case "collector":
		p.collect(ctx, o)
	case "mover":
		p.move(ctx, step.Account, step.Shard)
	}
	if ctx.Err() != nil && !p.killed { // interrupted: the process ends
		p.local(context.Background(), "end", "", nil, func() {
			a.world.mu.Lock()
			p.killed = true
			a.world.mu.Unlock()
		})
	}
}

// Step, Rows and Notice hear how a load goes on.
func (p *process) Step(file string, _, _ int) { p.op.current = p.world.plan.universe.paths[file] }

// Rows hears nothing.
func (p *process) Rows(int) {}

// Notice hears nothing.
func (p *process) Notice(string) {}

func (p *process) loader() loader.Loader {
	l := loader.Loader{Store: store{p}, Progress: p, Token: p.token, BlockRows: 2}
	if p.world.plan.Split {
		l.BlockRows, l.CommitRows = 1, 1
	}
	return l
}

func (p *process) token() string {
	p.tokens++
	p.lastToken = fmt.Sprintf("%s/%d", p.name, p.tokens)
	return p.lastToken
}

// load loads files, and tells the truth what it reported of them.
func (p *process) load(ctx context.Context, o *op) (loader.Result, error) {
	var paths []string
	for _, f := range o.files {
		paths = append(paths, p.world.plan.universe.files[f].path)
	}
	l := p.loader()
	result, err := l.Load(ctx, o.account, paths)
	p.local(context.Background(), "loaded", brief(err), nil, func() { p.judge(o, result, err) })
	return result, err
}

func brief(err error) string {
	if err == nil {
		return ""
	}
	return trim(err.Error())
}

// judge compares what was reported of a load with what is.
func (p *process) judge(o *op, result loader.Result, err error) {
	t := p.world.truths[o.account]
	p.judgeError(o, err)
	for _, f := range result.Files {
		file := p.world.plan.universe.paths[f.File]
		l := fileLoad{o.id, file}
		o.results = append(o.results, fmt.Sprint(file, " ", f.Status))
		switch f.Status {
		case loader.Loaded:
			t.acknowledge(l, true)
		case loader.Unchanged:
			if err == nil {
				p.unchanged(t, o.begun, &atom{op: o, files: o.together(file), at: p.world.plan.universe.files[file].madeAt()})
			}
		case loader.Failed:
			if !errors.Is(err, commits.ErrUnknown) || p.world.broken == BelieveFailures {
				t.acknowledge(l, false)
			}
		default:
			t.fail("%s is %s: %s", t.name(l), f.Status, *f.Error)
		}
	}
	p.world.trace.add("  %s", strings.Join(o.results, ", "))
}

// judgeError makes sure that an error has a cause.
func (p *process) judgeError(o *op, err error) {
	w := p.world
	switch {
	case err == nil || w.lostSince(o.account, o.begun):
	case p.distrusted && w.isSharded():
		// It stood still until its lock had ended, and what it read may have been half copied
		// or half deleted by a move. It has written nothing that counts.
	case adlens.KindOf(err) == adlens.Damaged:
		w.fail("load %d: %v, and nothing was lost", o.id, err)
	case !o.marred && w.plan.Lock == lockFile:
		w.fail("load %d failed without a cause: %v", o.id, err)
	}
}

// unchanged makes sure that a file adds nothing to what is visible now, or was at some
// moment since a step: others of the same load may have changed it since.
func (p *process) unchanged(t *truth, since int, added *atom) {
	if t.vanished != "" {
		return
	}
	for i := len(t.history) - 1; i >= 0; i-- {
		if was := t.history[i].visible; t.addsNothing(was, added) {
			t.holds(added.files)
			return
		}
		if t.history[i].step < since {
			break
		}
	}
	t.fail("%s was reported to change nothing, and it does", p.world.plan.universe.title(added.files[0]))
}

func (t *truth) addsNothing(v visible, added *atom) bool {
	now, more := t.expected(v), t.expected(visible{loads: append(slices.Clip(v.loads), added)})
	return now == more || maps.Equal(now.figures, more.figures) && maps.Equal(now.texts, more.texts)
}

// list replaces the lists of a marketplace by what was read just now.
func (p *process) list(ctx context.Context, o *op) {
	o.current = o.files[0]
	version := p.world.plan.universe.files[o.current].list.version
	lists := loader.Lists{ProfileID: profileDE, Currency: "EUR"}
	for _, name := range p.world.plan.universe.files[o.current].list.readLists() {
		lists.Read = append(lists.Read, newList(name, version))
	}
	p.local(context.Background(), "read the platform", "", nil, func() {
		now := p.world.now()
		for i := range lists.Read {
			lists.Read[i].ReadAt = now
		}
		p.world.listTimes[fileLoad{o.id, o.current}] = now
	})
	l := p.loader()
	err := l.ReplaceLists(ctx, o.account, lists)
	p.local(context.Background(), "listed", brief(err), nil, func() {
		p.judgeError(o, err)
		t, l := p.world.truths[o.account], fileLoad{o.id, o.current}
		switch {
		case err == nil && t.now.has(l):
			t.acknowledge(l, true)
		case err == nil: // newer lists were there
			p.unchanged(t, o.begun, &atom{op: o, files: []int{o.current}, at: p.world.listTimes[l]})
		}
	})
}

// newList is a list as it was read; those of other ad products than Sponsored
// Products are empty.
func newList(name loader.ListName, version int) loader.List {
	l := loader.List{ListName: name}
	for i := range 2 + version%2 {
		id, text := fmt.Sprint("x", i), fmt.Sprint("v", version)
		switch {
		case name.AdProduct != adlens.SponsoredProducts:
		case name.Entity == platform.Campaigns:
			l.Campaigns = append(l.Campaigns, platform.Campaign{ID: id, Name: text, AdProduct: name.AdProduct, State: platform.Enabled, Form: []platform.Form{platform.OneAdGroup, platform.UnknownForm, platform.UnknownForm}[i]})
		case name.Entity == platform.AdGroups:
			l.AdGroups = append(l.AdGroups, platform.AdGroup{ID: id, Name: text, AdProduct: name.AdProduct, State: platform.Enabled})
		default:
			l.Ads = append(l.Ads, platform.Ad{ID: id, State: platform.State(text), AdProduct: name.AdProduct})
		}
	}
	return l
}

// collect does what a server does once an hour.
func (p *process) collect(ctx context.Context, o *op) {
	after := loader.CollectAfter
	if p.world.broken == CollectAtOnce {
		after = 0
	}
	l := p.loader()
	err := l.Collect(ctx, after)
	p.local(context.Background(), "collected", brief(err), nil, func() { p.judgeError(o, err) })
}

// begin begins to do a thing for an account, or for all.
func (p *process) begin(account string, files ...int) *op {
	o := &op{process: p, account: account, files: files}
	p.local(context.Background(), "begin", account, nil, func() {
		p.world.ops++
		o.id, o.begun, p.op = p.world.ops, p.world.steps, o
	})
	return o
}

// wait lets time pass.
func (p *process) wait(ctx context.Context, d time.Duration) { p.waitFor(ctx, d) }

// waitFor lets time pass, unless its context ends before.
func (p *process) waitFor(ctx context.Context, d time.Duration) error {
	if d == 0 {
		return nil
	}
	until := p.world.now().Add(d)
	return p.world.run(&call{process: p, ctx: ctx, name: "wait", local: true, until: until, do: func() error { return nil },
		ready: func() bool { return !p.world.now().Before(until) || ctx.Err() != nil }})
}

// readerPatience is how long a reader may take: longer, and what it reads may
// have been deleted. A move deletes sooner than a collection.
func (w *world) readerPatience() time.Duration {
	if w.isSharded() {
		return commits.Leaving
	}
	return 5 * time.Minute
}

// look reads an answer and compares it.
func (p *process) look(ctx context.Context, account string, q Question) {
	var began time.Time
	var step int
	p.local(ctx, "ask", account+" "+string(q), nil, func() { began, step, p.excused = p.world.now(), p.world.steps, false })
	a, err := p.answer(ctx, account, q)
	err = p.readAll(ctx, err)
	p.local(ctx, "answered", brief(err), nil, func() {
		switch {
		case p.excused || p.world.now().Sub(began) > p.world.readerPatience():
		case err != nil:
			if adlens.KindOf(err) == adlens.Damaged && !p.world.lostSince(account, step) {
				p.world.truths[account].fail("a reader is told %v, and nothing was lost", err)
			}
		default:
			p.compare(p.world.truths[account], q, a)
			p.world.truths[account].wasVisible(p.view, step)
		}
	})
}

func (p *process) compare(t *truth, q Question, a *answers) {
	if t.vanished != "" {
		for l, told := range t.told {
			if told.visible && told.step < p.viewed && !p.view.has(l) {
				t.fail("a reader is answered without a %s that was reported to be loaded", p.world.plan.universe.files[l.file].kind)
			}
		}
	}
	if difference := a.differs(t.expected(p.view), q); difference != "" {
		t.fail("commit %d, %s: %s", p.view.number, q, difference)
	}
}

// answer reads what a question is about, as a server does.
func (p *process) answer(ctx context.Context, account string, q Question) (*answers, error) {
	if err := p.goOnInspecting(ctx, account); err != nil {
		return nil, err
	}
	p.asked = account
	defer func() { p.asked = "" }()
	v, met, err := p.currentView(ctx, account)
	if err != nil {
		return nil, err
	}
	r := reading{store: store{p}, account: account, manifest: v.manifest, answers: &answers{map[figureKey][summed]uint64{}, map[string]string{}}}
	err = r.read(ctx, q)
	if gone := p.requireKept(ctx, account, v, met); gone != nil {
		err = gone
	}
	p.view, p.viewed = v.state, v.step
	return r.answers, err
}

// reading turns rows of live generations into answers.
type reading struct {
	store    store
	account  string
	manifest manifest.Manifest
	profiles map[uint16]string
	asins    map[uint32]string
	entities map[uint32]string // ids
	answers  *answers
}

func (r *reading) read(ctx context.Context, q Question) error {
	markets, err := r.store.Marketplaces(ctx, r.account, r.manifest.Generation(manifest.Unit{Kind: manifest.Marketplaces}))
	if err != nil {
		return err
	}
	r.profiles = map[uint16]string{}
	for _, m := range markets {
		r.profiles[m.Key] = m.ID
	}
	if q == Texts {
		for _, m := range markets {
			r.answers.texts["profile "+m.ID] = m.Name
		}
		return r.texts(ctx)
	}
	if q == Days {
		return r.rollups(ctx, "day_totals", manifest.Month)
	}
	numbers, err := r.store.ProductNumbers(ctx, r.account, r.manifest.Generation(manifest.Unit{Kind: manifest.Products}))
	if err != nil {
		return err
	}
	r.asins = map[uint32]string{}
	for asin, number := range numbers {
		r.asins[number] = asin
	}
	entities, err := r.store.Entities(ctx, r.account, r.manifest.Generation(manifest.Unit{Kind: manifest.Entities}))
	if err != nil {
		return err
	}
	r.entities = map[uint32]string{}
	for of, e := range entities {
		r.entities[e.Key] = of.ID
	}
	if q == Facts {
		return r.facts(ctx)
	}
	for _, rollup := range slices.Concat(tables.Rollups(manifest.Month), tables.Rollups(manifest.Year)) {
		if err := r.rollups(ctx, rollup.Name, rollup.Kind); err != nil {
			return err
		}
	}
	return nil
}

func (r *reading) rollups(ctx context.Context, table string, kind manifest.Kind) error {
	return r.store.readOf(ctx, r.account, "select "+table, "", func() error {
		for _, row := range r.store.rowsOf(r.account, table, generationsOf(answered(r.manifest.Of(kind)))...) {
			u := row.Value.(*rollupRow)
			r.answers.add(r.keyOf(table, u.slice, u.start, u.of), u.sums)
		}
		return nil
	})
}

func (r *reading) keyOf(level string, slice manifest.Slice, start adlens.Day, of numbers) figureKey {
	return figureKey{level, r.profiles[slice.Marketplace], slice.AdProduct, start, r.asins[of.product], r.entities[of.campaign], r.entities[of.adGroup]}
}

// answered are the entries that answers are made of.
func answered(all []manifest.Entry) []manifest.Entry {
	return slices.DeleteFunc(slices.Clone(all), func(e manifest.Entry) bool { return !e.Slice.IsAnswered() })
}

func (r *reading) facts(ctx context.Context) error {
	return r.store.readOf(ctx, r.account, "select facts", "", func() error {
		for _, row := range r.store.rowsOf(r.account, "facts", generationsOf(answered(r.manifest.Of(manifest.Month)))...) {
			f := row.Value.(fact)
			r.answers.add(r.keyOf("facts", f.slice, f.day, f.of), f.sums())
		}
		return nil
	})
}

func (r *reading) texts(ctx context.Context) error {
	titles, err := r.store.Titles(ctx, r.account, r.manifest.Generation(manifest.Unit{Kind: manifest.Titles}))
	if err != nil {
		return err
	}
	for id, title := range titles {
		r.answers.texts["titles "+id] = title
	}
	r.held()
	rates, err := r.store.Rates(ctx, r.account, r.manifest.Generation(manifest.Unit{Kind: manifest.Rates}))
	if err != nil {
		return err
	}
	for _, fetched := range []bool{false, true} {
		for currency, all := range rates.Table(fetched) {
			for _, rate := range all {
				micros := rate.USD.RoundMicros().Lo
				r.answers.texts[rateKey{currency, fetched, rate.Day}.text()] = fmt.Sprint(micros / 100)
			}
		}
	}
	rules, err := r.store.Rules(ctx, r.account, r.manifest.Generation(manifest.Unit{Kind: manifest.Rules}))
	if err != nil {
		return err
	}
	for _, rule := range rules {
		r.answers.texts["rules "+string(rule.ID)] = rule.Status
	}
	return r.lists(ctx)
}

// held reads which report each day is held of. What counts of legacy reports follows
// from those and from lists.
func (r *reading) held() {
	for _, e := range r.manifest.Of(manifest.Month) {
		for _, source := range e.Sources {
			for day := e.Start; day <= e.Start.LastOfMonth() && e.Slice.AdProduct != manifest.LegacyCounted; day++ {
				if source.Days&manifest.DaysBetween(day, day) != 0 {
					r.answers.texts[heldKey(r.profiles[e.Slice.Marketplace], e.Slice.AdProduct, day)] += source.ReportID
				}
			}
		}
	}
}

func (r *reading) lists(ctx context.Context) error {
	for _, kind := range []manifest.Kind{manifest.Campaigns, manifest.AdGroups, manifest.Ads} {
		table := tables.OfKind(kind)[0]
		err := r.store.readOf(ctx, r.account, "select "+table, "", func() error {
			for _, row := range r.store.rowsOf(r.account, table, generationsOf(r.manifest.Of(kind))...) {
				l := row.Value.(listed)
				id, text, _ := strings.Cut(l.text, " ")
				r.answers.texts[fmt.Sprintf("%s %s %d %s", table, r.profiles[l.slice.Marketplace], l.slice.AdProduct, id)] += text
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
