package main

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"
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

// Growth is what one thing came to, as the medians of equal stretches of the
// soak: what rests is level in the last ones.
type Growth struct {
	What    string    `json:"what"`
	Medians []float64 `json:"medians"`
}

const (
	soakClients = 8
	soakChecks  = 2 // clients that ask for the slice that is restated
	sampleEvery = 5 * time.Second
	stretches   = 10 // of a soak, each with medians of its own
)

// runSoak runs mixed clients for a while, loads restatements beside them, and
// compares every answer of the restated slice with the states that it may be
// of.
func (b *bench) runSoak(ctx context.Context, lasting time.Duration) error {
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
	all := allQuestions(b.shape, b.accounts, b.state.Keys, b.now)
	for n := range soakClients {
		running.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(n), 1))
			for ctx.Err() == nil {
				if n < soakChecks {
					note(true, w.askRestated(ctx, who))
					continue
				}
				_, err := who.askQuestion(ctx, all[rng.IntN(len(all))])
				note(false, err)
			}
		})
	}
	var loading error
	running.Go(func() {
		s.Loads, loading = b.loadRestatements(ctx, w)
		if loading != nil {
			stop()
		}
	})
	sampling := b.sampleProcesses(ctx, s, began)
	running.Wait()
	s.Seconds = time.Since(began).Seconds()
	s.Growth = soakGrowth(s.Samples)
	return errors.Join(failed, loading, sampling, b.state.saveState())
}

// loadRestatements loads one restatement after the other until the time is over.
func (b *bench) loadRestatements(ctx context.Context, w *witness) (loads int, err error) {
	f := b.newFiller()
	for ctx.Err() == nil {
		w.beginVersion(len(b.state.Restated) + 1)
		// A load that was begun is finished: half of one would be no state.
		if _, _, err := f.restateWindow(context.WithoutCancel(ctx), &b.accounts[0], 1, w.from, w.to); err != nil {
			return loads, err
		}
		w.endVersion()
		loads++
	}
	return loads, nil
}

func (b *bench) sampleProcesses(ctx context.Context, s *Soak, began time.Time) error {
	tick := time.NewTicker(sampleEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		one := Sample{Second: time.Since(began).Seconds()}
		one.ServeRSS, _ = residentMemory(b.caching.processID())
		one.EngineRSS, _ = residentMemory(b.engine.at.PID)
		one.ServeThreads, one.EngineThreads = countThreads(b.caching.processID()), countThreads(b.engine.at.PID)
		one.ServeDescriptors, one.EngineDescriptors = countDescriptors(b.caching.processID()), countDescriptors(b.engine.at.PID)
		storage, err := b.engine.readStorage(context.WithoutCancel(ctx))
		if err != nil {
			return err
		}
		one.Parts, one.Rows = storage.Parts, storage.Facts
		s.Samples = append(s.Samples, one)
		b.say("soak: %.0f s, serve %d MiB, engine %d MiB, %d parts", one.Second, one.ServeRSS>>20, one.EngineRSS>>20, one.Parts)
	}
}

func soakGrowth(samples []Sample) []Growth {
	var all []Growth
	n := len(samples)
	if n < stretches {
		return nil
	}
	for _, kind := range []struct {
		what string
		of   func(Sample) int64
	}{
		{"serve, MiB", func(s Sample) int64 { return s.ServeRSS >> 20 }}, {"serve, threads", func(s Sample) int64 { return s.ServeThreads }},
		{"serve, descriptors", func(s Sample) int64 { return s.ServeDescriptors }}, {"engine, MiB", func(s Sample) int64 { return s.EngineRSS >> 20 }},
		{"engine, threads", func(s Sample) int64 { return s.EngineThreads }}, {"engine, descriptors", func(s Sample) int64 { return s.EngineDescriptors }},
		{"parts", func(s Sample) int64 { return s.Parts }}, {"stored facts, dead ones too", func(s Sample) int64 { return s.Rows }},
	} {
		one := Growth{What: kind.what}
		for k := range stretches {
			var values []float64
			for _, s := range samples[k*n/stretches : (k+1)*n/stretches] {
				values = append(values, float64(kind.of(s)))
			}
			one.Medians = append(one.Medians, percentileOf(values, 50))
		}
		all = append(all, one)
	}
	return all
}
