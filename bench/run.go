package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"time"

	"adlens"
)

// options are what a run is asked to do.
type options struct {
	command      string
	shape        Shape
	bin, dir     string
	kept         bool // the directory stays
	duckScript   string
	peers        []string
	requests     *regexp.Regexp
	order        string
	restatements int
	pace         pace
	crowdFor     time.Duration // how long clients ask at once; 0 leaves them out
	concurrency  bool          // numbers of clients from 1 to 256
	soaking      time.Duration
	sizes        []int // rows, of a run for growth
	say          func(format string, args ...any)
}

// bench is a run on its way.
type bench struct {
	options
	program  program
	accounts []account
	state    *state
	server   *server // answers that were computed
	caching  *server // answers as everybody gets them
	engine   *embedded
	raw      *raw
	peers    []contestant
	duck     *duckProcess
	results  Results
	now      time.Time
	right    map[string]expected // by question
}

// open brings the data in, or finds it in the directory, and starts all that
// is asked.
func open(ctx context.Context, o options) (_ *bench, err error) {
	b := &bench{options: o, program: program{o.bin, filepath.Join(o.dir, "data")}, now: time.Now(), right: map[string]expected{}}
	b.results = Results{Machine: thisMachine(), Shape: o.shape, Date: b.now.UTC().Format(time.DateOnly)}
	defer func() {
		if err != nil {
			err = errors.Join(err, b.close())
		}
	}()
	if b.accounts, err = o.shape.accounts(); err != nil {
		return nil, err
	}
	if b.state, err = openState(o.dir, o.shape); err != nil {
		return nil, err
	}
	if err := b.serve(ctx); err != nil {
		return nil, err
	}
	if !b.state.Filled {
		if err := b.fill(ctx); err != nil {
			return nil, err
		}
	}
	return b, b.contestants(ctx)
}

// serve starts a server that computes every answer and one that does not have
// to, and joins their engine.
func (b *bench) serve(ctx context.Context) (err error) {
	var uncached []string
	if b.program.has(ctx, "serve", "--answer-cache") {
		uncached = []string{"--answer-cache", "0"}
	}
	if b.server, err = b.program.serve(uncached...); err != nil {
		return err
	}
	if b.caching, err = b.program.serve(); err != nil {
		return err
	}
	b.engine, err = openEngine(ctx, b.program.dataDir)
	return err
}

func (b *bench) filler() *filler {
	return &filler{shape: b.shape, program: b.program, scratch: b.dir, state: b.state, say: b.say}
}

func (b *bench) fill(ctx context.Context) error {
	f := b.filler()
	began := time.Now()
	if err := f.fill(ctx, b.accounts); err != nil {
		return err
	}
	b.say("filled after %.0f s", time.Since(began).Seconds())
	if err := f.restatements(ctx, &b.accounts[0], b.restatements); err != nil {
		return err
	}
	b.say("restated")
	_, b.state.Loading.EngineRSS = resident(b.engine.at.PID)
	b.state.Filled = true
	return b.state.save()
}

// contestants prepares all that were selected.
func (b *bench) contestants(ctx context.Context) (err error) {
	if b.raw, err = newRaw(ctx, b.engine, b.state, b.accounts, b.say); err != nil {
		return err
	}
	own, err := newStatements(ctx, b.engine, b.now)
	if err != nil {
		return err
	}
	held := newAPI(nameHeld, b.caching.address)
	held.conditional = true
	b.peers = append(b.peers, newAPI(nameAPI, b.server.address), newAPI(nameRepeated, b.caching.address), held, own)
	if b.wants(nameRaw) {
		b.peers = append(b.peers, b.raw)
	}
	return b.databases(ctx)
}

// databases prepares the peers that are programs of their own, side by side.
func (b *bench) databases(ctx context.Context) error {
	var plain, rollups *duckDB
	var relational *postgres
	var noDuck, noPostgres error
	var filling sync.WaitGroup
	if b.wants(nameDuckDB) {
		filling.Go(func() {
			plain, rollups, noDuck = newDuckDB(ctx, b.raw, b.state, b.shape, b.duckScript, b.dir, b.say)
		})
	}
	if b.wants(namePostgres) {
		filling.Go(func() { relational, noPostgres = newPostgres(ctx, b.raw, b.state, b.dir, b.say) })
	}
	filling.Wait()
	if plain != nil {
		b.duck = plain.process
		b.peers = append(b.peers, plain, rollups)
	}
	if relational != nil {
		b.peers = append(b.peers, relational)
	}
	return errors.Join(b.absent(nameDuckDB, noDuck), b.absent(namePostgres, noPostgres))
}

