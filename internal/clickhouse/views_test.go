package clickhouse

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"adlens"
	"adlens/internal/clickhouse/conn"
	"adlens/internal/manifest"
	"adlens/internal/platform"
	"adlens/internal/query"
	"adlens/internal/tables"
	"adlens/loader"
)

// unmarked is a server that other machines load into as well.
type unmarked struct{ conn.Source }

func (unmarked) Marks() conn.Marks { return nil }

// another opens the database of a data directory once more, as another
// process does.
func another(t *testing.T, source conn.Source) *Database {
	t.Helper()
	db, err := Open(t.Context(), source)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

func mustView(t *testing.T, db *Database, account string) query.View {
	t.Helper()
	v, err := db.Figures.View(t.Context(), account)
	if err != nil {
		t.Fatal(err)
	}
	if v.Account != account {
		t.Fatalf("asked for %q, got the view of %q", account, v.Account)
	}
	return v
}

// titlesOf is the unit of titles at a generation.
func titlesOf(generation uint32) []manifest.Entry {
	return []manifest.Entry{{Unit: manifest.Unit{Kind: manifest.Titles}, Generation: generation}}
}

// Readers beside a writer of another process: none sees a version older than
// the last one that was acknowledged before it asked.
func TestAViewIsNeverOlderThanTheLastAcknowledgedLoad(t *testing.T) {
	d := openShared(t)
	for name, source := range map[string]conn.Source{"with marks": d.Cluster.Home().Source(), "without": unmarked{d.Cluster.Home().Source()}} {
		t.Run(name, func(t *testing.T) {
			writer, reader := another(t, source), another(t, source)
			var acknowledged atomic.Uint32
			var done atomic.Bool
			var readers sync.WaitGroup
			for range 4 {
				readers.Go(func() {
					for !done.Load() {
						before := acknowledged.Load()
						v := mustView(t, reader, t.Name())
						if got := v.Manifest.Generation(manifest.Unit{Kind: manifest.Titles}); got < before || v.Manifest.Version != got {
							t.Errorf("%d was acknowledged, seen is version %d with generation %d", before, v.Manifest.Version, got)
							return
						}
					}
				})
			}
			s := beginWriter(t, writer, t.Name())
			for range 40 {
				version, err := s.BeginCommit(t.Context())
				if err == nil {
					err = s.Commit(t.Context(), version, titlesOf(version))
				}
				if err != nil {
					t.Error(err)
				}
				acknowledged.Store(version)
			}
			done.Store(true)
			readers.Wait()
		})
	}
}

// What was read is read again only after a change: the proof that it is
// remembered at all is an engine that is not asked.
func TestAViewOfAnUnchangedAccountAsksNobody(t *testing.T) {
	d := openShared(t)
	source := &switched{Source: d.Cluster.Home().Source()}
	writer, reader := another(t, d.Cluster.Home().Source()), another(t, source)
	first := commitUnits(t, writer, t.Name(), titlesOf(3)...)
	if v := mustView(t, reader, t.Name()); v.Manifest.Version != first {
		t.Fatalf("version %d", v.Manifest.Version)
	}
	source.away.Store(true)
	if err := reader.Close(); err != nil {
		t.Fatal(err)
	}
	if v := mustView(t, reader, t.Name()); v.Manifest.Version != first {
		t.Fatalf("version %d", v.Manifest.Version)
	}
	second := commitUnits(t, writer, t.Name(), titlesOf(5)...)
	if _, err := reader.Figures.View(t.Context(), t.Name()); err == nil {
		t.Error("a changed account was answered from memory")
	}
	source.away.Store(false)
	if v := mustView(t, reader, t.Name()); v.Manifest.Version != second {
		t.Fatalf("version %d", v.Manifest.Version)
	}
}

// switched is an engine that may be away, with its files still there.
type switched struct {
	conn.Source
	away atomic.Bool
}

func (s *switched) Target(ctx context.Context) (conn.Target, error) {
	if s.away.Load() {
		return conn.Target{}, errors.New("the engine is away")
	}
	return s.Source.Target(ctx)
}

// A view that lacks marketplaces would stay under its version once they are back.
func TestAViewThatLacksMarketplacesIsDamage(t *testing.T) {
	d := openShared(t)
	all := []loader.Marketplace{{Key: 1, Profile: platform.Profile{ID: "1", Country: "US"}}, {Key: 2, Profile: platform.Profile{ID: "2", Country: "DE"}}}
	if err := d.Loads.InsertMarketplaces(t.Context(), t.Name(), 6, all[:1]); err != nil {
		t.Fatal(err)
	}
	commitUnits(t, d.Database, t.Name(), manifest.Entry{Unit: manifest.Unit{Kind: manifest.Marketplaces}, Generation: 6, Rows: 2})
	if v, err := d.Figures.View(t.Context(), t.Name()); adlens.KindOf(err) != adlens.Damaged {
		t.Errorf("the view has the marketplaces %v of two, %v", v.Marketplaces, err)
	}
	if err := d.Loads.InsertMarketplaces(t.Context(), t.Name(), 6, all[1:]); err != nil {
		t.Fatal(err)
	}
	if v := mustView(t, d.Database, t.Name()); len(v.Marketplaces) != 2 {
		t.Errorf("the view has the marketplaces %v, expected two", v.Marketplaces)
	}
}

// A writer that died in the middle of a change left its mark; what it may have
// made visible is seen all the same.
func TestAnUnsettledAccountIsAskedForEachTime(t *testing.T) {
	d := openShared(t)
	reader := another(t, d.Cluster.Home().Source())
	for version := uint32(1); version <= 5; version++ {
		// The answer of a commit is lost, which is carried out later.
		lost := errors.New("the answer was lost")
		if err := d.Cluster.Home().Announce(t.Name(), func() error { return lost }); !errors.Is(err, lost) {
			t.Fatal(err)
		}
		before := mustView(t, reader, t.Name())
		if err := d.Tables.Units().Append(t.Context(), t.Name(), tables.Unit{Number: version, Entry: titlesOf(version)[0]}); err != nil {
			t.Fatal(err)
		}
		err := d.Cluster.Exec(t.Context(), "INSERT INTO commits (account_id, number, base, units) SELECT {account:String}, {number:UInt32}, {base:UInt32}, 1",
			conn.Params{"account": query.Text(t.Name()), "number": conn.Number(version), "base": conn.Number(version - 1)})
		if err != nil {
			t.Fatal(err)
		}
		after := mustView(t, reader, t.Name())
		if before.Manifest.Version != version-1 || after.Manifest.Version != version {
			t.Fatalf("before %d, after %d, wanted %d", before.Manifest.Version, after.Manifest.Version, version)
		}
	}
}

// BenchmarkView compares a view from memory with the ways without a mark: the
// small question for the version, and reading all of it.
func BenchmarkView(b *testing.B) {
	d := openShared(b)
	var entries []manifest.Entry
	for month := range 72 {
		for product := range 18 {
			slice := manifest.Slice{Marketplace: uint16(product), AdProduct: adlens.SponsoredProducts}
			start := adlens.Date(2020, 1, 1).Time().AddDate(0, month, 0)
			entries = append(entries, manifest.Entry{Unit: manifest.Unit{Kind: manifest.Month, Slice: slice, Start: adlens.DayOf(start)},
				Generation: 1, Sources: []manifest.Source{{ReportID: "r", Days: 1<<28 - 1}}})
		}
	}
	commitUnits(b, d.Database, b.Name(), entries...)
	asking := Look(unmarked{d.Cluster.Home().Source()})
	defer asking.Close()
	for name, view := range map[string]func() (query.View, error){
		"by the mark":    func() (query.View, error) { return d.Figures.View(b.Context(), b.Name()) },
		"by the version": func() (query.View, error) { return asking.Figures.View(b.Context(), b.Name()) },
		"read altogether": func() (query.View, error) {
			m, err := d.Tables.Manifest(b.Context(), b.Name())
			return query.View{Manifest: m}, err
		},
	} {
		b.Run(name, func(b *testing.B) {
			if _, err := view(); err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if _, err := view(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
