package backup

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"adlens"
	"adlens/internal/manifest"
	"adlens/internal/tables"
)

// shelf is a source of one account and one month of figures, which change and
// vanish as a test says. Its clock is the test's.
type shelf struct {
	now        time.Time
	generation uint32
	stored     map[uint32]int // rows of generations
	value      uint32         // of each row, beside its generation
	origin     uint64         // of the generation
	promised   uint64         // rows that the manifest names
	derived    []uint64       // rows of rollups that it names; none is stored
	exporting  func()         // happens before the rows of facts are read
	lost       error          // what rows without generations were lost
	exports    int
}

func (s *shelf) clock() time.Time { return s.now }

func (s *shelf) Shown(context.Context, string) ([]string, error) { return []string{"acme"}, nil }

func (s *shelf) RequireDirectory(context.Context, string) error { return s.lost }

func (s *shelf) Columns(context.Context, string) (Header, error) {
	return NewHeader([]string{"generation", "value"}, []string{"UInt32", "UInt32"})
}

func (s *shelf) Live(context.Context, string, Header) ([]Live, error) {
	unit := manifest.Unit{Kind: manifest.Month, Start: adlens.DayOf(time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC))}
	row := s.rowOf(s.generation)
	entry := manifest.Entry{Unit: unit, Generation: s.generation, Rows: s.promised, Derived: s.derived, Origin: s.origin}
	return []Live{{Entry: entry, Version: s.generation, Row: row}}, nil
}

func (s *shelf) Units(context.Context, string) ([]tables.Unit, error) { return nil, nil }

