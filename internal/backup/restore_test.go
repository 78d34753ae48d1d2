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

// units is a shelf whose live units have the columns that a restore reads.
type units struct{ *shelf }

func (units) Columns(ctx context.Context, table string) (Header, error) {
	if table == UnitTable {
		return unitHeader, nil
	}
	return (&shelf{}).Columns(ctx, table)
}

func (u units) Live(ctx context.Context, account string, h Header) ([]Live, error) {
	all, err := u.shelf.Live(ctx, account, h)
	for i := range all {
		all[i].Row = unitRow(all[i].Version, all[i].Generation, manifest.Month, all[i].Rows)
	}
	return all, err
}

// overtaken is a database in which another restore takes over after so many looks. It
// notes what is done there.
type overtaken struct {
	Sink
	units
	looks  int
	began  string // the backup whose restore is noted
	whole  bool
	loaded Loads // since the backup; not known where there is no file
	empty  bool  // it has the account's id and nothing of what was loaded
	done   []string
}

var errOther = errors.New("another restore has taken over")

func (o *overtaken) note(what string) error {
	if o.looks < 0 {
		what += " after that"
	}
	o.done = append(o.done, what)
	return nil
}

func (o *overtaken) RequireOurs(context.Context) error {
	if o.looks--; o.looks < 0 {
		return errOther
	}
	return nil
}

func (o *overtaken) Columns(ctx context.Context, table string) (Header, error) {
	return o.units.Columns(ctx, table)
}
func (o *overtaken) Shown(context.Context, string) ([]string, error)           { return []string{"acme"}, nil }
func (o *overtaken) RequireDirectory(context.Context, string) error            { return nil }
func (o *overtaken) Accounts(context.Context) ([]adlens.Account, error)        { return nil, nil }
func (o *overtaken) Began(context.Context, string) (string, error)             { return o.began, nil }
func (o *overtaken) Done(context.Context, string) error                        { return o.note("done") }
func (o *overtaken) RequireHeld(string) error                                  { return nil }
func (o *overtaken) Insert(_ context.Context, _, table string, _ *Block) error { return o.note(table) }
func (o *overtaken) Publish(context.Context, string, *Block, uint32) error     { return o.note("publish") }
func (o *overtaken) Reserve(context.Context, string, int) (uint32, error) {
	return 5000, o.note("reserve")
}
func (o *overtaken) Live(ctx context.Context, account string, h Header) ([]Live, error) {
	if o.empty {
		return nil, nil
	}
	return o.units.Live(ctx, account, h)
}
func (o *overtaken) Reopen(context.Context) error { return o.note("reopen") }

func (o *overtaken) Faults(context.Context, string) ([]string, error) {
	if o.whole {
		return nil, nil
	}
	return []string{"facts", "units", "products", "titles", "keys", "links", "seals"}, nil
}

// LoadedSince is nothing where the test's database lost the notes.
func (o *overtaken) LoadedSince(_ context.Context, _ string, at time.Time) (Loads, error) {
	if o.loaded.Files == nil || !at.Equal(o.now) {
		return Loads{}, errCall
	}
	return o.loaded, nil
}

func (o *overtaken) MakeRoom(context.Context, string, func(time.Duration)) (Room, error) {
	return o, o.note("clear")
}

func (o *overtaken) Complete(ctx context.Context, _ string, _ manifest.Manifest, before func(context.Context) error) ([]string, error) {
	for range 2 {
		if err := before(ctx); err != nil {
			return nil, err
		}
		o.note("derive")
	}
	return nil, nil
}

// notices are the notices of a restore.
type notices struct {
	silence
	all []string
}

func (n *notices) Notice(text string) { n.all = append(n.all, text) }

