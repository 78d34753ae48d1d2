package main

import (
	"runtime/debug"
	"testing"
	"time"

	"adlens/internal/commits"
	"adlens/internal/moves"
)

// Half an account that was read while a move deleted its rows would stay in memory under
// the generations that it has at its new place.
func TestAReadingIntoMemoryEndsBeforeAMoveDeletesWhatItReads(t *testing.T) {
	t.Parallel()
	const spare = 5 * time.Second // for the server to hear of it
	if longest := moves.PlaceLife + fillPatience + spare; longest > commits.Leaving {
		t.Errorf("a reading may go on for %s after the account has moved, expected at most %s", longest, commits.Leaving)
	}
}

func TestASmallMachineKeepsFewerFigures(t *testing.T) {
	t.Parallel()
	for given, want := range map[bool]int{true: 1 << 50, false: machineMemory() / 8} {
		so := serveOptions{memory: 1 << 50, isGiven: func(string) bool { return given }}
		if so.fitMemory(); so.memory != want {
			t.Errorf("%d bytes of figures, want %d where that is given %t", so.memory, want, given)
		}
	}
}

func TestTheHeapIsBoundedByTheMachinesMemory(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	defer debug.SetMemoryLimit(before)
	t.Setenv("GOMEMLIMIT", "")
	for embedded, share := range map[bool]float64{false: 0.9, true: 0.35} {
		boundHeap(embedded, 0)
		if got := float64(debug.SetMemoryLimit(-1)) / float64(machineMemory()); got < share-0.001 || got > share {
			t.Errorf("beside an engine %t: %f of the memory, want %f", embedded, got, share)
		}
	}
	boundHeap(true, machineMemory())
	if got := debug.SetMemoryLimit(-1); got <= int64(machineMemory()) {
		t.Errorf("what is kept does not fit into %d bytes", got)
	}
	t.Setenv("GOMEMLIMIT", "1GiB")
	debug.SetMemoryLimit(before)
	boundHeap(true, 0)
	if got := debug.SetMemoryLimit(-1); got != before {
		t.Errorf("a limit of the environment became %d", got)
	}
}
