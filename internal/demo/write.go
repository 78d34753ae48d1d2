// Package demo writes years of advertising extracts for a demonstration
// account: profiles, exchange rates, product titles, the platform's own daily
// reports and its lists of campaigns, ad groups and ads, in the platform's own
// formats, and the service's own records, for the ordinary loader.
//
// Everything is invented and drawn from seeded streams. What is written for a
// past month depends on the seed and the month alone, so a demonstration that
// is made again tomorrow repeats its history and adds a day.
package demo

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Options say which account is written. Today is the newest calendar day
// (figures end the day before it).
type Options struct {
	Today time.Time
	Years int    // 0 means 3
	Seed  uint64 // 0 means a fixed default
	// Written, where it is not nil, hears how many extracts of all are
	// written; one call at a time.
	Written func(done, total int)
}

// Write writes the demonstration extracts below dir and returns the paths
// written, in name order. Files of an earlier run that have the same names are
// replaced; others are left alone.
func Write(dir string, o Options) ([]string, error) {
	s, err := o.span()
	if err != nil {
		return nil, err
	}
	for _, sub := range []string{reportsDir, exportsDir} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o755); err != nil {
			return nil, err
		}
	}
	return run(dir, newAccount(o.seed(), s).jobs(), o.Written)
}

// A job writes one extract, which may be one file or two, and returns the
// paths of what it wrote.
type job func(p *press) ([]string, error)

// run does the jobs with a worker for each processor and stops early where one
// fails.
func run(dir string, jobs []job, heard func(done, total int)) ([]string, error) {
	var (
		next   atomic.Int64
		failed atomic.Bool
		mu     sync.Mutex
		paths  []string
		faults []error
		wait   sync.WaitGroup
		done   int
	)
	work := func() {
		p := newPress(dir)
		for !failed.Load() {
			i := int(next.Add(1)) - 1
			if i >= len(jobs) {
				return
			}
			written, err := jobs[i](p)
			mu.Lock()
			paths = append(paths, written...)
			if done++; heard != nil {
				heard(done, len(jobs))
			}
			if err != nil {
				faults = append(faults, err)
				failed.Store(true)
			}
			mu.Unlock()
		}
	}
	for range min(runtime.GOMAXPROCS(0), len(jobs)) {
		wait.Go(work)
	}
	wait.Wait()
	if len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	slices.Sort(paths)
	return paths, nil
}
