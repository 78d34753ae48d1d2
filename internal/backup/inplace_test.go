package backup

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"adlens"
)

// refusing is a database of which one call fails.
type refusing struct {
	*target
	calls  []string
	fails  int // the call that does, by its number; -1 for none
	before int // how much had been done when it failed
	made   time.Time
	live   []uint32 // versions of the live units, nil for those of the target
	lost   error    // what reading these fails with
}

var errCall = errors.New("a call failed")

func (r *refusing) noteCall(what string) error {
	if r.calls = append(r.calls, what); len(r.calls)-1 == r.fails {
		r.before = len(r.done)
		return errCall
	}
	return nil
}

func (r *refusing) Faults(ctx context.Context, account string) ([]string, error) {
	faults, err := r.target.Faults(ctx, account)
	return faults, errors.Join(err, r.noteCall("faults"))
}

func (r *refusing) HasLoads(ctx context.Context, account string) (bool, error) {
	has, err := r.target.HasLoads(ctx, account)
	return has, errors.Join(err, r.noteCall("loads"))
}

func (r *refusing) RequireDirectory(ctx context.Context, account string) error {
	if err := r.noteCall("directory"); err != nil {
		return err
	}
	return r.target.RequireDirectory(ctx, account)
}

func (r *refusing) Recall(ctx context.Context, account string) error {
	if err := r.noteCall("recall"); err != nil {
		return err
	}
	return r.target.Recall(ctx, account)
}

func (r *refusing) Live(ctx context.Context, account string, h Header) ([]Live, error) {
	if err := r.noteCall("live"); err != nil || r.lost != nil {
		return nil, cmp.Or(err, r.lost)
	}
	if r.live == nil {
		return r.target.Live(ctx, account, h)
	}
	var all []Live
	for _, version := range r.live {
		all = append(all, Live{Version: version})
	}
	return all, nil
}

func (r *refusing) MendDirectory(ctx context.Context, account string, tell func(string)) error {
	if err := r.noteCall("mend"); err != nil {
		return err
	}
	return r.target.MendDirectory(ctx, account, tell)
}

func (r *refusing) MakeRoom(ctx context.Context, account string, wait func(time.Duration)) (Room, error) {
	if err := r.noteCall("make room"); err != nil {
		return nil, err
	}
	return r.target.MakeRoom(ctx, account, wait)
}

func (r *refusing) Accounts(context.Context) ([]adlens.Account, error) {
	return []adlens.Account{{ID: "acme", CreatedAt: r.made}}, r.noteCall("accounts")
}

func (r *refusing) Columns(ctx context.Context, table string) (Header, error) {
	return withCreation{withDirectory{r.units}}.Columns(ctx, table)
}

// withCreation is a source of an account that says when it was made.
type withCreation struct{ withDirectory }

var creation = time.Date(2026, 1, 2, 3, 4, 5, 6_000_000, time.UTC)

func (w withCreation) Columns(ctx context.Context, table string) (Header, error) {
	if table == "accounts" {
		return NewHeader([]string{"created_at"}, []string{"DateTime64(3, 'UTC')"})
	}
	return w.withDirectory.Columns(ctx, table)
}

func (w withCreation) Export(ctx context.Context, e Extent, h Header, visit func([]byte) error) error {
	if e.Table == "accounts" {
		return visit(binary.LittleEndian.AppendUint64(nil, uint64(creation.UnixMilli())))
	}
	return w.withDirectory.Export(ctx, e, h, visit)
}

// repairAccount restores an account of a backup in its place.
func repairAccount(t *testing.T, place Place, taken Taken, into Sink, told Progress) error {
	t.Helper()
	lock := func(context.Context, string, func(string)) (func() error, error) {
		return func() error { return nil }, nil
	}
	_, err := Restore(t.Context(), place, taken, into, Restoring{Account: "acme", Schema: 1, Lock: lock}, told)
	return err
}

