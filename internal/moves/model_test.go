package moves

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"adlens"
	"adlens/internal/backup"
	"adlens/internal/commits"
	"adlens/internal/manifest"
)

// model is some shards, the last loads and other rows of one account at each, and what a move
// does there. Shards have the same rows unless a test says otherwise.
type model struct {
	place    uint16
	newest   map[uint16]uint32   // by shard
	left     map[uint16][]string // by shard
	faults   map[uint16][]string // by shard, of what is live there
	spoilt   []string            // faults of what is copied
	unlike   string              // the table whose copy differs
	versions map[uint16][]uint32 // of the manifests that a shard gives one after the other
	age      time.Duration       // of the last commit
	live     []manifest.Entry

	calls   []string
	extents []backup.Extent // copied
	fails   func(call string) bool
	cancel  func() // comes with the failure, as where it was Ctrl-C
}

var errCall = errors.New("a call failed")

// noteCall keeps a call, and fails where a test says.
func (m *model) noteCall(call string, of ...any) error {
	call = fmt.Sprintf(call, of...)
	m.calls = append(m.calls, call)
	if m.fails != nil && m.fails(call) {
		m.cancel()
		return fmt.Errorf("%s: %w", call, errCall)
	}
	return nil
}

// moveAccount brings the account to a shard.
func (m *model) moveAccount(t *testing.T, to uint16, copied func(rows, kept uint64)) (uint64, error) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	m.calls, m.extents, m.cancel = nil, nil, cancel
	mover := NewMover(m)
	mover.Wait = func(ctx context.Context, d time.Duration) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return m.noteCall("wait %s", d)
	}
	return mover.Move(ctx, "acme", to, copied)
}

func (m *model) Numbers() []uint16 { return []uint16{1, 2, 3} }

func (m *model) RequireShard(_ context.Context, shard uint16) error {
	return m.noteCall("find shard %d", shard)
}

func (m *model) Place(context.Context, string) (uint16, error) {
	return m.place, m.noteCall("read the place")
}

func (m *model) SetPlace(_ context.Context, _ string, shard uint16) error {
	return m.noteCall("place on %d", shard)
}

func (m *model) SealPlaces(context.Context) error { return m.noteCall("seal the places") }
func (m *model) RequireHeld(string) error         { return m.noteCall("look at the lock") }

func (m *model) FenceOff(_ context.Context, shard uint16, _ string) error {
	return m.noteCall("fence off at %d", shard)
}

func (m *model) NewestCommit(_ context.Context, shard uint16, _ string) (uint32, error) {
	return m.newest[shard], m.noteCall("newest commit at %d", shard)
}

func (m *model) CommittedWithin(_ context.Context, shard uint16, _ string, within time.Duration) (bool, error) {
	return m.age < within && shard == m.place, m.noteCall("age at %d", shard)
}

func (m *model) Manifest(_ context.Context, shard uint16, _ string) (manifest.Manifest, error) {
	version := m.newest[1]
	if some := m.versions[shard]; len(some) > 0 {
		version, m.versions[shard] = some[0], some[1:]
	}
	return manifest.New(version, m.live...), m.noteCall("manifest at %d", shard)
}

func (m *model) Faults(_ context.Context, shard uint16, _ string, live *manifest.Manifest) ([]string, error) {
	if live != nil && shard != m.place {
		return m.spoilt, m.noteCall("verify commit %d at %d", live.Version, shard)
	}
	return m.faults[shard], m.noteCall("verify at %d", shard)
}

func (m *model) Fingerprint(_ context.Context, shard uint16, e backup.Extent) (string, error) {
	print := "alike"
	if e.Table == m.unlike {
		print = fmt.Sprint("of shard ", shard)
	}
	return print, m.noteCall("fingerprint %s at %d", e.Table, shard)
}

func (m *model) Left(_ context.Context, shard uint16, _ string) ([]string, error) {
	return m.left[shard], m.noteCall("left at %d", shard)
}

func (m *model) HeldUntil(_ context.Context, shard uint16, _ string) (Deadline, error) {
	return Deadline{}, m.noteCall("held at %d", shard)
}

func (m *model) Clear(_ context.Context, shard uint16, _, table string, _ Deadline) error {
	return m.noteCall("clear %s at %d", table, shard)
}

func (m *model) Copy(_ context.Context, from, to uint16, e backup.Extent, copied func(uint64)) error {
	m.extents = append(m.extents, e)
	copied(2)
	if e.Table == "commits" {
		m.newest[to] = m.newest[from]
	}
	return m.noteCall("copy %s from %d to %d", e.Table, from, to)
}

// changes are those calls after some that change rows or places.
func changes(calls []string) []string {
	return slices.DeleteFunc(slices.Clone(calls), func(call string) bool {
		verb, _, _ := strings.Cut(call, " ")
		return !slices.Contains([]string{"copy", "place", "clear"}, verb)
	})
}

