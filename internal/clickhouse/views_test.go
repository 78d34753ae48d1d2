package clickhouse

import (
	"sync"
	"sync/atomic"
	"testing"

	"adlens/internal/manifest"
	"adlens/internal/query"
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

// Readers beside a writer of another process: none sees a version older than
// the last one that was acknowledged before it asked.
func TestAViewIsNeverOlderThanTheLastAcknowledgedLoad(t *testing.T) {
	d := openShared(t)
	for name, source := range map[string]Source{"with marks": d.source, "without": unmarked{d.source}} {
		t.Run(name, func(t *testing.T) {
			writer, reader := another(t, source), another(t, source)
			var acknowledged atomic.Uint32
			var readers sync.WaitGroup
			for range 4 {
				readers.Go(func() {
					for acknowledged.Load() < 40 {
						before := acknowledged.Load()
						v := mustView(t, reader, t.Name())
						if got := v.Manifest.Generation(manifest.Unit{Kind: manifest.Titles}); got < before || v.Manifest.Version != got {
							t.Errorf("%d was acknowledged, seen is version %d with generation %d", before, v.Manifest.Version, got)
							return
						}
					}
				})
			}
			for version := uint32(1); version <= 40; version++ {
				if err := writer.Commit(t.Context(), t.Name(), version, []manifest.Entry{{Unit: manifest.Unit{Kind: manifest.Titles}, Generation: version}}); err != nil {
					t.Error(err)
				}
				acknowledged.Store(version)
			}
			readers.Wait()
		})
	}
}

// What was read is read again only after a change: the proof that it is
// remembered at all is an engine that is not asked.
func TestAViewOfAnUnchangedAccountAsksNobody(t *testing.T) {
	d := openShared(t)
	writer, reader := another(t, d.source), another(t, d.source)
	commit := func(version uint32) {
		t.Helper()
		if err := writer.Commit(t.Context(), t.Name(), version, []manifest.Entry{{Unit: manifest.Unit{Kind: manifest.Titles}, Generation: version}}); err != nil {
			t.Fatal(err)
		}
	}
	commit(3)
	if v := mustView(t, reader, t.Name()); v.Manifest.Version != 3 {
		t.Fatalf("version %d", v.Manifest.Version)
	}
	source := reader.source
	reader.source = marksOnly{noServer{}, source.Marks()}
	if err := reader.Close(); err != nil {
		t.Fatal(err)
	}
	if v := mustView(t, reader, t.Name()); v.Manifest.Version != 3 {
		t.Fatalf("version %d", v.Manifest.Version)
	}
	commit(5)
	if _, err := reader.View(t.Context(), t.Name()); err == nil {
		t.Error("a changed account was answered from memory")
	}
	reader.source = source
	if v := mustView(t, reader, t.Name()); v.Manifest.Version != 5 {
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
	reader := another(t, d.source)
	for version := uint32(1); version <= 5; version++ {
		if _, err := d.source.Marks().Change(t.Name()); err != nil {
			t.Fatal(err)
		}
		before := mustView(t, reader, t.Name())
		if err := d.DB.commit(t.Context(), t.Name(), version, []manifest.Entry{{Unit: manifest.Unit{Kind: manifest.Titles}, Generation: version}}); err != nil {
			t.Fatal(err)
		}
		after := mustView(t, reader, t.Name())
		if before.Manifest.Version != version-1 || after.Manifest.Version != version {
			t.Fatalf("before %d, after %d, wanted %d", before.Manifest.Version, after.Manifest.Version, version)
		}
	}
}
