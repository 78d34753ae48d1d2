package backup

import (
	"context"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"adlens"
	"adlens/internal/manifest"
	"adlens/internal/tables"
)

// history is a source of an account without rows, whose live commits made these units live. Of
// a month the newest counts.
type history struct {
	*shelf
	units    []tables.Unit
	unmarked bool // units have no origin, as before it was noted
}

func (s history) Columns(ctx context.Context, table string) (Header, error) {
	switch {
	case table != UnitTable:
		return s.shelf.Columns(ctx, table)
	case s.unmarked:
		return mustHeader("number", "UInt32", "generation", "UInt32"), nil
	}
	return mustHeader("number", "UInt32", "generation", "UInt32", "origin", "UInt64"), nil
}

func (s history) Live(context.Context, string, Header) (all []Live, err error) {
	newest := map[manifest.Unit]tables.Unit{}
	for _, u := range s.units {
		if u.Number >= newest[u.Unit].Number {
			newest[u.Unit] = u
		}
	}
	for _, u := range newest {
		row := binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, u.Number), u.Generation)
		if !s.unmarked {
			row = binary.LittleEndian.AppendUint64(row, u.Origin)
		}
		all = append(all, Live{Entry: u.Entry, Version: u.Number, Row: row})
	}
	return all, nil
}

func (s history) Units(context.Context, string) ([]tables.Unit, error) { return s.units, nil }

// unitOf is a month that a commit made live.
func unitOf(number uint32, month int, generation uint32, origin uint64) tables.Unit {
	unit := manifest.Unit{Kind: manifest.Month, Start: adlens.Date(2026, time.Month(month), 1)}
	return tables.Unit{Number: number, Entry: manifest.Entry{Unit: unit, Generation: generation, Origin: origin}}
}

// Loads after a copy of the disk was put back have the numbers of those that were lost, and no
// older backup is removed where the last one has these. What else becomes of a record of commits
// is no reason.
func TestLoadsUnderTheNumbersOfLostOnesAreNotTakenForThem(t *testing.T) {
	old, lost := unitOf(3, 10, 2, 77), unitOf(6, 11, 5, 78)
	for _, c := range []struct {
		name     string
		units    []tables.Unit
		unmarked bool
		identity string
		damaged  bool
		lacks    bool
	}{
		{name: "the same", units: []tables.Unit{old, lost}},
		{name: "a load later", units: []tables.Unit{old, lost, unitOf(9, 10, 8, 79)}},
		{name: "with its month loaded again", units: []tables.Unit{old, lost, unitOf(9, 11, 8, 79)}},
		{name: "whose record began once more", units: []tables.Unit{unitOf(9, 10, 2, 77), unitOf(9, 11, 8, 79)}},
		{name: "whose record began once more, with what the backup has", units: []tables.Unit{unitOf(9, 10, 8, 79), unitOf(9, 11, 5, 78)}},
		{name: "restored in place", units: []tables.Unit{unitOf(1<<24, 10, 1<<24-1, 77)}},
		{name: "put back", units: []tables.Unit{old}, lacks: true},
		{name: "put back, and loaded as often", units: []tables.Unit{old, unitOf(6, 11, 5, 90)}, lacks: true},
		{name: "put back, and loaded more often", units: []tables.Unit{old, unitOf(6, 11, 5, 90), unitOf(9, 11, 8, 91)}, lacks: true},
		{name: "put back, and loaded under other numbers", units: []tables.Unit{old, unitOf(7, 11, 6, 90)}, lacks: true},
		{name: "put back, loaded, and of another database", units: []tables.Unit{old, unitOf(6, 11, 5, 90)}, identity: "Y"},
		{name: "put back, and loaded, beside a damaged backup", units: []tables.Unit{old, unitOf(6, 11, 5, 90)}, damaged: true},
		{name: "of before loads had origins", units: []tables.Unit{unitOf(3, 10, 2, 0), unitOf(6, 11, 5, 0), unitOf(9, 10, 8, 79)}, unmarked: true},
	} {
		place := newFailing(t)
		s := history{&shelf{now: time.Unix(1_800_000_000, 0)}, []tables.Unit{old, lost}, c.unmarked}
		options := Options{Identity: "X", Now: func() time.Time { return s.now }, Keep: 1}
		if _, err := Take(t.Context(), s, place, options, silence{}); err != nil {
			t.Fatal(err)
		}
		if c.damaged {
			units, err := filepath.Glob(filepath.Join(place.path, "accounts/acme/"+UnitTable+".*"))
			if err != nil || len(units) != 1 || os.Truncate(units[0], 20) != nil {
				t.Fatal(units, err)
			}
		}
		if c.identity != "" {
			options.Identity = c.identity
		}
		s.units, s.unmarked, s.now = c.units, false, s.now.Add(time.Hour)
		_, err := Take(t.Context(), s, place, options, silence{})
		if lacks := err != nil && strings.Contains(err.Error(), "account acme: the last backup has loads that the database lacks"); lacks != c.lacks || !lacks && err != nil {
			t.Errorf("the backup of an account %s: %v", c.name, err)
		}
		want := 1
		if c.lacks || c.identity != "" {
			want = 2
		}
		if all, err := List(t.Context(), place); err != nil || len(all) != want {
			t.Errorf("after the backup of an account %s there are %d, want %d: %v", c.name, len(all), want, err)
		}
	}
}
