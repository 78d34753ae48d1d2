package commits_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"adlens/internal/commits"
	"adlens/internal/manifest"
	"adlens/internal/tables"
)

// While a backup is restored over an account, every reader and writer is refused,
// also after a restore that was killed, and nothing of the account is left but the
// numbers that were taken.
func TestAClosedAccountIsRefusedUntilItIsReopened(t *testing.T) {
	store := newStore()
	s := begin(t, store, "first")
	n, err := s.BeginCommit(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Commit(t.Context(), n, []manifest.Entry{{Unit: manifest.Unit{Kind: manifest.Titles}, Generation: n}}); err != nil {
		t.Fatal(err)
	}
	var closing commits.Closing
	for mark := range uint64(2) {
		if closing, err = commits.Close(t.Context(), store, account, mark); err != nil {
			t.Fatal(err)
		}
		if _, err := commits.Read(t.Context(), store, account); !errors.Is(err, manifest.ErrClosed) {
			t.Errorf("a closed account is read: %v", err)
		}
		if _, err := commits.Begin(t.Context(), store, account, "second"); !errors.Is(err, manifest.ErrClosed) {
			t.Errorf("a session begins on a closed account: %v", err)
		}
	}
	if err := closing.Clear(t.Context()); err != nil {
		t.Fatal(err)
	}
	if all, _ := store.Commits().Read(t.Context(), account); len(all) != 2 || all[0].Number != manifest.Closed || all[1].Number != manifest.Closed {
		t.Errorf("the record has the commits %+v, expected the two that close the account", all)
	}
	if blocks, _ := store.Reservations().Read(t.Context(), account); len(blocks) == 0 {
		t.Error("the numbers that were taken are forgotten")
	}
	if err := closing.Reopen(t.Context()); err != nil {
		t.Fatal(err)
	}
	if state, err := commits.Read(t.Context(), store, account); err != nil || state.Manifest.Len() != 0 {
		t.Errorf("an account that was cleared has %d units: %v", state.Manifest.Len(), err)
	}
}

// A restore that stood still while another one began ends without an effect, whatever it
// was about to do: what the other one has closed or reopened stays so.
func TestAnOvertakenRestoreChangesNothing(t *testing.T) {
	for _, reopened := range []bool{false, true} {
		store := newStore()
		first, err := commits.Close(t.Context(), store, account, 1)
		if err != nil {
			t.Fatal(err)
		}
		second, err := commits.Close(t.Context(), store, account, 2)
		if err != nil {
			t.Fatal(err)
		}
		if reopened {
			if err := errors.Join(second.Clear(t.Context()), second.Reopen(t.Context())); err != nil {
				t.Fatal(err)
			}
			stray := tables.Unit{Number: 6, Entry: manifest.Entry{Unit: manifest.Unit{Kind: manifest.Rates}, Generation: 6}} // the first one's
			if err := store.Units().Append(t.Context(), account, stray); err != nil {
				t.Fatal(err)
			}
			n := tables.Unit{Number: 7, Entry: manifest.Entry{Unit: manifest.Unit{Kind: manifest.Titles}, Generation: 7}}
			if err := errors.Join(store.Units().Append(t.Context(), account, n), commits.PublishRestored(t.Context(), store, account, 7)); err != nil {
				t.Fatal(err)
			}
		}
		for name, act := range map[string]func(context.Context) error{"a check": first.RequireOurs, "clearing": first.Clear, "reopening": first.Reopen} {
			if err := act(t.Context()); err == nil || !strings.Contains(err.Error(), "another process") {
				t.Errorf("reopened %t: %s of the first one gave %v", reopened, name, err)
			}
		}
		if seals, err := store.Seals().Read(t.Context(), account); reopened && (err != nil || len(seals) != 1 || seals[0].Number != 7) {
			t.Errorf("a later loss of what was restored would not be noticed: %v: %v", seals, err)
		}
		state, err := commits.Read(t.Context(), store, account)
		if reopened && (err != nil || state.Manifest.Len() != 1) || !reopened && !errors.Is(err, manifest.ErrClosed) {
			t.Errorf("reopened %t: the account has %d units: %v", reopened, state.Manifest.Len(), err)
		}
	}
}

// Where nothing was cleared an account is answered again, unless an earlier restore, which
// was killed, may have cleared half of it.
func TestARestoreThatGivesUpLeavesWhatAnEarlierOneClosed(t *testing.T) {
	for _, before := range []uint64{0, 1} {
		store := newStore()
		var closing commits.Closing
		for mark := range before + 1 {
			var err error
			if closing, err = commits.Close(t.Context(), store, account, mark); err != nil {
				t.Fatal(err)
			}
		}
		if err := closing.Withdraw(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := commits.Read(t.Context(), store, account); errors.Is(err, manifest.ErrClosed) != (before > 0) {
			t.Errorf("after %d earlier restores, one that gives up leaves the account as %v", before, err)
		}
	}
}

// What was read of the platform since the backup is fetched again.
func TestARestoreInPlaceForgetsWhatWasReadOfThePlatform(t *testing.T) {
	cleared := commits.ClearedTables()
	for name, want := range map[string]bool{"report_requests": true, "refreshed": true, "ledger": true, "commits": true, "facts": true, "campaigns": true,
		"accounts": false, "api_keys": false, "api_key_uses": false, "connections": false, "attempts": false, "directory_seals": false, "number_blocks": false} {
		if slices.Contains(cleared, name) != want {
			t.Errorf("whether %s is cleared: %t, expected %t", name, !want, want)
		}
	}
}