func TestARestoreInPlaceSaysHowManyFaultsItDoesNotName(t *testing.T) {
	source := units{&shelf{now: time.Date(2026, 11, 2, 3, 0, 0, 0, time.UTC), generation: 1031, stored: map[uint32]int{1031: 3}, promised: 3}}
	place, first := takeWhole(t, source, source.clock)
	var taken Taken
	for _, identity := range []string{"of another database", ""} {
		source.now = source.now.Add(time.Hour)
		var err error
		if taken, err = Take(t.Context(), source, place, Options{Now: source.clock, Identity: identity}, silence{}); err != nil {
			t.Fatal(err)
		}
	}
	lock := func(context.Context, string, func(string)) (func() error, error) {
		return func() error { return nil }, nil
	}
	var shown notices
	earlier, err := EarlierAccounts(t.Context(), place, taken)
	if err != nil {
		t.Fatal(err)
	}
	_, err = Restore(t.Context(), place, taken, &overtaken{units: source, looks: 1000}, Restoring{Account: "acme", Schema: 1, Earlier: earlier, Lock: lock}, &shown)
	want := "it is damaged (facts; units; products; titles; keys; and 2 more); the backup is looked through, and takes its place"
	if err != nil || !slices.Contains(shown.all, want) {
		t.Errorf("the notices are %q: %v", shown.all, err)
	}
	want = "backup " + taken.ID() + " has acme as of " + adlens.FormatTime(first.TakenAt) + ": "
	if !slices.ContainsFunc(shown.all, func(text string) bool { return strings.HasPrefix(text, want) }) {
		t.Errorf("the notices are %q, want one that begins with %q", shown.all, want)
	}
}

// A restore in place looks before everything that it writes whether it was overtaken, and
// writes nothing once it was.
func TestARestoreInPlaceStopsOnceItIsOvertaken(t *testing.T) {
	source := units{&shelf{now: time.Date(2026, 11, 2, 3, 0, 0, 0, time.UTC), generation: 1031, stored: map[uint32]int{1031: 3}, promised: 3}}
	place, taken := takeWhole(t, source, source.clock)
	lock := func(context.Context, string, func(string)) (func() error, error) {
		return func() error { return nil }, nil
	}
	restore := func(looks int) (done []string, err error) {
		// A note that a restore of all accounts has left says nothing of this one's damage.
		o := &overtaken{units: source, looks: looks, began: taken.ID()}
		_, err = Restore(t.Context(), place, taken, o, Restoring{Account: "acme", Schema: 1, Lock: lock}, silence{})
		return o.done, err
	}
	whole, err := restore(1000)
	if want := []string{"clear", "reserve", "facts", "derive", "derive", "publish", "reopen"}; err != nil || !slices.Equal(whole, want) {
		t.Fatalf("a restore did %v, expected %v: %v", whole, want, err)
	}
	there := &overtaken{units: source, began: taken.ID(), whole: true}
	if _, err := Restore(t.Context(), place, taken, there, Restoring{Account: "acme", Schema: 1, Lock: lock}, silence{}); err != nil || !slices.Equal(there.done, []string{"done"}) {
		t.Errorf("a restore of what is there did %v: %v", there.done, err)
	}
	for _, account := range []string{"acme", ""} {
		added := &overtaken{units: source, began: taken.ID(), whole: true, empty: true}
		if _, err := Restore(t.Context(), place, taken, added, Restoring{Account: account, Schema: 1, Lock: lock}, silence{}); err == nil || !strings.Contains(err.Error(), "acme is there, and nothing of what the backup has of it") || added.done != nil {
			t.Errorf("a restore beside an account that was added since the one before was killed did %v: %v", added.done, err)
		}
	}
	damaged := &overtaken{units: source, began: taken.ID()}
	if _, err := Restore(t.Context(), place, taken, damaged, Restoring{Schema: 1, Lock: lock}, silence{}); err == nil || !strings.Contains(err.Error(), "damaged since: acme") || damaged.done != nil {
		t.Errorf("a restore of all accounts, one of which was damaged since, did %v: %v", damaged.done, err)
	}
	for looks := range len(whole) - 2 { // the room itself looks before it clears and reopens
		done, err := restore(looks)
		if !errors.Is(err, errOther) || !slices.Equal(done, whole[:looks+1]) {
			t.Errorf("overtaken after %d looks, a restore did %v, expected %v: %v", looks, done, fmt.Sprint(whole[:looks+1]), err)
		}
	}
}