// interrupted is an account on the first shard of which a move back has left rows on the second.
func interrupted() *model {
	return &model{place: 1, newest: map[uint16]uint32{1: 7, 2: 7}, age: time.Second,
		left: map[uint16][]string{1: {"commits"}, 2: {"commits"}}, live: []manifest.Entry{{Unit: manifest.Unit{Kind: manifest.Titles}, Generation: 5}}}
}

// What a move cannot find out, it takes for nothing: it ends, and changes nothing more.
func TestAMoveEndsWithEachCallThatFails(t *testing.T) {
	for what, to := range map[string]uint16{"to another shard": 2, "to where it is": 1} {
		whole := interrupted()
		if rows, err := whole.moveAccount(t, to, func(uint64, uint64) {}); err != nil || rows != 2*uint64(len(whole.extents)) {
			t.Fatalf("a move %s copied %d rows: %v", what, rows, err)
		}
		for i, call := range whole.calls {
			m := interrupted()
			m.fails = func(string) bool { return len(m.calls) == i+1 }
			_, err := m.moveAccount(t, to, func(uint64, uint64) {})
			if after := changes(m.calls[i+1:]); !errors.Is(err, errCall) || len(after) > 0 {
				t.Errorf("a move %s where %q fails goes on with %v: %v", what, call, after, err)
			}
			// Also after Ctrl-C the lock is kept for those who may still write or load.
			want := ""
			switch verb, _, _ := strings.Cut(call, " "); verb {
			case "copy":
				want = "wait " + commits.Leaving.String()
			case "place":
				want = "wait " + Settling.String()
			default:
				continue
			}
			if after := m.calls[i+1:]; !slices.Equal(after, []string{want}) {
				t.Errorf("a move %s where %q fails goes on with %v, want %s", what, call, after, want)
			}
		}
	}
}

// Each of these would lose rows, or have the account read where not all of it is.
func TestAMoveLeavesAnAccountWhereAllOfItIs(t *testing.T) {
	for _, c := range []struct {
		name   string
		to     uint16
		become func(m *model)
		clears bool // what an earlier move has left where it is going to be
		want   string
	}{
		{"whose copy does not add up", 2, func(m *model) { m.spoilt = []string{"facts lost rows"} }, true, "the account stays where it is, because what was copied does not add up: facts lost rows"},
		{"whose copy has other rows", 2, func(m *model) { m.unlike = "ledger" }, true, "its rows of ledger are not the same at shard 2 (of shard 2) as at shard 1 (of shard 1)"},
		{"that was loaded meanwhile", 2, func(m *model) { m.versions = map[uint16][]uint32{1: {7, 8}} }, true, "shard 1 has another load of it (commit 8) than was copied (commit 7)"},
		{"that was loaded meanwhile, with the record of commits", 2, func(m *model) { m.versions = map[uint16][]uint32{2: {8}} }, true, "shard 2 has another load of it (commit 8) than was copied (commit 7)"},
		{"whose copy lacks the newest load", 2, func(m *model) { m.versions = map[uint16][]uint32{2: {6}} }, true, "shard 2 has another load of it (commit 6) than was copied (commit 7)"},
		{"that is newer where it goes", 2, func(m *model) { m.newest[2] = 8 }, false, "shard 2 has a newer load of account acme (commit 8) than shard 1 (commit 7)"},
		{"that is only where it goes", 2, func(m *model) { m.newest[1], m.newest[2] = 0, 1 }, false, "adlens account move acme --shard 2 --lost takes what shard 2 has"},
		{"that is not whole", 2, func(m *model) { m.faults = map[uint16][]string{1: {"facts lost rows"}} }, false, "because what shard 1 has does not add up: facts lost rows"},
		{"that is not whole, to where it is", 1, func(m *model) { m.faults = map[uint16][]string{1: {"facts lost rows"}} }, false, "because what shard 1 has does not add up: facts lost rows"},
		{"that is newer elsewhere, to where it is", 1, func(m *model) { m.left[3], m.newest[3] = []string{"commits"}, 8 }, false, "shard 3 has a newer load of account acme (commit 8)"},
	} {
		m := interrupted()
		c.become(m)
		_, err := m.moveAccount(t, c.to, func(uint64, uint64) {})
		did := slices.DeleteFunc(changes(m.calls), func(call string) bool { return strings.HasPrefix(call, "copy ") })
		want := []string(nil)
		if c.clears {
			want = []string{"clear commits at 2"}
		}
		if err == nil || !strings.Contains(err.Error(), c.want) || !slices.Equal(did, want) {
			t.Errorf("a move of an account %s did %v: %v, want %v and %q", c.name, did, err, want, c.want)
		}
	}
}

