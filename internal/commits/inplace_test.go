package commits_test

import (
	"errors"
	"testing"

	"adlens/internal/commits"
	"adlens/internal/manifest"
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
	for range 2 {
		if err := commits.Close(t.Context(), store, account); err != nil {
			t.Fatal(err)
		}
		if _, err := commits.Read(t.Context(), store, account); !errors.Is(err, manifest.ErrClosed) {
			t.Errorf("a closed account is read: %v", err)
		}
		if _, err := commits.Begin(t.Context(), store, account, "second"); !errors.Is(err, manifest.ErrClosed) {
			t.Errorf("a session begins on a closed account: %v", err)
		}
	}
	if err := commits.ClearClosed(t.Context(), store, account); err != nil {
		t.Fatal(err)
	}
	if all, _ := store.Commits().Read(t.Context(), account); len(all) != 1 || all[0].Number != manifest.Closed {
		t.Errorf("the record has the commits %+v, expected the one that closes the account", all)
	}
	if blocks, _ := store.Reservations().Read(t.Context(), account); len(blocks) == 0 {
		t.Error("the numbers that were taken are forgotten")
	}
	if err := store.Reopen(t.Context(), account); err != nil {
		t.Fatal(err)
	}
	if state, err := commits.Read(t.Context(), store, account); err != nil || state.Manifest.Len() != 0 {
		t.Errorf("an account that was cleared has %d units: %v", state.Manifest.Len(), err)
	}
}
