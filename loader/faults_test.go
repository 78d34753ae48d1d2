package loader_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"adlens/loader"

	"github.com/google/go-cmp/cmp"
)

// rates of the fixtures: working days only, so that days borrow them.
var fixtureRates = []string{"2025-12-22,EUR,1.1", "2025-12-29,EUR,1.123456", "2026-01-05,EUR,1.2", "2026-01-12,EUR,1.25"}

// firstReport spans two years, with two rows for one product and day.
var firstReport = reportFile{"first", profileDE, "2025-12-22", "2026-01-10", "2026-01-11T04:00:00Z", []string{
	row("2025-12-22", "B0A", "10", "1.10", "9.99"), row("2025-12-22", "B0A", "5", "0.333333333", "0"),
	row("2025-12-31", "B0B", "7", "59.980000000000004", "100"), row("2026-01-01", "B0A", "8", "2", "3"),
	row("2026-01-02", "", "9", "4", "5"), row("2026-01-10", "B0C", "1", "0.01", "0"),
}}

// restated speaks for the middle of firstReport: both months keep days, both
// years change, a product goes and one comes.
var restated = reportFile{"restated", profileDE, "2025-12-31", "2026-01-05", "2026-01-12T04:00:00Z", []string{
	row("2025-12-31", "B0B", "8", "60", "101"), row("2026-01-02", "B0D", "2", "1.5", "0"), row("2026-01-05", "B0A", "4", "2.75", "11.11"),
}}

// changedRates re-convert days of both months, some of them borrowed.
var changedRates = []string{"2025-12-29,EUR,1.3", "2026-01-07,EUR,1.15"}

// failing is a load with one commit into an account that was prepared with
// other files.
type failing struct {
	name           string
	prepared, path string
	from           int // the first call that may fail
	faults         []fault
}

func failingLoads(t *testing.T) []failing {
	t.Helper()
	base, reports := writeBase(t, fixtureRates...), t.TempDir()
	first := firstReport.write(t, reports)
	held := t.TempDir()
	for _, from := range []string{base, reports} {
		if err := os.CopyFS(held, os.DirFS(from)); err != nil {
			t.Fatal(err)
		}
	}
	profiles := t.TempDir()
	writeFile(t, filepath.Join(profiles, "profiles.json"), profilesText)
	// Every load begins with the same thirteen calls: it takes its numbers and reads
	// what is live, and then what it has to know, side by side.
	const behindOpening = 14
	return []failing{
		{"the first profiles", t.TempDir(), profiles, 1, []fault{notDone, answerLost, cancelled}},
		{"the first rates", profiles, filepath.Join(base, "rates.csv"), behindOpening, []fault{notDone}},
		{"a first report", base, first, behindOpening, []fault{notDone, answerLost}},
		{"a restatement", held, restated.write(t, t.TempDir()), behindOpening, []fault{notDone, answerLost}},
		{"a change of rate", held, writeRates(t, t.TempDir(), changedRates...), behindOpening, []fault{notDone, cancelled}},
	}
}

func TestALoadThatFailsAnywhereShowsTheOldStateOrTheNew(t *testing.T) {
	d := openShared(t)
	for _, f := range failingLoads(t) {
		for _, kind := range f.faults {
			t.Run(fmt.Sprint(f.name, "/", kind), func(t *testing.T) {
				t.Parallel()
				d.failEverywhere(t, f, kind)
			})
		}
	}
}

// failEverywhere repeats a load that fails at its first call, then at its
// second, and so on until one succeeds, on top of all that the failed ones
// left behind. Where the load became visible, a fresh account is taken.
func (d *database) failEverywhere(t *testing.T, f failing, kind fault) {
	mustLoad(t, d.store(), t.Name(), f.prepared)
	before := d.visible(t, t.Name())
	mustLoad(t, d.store(), t.Name(), f.path)
	after := d.visible(t, t.Name())
	if before == after {
		t.Fatal("the load changes nothing")
	}
	for account, at := "", f.from; ; at++ {
		if account == "" {
			account = fmt.Sprint(t.Name(), " from ", at)
			mustLoad(t, d.store(), account, f.prepared)
		}
		failed, err := d.failAt(t, account, f.path, kind, at)
		seen := d.visible(t, account)
		switch {
		case failed.name == "" && seen == after:
			return
		case failed.name == "":
			t.Fatalf("after all that had failed, a good load differs from one that never failed:\n%s", cmp.Diff(after, seen))
		case seen != before && seen != after:
			t.Fatalf("after call %d (%s) failed, this could be seen:\n%s", at, failed.name, cmp.Diff(before, seen))
		case seen == before && err == nil:
			t.Fatalf("call %d (%s) failed, the load said that all was well, and nothing of it can be seen", at, failed.name)
		case seen == after:
			if !failed.named {
				t.Errorf("call %d (%s) failed before the load wrote what it makes visible, and it can be seen", at, failed.name)
			}
			mustLoad(t, d.store(), account, f.path)
			if diff := cmp.Diff(after, d.visible(t, account)); diff != "" {
				t.Fatalf("repeating a load that can be seen changed something:\n%s", diff)
			}
			account = ""
		}
	}
}

// failAt loads with a store that fails at one call, and returns the store, whose
// name is "" where the load made fewer, and the load's error.
func (d *database) failAt(t *testing.T, account, path string, kind fault, at int) (*faulty, error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	store := &faulty{store: d.store(), fault: kind, at: at, cancel: cancel}
	l := loader.Loader{Store: store, Progress: silent{}, BlockRows: 1}
	_, err := l.Load(ctx, account, []string{path})
	switch {
	case store.name == "" && err != nil:
		t.Fatalf("a load without a fault: %v", err)
	case store.name != "" && err == nil && kind == notDone:
		t.Errorf("call %d (%s) failed, and the load said that all was well", at, store.name)
	}
	return store, err
}
