package manifest

import (
	"slices"
	"strings"
	"testing"
	"time"

	"adlens"

	"pgregory.net/rapid"
)

func numbersOf(c Chain) (numbers []uint32) {
	for _, live := range c {
		numbers = append(numbers, live.Number)
	}
	return numbers
}

func TestTheChainOfTheGreatestNumberAloneIsLive(t *testing.T) {
	for name, c := range map[string]struct {
		all  []Commit
		want []uint32
	}{
		"before the first commit": {nil, nil},
		"one":                     {[]Commit{{Number: 5}}, []uint32{5}},
		"in no order, and twice":  {[]Commit{{Number: 9, Base: 7}, {Number: 3}, {Number: 7, Base: 3}, {Number: 9, Base: 7}}, []uint32{9, 7, 3}},
		"a late commit of a writer that was followed": {[]Commit{{Number: 3}, {Number: 9, Base: 3}, {Number: 7, Base: 3}}, []uint32{9, 3}},
		"a late chain of two":                         {[]Commit{{Number: 3}, {Number: 9, Base: 3}, {Number: 5, Base: 3}, {Number: 7, Base: 5}}, []uint32{9, 3}},
		"one that names all units begins":             {[]Commit{{Number: 3}, {Number: 7, Base: 3}, {Number: 9}, {Number: 12, Base: 9}}, []uint32{12, 9}},
		"what was deleted below the beginning":        {[]Commit{{Number: 7, Base: 3}, {Number: 9}}, []uint32{9}},
	} {
		chain, err := FollowChain(c.all)
		if got := numbersOf(chain); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %d, expected %d: %v", name, got, c.want, err)
		}
		for _, all := range c.all {
			if chain.Has(all.Number) != slices.Contains(c.want, all.Number) {
				t.Errorf("%s: whether %d is live", name, all.Number)
			}
		}
	}
}

func TestTheEndsOfAChain(t *testing.T) {
	chain, err := FollowChain([]Commit{{Number: 3}, {Number: 9, Base: 3, Rows: 4}})
	if err != nil || chain.Head().Number != 9 || chain.Head().Rows != 4 || chain.Root() != 3 {
		t.Errorf("from %d to %+v: %v", chain.Root(), chain.Head(), err)
	}
	if none := (Chain)(nil); none.Head() != (Commit{}) || none.Root() != 0 || none.Has(0) {
		t.Error("an empty chain has an end")
	}
}

func TestARecordThatLacksACommitIsAnError(t *testing.T) {
	for name, all := range map[string][]Commit{
		"the base is missing":   {{Number: 9, Base: 7}},
		"one between":           {{Number: 3}, {Number: 9, Base: 7}},
		"a base that is itself": {{Number: 9, Base: 9}},
		"a base that is later":  {{Number: 9, Base: 7}, {Number: 7, Base: 9}},
	} {
		if chain, err := FollowChain(all); err == nil || !strings.Contains(err.Error(), "on which number") {
			t.Errorf("%s: %v, %v", name, chain, err)
		}
	}
}

// Of a record that lost rows, what is found is never another state than before:
// it is the same, an error, or, where the newest went, an older one, which seals
// tell.
func TestAShorterRecordIsAnOlderStateOrAnError(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var all []Commit
		base := uint32(0)
		for i := range rapid.IntRange(1, 12).Draw(t, "commits") {
			c := Commit{Number: uint32(2*i + 1), Base: base}
			if rapid.IntRange(0, 4).Draw(t, "from nothing") == 0 {
				c.Base = 0
			}
			all = append(all, c)
			if rapid.Bool().Draw(t, "kept") { // or else the next builds on the one before
				base = c.Number
			}
		}
		whole, err := FollowChain(all)
		if err != nil {
			t.Fatal(err)
		}
		gone := rapid.IntRange(0, len(all)-1).Draw(t, "gone")
		head := all[len(all)-1].Number
		lost := all[gone].Number
		chain, err := FollowChain(slices.Delete(slices.Clone(all), gone, gone+1))
		switch {
		case lost == head:
			return // seals tell
		case whole.Has(lost) && err == nil:
			t.Fatalf("without %d the chain is %d", lost, numbersOf(chain))
		case !whole.Has(lost) && (err != nil || !slices.Equal(numbersOf(chain), numbersOf(whole))):
			t.Fatalf("without %d, which is not live, the chain is %d, was %d: %v", lost, numbersOf(chain), numbersOf(whole), err)
		}
	})
}

