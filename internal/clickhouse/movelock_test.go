package clickhouse

import (
	"strings"
	"testing"
	"time"

	"adlens/internal/clickhouse/cluster"
	"adlens/internal/moves"
)

// A commit of a loader that stood still until its lock had ended comes while a move copies. It
// would be reported as loaded, and stay behind.
func TestAMoveFencesOffAWriterThatStoodStill(t *testing.T) {
	t.Parallel()
	m := newMoving(t)
	m.putLoaded(t, "acme", 1)
	commit := m.prepareLoad(t, "acme")
	m.copied = func() {
		m.copied = nil
		if err := commit(); err == nil {
			t.Error("a commit is confirmed that does not move")
		}
	}
	if _, err := m.move(t.Context(), t, "acme", 2); err != nil || m.placeOf(t, "acme") != 2 {
		t.Errorf("the account is on shard %d: %v", m.placeOf(t, "acme"), err)
	}
	m.load(t, "acme")
}

// A process that stood still between its look at the lock and the deletion would delete what
// another one has moved back meanwhile.
func TestADeletionOfAMoveIsRefusedOnceTheLockMayHaveEnded(t *testing.T) {
	t.Parallel()
	m := newMoving(t)
	for _, id := range []string{"acme", "other"} {
		m.putLoaded(t, id, 1)
	}
	home := m.Cluster.Home()
	const late = cluster.HeldFor + time.Second
	var until moves.Deadline
	for until.Running <= late { // the server has been running for less
		var err error
		if until, err = home.HeldUntil(t.Context(), "acme"); err != nil {
			t.Fatal(err)
		}
	}
	for what, passed := range map[string]moves.Deadline{
		"by the clock alone":                {Clock: until.Clock.Add(-late), Running: until.Running},
		"by how long the server runs alone": {Clock: until.Clock, Running: until.Running - late},
		"by a restart of the server alone":  {Clock: until.Clock, Since: until.Since + time.Hour, Running: until.Running + time.Hour},
	} {
		if err := home.ClearTableUntil(t.Context(), "product_titles", "acme", passed); err == nil || !strings.Contains(err.Error(), "the lock on the account may have ended; do it again") {
			t.Errorf("late %s, a deletion ends with %v", what, err)
		}
		if _, titles := m.rowsAt(t, 1, "acme"); titles != 1 {
			t.Errorf("late %s, a deletion leaves %d titles", what, titles)
		}
	}
	if err := home.ClearTableUntil(t.Context(), "product_titles", "acme", until); err != nil {
		t.Error(err)
	}
	for id, want := range map[string]uint64{"acme": 0, "other": 1} {
		if _, titles := m.rowsAt(t, 1, id); titles != want {
			t.Errorf("account %s has %d titles, expected %d", id, titles, want)
		}
	}
	stuck, err := home.ReadTexts(t.Context(), "SELECT command FROM system.mutations WHERE NOT is_done OR latest_fail_reason != '' OR command LIKE '%throwIf%'")
	if err != nil || len(stuck) > 0 {
		t.Errorf("mutations %q are stuck: %v", stuck, err)
	}
}
