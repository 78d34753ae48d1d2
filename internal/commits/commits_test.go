package commits

import (
	"slices"
	"strings"
	"testing"
	"time"

	"adlens"
	"adlens/internal/manifest"
	"adlens/internal/tables"
)

func unitAt(number, generation uint32, kind manifest.Kind, rows ...uint64) tables.Unit {
	e := manifest.Entry{Unit: manifest.Unit{Kind: kind}, Generation: generation}
	if len(rows) > 0 {
		e.Rows, e.Derived = rows[0], rows[1:]
	}
	return tables.Unit{Number: number, Entry: e}
}

// sealed is the commit that a writer inserts after these units were written.
func sealed(number, base uint32, live ...tables.Unit) manifest.Commit {
	entries := make([]manifest.Entry, len(live))
	for i, u := range live {
		entries[i] = u.Entry
	}
	m := manifest.New(number, entries...)
	return manifest.Commit{Number: number, Base: base, Rows: uint32(m.Len()), Digest: m.Digest()}
}

var (
	oldRates, newRates, oldTitles = unitAt(1, 2, manifest.Rates, 5), unitAt(3, 4, manifest.Rates, 6), unitAt(1, 3, manifest.Titles, 7)
	lateRates                     = unitAt(2, 9, manifest.Rates, 8) // of a writer that died
	firstCommit                   = sealed(1, 0, oldRates, oldTitles)
	secondCommit                  = sealed(3, 1, newRates, oldTitles)
	lateCommit                    = sealed(2, 1, lateRates, oldTitles)
)

func TestOfEachUnitTheNewestLiveCommitCounts(t *testing.T) {
	units := []tables.Unit{newRates, lateRates, oldRates, oldTitles, oldTitles}
	for name, c := range map[string]struct {
		record        []manifest.Commit
		rates, titles uint32
	}{
		"before the first":            {nil, 0, 0},
		"units without their commit":  {[]manifest.Commit{firstCommit}, 2, 3},
		"the second":                  {[]manifest.Commit{secondCommit, firstCommit, firstCommit}, 4, 3},
		"a late one changes nothing":  {[]manifest.Commit{firstCommit, secondCommit, lateCommit}, 4, 3},
		"one that was not late":       {[]manifest.Commit{firstCommit, lateCommit}, 9, 3},
		"without a digest, as before": {[]manifest.Commit{{Number: 1, Rows: 2}}, 2, 3},
	} {
		s, err := resolveState("acct", c.record, units)
		rates, titles := s.Manifest.Generation(oldRates.Unit), s.Manifest.Generation(oldTitles.Unit)
		if err != nil || rates != c.rates || titles != c.titles || s.Manifest.Version != s.Chain.Head().Number {
			t.Errorf("%s: rates %d and titles %d at version %d: %v", name, rates, titles, s.Manifest.Version, err)
		}
	}
}

