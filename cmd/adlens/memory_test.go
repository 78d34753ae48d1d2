package main

import (
	"testing"
	"time"

	"adlens/internal/clickhouse/cluster"
	"adlens/internal/commits"
)

// Half an account that was read while a move deleted its rows would stay in memory under
// the generations that it has at its new place.
func TestAReadingIntoMemoryEndsBeforeAMoveDeletesWhatItReads(t *testing.T) {
	t.Parallel()
	const spare = 5 * time.Second // for the server to hear of it
	if longest := cluster.PlaceLife + fillPatience + spare; longest > commits.Leaving {
		t.Errorf("a reading may go on for %s after the account has moved, expected at most %s", longest, commits.Leaving)
	}
}