// Whatever the manifest says of a unit is in the digest.
func TestTheDigestChangesWithEverythingThatTheManifestSays(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	entry := func(change func(*Entry)) Manifest {
		e := Entry{Unit: Unit{Kind: Month, Slice: Slice{Marketplace: 2, AdProduct: adlens.SponsoredBrands}, Start: adlens.Date(2026, 1, 1)},
			Generation: 9, Rows: 5, Derived: []uint64{3, 2}, Sources: []Source{{ReportID: "ab", GeneratedAt: at, SHA256: "c", Days: 7}}}
		change(&e)
		return New(1, e, Entry{Unit: Unit{Kind: Rates}, Generation: 4})
	}
	plain := entry(func(*Entry) {})
	seen := map[uint64]string{plain.Digest(): "the manifest", New(1).Digest(): "an empty one"}
	for name, change := range map[string]func(*Entry){
		"marketplace": func(e *Entry) { e.Slice.Marketplace = 3 }, "ad product": func(e *Entry) { e.Slice.AdProduct = adlens.SponsoredProducts },
		"month": func(e *Entry) { e.Start = e.Start.AddMonths(1) }, "kind": func(e *Entry) { e.Kind = Year }, "generation": func(e *Entry) { e.Generation = 10 },
		"rows": func(e *Entry) { e.Rows = 6 }, "rows of a rollup": func(e *Entry) { e.Derived = []uint64{3, 3} }, "rollups": func(e *Entry) { e.Derived = nil },
		"no source": func(e *Entry) { e.Sources = nil }, "days": func(e *Entry) { e.Sources[0].Days = 3 }, "time": func(e *Entry) { e.Sources[0].GeneratedAt = at.Add(1) },
		"the texts' border": func(e *Entry) { e.Sources[0].ReportID, e.Sources[0].SHA256 = "a", "bc" },
		"a source more":     func(e *Entry) { e.Sources = append(e.Sources, Source{}) },
		"hash":              func(e *Entry) { e.Sources[0].SHA256 = "d" },
		"columns":           func(e *Entry) { e.Sources[0].Columns = "clicks" },
	} {
		digest := entry(change).Digest()
		if same, ok := seen[digest]; ok {
			t.Errorf("%s: the digest of %s", name, same)
		}
		seen[digest] = name
	}
	// Neither the version nor the zone that a time was read in is of the state.
	zoned := entry(func(e *Entry) { e.Sources[0].GeneratedAt = at.In(time.FixedZone("", 3600)) })
	if zoned.Digest() != plain.Digest() || plain.With(2).Digest() != plain.Digest() || plain.Digest() == 0 || New(0).Digest() == 0 {
		t.Error("the digest is not of the live units alone")
	}
	// Commits carry those that earlier versions computed: with another, all that is stored is damaged.
	columns := entry(func(e *Entry) { e.Sources[0].Columns = "clicks" })
	if got, want := [2]uint64{plain.Digest(), columns.Digest()}, [2]uint64{0xf3e8825ce48861b1, 0xba09461456c128de}; got != want {
		t.Errorf("the digests are %#x, expected %#x", got, want)
	}
}

func TestRowsAreSaidForEachTable(t *testing.T) {
	e := Entry{Unit: Unit{Kind: Month}, Rows: 5, Derived: []uint64{3, 2}}
	if got := []uint64{e.RowsAt(0), e.RowsAt(1), e.RowsAt(2), e.RowsAt(3)}; !slices.Equal(got, []uint64{5, 3, 2, 0}) {
		t.Errorf("got %d", got)
	}
	counted, not := New(1, e), New(1, e, Entry{Unit: Unit{Kind: Month, Start: 31}, Rows: 1})
	if !counted.Counted() || not.Counted() || !New(1, Entry{Unit: Unit{Kind: Rates}, Rows: 1}).Counted() {
		t.Error("which manifests say how many rows each table has")
	}
}
