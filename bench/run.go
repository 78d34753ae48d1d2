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

// openBench brings the data in, or finds it in the directory, and starts all that
// is asked.
func openBench(ctx context.Context, o options) (_ *bench, err error) {
	b := &bench{options: o, program: program{o.bin, filepath.Join(o.dir, "data")}, now: time.Now(), right: map[string]expected{}}
	b.results = Results{Machine: thisMachine(), Shape: o.shape, Date: b.now.UTC().Format(time.DateOnly)}
	defer func() {
		if err != nil {
			err = errors.Join(err, b.close())
		}
	}()
	if b.accounts, err = o.shape.makeAccounts(); err != nil {
		return nil, err
	}
	if b.state, err = openState(o.dir, o.shape); err != nil {
		return nil, err
	}
	if err := b.startServers(ctx); err != nil {
		return nil, err
	}
	if !b.state.Filled {
		if err := b.loadData(ctx); err != nil {
			return nil, err
		}
	}
	return b, b.prepareContestants(ctx)
}

// startServers starts a server that computes every answer and one that does not have
// to, and joins their engine.
func (b *bench) startServers(ctx context.Context) (err error) {
	var uncached []string
	if b.program.hasFlag(ctx, "serve", "--answer-cache") {
		uncached = []string{"--answer-cache", "0"}
	}
	if b.server, err = b.program.startServer(uncached...); err != nil {
		return err
	}
	if b.caching, err = b.program.startServer(); err != nil {
		return err
	}
	b.engine, err = openEngine(ctx, b.program.dataDir)
	return err
}

func (b *bench) newFiller() *filler {
	return &filler{shape: b.shape, program: b.program, scratch: b.dir, state: b.state, say: b.say}
}

func (b *bench) loadData(ctx context.Context) error {
	f := b.newFiller()
	began := time.Now()
	if err := f.loadAccounts(ctx, b.accounts); err != nil {
		return err
	}
	b.say("filled after %.0f s", time.Since(began).Seconds())
	if err := f.measureRestatements(ctx, &b.accounts[0], b.restatements); err != nil {
		return err
	}
	b.say("restated")
	_, b.state.Loading.EngineRSS = residentMemory(b.engine.at.PID)
	b.state.Filled = true
	return b.state.saveState()
}

// prepareContestants prepares all that were selected.
func (b *bench) prepareContestants(ctx context.Context) (err error) {
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
	if b.wantsPeer(nameRaw) {
		b.peers = append(b.peers, b.raw)
	}
	return b.prepareDatabases(ctx)
}

// prepareDatabases prepares the peers that are programs of their own, side by side.
func (b *bench) prepareDatabases(ctx context.Context) error {
	var plain, rollups *duckDB
	var relational *postgres
	var noDuck, noPostgres error
	var filling sync.WaitGroup
	if b.wantsPeer(nameDuckDB) {
		filling.Go(func() {
			plain, rollups, noDuck = newDuckDB(ctx, b.raw, b.state, b.shape, b.duckScript, b.dir, b.say)
		})
	}
	if b.wantsPeer(namePostgres) {
		filling.Go(func() { relational, noPostgres = newPostgres(ctx, b.raw, b.state, b.shape, b.dir, b.say) })
	}
	filling.Wait()
	if plain != nil {
		b.duck = plain.process
		b.peers = append(b.peers, plain, rollups)
	}
	if relational != nil {
		b.peers = append(b.peers, relational)
	}
	return errors.Join(b.recordAbsent(nameDuckDB, noDuck), b.recordAbsent(namePostgres, noPostgres))
}

func (b *bench) wantsPeer(peer string) bool { return slices.Contains(b.options.peers, peer) }

// recordAbsent notes a peer that is not installed; any other error stays one.
func (b *bench) recordAbsent(peer string, err error) error {
	if err == nil || !errors.Is(err, errAbsent) {
		return err
	}
	b.results.Left = append(b.results.Left, fmt.Sprintf("%s: %v", peer, err))
	return nil
}

// measureAll asks everything that was selected.
func (b *bench) measureAll(ctx context.Context) error {
	all := b.selectedQuestions()
	for i, q := range all {
		if adlens.DayOf(time.Now().UTC()) != adlens.DayOf(b.now.UTC()) {
			return errors.New("midnight passed (UTC) and named ranges mean other days now; run it again")
		}
		right, err := b.cachedExpected(ctx, q)
		if err != nil {
			return err
		}
		m, err := measureQuestion(ctx, q, right, b.peers, b.pace)
		if err != nil {
			return err
		}
		b.results.Questions = append(b.results.Questions, m)
		b.say("%d of %d: %s: %.1f ms", i+1, len(all), q.name, m.timesOf(nameAPI).Median)
	}
	return nil
}

// cachedExpected finds the right answer of a question, once.
func (b *bench) cachedExpected(ctx context.Context, q *question) (expected, error) {
	right, ok := b.right[q.name]
	if ok {
		return right, nil
	}
	right, err := b.raw.queryExpected(ctx, q)
	if err == nil {
		b.right[q.name] = right
	}
	return right, err
}

// selectedQuestions are those selected, in the order requested.
func (b *bench) selectedQuestions() []*question {
	all := allQuestions(b.shape, b.accounts, b.state.Keys, b.now)
	all = slices.DeleteFunc(all, func(q *question) bool { return !b.requests.MatchString(q.name) })
	if b.order == "shuffled" {
		shuffleQuestions(all, b.shape.Seed)
	}
	return all
}

// measureFirst measures the first request after a start of server and engine. All
// users of the engine leave, so that it ends.
func (b *bench) measureFirst(ctx context.Context) error {
	all := b.selectedQuestions()
	for _, name := range []string{qSummaryAll, qProductsAll} {
		i := slices.IndexFunc(all, func(q *question) bool { return q.name == name })
		if i < 0 {
			continue
		}
		began := time.Now()
		s, err := b.program.startServer()
		if err != nil {
			return err
		}
		f := First{Question: name, Start: toMilliseconds(time.Since(began))}
		r, err := newAPI(nameAPI, s.address).askQuestion(ctx, all[i])
		if err := errors.Join(err, s.stopProcess()); err != nil {
			return err
		}
		f.Took = toMilliseconds(r.took)
		b.results.First = append(b.results.First, f)
	}
	return nil
}

// recordUsage notes what is known at the end.
func (b *bench) recordUsage(ctx context.Context) (err error) {
	b.results.Loading = b.state.Loading
	_, b.results.ServeRSS = residentMemory(b.server.processID())
	_, b.results.EngineRSS = residentMemory(b.engine.at.PID)
	b.results.Storage, err = b.engine.readStorage(ctx)
	return err
}

// releaseEngine gives the engine back, so that it ends.
func (b *bench) releaseEngine(ctx context.Context) error {
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
		errs = append(errs, b.raw.dropTable(context.WithoutCancel(ctx)))
	}
	b.raw = nil
	if b.engine != nil {
		errs = append(errs, b.engine.close())
		b.engine = nil
	}
	for _, s := range []*server{b.server, b.caching} {
		errs = append(errs, s.stopProcess())
	}
	b.server, b.caching = nil, nil
	return errors.Join(errs...)
}

func (b *bench) close() error {
	err := b.releaseEngine(context.Background())
	if !b.kept {
		err = errors.Join(err, os.RemoveAll(b.dir))
	}
	return err
}