// target is a database whose accounts are what a test says at each look.
type target struct {
	*overtaken
	shown   [][]string
	left    []string
	loads   bool  // whether loads are among what is left
	damaged error // what the directory lost
}

func (g *target) Shown(context.Context, string) ([]string, error) {
	now := g.shown[0]
	g.shown = g.shown[min(1, len(g.shown)-1):]
	return now, nil
}

func (g *target) Left(context.Context, string) ([]string, error)            { return g.left, nil }
func (g *target) Clear(context.Context, string, string) error               { return g.note("clear") }
func (g *target) Begin(context.Context, string, string) error               { return g.note("begin") }
func (g *target) Place(context.Context, string) error                       { return g.note("place") }
func (g *target) HasLoads(context.Context, string) (bool, error)            { return g.loads, nil }
func (g *target) Recall(context.Context, string) error                      { return g.note("recall") }
func (g *target) RequireDirectory(context.Context, string) error            { return g.damaged }
func (g *target) MendDirectory(context.Context, string, func(string)) error { return g.note("mend") }

// A restore takes nothing for done that it did not do, and away nothing that it may not.
func TestARestoreDoesWhatItsTargetAllows(t *testing.T) {
	source := units{&shelf{now: time.Date(2026, 11, 2, 3, 0, 0, 0, time.UTC), generation: 1031, stored: map[uint32]int{1031: 3}, promised: 3}}
	place, taken := takeWhole(t, source, source.clock)
	cut := newFailing(t)
	if err := os.CopyFS(cut.path, os.DirFS(place.String())); err != nil {
		t.Fatal(err)
	}
	figures, err := filepath.Glob(filepath.Join(cut.path, "accounts/acme/facts-*"))
	if err != nil || len(figures) != 1 {
		t.Fatal(figures, err)
	}
	if err := os.Truncate(figures[0], 20); err != nil {
		t.Fatal(err)
	}
	none, there := []string(nil), []string{"acme"}
	restored := []string{"reserve", "facts", "derive", "derive", "publish"}
	for _, c := range []struct {
		name, account string
		from          Place
		g             target
		done          []string
		want          string
	}{
		{"of another backup than that which is there", "", place, target{overtaken: &overtaken{whole: true, began: "20261101"}, shown: [][]string{there}}, nil, "the database is not empty"},
		{"of two accounts where one is", "", place, target{overtaken: &overtaken{whole: true, began: taken.ID()}, shown: [][]string{{"acme", "bolt"}}}, nil, "the database is not empty"},
		{"next to rows of no restore", "", place, target{overtaken: &overtaken{}, shown: [][]string{none}, left: []string{"facts"}}, nil, "that is no empty database"},
		{"after one that was killed", "", place, target{overtaken: &overtaken{began: "20261101"}, shown: [][]string{none}, left: []string{"facts"}},
			append([]string{"clear", "begin", "place"}, append(restored, "done")...), ""},
		{"next to an account that is added", "", place, target{overtaken: &overtaken{}, shown: [][]string{none, there}}, append([]string{"begin", "place"}, restored...), "was added meanwhile"},
		{"in place, of a damaged backup", "acme", cut, target{overtaken: &overtaken{}, shown: [][]string{there}}, nil, "is damaged"},
		{"in place, where more than the directory is damaged", "acme", place,
			target{overtaken: &overtaken{}, shown: [][]string{there}, damaged: &adlens.Error{Kind: adlens.Damaged, Err: errors.New("api_keys lost 1 of its rows")}},
			append([]string{"mend", "clear"}, append(restored, "reopen")...), ""},
	} {
		c.g.units, c.g.looks = source, 1000
		lock := func(context.Context, string, func(string)) (func() error, error) {
			return func() error { return nil }, nil
		}
		_, err := Restore(t.Context(), c.from, taken, &c.g, Restoring{Account: c.account, Schema: 1, Lock: lock}, silence{})
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) || !slices.Equal(c.g.done, c.done) {
			t.Errorf("a restore %s did %v, expected %v: %v, expected %q", c.name, c.g.done, c.done, err, c.want)
		}
	}
}

