package clickhouse

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"adlens"
	"adlens/internal/manifest"
	"adlens/internal/query"
	"adlens/loader"
	"adlens/platform"

	"github.com/google/go-cmp/cmp"
)

func sampleEntries() []manifest.Entry {
	sp := manifest.Slice{Marketplace: 65535, AdProduct: adlens.SponsoredDisplay}
	hash := strings.Repeat("0123456789abcdef", 4)
	return []manifest.Entry{
		{Unit: manifest.Unit{Kind: manifest.Month, Slice: sp, Start: adlens.Date(2026, time.January, 1)}, Generation: 4294967295, Rows: 1<<63 + 5, Sources: []manifest.Source{
			{ReportID: "123e4567-e89b-12d3-a456-426614174000", GeneratedAt: time.Date(2026, 1, 2, 3, 4, 5, 123456789, time.UTC), SHA256: hash, Days: 1<<31 - 1},
			{ReportID: `quote ' and back \ slash`, GeneratedAt: time.Date(2026, 1, 31, 23, 59, 59, 1, time.UTC), SHA256: hash, Days: 1 << 30},
		}},
		{Unit: manifest.Unit{Kind: manifest.Month, Slice: sp, Start: adlens.Date(2149, time.June, 1)}, Generation: 3},
		{Unit: manifest.Unit{Kind: manifest.Year, Slice: sp, Start: adlens.Date(1970, time.January, 1)}, Generation: 5},
		{Unit: manifest.Unit{Kind: manifest.Marketplaces}, Generation: 6},
		{Unit: manifest.Unit{Kind: manifest.Rates}, Generation: 7},
		{Unit: manifest.Unit{Kind: manifest.Titles}, Generation: 8},
	}
}

var comparable = cmp.Exporter(func(t reflect.Type) bool { return t.PkgPath() == reflect.TypeFor[manifest.Manifest]().PkgPath() })

func TestACommittedManifestIsReadBackWhole(t *testing.T) {
	d := openShared(t)
	account := t.Name() + " 'with' \\ everything\n"
	if m, err := d.Manifest(t.Context(), account); err != nil || m.Version != 0 {
		t.Fatalf("before the first load: %v, %v", m, err)
	}
	entries := sampleEntries()
	if err := d.Commit(t.Context(), account, 9, entries); err != nil {
		t.Fatal(err)
	}
	want := manifest.New(9, entries...)
	checkManifest(t, d, account, want)
	later := entries[1]
	later.Generation, later.Rows = 44, 4
	if err := d.Commit(t.Context(), account, 40, []manifest.Entry{later}); err != nil {
		t.Fatal(err)
	}
	// An older version of a unit never comes back, however late it arrives.
	if err := d.Commit(t.Context(), account, 8, entries); err != nil {
		t.Fatal(err)
	}
	checkManifest(t, d, account, want.With(40, later))
	checkManifest(t, d, account+"2", manifest.New(0))
}

func checkManifest(t *testing.T, d *database, account string, want manifest.Manifest) {
	t.Helper()
	got, err := d.Manifest(t.Context(), account)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, comparable); diff != "" {
		t.Errorf("the manifest of %q differs (- committed, + read):\n%s", account, diff)
	}
	view, err := d.View(t.Context(), account)
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
	if err := d.InsertMarketplaces(t.Context(), t.Name(), 6, all); err != nil {
		t.Fatal(err)
	}
	if err := d.Commit(t.Context(), t.Name(), 5, []manifest.Entry{{Unit: manifest.Unit{Kind: manifest.Marketplaces}, Generation: 6}}); err != nil {
		t.Fatal(err)
	}
	stored, err := d.Marketplaces(t.Context(), t.Name(), 6)
	if diff := cmp.Diff(all, stored); err != nil || diff != "" {
		t.Errorf("stored marketplaces differ: %v\n%s", err, diff)
	}
	view, err := d.View(t.Context(), t.Name())
	want := []query.Marketplace{
		{Key: 3, ID: "12", Country: "DE", Currency: "EUR", TimeZone: "Europe/Paris"},
		{Key: 2, ID: "5", Country: "DE", Currency: "EUR", TimeZone: "Europe/Paris"},
		{Key: 1, ID: "9007199254740993", Country: "US", Currency: "USD", TimeZone: "America/Los_Angeles"},
	}
	if diff := cmp.Diff(want, view.Marketplaces); err != nil || diff != "" {
		t.Errorf("the view differs: %v\n%s", err, diff)
	}
}

func TestReservedNumbersAreNeverGivenTwice(t *testing.T) {
	d := openShared(t)
	next := uint32(1)
	for _, n := range []uint32{1, 1024, 7, 1} {
		first, err := d.Reserve(t.Context(), t.Name(), n)
		if err != nil || first != next {
			t.Fatalf("reserved from %d, expected %d: %v", first, next, err)
		}
		next += n
	}
	if first, err := d.Reserve(t.Context(), t.Name()+"2", 1); err != nil || first != 1 {
		t.Errorf("another account begins at %d: %v", first, err)
	}
}