func (s *shelf) Export(_ context.Context, e Extent, _ Header, visit func([]byte) error) error {
	if e.Table != "facts" {
		return nil
	}
	s.exports++
	if s.exporting != nil {
		s.exporting()
	}
	for _, generation := range e.Generations {
		for range s.stored[generation] {
			if err := visit(s.rowOf(generation)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *shelf) rowOf(generation uint32) []byte {
	return binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, generation), s.value)
}

// spoiled is a database in which some tables cannot be read.
type spoiled struct {
	*shelf
	tables []string
}

func (s spoiled) Export(ctx context.Context, e Extent, h Header, visit func([]byte) error) error {
	if slices.Contains(s.tables, e.Table) {
		return &adlens.Error{Kind: adlens.Damaged, Err: errors.New("a block has another sum")}
	}
	return s.shelf.Export(ctx, e, h, visit)
}

// What nothing depends on is left out where it cannot be read, with a notice; without the
// other tables an account is not whole.
func TestOnlyWhatNothingDependsOnIsLeftOut(t *testing.T) {
	for table, want := range map[string]bool{"api_key_uses": true, "day_uses": true, "ledger": false, "number_blocks": false} {
		place, err := openDirectory(t.TempDir(), true)
		if err != nil {
			t.Fatal(err)
		}
		s := &shelf{now: time.Unix(1_800_000_000, 0), generation: 1, promised: 5, stored: map[uint32]int{1: 5}}
		told := &notices{}
		taken, err := Take(t.Context(), spoiled{s, []string{table}}, place, Options{Now: s.clock}, told)
		noticed := len(told.all) == 1 && strings.Contains(told.all[0], table)
		if (err == nil) != want || noticed != want || want && len(taken.Accounts) != 1 {
			t.Errorf("with %s unreadable, %d accounts are backed up with the notices %q: %v", table, len(taken.Accounts), told.all, err)
		}
	}
}

// silence is progress that is not shown.
type silence struct{}

func (silence) Account(string, int, int) {}
func (silence) Rows(uint64, uint64)      {}
func (silence) Notice(string)            {}

func (s *shelf) take(t *testing.T) (catalogue, error) {
	t.Helper()
	place, err := openDirectory(t.TempDir(), true)
	if err != nil {
		t.Fatal(err)
	}
	taken, err := Take(t.Context(), s, place, Options{Now: s.clock}, silence{})
	if err != nil {
		if all, fault := List(t.Context(), place); len(all) > 0 || fault != nil {
			t.Errorf("a backup that failed is listed: %v, %v", all, fault)
		}
		return catalogue{}, err
	}
	if faults, err := Verify(t.Context(), place, taken, silence{}); len(faults) > 0 || err != nil {
		t.Errorf("the backup is damaged: %v, %v", faults, err)
	}
	c, err := readCatalogue(t.Context(), place, taken.Accounts[0])
	if err != nil {
		t.Fatal(err)
	}
	return c, nil
}

// takeWhole takes a backup that nothing disturbs.
func takeWhole(t *testing.T, of Source, clock func() time.Time) (Place, Taken) {
	t.Helper()
	place, err := openDirectory(t.TempDir(), true)
	if err != nil {
		t.Fatal(err)
	}
	taken, err := Take(t.Context(), of, place, Options{Now: clock}, silence{})
	if err != nil {
		t.Fatal(err)
	}
	return place, taken
}

func rowsIn(c catalogue, table string) (rows uint64) {
	for _, f := range c.Files {
		if f.Table == table {
			rows += f.Rows
		}
	}
	return rows
}

func TestWhatIsDeletedDuringASlowCopyIsCopiedAnew(t *testing.T) {
	s := &shelf{now: time.Unix(1_800_000_000, 0), generation: 1, promised: 5, stored: map[uint32]int{1: 5}}
	s.exporting = func() {
		if s.generation == 1 { // a load supersedes it, and it is deleted
			s.now = s.now.Add(20 * time.Minute)
			s.generation, s.promised, s.stored = 2, 7, map[uint32]int{2: 7}
		}
	}
	c, err := s.take(t)
	if err != nil || rowsIn(c, "facts") != 7 || rowsIn(c, UnitTable) != 1 {
		t.Errorf("%+v, %v: want the 7 rows of the second generation", c, err)
	}
}

func TestWhatIsStillLiveAfterASlowCopyIsKept(t *testing.T) {
	s := &shelf{now: time.Unix(1_800_000_000, 0), generation: 1, promised: 5, stored: map[uint32]int{1: 5}}
	s.exporting = func() { s.now = s.now.Add(20 * time.Minute) }
	c, err := s.take(t)
	if err != nil || rowsIn(c, "facts") != 5 || s.exports != 1 {
		t.Errorf("%+v after %d copies, %v: want 5 rows after one", c, s.exports, err)
	}
}

func TestDamagedFiguresAreNotBackedUp(t *testing.T) {
	s := &shelf{now: time.Unix(1_800_000_000, 0), generation: 1, promised: 5, stored: map[uint32]int{1: 4}}
	if _, err := s.take(t); err == nil || !strings.Contains(err.Error(), "has 4 rows, 5 were loaded") {
		t.Errorf("got %v", err)
	}
	s.stored, s.derived = map[uint32]int{1: 5}, []uint64{3, 2}
	if _, err := s.take(t); err == nil || !strings.Contains(err.Error(), "day_totals-2026-11 has 0 rows, 3 were loaded") {
		t.Errorf("without day totals: %v", err)
	}
}

// shelves are a source of several accounts.
type shelves map[string]*shelf

func (all shelves) Shown(context.Context, string) ([]string, error) {
	return slices.Sorted(maps.Keys(all)), nil
}

func (all shelves) RequireDirectory(_ context.Context, account string) error {
	return all[account].lost
}

func (all shelves) Columns(ctx context.Context, table string) (Header, error) {
	return (&shelf{}).Columns(ctx, table)
}

func (all shelves) Live(ctx context.Context, account string, h Header) ([]Live, error) {
	return all[account].Live(ctx, account, h)
}

func (all shelves) Units(context.Context, string) ([]tables.Unit, error) { return nil, nil }

func (all shelves) Export(ctx context.Context, e Extent, h Header, visit func([]byte) error) error {
	return all[e.Account].Export(ctx, e, h, visit)
}

func TestADamagedAccountTakesTheBackupFromNoOther(t *testing.T) {
	clock := time.Unix(1_800_000_000, 0)
	place, err := openDirectory(t.TempDir(), true)
	if err != nil {
		t.Fatal(err)
	}
	whole := func(generation uint32, rows int) *shelf {
		return &shelf{now: clock, generation: generation, promised: uint64(rows), stored: map[uint32]int{generation: rows}}
	}
	var earlier map[string]time.Time // that the newest backup has accounts of
	take := func(all shelves) (versions []uint32, err error) {
		t.Helper()
		clock = clock.Add(time.Hour)
		taken, err := Take(t.Context(), all, place, Options{Now: func() time.Time { return clock }, Keep: 1}, silence{})
		for _, e := range taken.Accounts {
			versions = append(versions, e.Version)
		}
		if taken.Name != "" {
			if faults, wrong := Verify(t.Context(), place, taken, silence{}); len(faults) > 0 || wrong != nil {
				t.Errorf("the backup is damaged: %v, %v", faults, wrong)
			}
			var unread error
			if earlier, unread = EarlierAccounts(t.Context(), place, taken); unread != nil {
				t.Error(unread)
			}
		}
		return versions, err
	}
	if versions, err := take(shelves{"acme": whole(1, 5), "bolt": whole(1, 6)}); err != nil || !slices.Equal(versions, []uint32{1, 1}) || len(earlier) > 0 {
		t.Fatal(versions, earlier, err)
	}
	first := clock.UTC()
	spoilt := whole(2, 5)
	spoilt.stored[2] = 4
	keyless := whole(2, 5)
	keyless.lost = &adlens.Error{Kind: adlens.Damaged, Err: errors.New("api_keys lost 1 of its rows")}
	for i, lost := range []*shelf{spoilt, keyless} {
		versions, err := take(shelves{"acme": lost, "bolt": whole(2, 7), "cord": lost})
		if err == nil || !strings.Contains(err.Error(), "account acme: ") || !strings.Contains(err.Error(), "account cord: ") {
			t.Errorf("the error is %v", err)
		}
		if !slices.Equal(versions, []uint32{1, 2}) {
			t.Errorf("the backup has the versions %v, want the old one of acme and the new one of bolt", versions)
		}
		if all, err := List(t.Context(), place); err != nil || len(all) != 2+i {
			t.Errorf("there are %d backups, want all: %v", len(all), err)
		}
		if want := []map[string]time.Time{{"acme": first}, {"acme": first, "bolt": first.Add(time.Hour)}}[i]; !maps.EqualFunc(earlier, want, time.Time.Equal) {
			t.Errorf("the backup has accounts as of %v, want %v", earlier, want)
		}
	}
}

// No account is ever removed: one that the database does not know any more was lost with it.
func TestAnAccountThatTheDatabaseForgotStaysInTheBackup(t *testing.T) {
	clock := time.Unix(1_800_000_000, 0)
	place, err := openDirectory(t.TempDir(), true)
	if err != nil {
		t.Fatal(err)
	}
	whole := func(generation uint32) *shelf {
		return &shelf{now: clock, generation: generation, promised: 5, stored: map[uint32]int{generation: 5}}
	}
	for i, c := range []struct {
		from     shelves
		identity string
		want     []string
		backups  int
		lost     bool
	}{
		{shelves{"acme": whole(1), "bolt": whole(1)}, "X", []string{"acme 1", "bolt 1"}, 1, false},
		{shelves{"bolt": whole(2)}, "X", []string{"acme 1", "bolt 2"}, 2, true},
		{shelves{"bolt": whole(3)}, "X", []string{"acme 1", "bolt 3"}, 3, true},
		{shelves{"cord": whole(1)}, "Y", []string{"cord 1"}, 4, false}, // another database at the same place
		{shelves{"acme": whole(2), "bolt": whole(4)}, "X", []string{"acme 2", "bolt 4"}, 3, false},
		{shelves{"acme": whole(2), "bolt": whole(5)}, "X", []string{"acme 2", "bolt 5"}, 3, false}, // whose index is damaged then
		{shelves{"bolt": whole(6)}, "X", []string{"acme 2", "bolt 6"}, 4, true},
		{shelves{"acme": whole(1), "bolt": whole(6)}, "X", []string{"acme 1", "bolt 6"}, 5, true}, // an older copy of all
		{shelves{"acme": whole(3), "bolt": whole(6)}, "X", []string{"acme 3", "bolt 6"}, 3, false},
	} {
		if i == 6 {
			all, err := List(t.Context(), place)
			if err == nil {
				err = os.WriteFile(filepath.Join(place.String(), all[len(all)-1]), []byte("{}"), 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		clock = clock.Add(time.Hour)
		taken, err := Take(t.Context(), c.from, place, Options{Identity: c.identity, Now: func() time.Time { return clock }, Keep: 2}, silence{})
		if lost := err != nil && strings.Contains(err.Error(), "account acme: the last backup has "); lost != c.lost || !lost && err != nil {
			t.Errorf("backup %d: %v", i, err)
		}
		var got []string
		for _, e := range taken.Accounts {
			got = append(got, fmt.Sprint(e.Account, " ", e.Version))
		}
		if faults, wrong := Verify(t.Context(), place, taken, silence{}); !slices.Equal(got, c.want) || len(faults) > 0 || wrong != nil {
			t.Errorf("backup %d has %v, want %v; %v, %v", i, got, c.want, faults, wrong)
		}
		if all, err := List(t.Context(), place); err != nil || len(all) != c.backups {
			t.Errorf("after backup %d there are %d, want %d: %v", i, len(all), c.backups, err)
		}
	}
}

// ordered is a shelf that notes what is read of it.
type ordered struct {
	*shelf
	read []string
}

func (o *ordered) Live(ctx context.Context, account string, h Header) ([]Live, error) {
	o.read = append(o.read, UnitTable)
	return o.shelf.Live(ctx, account, h)
}

func (o *ordered) Export(ctx context.Context, e Extent, h Header, visit func([]byte) error) error {
	o.read = append(o.read, e.Table)
	return o.shelf.Export(ctx, e, h, visit)
}

// While others load, what says that a report was loaded is read before the live units, or it
// would never be loaded after a restore; the numbers that were given out are read after them.
func TestABackupReadsNotesOfLoadsFirstAndNumbersLast(t *testing.T) {
	o := &ordered{shelf: &shelf{now: time.Unix(1_800_000_000, 0), generation: 1, promised: 5, stored: map[uint32]int{1: 5}}}
	takeWhole(t, o, o.clock)
	at := slices.Index(o.read, UnitTable)
	for table, before := range map[string]bool{"ledger": true, "report_requests": true, "refreshed": true, "attempts": true,
		"number_blocks": false, "accounts": false, "api_keys": false, "feeds": false, "apps": false, "connections": false} {
		if i := slices.Index(o.read, table); i < 0 || (i < at) != before {
			t.Errorf("%s is read at place %d, the live units at %d: %v", table, i, at, o.read)
		}
	}
}

func TestOneBackupAtATimeIsWrittenToADirectory(t *testing.T) {
	place, err := openDirectory(t.TempDir(), true)
	if err != nil {
		t.Fatal(err)
	}
	release, err := place.Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s := &shelf{now: time.Unix(1_800_000_000, 0)}
	if _, err := Take(t.Context(), s, place, Options{Now: s.clock}, silence{}); err == nil || !strings.Contains(err.Error(), "another backup") {
		t.Errorf("got %v", err)
	}
	left, err := place.Draft() // of one that is killed
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(left.Close(), release()); err != nil {
		t.Fatal(err)
	}
	if release, err = place.Lock(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(left.Name()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the draft of a backup that was killed is left: %v", err)
	}
	if err := release(); err != nil {
		t.Fatal(err)
	}
}

func TestOldBackupsGoAndTakeTheirFilesAlong(t *testing.T) {
	place, err := openDirectory(t.TempDir(), true)
	if err != nil {
		t.Fatal(err)
	}
	s := &shelf{now: time.Unix(1_800_000_000, 0)}
	for generation := range uint32(5) {
		s.generation, s.promised, s.stored = generation+1, 3, map[uint32]int{generation + 1: 3}
		s.now = s.now.Add(time.Hour)
		if _, err := Take(t.Context(), s, place, Options{Now: s.clock, Keep: 2}, silence{}); err != nil {
			t.Fatal(err)
		}
	}
	all, err := List(t.Context(), place)
	if err != nil || len(all) != 2 {
		t.Fatalf("%v, %v: want two backups", all, err)
	}
	for _, name := range all {
		taken, err := ReadIndex(t.Context(), place, name)
		if err != nil {
			t.Fatal(err)
		}
		if faults, err := Verify(t.Context(), place, taken, silence{}); len(faults) > 0 || err != nil {
			t.Errorf("%s: %v, %v", name, faults, err)
		}
	}
	stored, err := place.List(t.Context(), "accounts/acme/")
	if want := 2 * len([]string{"catalogue", UnitTable, "facts"}); err != nil || len(stored) != want {
		t.Errorf("%v, %v: want %d files", stored, err, want)
	}
}

// Nothing can be restored from a damaged index. It is named, and goes as an old one does.
func TestADamagedIndexGoesWithTheOldOnes(t *testing.T) {
	dir := t.TempDir()
	place, err := openDirectory(dir, true)
	if err != nil {
		t.Fatal(err)
	}
	s := &shelf{now: time.Unix(1_800_000_000, 0), generation: 1, promised: 3, stored: map[uint32]int{1: 3}}
	var first string
	for n, refused := range []bool{false, true, false, false} {
		s.now = s.now.Add(time.Hour)
		taken, err := Take(t.Context(), s, place, Options{Now: s.clock, Keep: 2}, silence{})
		if (err != nil) != refused || refused && !strings.Contains(err.Error(), "remove it from the place") {
			t.Errorf("backup %d: %v", n, err)
		}
		if n == 0 {
			first = taken.Name
			if err := os.WriteFile(filepath.Join(dir, first), []byte("{}"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	if all, err := List(t.Context(), place); err != nil || len(all) != 2 || slices.Contains(all, first) {
		t.Errorf("left are %v: %v", all, err)
	}
}

// A backup that a clock of the future dated is older than those that come after it.
func TestABackupIsNewerThanOneOfAClockThatWasAhead(t *testing.T) {
	place, err := openDirectory(t.TempDir(), true)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Unix(1_800_000_000, 0)
	s := &shelf{generation: 1, promised: 3, stored: map[uint32]int{1: 3}}
	var last time.Time
	for i, ahead := range []time.Duration{0, 30 * 24 * time.Hour, time.Hour, 30*24*time.Hour + time.Millisecond, 31 * 24 * time.Hour} {
		s.now = now.Add(ahead)
		taken, err := Take(t.Context(), s, place, Options{Now: s.clock, Keep: 1 + i%2}, silence{})
		if err != nil {
			t.Fatal(err)
		}
		if newest, err := Choose(t.Context(), place, "", ""); newest.Name != taken.Name || !newest.TakenAt.Equal(timeOf(newest.Name)) || err != nil {
			t.Errorf("backup %d: the newest is %s of %s, want %s, %v", i, newest.ID(), newest.TakenAt, taken.ID(), err)
		}
		if before := now.Add(ahead); i != 2 && i != 3 && !taken.TakenAt.Equal(before) || !taken.TakenAt.After(last) {
			t.Errorf("backup %d is of %s, want %s, after %s", i, taken.TakenAt, before, last)
		}
		last = taken.TakenAt
	}
}

func TestNamesOutsideAPlaceAreNotTouched(t *testing.T) {
	place, err := openDirectory(t.TempDir(), true)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{
		"", "/etc/passwd", "../x", "accounts/../../x", "accounts/a/../x", "accounts/a/b/c", "backups/..", "accounts/.hidden/x",
		"drafts/x", "lock", "accounts/a/x\x00", "accounts//x", `accounts\a\x`, "accounts/a/" + strings.Repeat("x", 200),
	} {
		_, opening := place.Open(t.Context(), name)
		draft, err := place.Draft()
		if err != nil {
			t.Fatal(err)
		}
		keeping, removing := place.Keep(t.Context(), name, draft), place.Remove(t.Context(), name)
		if err := draft.Close(); err != nil {
			t.Fatal(err)
		}
		for what, got := range map[string]error{"opened": opening, "kept": keeping, "removed": removing} {
			if got == nil || !strings.Contains(got.Error(), "is no name of a file of a backup") {
				t.Errorf("%q was %s: %v", name, what, got)
			}
		}
	}
}

func TestAMissingFileIsSaidToBeMissing(t *testing.T) {
	place, err := openDirectory(t.TempDir(), true)
	if err != nil {
		t.Fatal(err)
	}
	name := fmt.Sprintf("accounts/acme/facts.%016x.rows.zst", 1)
	if _, err := place.Open(t.Context(), name); !errors.Is(err, ErrMissing) || !isDamage(err) {
		t.Errorf("got %v", err)
	}
}

// bulk is a source with more rows than are read at once, of many lengths.
type bulk struct {
	shelf
	rows int
}

func (s *bulk) Columns(context.Context, string) (Header, error) { return rowHeader, nil }

func (s *bulk) row(i int) []byte {
	return row{account: "acme", number: uint32(i), list: []string{strings.Repeat("x", i%700)}, numbers: make([]uint64, i%50)}.encode()
}

func (s *bulk) Export(_ context.Context, e Extent, _ Header, visit func([]byte) error) error {
	for i := range s.rows {
		if e.Table != "facts" {
			break
		}
		if err := visit(s.row(i)); err != nil {
			return err
		}
	}
	return nil
}

func TestRowsThatCrossPiecesOfAFileAreTakenOnce(t *testing.T) {
	s := &bulk{shelf{now: time.Unix(1_800_000_000, 0), generation: 1, promised: 12_000}, 12_000}
	place, taken := takeWhole(t, s, s.clock)
	c, err := readCatalogue(t.Context(), place, taken.Accounts[0])
	if err != nil {
		t.Fatal(err)
	}
	in, err := openFile(t.Context(), place, c.Files[1])
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	b := newBlock(in.header, "acme")
	if err := in.eachRow(b.addRow); err != nil || b.Rows != s.rows || in.File.Bytes < 5<<20 {
		t.Fatalf("%d rows in %d bytes: %v", b.Rows, in.File.Bytes, err)
	}
	texts, numbers := b.Words(3).([][]string), b.Native(1)
	for i := range s.rows {
		if got := binary.LittleEndian.Uint32(numbers[4*i:]); got != uint32(i) || len(texts[i][0]) != i%700 {
			t.Fatalf("row %d: number %d, text of %d letters", i, got, len(texts[i][0]))
		}
	}
}

// unitHeader has the columns of live units that are read when they are restored.
var unitHeader = mustHeader("number", "UInt32", "kind", "UInt8", "marketplace_key", "UInt16", "ad_product", "UInt8", "start", "Date", "generation", "UInt32", "rows", "Array(UInt64)")

func unitRow(number, generation uint32, kind manifest.Kind, rows ...uint64) []byte {
	b := binary.LittleEndian.AppendUint32(nil, number)
	b = binary.LittleEndian.AppendUint16(append(b, byte(kind)), 2)
	b = binary.LittleEndian.AppendUint16(append(b, 1), uint16(adlens.Date(2026, 11, 1)))
	b = binary.LittleEndian.AppendUint32(b, generation)
	b = binary.AppendUvarint(b, uint64(len(rows)))
	for _, n := range rows {
		b = binary.LittleEndian.AppendUint64(b, n)
	}
	return b
}

// Units that several commits wrote are restored under one.
func TestLiveUnitsAreReadBackAndPutUnderOneCommit(t *testing.T) {
	b := newBlock(unitHeader, "acme")
	for _, row := range [][]byte{
		unitRow(1030, 1031, manifest.Rates, 4), unitRow(2050, 2051, manifest.Month, 7, 3, 2), unitRow(9, 10, manifest.Titles, 1<<40),
	} {
		if _, err := b.addRow(row); err != nil {
			t.Fatal(err)
		}
	}
	m := b.readManifest()
	unit := func(kind manifest.Kind) manifest.Unit {
		return manifest.Unit{Kind: kind, Slice: manifest.Slice{Marketplace: 2, AdProduct: 1}, Start: adlens.Date(2026, 11, 1)}
	}
	for kind, want := range map[manifest.Kind][]uint64{manifest.Rates: {1031, 4, 0, 0}, manifest.Month: {2051, 7, 3, 2}, manifest.Titles: {10, 1 << 40, 0, 0}} {
		e, _ := m.Find(unit(kind))
		if got := []uint64{uint64(e.Generation), e.RowsAt(0), e.RowsAt(1), e.RowsAt(2)}; !slices.Equal(got, want) {
			t.Errorf("kind %d: generation and rows %d, expected %d", kind, got, want)
		}
	}
	if m.Version != 2050 || m.Len() != 3 || !m.Counted() || b.Former() {
		t.Errorf("version %d, %d units, counted %v, former %v", m.Version, m.Len(), m.Counted(), b.Former())
	}
	if got, want := b.renumber(5000), (map[uint32]uint32{10: 4997, 1031: 4998, 2051: 4999}); !maps.Equal(got, want) {
		t.Errorf("generations became %v, expected %v", got, want)
	}
	for row, generation := range []uint64{4998, 4999, 4997} {
		if number, got := b.numberAt("number", row), b.numberAt("generation", row); number != 5000 || got != generation {
			t.Errorf("row %d is of commit %d and generation %d, expected 5000 and %d", row, number, got, generation)
		}
	}
}

// Two installations that share a place keep as many backups each, and those of a time
// when a backup did not say of which it is stay. Of an account that is damaged, nothing
// of another database's account with its name is taken.
func TestOfAPlaceOnlyTheDatabasesOwnBackupsAreRemoved(t *testing.T) {
	s := &shelf{now: time.Date(2026, 11, 2, 3, 0, 0, 0, time.UTC), generation: 1, stored: map[uint32]int{1: 3, 2: 3}, promised: 3}
	place, unnamed := takeWhole(t, s, s.clock)
	newest := map[string]string{}
	for range 3 {
		for i, identity := range []string{"HERE", "THERE"} {
			s.now, s.generation = s.now.Add(time.Hour), uint32(i+1)
			taken, err := Take(t.Context(), s, place, Options{Now: s.clock, Keep: 1, Identity: identity}, silence{})
			if err != nil {
				t.Fatal(err)
			}
			newest[identity] = taken.Name
		}
	}
	want := []string{unnamed.Name, newest["HERE"], newest["THERE"]}
	if all, err := List(t.Context(), place); err != nil || !slices.Equal(all, want) {
		t.Errorf("%v are left, expected %v: %v", all, want, err)
	}
	for _, name := range want {
		taken, err := ReadIndex(t.Context(), place, name)
		if err != nil {
			t.Fatal(err)
		}
		if faults, err := Verify(t.Context(), place, taken, silence{}); err != nil || len(faults) > 0 {
			t.Errorf("%s is not whole: %v: %v", name, faults, err)
		}
	}
	for identity, want := range map[string]string{"": newest["THERE"], "THERE": newest["THERE"], "HERE": newest["HERE"], "ELSEWHERE": ""} {
		if chosen, err := Choose(t.Context(), place, "", identity); (err != nil) != (want == "") || err == nil && chosen.Name != want {
			t.Errorf("for %q %s is chosen, expected %s: %v", identity, chosen.Name, want, err)
		}
	}
	last := &taking{place: place, options: Options{Identity: "HERE"}, progress: silence{}, last: map[string]Entry{}}
	here, err := ReadIndex(t.Context(), place, newest["HERE"])
	if err := errors.Join(err, last.readLastBackup(t.Context())); err != nil || last.last["acme"] != here.Accounts[0] {
		t.Errorf("the last backup is %v, expected %v: %v", last.last, here.Accounts, err)
	}
	if err := os.WriteFile(filepath.Join(place.String(), newest["THERE"]), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, identity := range []string{"", "HERE", "THERE"} { // whose the damaged one is cannot be known
		_, err := Choose(t.Context(), place, "", identity)
		if err == nil || strings.Contains(err.Error(), idOf(newest["HERE"])+": name it with --backup") != (identity == "HERE") {
			t.Errorf("for %q, after a damaged one: %v", identity, err)
		}
	}
}

// cutting is a place whose network fails in the middle of a file.
type cutting struct{ Place }

var errReset = errors.New("connection reset by peer")

func (c cutting) Open(ctx context.Context, name string) (io.ReadCloser, error) {
	f, err := c.Place.Open(ctx, name)
	if err != nil || !strings.HasSuffix(name, ".rows.zst") {
		return f, err
	}
	return struct {
		io.Reader
		io.Closer
	}{io.MultiReader(io.LimitReader(f, 40), iotest.ErrReader(errReset)), f}, nil
}

// A file that could not be read to its end is not damaged: who removes it, as one that is,
// loses what older backups have of it.
func TestANetworkThatFailsDamagesNoBackup(t *testing.T) {
	s := &shelf{now: time.Date(2026, 11, 2, 3, 0, 0, 0, time.UTC), generation: 1, stored: map[uint32]int{1: 3}, promised: 3}
	place, taken := takeWhole(t, s, s.clock)
	if faults, err := Verify(t.Context(), cutting{place}, taken, silence{}); len(faults) > 0 || !errors.Is(err, errReset) {
		t.Errorf("the faults are %v, the error %v", faults, err)
	}
}

// Where letters count alike, as on disks of Windows and macOS, Acme's files are acme's.
func TestFilesOfAccountsDifferInMoreThanTheLettersOfTheirIDs(t *testing.T) {
	sums := map[string]bool{}
	for _, id := range []string{"acme", "Acme"} {
		name := (&taking{id: id, options: Options{Identity: "HERE"}}).groupFileName(group{table: "facts"}, Header{})
		sums[strings.TrimPrefix(name, "accounts/"+id)] = true
	}
	if len(sums) != 2 {
		t.Errorf("two accounts have one file: %v", sums)
	}
}

// A database that is loaded from the start gives the same numbers to other rows, as with other rates.
func TestNoBackupHoldsAnotherDatabasesRows(t *testing.T) {
	checkBackups(t, func(_ *shelf, value uint32) (identity string) { return fmt.Sprint("database ", value) })
}

// So does a database that is loaded on after a copy of its disk was put back.
func TestNoBackupHoldsRowsOfBeforeADiskWasPutBack(t *testing.T) {
	checkBackups(t, func(s *shelf, value uint32) (identity string) {
		s.origin = uint64(value)
		return "one database"
	})
}

// checkBackups takes a backup of each of two states, which have other rows under the same
// numbers, and makes sure that each holds its own.
func checkBackups(t *testing.T, become func(s *shelf, value uint32) (identity string)) {
	t.Helper()
	s := &shelf{now: time.Date(2026, 11, 2, 3, 0, 0, 0, time.UTC), generation: 1, stored: map[uint32]int{1: 3}, promised: 3}
	place, err := openDirectory(t.TempDir(), true)
	if err != nil {
		t.Fatal(err)
	}
	taken := map[uint32]Taken{}
	for _, value := range []uint32{37, 73} {
		s.value, s.now = value, s.now.Add(time.Hour)
		if taken[value], err = Take(t.Context(), s, place, Options{Now: s.clock, Identity: become(s, value)}, silence{}); err != nil {
			t.Fatal(err)
		}
	}
	for value, of := range taken {
		if faults, err := Verify(t.Context(), place, of, silence{}); len(faults) > 0 || err != nil {
			t.Errorf("the backup of %d is damaged: %v, %v", value, faults, err)
		}
		c, err := readCatalogue(t.Context(), place, of.Accounts[0])
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(c.Files, func(f File) bool { return f.Table == "facts" })
		in, err := openFile(t.Context(), place, c.Files[i])
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		b := newBlock(in.header, "acme")
		if err := in.eachRow(b.addRow); err != nil || b.Rows != 3 {
			t.Fatalf("%d rows: %v", b.Rows, err)
		}
		for row := range b.Rows {
			if got := b.numberAt("value", row); got != uint64(value) {
				t.Errorf("the backup of %d has the value %d", value, got)
			}
		}
	}
}
