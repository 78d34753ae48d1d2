package query

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"adlens"
	"adlens/internal/lru"
	"adlens/internal/manifest"

	"github.com/google/go-cmp/cmp"
)

// shelf is a store of names that notes what is read of it. Its products are
// P1, P2, ... up to last, in every generation.
type shelf struct {
	Store // the rest is never called: a call would panic

	mu    sync.Mutex
	last  uint32
	fail  error
	reads []string
}

func (s *shelf) note(format string, values ...any) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reads = append(s.reads, fmt.Sprintf(format, values...))
	return s.fail
}

func (s *shelf) Entities(context.Context, string, uint32) ([]NamedEntity, error) { return nil, nil }

func (s *shelf) ListedNames(context.Context, string, []uint32) ([]ListedName, error) { return nil, nil }

func (s *shelf) ProductIDs(_ context.Context, account string, generation uint32) (map[uint32]string, error) {
	ids := map[uint32]string{}
	for key := uint32(1); key <= s.last; key++ {
		ids[key] = fmt.Sprint("P", key)
	}
	return ids, s.note("ids %d of %s", generation, account)
}

func (s *shelf) Titles(_ context.Context, account string, generation uint32) (map[string]string, error) {
	return map[string]string{"P1": fmt.Sprint("title ", generation)}, s.note("titles %d of %s", generation, account)
}

// since returns what was read since it was asked last, sorted.
func (s *shelf) since() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	reads := slices.Sorted(slices.Values(s.reads))
	s.reads = nil
	return reads
}

// ofAccount is a view with these generations of product numbers and titles; 0
// is none.
func ofAccount(account string, products, titles uint32) View {
	var entries []manifest.Entry
	for kind, generation := range map[manifest.Kind]uint32{manifest.Products: products, manifest.Titles: titles} {
		if generation != 0 {
			entries = append(entries, manifest.Entry{Unit: manifest.Unit{Kind: kind}, Generation: generation})
		}
	}
	return View{Account: account, Manifest: manifest.New(1, entries...)}
}

