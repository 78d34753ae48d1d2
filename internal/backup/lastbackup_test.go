package backup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"adlens"
	"adlens/internal/manifest"
)

// wholeShelf is an account with five rows of a generation.
func wholeShelf(generation uint32) *shelf {
	return &shelf{now: time.Unix(1_800_000_000, 0), generation: generation, promised: 5, stored: map[uint32]int{generation: 5}}
}

func versionsOf(t Taken) (all []string) {
	for _, e := range t.Accounts {
		all = append(all, fmt.Sprint(e.Account, " ", e.Version))
	}
	return all
}

// A backup of before the database had an identity may be of another one: what it has of a
// damaged account stays, and nothing that it has is missed.
func TestABackupThatDoesNotSayOfWhichDatabaseIsBuiltOn(t *testing.T) {
	place := newFailing(t)
	clock := time.Unix(1_800_000_000, 0)
	spoilt := wholeShelf(3)
	spoilt.stored[3] = 4
	for _, c := range []struct {
		from     shelves
		identity string
		want     []string
		fails    string
	}{
		{shelves{"acme": wholeShelf(5), "bolt": wholeShelf(2), "cord": wholeShelf(2)}, "", []string{"acme 5", "bolt 2", "cord 2"}, ""},
		{shelves{"acme": wholeShelf(4), "bolt": spoilt}, "X", []string{"acme 4", "bolt 2"}, "account bolt: facts"},
	} {
		clock = clock.Add(time.Hour)
		taken, err := Take(t.Context(), c.from, place, Options{Identity: c.identity, Now: func() time.Time { return clock }}, silence{})
		if (err == nil) != (c.fails == "") || err != nil && (!strings.Contains(err.Error(), c.fails) || strings.Contains(err.Error(), "an older copy")) || !slices.Equal(versionsOf(taken), c.want) {
			t.Errorf("the backup of %q has %v, want %v: %v", c.identity, versionsOf(taken), c.want, err)
		}
	}
}

// What the last backup says of an account counts only where it can be read: a backup that names
// what is damaged could not be restored. Where it cannot be read now, there is no backup now.
func TestADamagedCatalogueIsNotBuiltOn(t *testing.T) {
	place := newFailing(t)
	clock := time.Unix(1_800_000_000, 0)
	take := func(all shelves) (Taken, error) {
		clock = clock.Add(time.Hour)
		return Take(t.Context(), all, place, Options{Identity: "X", Now: func() time.Time { return clock }}, silence{})
	}
	first, err := take(shelves{"acme": wholeShelf(1), "bolt": wholeShelf(1)})
	if err != nil {
		t.Fatal(err)
	}
	catalogue := first.Accounts[0].Catalogue
	place.fails = func(name string) error {
		if name == catalogue {
			return errReset
		}
		return nil
	}
	if taken, err := take(shelves{"acme": wholeShelf(2), "bolt": wholeShelf(2)}); !errors.Is(err, errReset) || taken.Name != "" {
		t.Errorf("with a catalogue that is not given now, backup %q is taken: %v", taken.Name, err)
	}
	place.fails = func(string) error { return nil }
	if err := os.WriteFile(filepath.Join(place.path, catalogue), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	taken, err := take(shelves{"bolt": wholeShelf(2)})
	if want := []string{"bolt 2"}; err == nil || !strings.Contains(err.Error(), "account acme: the last backup has it") || !slices.Equal(versionsOf(taken), want) {
		t.Errorf("the backup without a forgotten account, whose catalogue is damaged, has %v: %v", versionsOf(taken), err)
	}
	if taken, err := take(shelves{"acme": wholeShelf(2), "bolt": wholeShelf(2)}); err != nil || !slices.Equal(versionsOf(taken), []string{"acme 2", "bolt 2"}) {
		t.Errorf("the backup after that has %v: %v", versionsOf(taken), err)
	}
}

// settled is a place that notes in which order things outlive a power cut.
type settled struct {
	*failing
	done []string
}

func (s *settled) Keep(ctx context.Context, name string, draft *os.File) error {
	kind, _, _ := strings.Cut(name, "/")
	if n := len(s.done); n == 0 || s.done[n-1] != kind {
		s.done = append(s.done, kind)
	}
	return s.failing.Keep(ctx, name, draft)
}

func (s *settled) Settle(ctx context.Context) error {
	s.done = append(s.done, "settle")
	return s.failing.Settle(ctx)
}

// counted is progress that counts rows.
type counted struct {
	silence
	copied, kept uint64
}

func (c *counted) Rows(copied, kept uint64) { c.copied, c.kept = c.copied+copied, c.kept+kept }

// mixed has a second live unit, of an older commit.
type mixed struct{ *shelf }

func (m mixed) Live(ctx context.Context, account string, h Header) ([]Live, error) {
	all, err := m.shelf.Live(ctx, account, h)
	unit := manifest.Unit{Kind: manifest.Month, Start: adlens.DayOf(time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC))}
	return append(all, Live{Entry: manifest.Entry{Unit: unit, Generation: 1, Rows: 2}, Version: 1, Row: m.rowOf(1)}), err
}

