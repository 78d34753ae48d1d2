package main

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"adlens"
)

// Soak is a long mixed load beside loads that restate.
type Soak struct {
	Seconds  float64        `json:"seconds"`
	Answered int            `json:"answered"`
	Checked  int            `json:"checked"` // answers of the slice that was restated meanwhile
	Mixed    int            `json:"mixed"`   // of them, those of no state of the data
	Loads    int            `json:"loads"`
	Errors   map[string]int `json:"errors"`
	Samples  []Sample       `json:"samples"`
	Growth   []Growth       `json:"growth"`
}

// Sample is what the processes hold at a moment.
type Sample struct {
	Second            float64 `json:"second"`
	ServeRSS          int64   `json:"serve_rss"`
	ServeThreads      int64   `json:"serve_threads"`
	ServeDescriptors  int64   `json:"serve_descriptors"`
	EngineRSS         int64   `json:"engine_rss"`
	EngineThreads     int64   `json:"engine_threads"`
	EngineDescriptors int64   `json:"engine_descriptors"`
	Parts             int64   `json:"parts"`
	Rows              int64   `json:"rows"` // stored, dead ones too
}

// Growth compares the middle of the second quarter of the samples with that of
// the last one: what warms up is over by then.
type Growth struct {
	What    string  `json:"what"`
	Earlier float64 `json:"earlier"`
	Later   float64 `json:"later"`
}

const (
	soakClients = 8
	soakChecks  = 2 // clients that ask for the slice that is restated
	sampleEvery = 5 * time.Second
)

// soak runs mixed clients for a while, loads restatements beside them, and
// compares every answer of the restated slice with the states that it may be
// of.
func (b *bench) soak(ctx context.Context, lasting time.Duration) error {
	s := &Soak{Errors: map[string]int{}}
	b.results.Soak = s
	ctx, stop := context.WithTimeout(ctx, lasting)
	defer stop()
	w := newWitness(b)
	who := newAPI(nameRepeated, b.caching.address)
	defer who.close()
	var mu sync.Mutex
	var failed error
	note := func(checked bool, err error) {
		mu.Lock()
		defer mu.Unlock()
		var mixed *mixedError
		switch {
		case ctx.Err() != nil:
		case errors.As(err, &mixed):
			s.Mixed++
			failed = err
		case err != nil:
			s.Errors[errorName(err)]++
		case checked:
			s.Checked++
			s.Answered++
		default:
			s.Answered++
		}
	}
	began := time.Now()
	var running sync.WaitGroup
	all := questions(b.shape, b.accounts, b.state.Keys, b.now)
	for n := range soakClients {
		running.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(n), 1))
			for ctx.Err() == nil {
				if n < soakChecks {
					note(true, w.ask(ctx, who))
					continue
				}
				_, err := who.ask(ctx, all[rng.IntN(len(all))])
				note(false, err)
			}
		})
	}
	var loading error
	running.Go(func() {
		s.Loads, loading = b.restating(ctx, w)
		if loading != nil {
			stop()
		}
	})
	sampling := b.sample(ctx, s, began)
	running.Wait()
	s.Seconds = time.Since(began).Seconds()
	s.Growth = growth(s.Samples)
	return errors.Join(failed, loading, sampling, b.state.save())
}

// restating loads one restatement after the other until the time is over.
func (b *bench) restating(ctx context.Context, w *witness) (loads int, err error) {
	f := filler{b.shape, b.program, b.dir, b.state, b.say}
	for ctx.Err() == nil {
		w.begin(len(b.state.Restated) + 1)
		// A load that was begun is finished: half of one would be no state.
		if _, _, err := f.restate(context.WithoutCancel(ctx), &b.accounts[0], 1, w.from, w.to); err != nil {
			return loads, err
		}
		w.end()
		loads++
	}
	return loads, nil
}

func (b *bench) sample(ctx context.Context, s *Soak, began time.Time) error {
	tick := time.NewTicker(sampleEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		one := Sample{Second: time.Since(began).Seconds()}
		one.ServeRSS, _ = resident(b.caching.pid())
		one.EngineRSS, _ = resident(b.engine.at.PID)
		one.ServeThreads, one.EngineThreads = threads(b.caching.pid()), threads(b.engine.at.PID)
		one.ServeDescriptors, one.EngineDescriptors = descriptors(b.caching.pid()), descriptors(b.engine.at.PID)
		storage, err := b.engine.storage(context.WithoutCancel(ctx))
		if err != nil {
			return err
		}
		one.Parts, one.Rows = storage.Parts, storage.Facts
		s.Samples = append(s.Samples, one)
		b.say("soak: %.0f s, serve %d MiB, engine %d MiB, %d parts", one.Second, one.ServeRSS>>20, one.EngineRSS>>20, one.Parts)
	}
}