func mustLookUp(t testing.TB, d *directory, v View) productNames {
	t.Helper()
	names, err := d.getNames(context.Background(), v)
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func mustHaveRead(t *testing.T, s *shelf, want ...string) {
	t.Helper()
	slices.Sort(want) // some are read side by side
	if diff := cmp.Diff(want, s.since()); diff != "" {
		t.Errorf("(-want +read):\n%s", diff)
	}
}

func TestNamesThatAreKnownAreNotReadAgain(t *testing.T) {
	s := &shelf{last: 3}
	d := newDirectory(s)
	names := mustLookUp(t, d, ofAccount("a", 5, 7))
	mustHaveRead(t, s, "ids 5 of a", "titles 7 of a")
	if names.ids[3] != "P3" || names.ids[0] != "" || names.titles["P1"] != "title 7" {
		t.Errorf("got %+v", names)
	}
	mustLookUp(t, d, ofAccount("a", 5, 7))
	mustHaveRead(t, s)
}

func TestNewProductsAreReadForTheirGenerationAndOnce(t *testing.T) {
	s := &shelf{last: 3}
	d := newDirectory(s)
	mustLookUp(t, d, ofAccount("a", 5, 7))
	s.since()
	s.last = 5
	names := mustLookUp(t, d, ofAccount("a", 6, 7))
	mustHaveRead(t, s, "ids 6 of a")
	if names.ids[1] != "P1" || names.ids[5] != "P5" || names.titles["P1"] != "title 7" {
		t.Errorf("got %+v", names)
	}
	mustLookUp(t, d, ofAccount("a", 6, 7))
	mustHaveRead(t, s)
}

func TestNewTitlesAreReadForTheirGeneration(t *testing.T) {
	s := &shelf{last: 1}
	d := newDirectory(s)
	mustLookUp(t, d, ofAccount("a", 5, 7))
	s.since()
	if names := mustLookUp(t, d, ofAccount("a", 5, 8)); names.titles["P1"] != "title 8" || names.ids[1] != "P1" {
		t.Errorf("got %+v", names)
	}
	mustHaveRead(t, s, "titles 8 of a")
	// A request that began before the load still sees its own titles.
	if names := mustLookUp(t, d, ofAccount("a", 5, 7)); names.titles["P1"] != "title 7" {
		t.Errorf("got %+v", names)
	}
}

func TestAnAccountWithoutProductsIsReadOnce(t *testing.T) {
	s := &shelf{}
	d := newDirectory(s)
	mustLookUp(t, d, ofAccount("a", 0, 0))
	s.since()
	mustLookUp(t, d, ofAccount("a", 0, 0))
	mustHaveRead(t, s)
}

// What was handed out is still being read when more is learned.
func TestNamesThatWereHandedOutDoNotChange(t *testing.T) {
	s := &shelf{last: 1}
	d := newDirectory(s)
	first := mustLookUp(t, d, ofAccount("a", 5, 7))
	s.last = 9
	mustLookUp(t, d, ofAccount("a", 6, 8))
	if len(first.ids) != 1 || first.titles["P1"] != "title 7" || first.idRank(9) != noID {
		t.Errorf("the first names became %+v", first)
	}
}

func TestAccountsHaveTheirOwnNames(t *testing.T) {
	s := &shelf{last: 1}
	d := newDirectory(s)
	mustLookUp(t, d, ofAccount("a", 5, 7))
	mustLookUp(t, d, ofAccount("b", 5, 7))
	mustHaveRead(t, s, "ids 5 of a", "titles 7 of a", "ids 5 of b", "titles 7 of b")
}

func TestAFailureIsNotKept(t *testing.T) {
	s := &shelf{last: 1, fail: errors.New("away")}
	d := newDirectory(s)
	if _, err := d.getNames(context.Background(), ofAccount("a", 5, 7)); !errors.Is(err, s.fail) {
		t.Errorf("got %v", err)
	}
	s.fail = nil
	if names := mustLookUp(t, d, ofAccount("a", 5, 7)); names.ids[1] != "P1" || names.titles["P1"] == "" {
		t.Errorf("got %+v", names)
	}
}

func TestTheNamesInMemoryAreBounded(t *testing.T) {
	s := &shelf{last: 1}
	d := newDirectory(s)
	one := mustLookUp(t, d, ofAccount("0", 5, 7))
	d.accounts = lru.New(10*one.memoryBytes(), func(_ string, n productNames) int { return n.memoryBytes() })
	for range 3 {
		for i := range 20 {
			if names := mustLookUp(t, d, ofAccount(fmt.Sprint(i), 5, 7)); names.ids[1] != "P1" {
				t.Fatalf("account %d: %+v", i, names)
			}
		}
	}
	kept := 0
	for i := range 20 {
		if _, ok := d.cachedNames(ofAccount(fmt.Sprint(i), 5, 7)); ok {
			kept++
		}
	}
	if kept != 10 {
		t.Errorf("the names of %d accounts are kept, want 10", kept)
	}
}

// The places of ids are what comparing the ids says, also where a number is
// missing.
func TestPlacesOfIDsAreInTheirOrder(t *testing.T) {
	names := productNames{}
	names.setIDs(map[uint32]string{1: "b", 3: "a"})
	names.setIDs(map[uint32]string{1: "b", 2: "aa", 4: "a"})
	if diff := cmp.Diff(idPlaces{noID, 2, 1, noID, 0}, names.idPlaces); diff != "" || names.idRank(5) != noID {
		t.Error(diff)
	}
}

// Meaningful with -race.
func TestManyRequestsCanLookUpNamesAtOnce(t *testing.T) {
	s := &shelf{last: 20}
	d := newDirectory(s)
	var all sync.WaitGroup
	for worker := range 8 {
		all.Go(func() {
			for i := range 50 {
				titles := uint32(1 + (worker+i)%3)
				names := mustLookUp(t, d, ofAccount(fmt.Sprint("a", i%5), uint32(1+i%2), titles))
				if names.ids[uint32(1+i%20)] == "" || names.titles["P1"] != fmt.Sprint("title ", titles) {
					t.Errorf("worker %d: %+v", worker, names)
				}
			}
		})
	}
	done := make(chan struct{})
	go func() { all.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(30 * time.Second):
		t.Fatal("requests wait for each other for ever")
	}
}

// Products whose ids the disk lost are not left out of a report, or shown without one.
func TestMissingNamesAreDamage(t *testing.T) {
	d := newDirectory(&shelf{last: 2})
	for products, missing := range map[uint64]bool{2: false, 3: true} {
		_, err := d.readNames(t.Context(), selling(exampleView(), products), productNames{})
		if missing != (adlens.KindOf(err) == adlens.Damaged) || !missing && err != nil {
			t.Errorf("2 of %d products: %v", products, err)
		}
	}
}