// What a restore in place cannot find out, it takes for nothing: it ends, and does nothing more.
func TestARestoreInPlaceEndsWithEachCallThatFails(t *testing.T) {
	source := withCreation{withDirectory{units{&shelf{now: time.Date(2026, 11, 2, 3, 0, 0, 0, time.UTC), generation: 1031, stored: map[uint32]int{1031: 3}, promised: 3}}}}
	place, taken := takeWhole(t, source, source.clock)
	keyless := &adlens.Error{Kind: adlens.Damaged, Err: errors.New("api_keys lost 1 of its rows")}
	old := source.units
	old.shelf = &shelf{generation: 1030, promised: 3}
	for _, c := range []struct {
		name   string
		become func(r *refusing)
		clears bool
	}{
		{"whose figures are damaged", func(r *refusing) { r.whole = false }, true},
		{"whose directory is damaged too", func(r *refusing) { r.whole, r.damaged = false, keyless }, true},
		{"that is unknown", func(r *refusing) { r.shown, r.loads = [][]string{nil}, true }, false},
		{"that is unknown, with older loads", func(r *refusing) { r.shown, r.loads, r.units = [][]string{nil}, true, old }, true},
		{"that is unknown, with damaged loads", func(r *refusing) { r.shown, r.loads, r.lost = [][]string{nil}, true, keyless }, true},
		{"that is unknown, with units of several loads", func(r *refusing) { r.shown, r.loads, r.live = [][]string{nil}, true, []uint32{1030, 1031, 7} }, false},
	} {
		restore := func(fails int) (*refusing, notices, error) {
			r := &refusing{target: &target{overtaken: &overtaken{units: source.units, looks: 1000, whole: true}, shown: [][]string{{"acme"}}, left: []string{"facts"}}, fails: fails, made: creation}
			c.become(r)
			var told notices
			err := repairAccount(t, place, taken, r, &told)
			return r, told, err
		}
		whole, told, err := restore(-1)
		if err != nil || slices.Contains(whole.done, "clear") != c.clears {
			t.Errorf("the restore of an account %s did %v: %v", c.name, whole.done, err)
		}
		// Keys that were revoked since the backup work again once the directory is back.
		if says := slices.ContainsFunc(told.all, func(text string) bool { return strings.Contains(text, "to the platform, are as of 2026-11-02") }); says != whole.loads {
			t.Errorf("of an account %s is told %q", c.name, told.all)
		}
		for i, call := range whole.calls {
			r, _, err := restore(i)
			if !errors.Is(err, errCall) || len(r.done) > r.before {
				t.Errorf("the restore of an account %s where %q fails goes on with %v: %v", c.name, call, r.done[r.before:], err)
			}
		}
	}
}

// An account that is whole, or another one with the name of the backup's, is not cleared.
func TestARestoreInPlaceClearsOnlyTheDamagedAccountOfItsBackup(t *testing.T) {
	source := withCreation{withDirectory{units{&shelf{now: time.Date(2026, 11, 2, 3, 0, 0, 0, time.UTC), generation: 1031, stored: map[uint32]int{1031: 3}, promised: 3}}}}
	place, taken := takeWhole(t, source, source.clock)
	undated, of := takeWhole(t, source.units, source.clock)
	for _, c := range []struct {
		name  string
		whole bool
		made  time.Time
		place Place
		taken Taken
		want  string
	}{
		{"that is whole", true, creation, place, taken, "account acme is there already, and whole"},
		{"that was made later", false, creation.Add(time.Millisecond), place, taken, "that is another account with its name"},
		{"of which the backup does not say when it was made", false, creation, undated, of, "the backup does not say when the account was made"},
		{"that was made within the same millisecond", false, creation.Add(time.Microsecond), place, taken, ""},
	} {
		r := &refusing{target: &target{overtaken: &overtaken{units: source.units, looks: 1000, whole: c.whole}, shown: [][]string{{"acme"}}}, fails: -1, made: c.made}
		err := repairAccount(t, c.place, c.taken, r, silence{})
		if (err == nil) != (c.want == "") || err != nil && (!strings.Contains(err.Error(), c.want) || len(r.done) > 0) {
			t.Errorf("the restore of an account %s did %v: %v, want %q", c.name, r.done, err, c.want)
		}
	}
}

// What came after the backup is gone with a restore in place, which says so before it clears.
func TestARestoreInPlaceSaysWhatToLoadAgain(t *testing.T) {
	source := withCreation{withDirectory{units{&shelf{now: time.Date(2026, 11, 2, 3, 0, 0, 0, time.UTC), generation: 1031, stored: map[uint32]int{1031: 3}, promised: 3}}}}
	place, taken := takeWhole(t, source, source.clock)
	const asOf = "its figures, lists and records are as of 2026-11-02T03:00:00.000Z once it is restored: load again what came since"
	for _, c := range []struct {
		loaded Loads
		want   []string
	}{
		{Loads{}, []string{asOf, "which reports were loaded since cannot be read"}}, // the notes are damaged
		{Loads{Files: []string{"a.json"}}, []string{asOf, "1 report was loaded since: load them again: a.json"}},
		{Loads{Files: strings.Split("a.json b.json c.json d.json e.json f.json", " "), Days: "2026-11-02 to 2026-11-08"},
			[]string{asOf, "6 reports of 2026-11-02 to 2026-11-08 were loaded since: load them again: a.json, b.json, c.json, d.json, e.json and 1 more"}},
	} {
		r := &refusing{target: &target{overtaken: &overtaken{units: source.units, looks: 1000, loaded: c.loaded}, shown: [][]string{{"acme"}}}, fails: -1, made: creation}
		var told notices
		err := repairAccount(t, place, taken, r, &told)
		since := slices.DeleteFunc(told.all, func(text string) bool { return !strings.Contains(text, "since") })
		if err != nil || !slices.Equal(since, c.want) {
			t.Errorf("with %v loaded since, the restore says %q, want %q: %v", c.loaded, since, c.want, err)
		}
	}
}