// How long a move waits follows from who may still read, and load, at which shard.
func TestAMoveWaitsForThoseWhoMayStillRead(t *testing.T) {
	const apart = Settling + commits.Leaving
	for _, c := range []struct {
		name string
		to   uint16
		age  time.Duration // of the last commit
		left bool          // rows of an earlier move, where it goes
		want []time.Duration
	}{
		{"that has been as it is for long", 2, committing + commits.Leaving, false, []time.Duration{Settling, commits.Leaving}},
		{"that was loaded just before all readers had left", 2, committing + commits.Leaving - 1, false, []time.Duration{commits.Leaving, Settling, commits.Leaving}},
		{"back", 2, time.Hour, true, []time.Duration{apart, Settling, commits.Leaving}},
		{"to where it is", 1, time.Second, true, []time.Duration{apart}}, // the move before may have ended right after its place
		{"to where it is alone", 1, time.Second, false, nil},
	} {
		m := interrupted()
		m.age = c.age
		if !c.left {
			m.newest[2], m.left[2] = 0, nil
		}
		if _, err := m.moveAccount(t, c.to, func(uint64, uint64) {}); err != nil {
			t.Errorf("a move of an account %s: %v", c.name, err)
		}
		var waits []string
		for _, call := range m.calls {
			if of, ok := strings.CutPrefix(call, "wait "); ok {
				waits = append(waits, of)
			}
		}
		if want := strings.Fields(strings.Trim(fmt.Sprint(c.want), "[]")); !slices.Equal(waits, want) {
			t.Errorf("a move of an account %s waits %v, want %v", c.name, waits, want)
		}
	}
}

// What one shard cannot delete keeps no other from being cleared, and the account's own stays.
func TestWhatIsLeftGoesFromAllOtherShards(t *testing.T) {
	m := interrupted()
	m.place, m.newest[3], m.left[3] = 2, 6, []string{"seals", "facts"}
	m.fails = func(call string) bool { return call == "clear commits at 1" }
	_, err := m.moveAccount(t, 2, func(uint64, uint64) {})
	if want := []string{"clear commits at 1", "clear seals at 3", "clear facts at 3"}; !errors.Is(err, errCall) || !slices.Equal(changes(m.calls), want) {
		t.Errorf("the move did %v, want %v: %v", changes(m.calls), want, err)
	}
	// A move before may have been interrupted right before its place was sealed.
	if at := slices.Index(m.calls, "seal the places"); at < 0 || at > slices.Index(m.calls, "clear commits at 1") {
		t.Errorf("the places are not sealed before: %v", m.calls)
	}
}

// Rows go before what names them, all generations once, and a person hears of all rows.
func TestAMoveCopiesEachLiveGenerationOnce(t *testing.T) {
	m := interrupted()
	const titles = 2*generationsAtOnce + 1
	m.live = nil
	for i := range titles {
		m.live = append(m.live, manifest.Entry{Unit: manifest.Unit{Kind: manifest.Month, Start: adlens.Day(i)}, Generation: uint32(i + 1)})
	}
	var heard uint64
	rows, err := m.moveAccount(t, 2, func(rows, _ uint64) { heard += rows })
	if err != nil || rows != 2*uint64(len(m.extents)) || heard != rows {
		t.Errorf("%d rows of %d extents were copied, and %d heard of: %v", rows, len(m.extents), heard, err)
	}
	copied := map[string][]uint32{}
	var order []string
	for _, e := range m.extents {
		if len(e.Generations) > generationsAtOnce || e.Account != "acme" {
			t.Errorf("%d generations of account %q are copied at once", len(e.Generations), e.Account)
		}
		copied[e.Table] = append(copied[e.Table], e.Generations...)
		order = append(order, e.Table)
	}
	for _, table := range []string{"facts", "day_totals", "month_products", "month_ad_groups"} {
		if all := copied[table]; len(all) != titles || len(slices.Compact(slices.Sorted(slices.Values(all)))) != titles {
			t.Errorf("%d generations of %s were copied, want %d", len(all), table, titles)
		}
	}
	last := []string{"number_blocks", "accounted", "ledger", "commit_units", "commits", "seals"}
	if got := order[len(order)-len(last):]; !slices.Equal(got, last) {
		t.Errorf("copied last are %v, want %v", got, last)
	}
}

// A person who ends a move does not wait for its readers.
func TestAMoverWaitsUntilItsContextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		m, began := NewMover(&model{}), time.Now()
		if err := m.Wait(ctx, time.Hour); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != time.Second {
			t.Errorf("the wait ends after %s: %v", time.Since(began), err)
		}
		if err := m.Wait(t.Context(), time.Hour); err != nil || time.Since(began) != time.Hour+time.Second {
			t.Errorf("a whole wait ends after %s: %v", time.Since(began), err)
		}
	})
}