// withDirectory is a source of an account with a row in each table that shows it.
type withDirectory struct{ units }

func (w withDirectory) Export(ctx context.Context, e Extent, h Header, visit func([]byte) error) error {
	if isShown(e.Table) {
		return visit(w.rowOf(1))
	}
	return w.units.Export(ctx, e, h, visit)
}

// An account that the directory forgot is unknown until its keys and links are there: else a
// restore that was interrupted would leave it without them, and whole.
func TestAForgottenAccountIsShownLast(t *testing.T) {
	source := withDirectory{units{&shelf{now: time.Date(2026, 11, 2, 3, 0, 0, 0, time.UTC), generation: 1031, stored: map[uint32]int{1031: 3}, promised: 3}}}
	place, taken := takeWhole(t, source, source.clock)
	lock := func(context.Context, string, func(string)) (func() error, error) {
		return func() error { return nil }, nil
	}
	tables := shownTables()
	if tables[len(tables)-1] != "accounts" || len(tables) < 4 {
		t.Errorf("shown are %v", tables)
	}
	back := slices.Concat([]string{"recall"}, tables, []string{"mend"})
	restored := []string{"reserve", "facts", "derive", "derive", "publish"}
	older := source.units
	older.shelf = &shelf{generation: 1030, promised: 3}
	for _, c := range []struct {
		name string
		g    target
		want []string
	}{
		{"whose loads are whole", target{overtaken: &overtaken{whole: true, units: source.units}, loads: true}, back},
		{"whose loads are older than the backup's", target{overtaken: &overtaken{whole: true, units: older}, loads: true}, slices.Concat([]string{"recall", "clear"}, tables, []string{"mend"}, restored, []string{"reopen"})},
		{"of which no load is left", target{overtaken: &overtaken{units: source.units}}, slices.Concat([]string{"clear", "begin", "place"}, restored, tables, []string{"done"})},
	} {
		c.g.looks, c.g.shown, c.g.left = 1000, [][]string{nil}, []string{"facts", "day_uses"}
		if _, err := Restore(t.Context(), place, taken, &c.g, Restoring{Account: "acme", Schema: 1, Lock: lock}, silence{}); err != nil || !slices.Equal(c.g.done, c.want) {
			t.Errorf("the restore of an account %s did %v, want %v: %v", c.name, c.g.done, c.want, err)
		}
	}
}

// Rows come in blocks, but for live units: what the manifest does not name is not the
// account's.
func TestLiveUnitsAreOneBlock(t *testing.T) {
	source := units{&shelf{generation: 1}}
	place := newFailing(t)
	for table, want := range map[string][]int{"facts": {blockRows, 1}, UnitTable: {blockRows + 1}} {
		h, err := source.Columns(t.Context(), table)
		if err != nil {
			t.Fatal(err)
		}
		d, err := newDraft(place, table, h)
		if err != nil {
			t.Fatal(err)
		}
		row := map[string][]byte{"facts": source.rowOf(1), UnitTable: unitRow(1, 1, manifest.Month, 3)}[table]
		for range blockRows + 1 {
			if err := d.writeRow(row); err != nil {
				t.Fatal(err)
			}
		}
		if err := d.finishFile(); err != nil {
			t.Fatal(err)
		}
		d.Name = fileName("acme", table, d.SHA256)
		if err := errors.Join(place.Keep(t.Context(), d.Name, d.on), d.discardDraft()); err != nil {
			t.Fatal(err)
		}
		var blocks []int
		r := &restoring{Sink: &overtaken{units: source}, place: place, progress: silence{}}
		if err := r.readBlocks(t.Context(), "acme", d.File, func(b *Block) error { blocks = append(blocks, b.Rows); return nil }); err != nil || !slices.Equal(blocks, want) {
			t.Errorf("%s comes in blocks of %v, expected %v: %v", table, blocks, want, err)
		}
	}
}

