package clickhouse

import (
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"adlens"
	"adlens/internal/commits"
	"adlens/internal/manifest"
	"adlens/internal/platform"
	"adlens/internal/query"
	"adlens/internal/tables"
	"adlens/loader"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func sampleEntries() []manifest.Entry {
	sp := manifest.Slice{Marketplace: 65535, AdProduct: adlens.SponsoredDisplay}
	hash := strings.Repeat("0123456789abcdef", 4)
	return []manifest.Entry{
		{Unit: manifest.Unit{Kind: manifest.Month, Slice: sp, Start: adlens.Date(2026, time.January, 1)}, Generation: 1<<32 - 1<<21, Rows: 1<<63 + 5, Derived: []uint64{1<<63 + 6, 7}, Sources: []manifest.Source{
			{ReportID: "123e4567-e89b-12d3-a456-426614174000", GeneratedAt: time.Date(2026, 1, 2, 3, 4, 5, 123456789, time.UTC), SHA256: hash, Days: 1<<31 - 1},
			{ReportID: `quote ' and back \ slash`, GeneratedAt: time.Date(2026, 1, 31, 23, 59, 59, 1, time.UTC), SHA256: hash, Days: 1 << 30},
		}},
		{Unit: manifest.Unit{Kind: manifest.Month, Slice: sp, Start: adlens.Date(2149, time.June, 1)}, Generation: 3},
		{Unit: manifest.Unit{Kind: manifest.Year, Slice: sp, Start: adlens.Date(1970, time.January, 1)}, Generation: 5},
		{Unit: manifest.Unit{Kind: manifest.Marketplaces}, Generation: 6},
		{Unit: manifest.Unit{Kind: manifest.Rates}, Generation: 7},
		{Unit: manifest.Unit{Kind: manifest.Titles}, Generation: 8},
		{Unit: manifest.Unit{Kind: manifest.Products}, Generation: 10, Rows: 3},
	}
}

var comparable = cmp.Options{
	cmp.Exporter(func(t reflect.Type) bool { return t.PkgPath() == reflect.TypeFor[manifest.Manifest]().PkgPath() }),
	cmpopts.IgnoreFields(manifest.Entry{}, "Origin"), // which the commit gives
}

func TestACommittedManifestIsReadBackWhole(t *testing.T) {
	d := openShared(t)
	account := t.Name() + " 'with' \\ everything\n"
	if m, err := d.Tables.Manifest(t.Context(), account); err != nil || m.Version != 0 {
		t.Fatalf("before the first load: %v, %v", m, err)
	}
	entries := sampleEntries()
	want := manifest.New(commitUnits(t, d.Database, account, entries...), entries...)
	checkManifest(t, d, account, want)
	later := entries[1]
	later.Generation, later.Rows = 44, 4
	want = want.With(commitUnits(t, d.Database, account, later), later)
	checkManifest(t, d, account, want)
	checkManifest(t, d, account+"2", manifest.New(0))
}

// A writer died when its commit was on its way, and another has loaded since.
func TestALateCommitNeverComesBack(t *testing.T) {
	d := openShared(t)
	account, port := t.Name(), d.Tables
	entries := sampleEntries()
	base := commitUnits(t, d.Database, account, entries...)
	died := beginWriter(t, d.Database, account)
	late := beginCommit(t, died)
	want := manifest.New(base, entries...)
	check := func(when string) {
		t.Helper()
		m, err := d.Tables.Manifest(t.Context(), account)
		if err != nil || m.Digest() != want.Digest() {
			t.Errorf("%s: %v\n%s", when, err, cmp.Diff(want.Entries(), m.Entries()))
		}
	}
	next := beginWriter(t, d.Database, account)
	changed := entries[0]
	changed.Generation = 9
	rows := manifest.Commit{Number: late, Base: base, Rows: uint32(len(entries)), Digest: want.With(late, changed).Digest()}
	if err := port.Units().Append(t.Context(), account, tables.Unit{Number: late, Entry: changed}); err != nil {
		t.Fatal(err)
	}
	if err := port.Commits().Append(t.Context(), account, rows); err != nil {
		t.Fatal(err)
	}
	check("after the next writer has begun")
	entries[3].Generation = 77
	want = want.With(0, entries[3])
	number := beginCommit(t, next)
	if err := next.Commit(t.Context(), number, entries[3:4]); err != nil {
		t.Fatal(err)
	}
	check("after the next writer's commit")
	if err := next.End(t.Context()); err != nil {
		t.Fatal(err)
	}
	commitUnits(t, d.Database, account)
	check("after one more")
}

func checkManifest(t *testing.T, d *database, account string, want manifest.Manifest) {
	t.Helper()
	got, err := d.Tables.Manifest(t.Context(), account)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, comparable); diff != "" {
		t.Errorf("the manifest of %q differs (- committed, + read):\n%s", account, diff)
	}
	view, err := d.Figures.View(t.Context(), account)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, view.Manifest, comparable); diff != "" {
		t.Errorf("the view's manifest differs:\n%s", diff)
	}
}

