package clickhouse

import (
	"sync"
	"sync/atomic"
	"testing"

	"adlens"
	"adlens/internal/manifest"
	"adlens/internal/query"
	"adlens/internal/tables"
)

// unmarked is a server that other machines load into as well.
type unmarked struct{ Source }

func (unmarked) Marks() Marks { return nil }

// another opens the database of a data directory once more, as another
// process does.
func another(t *testing.T, source Source) *DB {
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

func mustView(t *testing.T, db *DB, account string) query.View {
	t.Helper()
	v, err := db.View(t.Context(), account)
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
	for name, source := range map[string]Source{"with marks": d.home.source, "without": unmarked{d.home.source}} {
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
	writer, reader := another(t, d.home.source), another(t, d.home.source)
	first := commitUnits(t, writer, t.Name(), titlesOf(3)...)
	if v := mustView(t, reader, t.Name()); v.Manifest.Version != first {
		t.Fatalf("version %d", v.Manifest.Version)
	}
	source := reader.home.source
	reader.home.source = marksOnly{noServer{}, source.Marks()}
	if err := reader.Close(); err != nil {
		t.Fatal(err)
	}
	if v := mustView(t, reader, t.Name()); v.Manifest.Version != first {
		t.Fatalf("version %d", v.Manifest.Version)
	}
	second := commitUnits(t, writer, t.Name(), titlesOf(5)...)
	if _, err := reader.View(t.Context(), t.Name()); err == nil {
		t.Error("a changed account was answered from memory")
	}
	reader.home.source = source
	if v := mustView(t, reader, t.Name()); v.Manifest.Version != second {
		t.Fatalf("version %d", v.Manifest.Version)
	}
}

// marksOnly is an engine that is away, with its files still there.
type marksOnly struct {
	Source
	marks Marks
}

func (m marksOnly) Marks() Marks { return m.marks }

// A writer that died in the middle of a change left its mark; what it may have
// made visible is seen all the same.
func TestAnUnsettledAccountIsAskedForEachTime(t *testing.T) {
	d := openShared(t)
	reader := another(t, d.home.source)
	commit := d.Tables().Commits().(table[manifest.Commit])
	commit.around = nil // its mark is the one that was left
	for version := uint32(1); version <= 5; version++ {
		if _, err := d.home.source.Marks().Change(t.Name()); err != nil {
			t.Fatal(err)
		}
		before := mustView(t, reader, t.Name())
		if err := d.Tables().Units().Append(t.Context(), t.Name(), tables.Unit{Number: version, Entry: titlesOf(version)[0]}); err != nil {
			t.Fatal(err)
		}
		if err := commit.Append(t.Context(), t.Name(), manifest.Commit{Number: version, Base: version - 1, Rows: 1}); err != nil {
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
	commitUnits(b, d.DB, b.Name(), entries...)
	asking := newDB(unmarked{d.home.source})
	defer asking.Close()
	for name, view := range map[string]func() (query.View, error){
		"by the mark":     func() (query.View, error) { return d.View(b.Context(), b.Name()) },
		"by the version":  func() (query.View, error) { return asking.View(b.Context(), b.Name()) },
		"read altogether": func() (query.View, error) { return d.readView(b.Context(), b.Name(), query.View{}) },
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
