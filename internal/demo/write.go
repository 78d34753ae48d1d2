// Package demo makes up years of advertising extracts for a demonstration
// account: profiles, exchange rates, product titles, the platform's own daily
// reports and its lists of campaigns, ad groups and ads, and the service's own
// records, for the ordinary loader.
//
// Everything is invented and drawn from seeded streams. What is written for a
// past month depends on the seed and the month alone, so a demonstration that
// is made again tomorrow repeats its history and adds a day.
package demo

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"adlens"
	"adlens/internal/made"
)

const (
	reportsDir = "reports"
	exportsDir = "exports"

	defaultYears = 3
	mostYears    = 20
	defaultSeed  = 0x7a11_0c4b_52d9_e631
	// The exchange rates walk from a fixed day (ratesEpoch); before it there
	// is nothing to walk from.
	oldestYear = 2000
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
	s, err := o.figureSpan()
	if err != nil {
		return nil, err
	}
	for _, sub := range []string{reportsDir, exportsDir} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o755); err != nil {
			return nil, err
		}
	}
	return runJobs(dir, newAccount(o.seedOrDefault(), s).listJobs(), o.Written)
}

// A job writes one extract, which may be one file or two, and returns the
// paths of what it wrote.
type job func(w *made.Writer) ([]string, error)

// runJobs does the jobs with a worker for each processor and stops early where one
// fails.
func runJobs(dir string, jobs []job, heard func(done, total int)) ([]string, error) {
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
		w := made.NewWriter(dir)
		for !failed.Load() {
			i := int(next.Add(1)) - 1
			if i >= len(jobs) {
				return
			}
			written, err := jobs[i](w)
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

// figureSpan gives whole months up to yesterday, at least the requested years: a
// first month cut at today's date would change its content every day.
func (o Options) figureSpan() (span, error) {
	years := o.Years
	if years == 0 {
		years = defaultYears
	}
	if years < 0 || years > mostYears {
		return span{}, fmt.Errorf("demo: %d years: want 1 to %d", years, mostYears)
	}
	if o.Today.IsZero() {
		return span{}, errors.New("demo: Today is not set")
	}
	y, m, d := o.Today.Date()
	first := adlens.Date(y-years, m, d).FirstOfMonth()
	if first.Year() <= oldestYear {
		return span{}, fmt.Errorf("demo: figures would begin in %d: want a year after %d", first.Year(), oldestYear)
	}
	return span{first, adlens.Date(y, m, d) - 1}, nil
}

func (o Options) seedOrDefault() uint64 {
	if o.Seed == 0 {
		return defaultSeed
	}
	return o.Seed
}

// A span is a range of days, both ends included.
type span struct{ first, last adlens.Day }

func (s span) containsDay(d adlens.Day) bool { return s.first <= d && d <= s.last }

// splitMonths cuts the span into calendar months; only the last can be unfinished.
func (s span) splitMonths() []span {
	var out []span
	for first := s.first; first <= s.last; first = first.LastOfMonth() + 1 {
		out = append(out, span{first, min(first.LastOfMonth(), s.last)})
	}
	return out
}