// An index says of which program, schema and moment a backup is, whatever zone the machine is
// in: backups are in the order of their names, and a program refuses those of a later schema.
func TestAnIndexSaysOfWhenABackupIs(t *testing.T) {
	place := &settled{failing: newFailing(t)}
	source := mixed{wholeShelf(7)}
	source.stored[1] = 2
	zone := time.FixedZone("", -5*3600)
	clock := time.Date(2026, 11, 2, 22, 0, 0, 900_000, zone)
	options := Options{Version: "1.2.3", Schema: 9, Identity: "X", Now: func() time.Time { return clock }}
	for i, want := range []string{"20261103T030000.000Z", "20261103T030000.001Z"} { // within a millisecond
		var rows counted
		place.done = nil
		taken, err := Take(t.Context(), source, place, options, &rows)
		if err != nil || !strings.HasPrefix(taken.ID(), want) {
			t.Errorf("backup %s is taken, want one of %s: %v", taken.ID(), want, err)
		}
		read, err := ReadIndex(t.Context(), place, taken.Name)
		if err != nil || read.Version != "1.2.3" || read.Schema != 9 || read.Identity != "X" || !read.TakenAt.Equal(timeOf(taken.Name)) || !slices.Equal(versionsOf(read), []string{"acme 7"}) {
			t.Errorf("the index says %+v: %v", read, err)
		}
		if want := []string{"accounts", "settle", "backups", "settle"}; !slices.Equal(place.done, want) {
			t.Errorf("kept were %v, want %v", place.done, want)
		}
		if all := rows.copied + rows.kept; all != read.Accounts[0].Rows || (rows.copied == 0) != (i == 1) || (rows.kept == 0) != (i == 0) {
			t.Errorf("%d rows were copied and %d kept, of %d", rows.copied, rows.kept, read.Accounts[0].Rows)
		}
		clock = clock.Add(50_000)
	}
	if _, err := Take(t.Context(), shelves{}, place, options, silence{}); err == nil || !strings.Contains(err.Error(), "there is no account to back up") {
		t.Errorf("a backup of nothing ends with %v", err)
	}
}

// Without an id, no backup is chosen that may not be the newest of this database.
func TestABackupOfAnotherDatabaseIsNotChosenForAnUnreadOne(t *testing.T) {
	place := newFailing(t)
	clock := time.Unix(1_800_000_000, 0)
	var taken []Taken
	if _, err := Choose(t.Context(), place, "", "HERE"); err == nil || !strings.Contains(err.Error(), "there is no whole backup") {
		t.Errorf("of an empty place is chosen: %v", err)
	}
	for _, identity := range []string{"", "THERE", "THERE"} {
		clock = clock.Add(time.Hour)
		one, err := Take(t.Context(), wholeShelf(1), place, Options{Identity: identity, Now: func() time.Time { return clock }}, silence{})
		if err != nil {
			t.Fatal(err)
		}
		taken = append(taken, one)
	}
	if chosen, err := Choose(t.Context(), place, "", "HERE"); err != nil || chosen.Name != taken[2].Name {
		t.Errorf("of one database's backups and one that does not say of which it is, %s is chosen: %v", chosen.Name, err)
	}
	if err := os.WriteFile(filepath.Join(place.path, taken[1].Name), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if chosen, err := Choose(t.Context(), place, "", "HERE"); !isDamage(err) {
		t.Errorf("next to a damaged one, %s is chosen: %v", chosen.Name, err)
	}
}