func TestABackupOfANewerSchemaIsRefused(t *testing.T) {
	source := units{&shelf{now: time.Date(2026, 11, 2, 3, 0, 0, 0, time.UTC), generation: 1031, stored: map[uint32]int{1031: 3}, promised: 3}}
	place, taken := takeWhole(t, source, source.clock)
	taken.Schema = 2
	o := &overtaken{units: source, looks: 1000}
	lock := func(context.Context, string, func(string)) (func() error, error) {
		return func() error { return nil }, o.note("lock")
	}
	_, err := Restore(t.Context(), place, taken, o, Restoring{Account: "acme", Schema: 1, Lock: lock}, silence{})
	if err == nil || !strings.Contains(err.Error(), "with schema 2, this adlens knows 1") || o.done != nil {
		t.Errorf("the restore did %v: %v", o.done, err)
	}
}

func TestRowsThatDoNotFitTheirTableAreRefused(t *testing.T) {
	r := &restoring{Sink: &overtaken{units: units{&shelf{}}}}
	for _, c := range []struct {
		table string
		h     Header
		want  string
	}{
		{"facts", mustHeader("generation", "UInt32"), ""},
		{"system.users", mustHeader("generation", "UInt32"), `"system.users" is no table of a backup`},
		{"facts", mustHeader("generation", "UInt32", "other", "UInt32"), "its column other of type UInt32 is not in the table facts"},
		{"facts", mustHeader("generation", "UInt32", "value", "String"), "its column value of type String is not in the table facts"},
		{"facts", mustHeader("value", "UInt32"), "does not say which generations its rows have"},
	} {
		err := r.checkColumns(t.Context(), File{Name: "file", Table: c.table}, c.h)
		if isDamage(err) != (c.want != "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s with %v: %v, want %q", c.table, c.h, err, c.want)
		}
	}
}

// later is a database of a schema that has more columns than the backup.
type later struct{ *overtaken }

func (l later) Columns(ctx context.Context, table string) (Header, error) {
	h, err := l.overtaken.Columns(ctx, table)
	return append(slices.Clone(h), mustHeader("report_columns", "Array(LowCardinality(String))")...), err
}

// A column that came after the backup gets its default, also of live units; those that a
// restore reads have to be there.
func TestABackupFromBeforeAColumnIsRestored(t *testing.T) {
	source := units{&shelf{now: time.Date(2026, 11, 2, 3, 0, 0, 0, time.UTC), generation: 1031, stored: map[uint32]int{1031: 3}, promised: 3}}
	place, taken := takeWhole(t, source, source.clock)
	lock := func(context.Context, string, func(string)) (func() error, error) {
		return func() error { return nil }, nil
	}
	o := &overtaken{units: source, looks: 1000}
	if _, err := Restore(t.Context(), place, taken, later{o}, Restoring{Account: "acme", Schema: 1, Lock: lock}, silence{}); err != nil || !slices.Contains(o.done, "publish") {
		t.Errorf("the restore did %v: %v", o.done, err)
	}
	for i, column := range unitHeader {
		r := &restoring{Sink: later{o}}
		lacking := slices.Delete(slices.Clone(unitHeader), i, i+1)
		if err := r.checkColumns(t.Context(), File{Table: UnitTable}, lacking); !isDamage(err) {
			t.Errorf("units without their %s are restored: %v", column.Name, err)
		}
	}
}
