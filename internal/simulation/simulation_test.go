package simulation

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

var (
	seeds     = flag.Uint64("seeds", 3000, "how many seeds are run")
	firstSeed = flag.Uint64("from", 0, "the first of them")
	apart     = flag.Uint64("apart", 1, "how far apart they are: with 16, all runs are of one kind")
	verbose   = flag.Bool("story", false, "print the run of each seed")
)

var (
	shared     *universe
	sharedErr  error
	sharedOnce sync.Once
	sharedDir  string
)

func TestMain(m *testing.M) {
	debug.SetGCPercent(-1) // runs make much garbage and keep little
	debug.SetMemoryLimit(128 << 20)
	code := m.Run()
	if sharedDir != "" {
		os.RemoveAll(sharedDir)
	}
	os.Exit(code)
}

// openUniverse writes the files of all runs, once.
func openUniverse(t testing.TB) *universe {
	t.Helper()
	sharedOnce.Do(func() {
		dir := "/dev/shm" // memory, where there is such
		if _, err := os.Stat(dir); err != nil {
			dir = ""
		}
		if sharedDir, sharedErr = os.MkdirTemp(dir, "adlens-simulation-"); sharedErr == nil {
			shared, sharedErr = writeUniverse(sharedDir)
		}
	})
	if sharedErr != nil {
		t.Fatal(sharedErr)
	}
	return shared
}

// Each seed is a run in which some calls fail, some inserts are late, processes
// die and rows vanish. A seed that fails is made short and told.
func TestNoSeedFindsAFault(t *testing.T) {
	u := openUniverse(t)
	var next, steps, flickers, left atomic.Uint64
	next.Store(*firstSeed)
	t.Cleanup(func() {
		t.Logf("%d seeds, %d steps; in %d a reader saw for a moment what a fence then kept out, in %d rows were left to a later look", *seeds, steps.Load(), flickers.Load(), left.Load())
	})
	for shard := range runtime.GOMAXPROCS(0) {
		t.Run(fmt.Sprint("shard ", shard), func(t *testing.T) {
			t.Parallel()
			for seed := next.Add(*apart) - *apart; seed < *firstSeed+*seeds**apart && !t.Failed(); seed = next.Add(*apart) - *apart {
				plan := NewPlan(u, seed)
				o := runPlan(t, plan, *verbose)
				steps.Add(uint64(o.steps))
				flickers.Add(uint64(min(o.flickers, 1)))
				left.Add(uint64(min(o.left, 1)))
				if *verbose {
					t.Log(o.trace)
				}
				if o.fault != "" {
					t.Errorf("%s\nin short, %s", o.fault, story(shrink(t, plan)))
				}
			}
		})
	}
}

// A seed decides everything: a run of it is the same to the byte.
func TestASeedIsRunAgainToTheByte(t *testing.T) {
	u := openUniverse(t)
	t.Parallel()
	for seed := range uint64(100) {
		first, second := runPlan(t, NewPlan(u, seed), true), runPlan(t, NewPlan(u, seed), true)
		if first.trace != second.trace {
			at := 0
			for at < min(len(first.trace), len(second.trace)) && first.trace[at] == second.trace[at] {
				at++
			}
			from := max(at-200, 0)
			t.Fatalf("seed %d goes two ways after %d bytes:\n%.400s\nand\n%.400s", seed, at, first.trace[from:], second.trace[from:])
		}
	}
}

func TestTheClockOfServersHasTwoHands(t *testing.T) {
	before, after := twoHands(start, time.Minute), twoHands(start.Add(-3*time.Hour), 2*time.Minute)
	if mono, wall := after.Sub(before), after.Round(0).Sub(before.Round(0)); mono != time.Minute || wall != -3*time.Hour || !before.Round(0).Equal(start) {
		t.Errorf("the monotonic clock moved by %s, the wall clock by %s from %s", mono, wall, before)
	}
}

// With a fault of the program switched on, a seed finds it. The document has one
// that does so for each, which is tried first.
func TestFaultsOfTheProgramAreFound(t *testing.T) {
	u := openUniverse(t)
	learnLines(t, u)
	document, err := os.ReadFile("../../docs/faults.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, fault := range faultsOfPrograms {
		t.Run(string(fault), func(t *testing.T) {
			t.Parallel()
			finds := func(seed uint64) bool {
				plan := NewPlan(u, seed)
				plan.Broken = fault
				o := runPlan(t, plan, false)
				if o.fault != "" {
					t.Logf("seed %d: %s", seed, o.fault)
				}
				return o.fault != ""
			}
			row := regexp.MustCompile(`(?m)^\| ` + regexp.QuoteMeta(string(fault)) + ` \| (\d+) \|$`).FindSubmatch(document)
			if row != nil {
				seed, err := strconv.ParseUint(string(row[1]), 10, 64)
				if err == nil && finds(seed) {
					return
				}
			}
			for i := range *seeds {
				if seed := *firstSeed + i**apart; finds(seed) {
					t.Errorf("docs/faults.md lacks the row \"| %s | %d |\"", fault, seed)
					return
				}
			}
			t.Error("no seed finds it")
		})
	}
}