func growth(samples []Sample) []Growth {
	var all []Growth
	n := len(samples)
	if n < 8 {
		return nil
	}
	for _, kind := range []struct {
		what string
		of   func(Sample) int64
	}{
		{"serve, bytes in memory", func(s Sample) int64 { return s.ServeRSS }}, {"serve, threads", func(s Sample) int64 { return s.ServeThreads }},
		{"serve, descriptors", func(s Sample) int64 { return s.ServeDescriptors }}, {"engine, bytes in memory", func(s Sample) int64 { return s.EngineRSS }},
		{"engine, threads", func(s Sample) int64 { return s.EngineThreads }}, {"engine, descriptors", func(s Sample) int64 { return s.EngineDescriptors }},
		{"parts", func(s Sample) int64 { return s.Parts }}, {"stored facts, dead ones too", func(s Sample) int64 { return s.Rows }},
	} {
		var values []float64
		for _, s := range samples {
			values = append(values, float64(kind.of(s)))
		}
		all = append(all, Growth{kind.what, percentile(values[n/4:n/2], 50), percentile(values[3*n/4:], 50)})
	}
	return all
}

// witness knows what one slice must be answered while it is restated: its
// figures follow from the generator alone, because its marketplace counts in
// US dollars.
type witness struct {
	bench    *bench
	question *question
	from, to adlens.Day

	mu           sync.Mutex
	right        map[int]expected // by version
	ended, begun int              // the last versions whose loads have ended and begun
}

// mixedError is an answer that is of none of the states that it may be of.
type mixedError struct{ err error }

func (e *mixedError) Error() string { return e.err.Error() }

func newWitness(b *bench) *witness {
	w := &witness{bench: b, from: b.shape.End - restateDays + 1, to: b.shape.End, right: map[int]expected{}}
	heavy := &b.accounts[0]
	a := &asker{shape: b.shape, account: heavy, key: b.state.Keys[heavyID]}
	a.ask(products, a.dates("restated", w.from, w.to), "marketplaces", heavy.markets[0].country, "ad_products", kinds[0].adProduct.String(), "page_size", "1000")
	w.question = a.all[0]
	return w
}

// begin notes that a version's load begins: from now on it may be answered.
func (w *witness) begin(version int) {
	right := w.expect(version)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.right[version], w.begun = right, version
}

// end notes that the load has ended: nothing older may be answered now.
func (w *witness) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.right, w.ended-1)
	w.ended = w.begun
}

// expect sums what the generator drew for a version.
func (w *witness) expect(version int) expected {
	heavy := &w.bench.accounts[0]
	groups := map[string]*group{}
	for day := w.from; day <= w.to; day++ {
		w.bench.shape.draw(slice{heavy, 0, kinds[0]}, day, version, func(r *row) {
			g := groups[r.product.id]
			if g == nil {
				g = &group{product: r.product.id, markets: 1}
				groups[r.product.id] = g
			}
			g.sums.addRow(r)
		})
	}
	var all []group
	for _, g := range groups {
		all = append(all, *g)
	}
	return w.question.expect(all, places{0: heavy.markets[0]})
}

// addRow adds a row of Sponsored Products. What stands behind the sixth
// decimal of a cost is rounded away, row by row.
func (s *sums) addRow(r *row) {
	add := func(to *big.Int, n int64) { to.Add(to, big.NewInt(n)) }
	const microsPerCent = 10_000
	add(&s.impressions, r.values[0])
	add(&s.clicks, r.values[1])
	add(&s.spend, r.values[2]*microsPerCent)
	add(&s.purchases, r.values[slices.Index(kinds[0].measures, "purchases7d")])
	add(&s.sales, r.values[slices.Index(kinds[0].measures, "sales7d")]*microsPerCent)
}

// ask asks once and compares the answer with all states that it may be of.
func (w *witness) ask(ctx context.Context, who *api) error {
	w.mu.Lock()
	oldest := w.ended
	w.mu.Unlock()
	r, err := who.ask(ctx, w.question)
	if err != nil {
		return err
	}
	got, err := r.lines()
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if oldest == 0 {
		return nil // before the first restatement of this run has ended
	}
	err = fmt.Errorf("versions %d to %d may be answered, and none is", oldest, w.begun)
	for version := oldest; version <= w.begun; version++ {
		right, ok := w.right[version]
		if !ok {
			return nil // so slow an answer that its state is forgotten
		}
		different := difference(right.shown, got)
		if different == nil {
			return nil
		}
		err = errors.Join(err, different)
	}
	return &mixedError{err}
}
