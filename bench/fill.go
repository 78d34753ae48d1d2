package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"adlens"
	"adlens/internal/made"
)

// Loading is what bringing the data in took.
type Loading struct {
	Rows       int64   `json:"rows"`          // of extracts
	Bytes      int64   `json:"bytes"`         // of unpacked downloads
	Seconds    float64 `json:"seconds"`       // of the load commands, beside the generator
	PeakRSS    int64   `json:"peak_rss"`      // of the loader, bytes
	EngineRSS  int64   `json:"engine_rss"`    // the engine's peak while loading, bytes
	RestateAll Restate `json:"restate_all"`   // 30 days of all slices of the heavy account
	RestateOne Restate `json:"restate_slice"` // 30 days of one slice
}

// Restate is what replacing a window took, alone on the machine.
type Restate struct {
	Rows    int64   `json:"rows"`
	Bytes   int64   `json:"bytes"`
	Seconds float64 `json:"seconds"` // median
	Runs    int     `json:"runs"`
}

// batchRows is about how many rows are loaded by one command.
const batchRows = 2_000_000

// batch is a directory of extracts to be loaded for an account.
type batch struct {
	account *account
	dir     string
	totals  Totals
	err     error
}

// filler brings a shape's data in.
type filler struct {
	shape   Shape
	program program
	scratch string // for extracts on their way
	state   *state
	say     func(format string, args ...any)
	skip    int // batches that were loaded before
}

// loadAccounts adds the accounts and loads all their reports, the next ones being
// written while the last ones are loaded. What an earlier run had loaded before
// it was interrupted is passed over.
func (f *filler) loadAccounts(ctx context.Context, accounts []account) error {
	batches := make(chan batch, 1)
	making, stop := context.WithCancel(ctx)
	defer stop()
	f.skip = f.state.Batches
	go func() {
		defer close(batches)
		// The small ones first: their first extracts are there at once.
		for i := len(accounts) - 1; i >= 0; i-- {
			f.makeBatches(making, &accounts[i], batches)
		}
	}()
	last := time.Now()
	for b := range batches {
		if b.err != nil {
			return b.err
		}
		if _, added := f.state.Keys[b.account.id]; !added {
			if err := f.addAccount(ctx, b.account); err != nil {
				return err
			}
		}
		if err := f.loadBatch(ctx, b); err != nil {
			return err
		}
		if time.Since(last) > 10*time.Second {
			last = time.Now()
			f.say("loaded %.1f million rows in %.0f s of loading", float64(f.state.Loading.Rows)/1e6, f.state.Loading.Seconds)
		}
	}
	return ctx.Err()
}

// addAccount makes an account and its key.
func (f *filler) addAccount(ctx context.Context, a *account) error {
	if _, _, err := f.program.runCommand(ctx, "account", "add", a.id, "--name", a.id); err != nil {
		return err
	}
	key, _, err := f.program.runCommand(ctx, "key", "create", "--account", a.id, "--name", "bench")
	if err != nil {
		return err
	}
	f.state.Keys[a.id] = key
	return f.state.saveState()
}

// makeBatches writes an account's extracts in batches of some months.
func (f *filler) makeBatches(ctx context.Context, a *account, to chan<- batch) {
	perDay := max(1, a.rows/f.shape.figureDays())
	days := adlens.Day(max(31, batchRows/perDay))
	for from := f.shape.firstDay(); from <= f.shape.End; {
		end := min(f.shape.End, (from+days).FirstOfMonth()-1)
		if f.skip--; f.skip < 0 {
			b := f.makeBatch(a, from, end)
			select {
			case to <- b:
			case <-ctx.Done():
				os.RemoveAll(b.dir)
				return
			}
		}
		from = end + 1
	}
}

func (f *filler) makeBatch(a *account, from, last adlens.Day) batch {
	b := batch{account: a}
	if b.dir, b.err = os.MkdirTemp(f.scratch, "extracts-"); b.err != nil {
		return b
	}
	to := made.NewWriter(b.dir)
	if from == f.shape.firstDay() {
		b.err = f.shape.writeBase(a, to)
	}
	for start := from; start <= last && b.err == nil; start = start.LastOfMonth() + 1 {
		end := min(last, start.LastOfMonth())
		for _, of := range a.reportSlices() {
			var t Totals
			t, b.err = f.shape.writeReport(report{of, start, end, 0, (end + 1).Time().Add(2 * time.Hour)}, to)
			if b.totals.addTotals(t); b.err != nil {
				break
			}
		}
	}
	return b
}

// reportSlices are what an account has reports of.
func (a *account) reportSlices() []slice {
	var all []slice
	for m := range a.markets {
		for _, k := range kinds {
			all = append(all, slice{a, m, k})
		}
	}
	return all
}

// loadBatch loads a batch and removes it.
func (f *filler) loadBatch(ctx context.Context, b batch) error {
	took, err := f.loadDir(ctx, b.account, b.dir)
	if err != nil {
		return err
	}
	l := &f.state.Loading
	l.Rows += b.totals.Rows
	l.Bytes += b.totals.Bytes
	l.Seconds += took.Wall.Seconds()
	l.PeakRSS = max(l.PeakRSS, took.PeakRSS)
	t := f.state.Totals[b.account.id]
	t.addTotals(b.totals)
	f.state.Totals[b.account.id] = t
	f.state.Batches++
	return f.state.saveState()
}

func (f *filler) loadDir(ctx context.Context, a *account, dir string) (used, error) {
	defer os.RemoveAll(dir)
	_, took, err := f.program.runCommand(ctx, "load", "--account", a.id, dir)
	if err != nil {
		return took, fmt.Errorf("loading %s: %w", filepath.Base(dir), err)
	}
	return took, nil
}