func TestARecordThatLostRowsIsDamaged(t *testing.T) {
	whole := []tables.Unit{oldRates, oldTitles, newRates}
	changed := newRates
	changed.Rows++
	for name, c := range map[string]struct {
		record []manifest.Commit
		units  []tables.Unit
	}{
		"the first commit is gone":  {[]manifest.Commit{secondCommit}, whole},
		"a unit of the second":      {[]manifest.Commit{firstCommit, secondCommit}, whole[:2]},
		"a unit of the first":       {[]manifest.Commit{firstCommit, secondCommit}, whole[:1]},
		"all units":                 {[]manifest.Commit{firstCommit, secondCommit}, nil},
		"a unit that is another":    {[]manifest.Commit{firstCommit, secondCommit}, []tables.Unit{oldRates, oldTitles, changed}},
		"a unit, without a digest":  {[]manifest.Commit{{Number: 1, Rows: 2}}, whole[:1]},
		"a commit that is all lost": {[]manifest.Commit{{Number: 1, Rows: 2}}, nil},
	} {
		if _, err := resolveState("acct", c.record, c.units); adlens.KindOf(err) != adlens.Damaged || !strings.Contains(err.Error(), "acct") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestFaultsNameEveryTableThatLostRows(t *testing.T) {
	month := unitAt(1, 4, manifest.Month, 5, 3, 2)
	state := State{Chain: manifest.Chain{{Number: 1}}, Manifest: manifest.New(1, month.Entry, unitAt(1, 5, manifest.Products, 9).Entry)}
	whole := []tables.Count{{Account: "a", Table: "facts", Generation: 4, Rows: 5}, {Account: "a", Table: "day_totals", Generation: 4, Rows: 3},
		{Account: "a", Table: "month_products", Generation: 4, Rows: 2}, {Account: "a", Table: "products", Generation: 5, Rows: 9},
		{Account: "a", Table: "facts", Generation: 3, Rows: 77}} // and what is dead
	if faults := Faults(state, []tables.Seal{{Number: 1}}, whole); len(faults) > 0 {
		t.Errorf("an account that is whole lost %q", faults)
	}
	for i, want := range []string{"has 0 rows, 5 were loaded", "0 rows of its rollup day_totals, 3 were written", "0 rows of its rollup month_products, 2 were written",
		"product numbers (generation 5) has 0 rows, 9 were loaded"} {
		if faults := Faults(state, nil, slices.Delete(slices.Clone(whole), i, i+1)); len(faults) != 1 || !strings.Contains(faults[0], want) {
			t.Errorf("without the rows of %s: %q", whole[i].Table, faults)
		}
		more := slices.Clone(whole)
		more[i].Rows++
		if faults := Faults(state, nil, more); len(faults) != 1 {
			t.Errorf("with a row more in %s: %q", whole[i].Table, faults)
		}
	}
	if faults := Faults(state, []tables.Seal{{Number: 1}, {Number: 2}}, whole); len(faults) != 1 || !strings.Contains(faults[0], "commit 2 was acknowledged, and is not among those that are live, of which the newest is 1") {
		t.Errorf("without the newest commit: %q", faults)
	}
}

// Rollups of before they were counted may have any number of rows, and a chain that begins
// again leaves acknowledged commits behind, whose successor may not be acknowledged yet.
func TestWhatWasNeverCountedOrIsNotNeededIsNotLost(t *testing.T) {
	state := State{Chain: manifest.Chain{{Number: 5}}, Manifest: manifest.New(5, unitAt(5, 4, manifest.Month, 5).Entry)}
	counts := []tables.Count{{Account: "a", Table: "facts", Generation: 4, Rows: 5}, {Account: "a", Table: "day_totals", Generation: 4, Rows: 3}}
	if faults := Faults(state, []tables.Seal{{Number: 3}}, counts); len(faults) > 0 {
		t.Errorf("an account that is whole lost %q", faults)
	}
}

func TestASummaryCutsALongListShort(t *testing.T) {
	if got := Summary([]string{"a", "b"}); got != "a; b" {
		t.Errorf("got %q", got)
	}
	if got := Summary([]string{"a", "b", "c", "d", "e", "f", "g"}); got != "a; b; c; d; e; and 2 more" {
		t.Errorf("got %q", got)
	}
}

// A replica may have a commit and not yet the one before it: nothing is lost.
func TestACommitThatIsLateIsWaitedFor(t *testing.T) {
	t.Parallel()
	for _, lost := range []bool{false, true} {
		store := tables.NewMemory(time.Now)
		for _, c := range []manifest.Commit{firstCommit, secondCommit} {
			if err := store.Commits().Append(t.Context(), "acct", c); err != nil {
				t.Fatal(err)
			}
		}
		if err := store.Units().Append(t.Context(), "acct", oldRates, oldTitles, newRates); err != nil {
			t.Fatal(err)
		}
		reads := 0
		store.Hides = func(table string, insert, newest int) bool {
			if table == "commits" && insert == newest {
				reads++
			}
			return table == "commits" && insert == 1 && (lost || reads <= 1)
		}
		_, err := Read(t.Context(), store, "acct")
		reads = 0
		states, faults, all := ReadAll(t.Context(), store)
		if damaged := adlens.KindOf(err) == adlens.Damaged; damaged != lost || all != nil || (faults["acct"] != nil) != lost || lost == (states["acct"].Manifest.Len() == 2) {
			t.Errorf("a first commit that is gone for good: %t: %v, and of all %v %v", lost, err, faults, all)
		}
	}
}
