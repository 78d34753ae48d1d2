package commits_test

import (
	"errors"
	"testing"

	"adlens/internal/commits"
	"adlens/internal/manifest"
)

// Two writers that get the same numbers, as where a copy of the disk was put back between
// them, give other origins, and each origin stays while its generation is live. A commit
// that names all live units again replaces none.
func TestWhatIsCommittedHasAnOriginOfItsOwn(t *testing.T) {
	origins := map[uint64]bool{}
	for _, token := range []string{"first", "second"} {
		store := newStore()
		s := begin(t, store, token)
		rates := manifest.Entry{Unit: manifest.Unit{Kind: manifest.Rates}, Generation: 7}
		number, err := s.BeginCommit(t.Context())
		if err := errors.Join(err, s.Commit(t.Context(), number, []manifest.Entry{rates})); err != nil {
			t.Fatal(err)
		}
		want, _ := s.Manifest().Find(rates.Unit)
		for range 70 { // one of them names all live units again
			if _, err := commit(t, s, 1); err != nil {
				t.Fatal(err)
			}
		}
		state, err := commits.Read(t.Context(), store, account)
		if got, _ := state.Manifest.Find(rates.Unit); err != nil || got.Origin == 0 || got.Origin != want.Origin {
			t.Errorf("the origin %d became %d: %v", want.Origin, got.Origin, err)
		}
		origins[want.Origin] = true
		if err := s.End(t.Context()); err != nil {
			t.Fatal(err)
		}
		dead, err := store.Dead().Read(t.Context(), account)
		if err != nil || len(dead) == 0 {
			t.Fatal(dead, err)
		}
		for _, note := range dead { // one that is live would go without a wait once it is not
			if note.Table == "rates" || note.Generation == state.Manifest.Generation(manifest.Unit{Kind: manifest.Titles}) {
				t.Errorf("%+v is live, and noted as dead", note)
			}
		}
	}
	if len(origins) != 2 {
		t.Errorf("two writers gave one origin")
	}
}