func TestAViewListsMarketplacesByCountry(t *testing.T) {
	d := openShared(t)
	all := []loader.Marketplace{
		{Key: 1, Profile: platform.Profile{ID: "9007199254740993", Country: "US", Currency: "USD", TimeZone: "America/Los_Angeles", Name: "Läden 'n'\tMore"}},
		{Key: 2, Profile: platform.Profile{ID: "5", Country: "DE", Currency: "EUR", TimeZone: "Europe/Paris", Vendor: true}},
		{Key: 3, Profile: platform.Profile{ID: "12", Country: "DE", Currency: "EUR", TimeZone: "Europe/Paris"}},
	}
	if err := d.Loads.InsertMarketplaces(t.Context(), t.Name(), 6, all); err != nil {
		t.Fatal(err)
	}
	commitUnits(t, d.Database, t.Name(), manifest.Entry{Unit: manifest.Unit{Kind: manifest.Marketplaces}, Generation: 6})
	stored, err := d.Loads.Marketplaces(t.Context(), t.Name(), 6)
	if diff := cmp.Diff(all, stored); err != nil || diff != "" {
		t.Errorf("stored marketplaces differ: %v\n%s", err, diff)
	}
	view, err := d.Figures.View(t.Context(), t.Name())
	want := []query.Marketplace{
		{Key: 3, ID: "12", Country: "DE", Currency: "EUR", TimeZone: "Europe/Paris"},
		{Key: 2, ID: "5", Country: "DE", Currency: "EUR", TimeZone: "Europe/Paris"},
		{Key: 1, ID: "9007199254740993", Country: "US", Currency: "USD", TimeZone: "America/Los_Angeles"},
	}
	if diff := cmp.Diff(want, view.Marketplaces); err != nil || diff != "" {
		t.Errorf("the view differs: %v\n%s", err, diff)
	}
}

// Writers that hold no lock at all take numbers at the same moment. Each that
// sees another one stops, which may be all of them: the next one goes on.
func TestNumbersAreNeverGivenTwice(t *testing.T) {
	d := openShared(t)
	var mu sync.Mutex
	given, last := map[uint32]int{}, uint32(0)
	var all sync.WaitGroup
	for writer := range 6 {
		all.Go(func() {
			s, err := commits.Begin(t.Context(), d.Tables, t.Name(), fmt.Sprint(writer))
			before, n := uint32(0), uint32(0)
			for taken := 0; err == nil && taken < 1500; taken++ { // more than are reserved at a time
				if n, err = s.Number(t.Context()); err != nil {
					break
				}
				mu.Lock()
				if other, twice := given[n]; twice || n <= before {
					t.Errorf("%d was given to writer %d after %d, and to writer %d before: %v", n, writer, before, other, twice)
				}
				before, given[n], last = n, writer, max(last, n)
				mu.Unlock()
			}
			if err != nil && !strings.Contains(err.Error(), "took the account's lock over") {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := beginCommit(t, beginWriter(t, d.Database, t.Name())); n <= last {
		t.Errorf("the next session begins at %d, after %d", n, last)
	}
	if n := beginCommit(t, beginWriter(t, d.Database, t.Name()+"2")); n != 1 {
		t.Errorf("another account begins at %d, expected 1", n)
	}
}