func (b *bench) wants(peer string) bool { return slices.Contains(b.options.peers, peer) }

// absent notes a peer that is not installed; any other error stays one.
func (b *bench) absent(peer string, err error) error {
	if err == nil || !errors.Is(err, errAbsent) {
		return err
	}
	b.results.Left = append(b.results.Left, fmt.Sprintf("%s: %v", peer, err))
	return nil
}

// measure asks everything that was selected.
func (b *bench) measure(ctx context.Context) error {
	all := b.questions()
	for i, q := range all {
		if adlens.DayOf(time.Now().UTC()) != adlens.DayOf(b.now.UTC()) {
			return errors.New("midnight passed (UTC) and named ranges mean other days now; run it again")
		}
		right, err := b.expect(ctx, q)
		if err != nil {
			return err
		}
		m, err := measure(ctx, q, right, b.peers, b.pace)
		if err != nil {
			return err
		}
		b.results.Questions = append(b.results.Questions, m)
		b.say("%d of %d: %s: %.1f ms", i+1, len(all), q.name, m.of(nameAPI).Median)
	}
	return nil
}

// expect finds the right answer of a question, once.
func (b *bench) expect(ctx context.Context, q *question) (expected, error) {
	right, ok := b.right[q.name]
	if ok {
		return right, nil
	}
	right, err := b.raw.expect(ctx, q)
	if err == nil {
		b.right[q.name] = right
	}
	return right, err
}

// questions are those selected, in the order asked for.
func (b *bench) questions() []*question {
	all := questions(b.shape, b.accounts, b.state.Keys, b.now)
	all = slices.DeleteFunc(all, func(q *question) bool { return !b.requests.MatchString(q.name) })
	if b.order == "shuffled" {
		shuffle(all, b.shape.Seed)
	}
	return all
}

// first measures the first request after a start of server and engine. All
// users of the engine leave, so that it ends.
func (b *bench) first(ctx context.Context) error {
	all := b.questions()
	for _, name := range []string{qSummaryAll, qProductsAll} {
		i := slices.IndexFunc(all, func(q *question) bool { return q.name == name })
		if i < 0 {
			continue
		}
		began := time.Now()
		s, err := b.program.serve()
		if err != nil {
			return err
		}
		f := First{Question: name, Start: milliseconds(time.Since(began))}
		r, err := newAPI(nameAPI, s.address).ask(ctx, all[i])
		if err := errors.Join(err, s.stop()); err != nil {
			return err
		}
		f.Took = milliseconds(r.took)
		b.results.First = append(b.results.First, f)
	}
	return nil
}

// finish notes what is known at the end.
func (b *bench) finish(ctx context.Context) (err error) {
	b.results.Loading = b.state.Loading
	_, b.results.ServeRSS = resident(b.server.pid())
	_, b.results.EngineRSS = resident(b.engine.at.PID)
	b.results.Storage, err = b.engine.storage(ctx)
	return err
}

// leave gives the engine back, so that it ends.
func (b *bench) leave(ctx context.Context) error {
	var errs []error
	for _, p := range b.peers {
		errs = append(errs, p.close())
	}
	b.peers = nil
	if b.duck != nil {
		errs = append(errs, b.duck.close())
		b.duck = nil
	}
	if b.raw != nil && !b.kept {
		errs = append(errs, b.raw.drop(context.WithoutCancel(ctx)))
	}
	b.raw = nil
	if b.engine != nil {
		errs = append(errs, b.engine.close())
		b.engine = nil
	}
	for _, s := range []*server{b.server, b.caching} {
		errs = append(errs, s.stop())
	}
	b.server, b.caching = nil, nil
	return errors.Join(errs...)
}

func (b *bench) close() error {
	err := b.leave(context.Background())
	if !b.kept {
		err = errors.Join(err, os.RemoveAll(b.dir))
	}
	return err
}
