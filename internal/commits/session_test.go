package commits_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"adlens"
	"adlens/internal/commits"
	"adlens/internal/manifest"
	"adlens/internal/tables"
)

const account = "acme"

func newStore() *tables.Memory {
	return tables.NewMemory(func() time.Time { return time.Date(2026, 3, 5, 0, 0, 0, 0, time.UTC) })
}

// watched is a port that calls a test back: after a commit is requested, which
// it may keep from being carried out, and before the record is read.
type watched struct {
	*tables.Memory
	commit  func(carryOut func() error) error
	reading func(table string)
}

func (w watched) Commits() tables.Table[manifest.Commit] {
	return watchedTable[manifest.Commit]{w.Memory.Commits(), "commits", w}
}

func (w watched) Reservations() tables.Table[tables.Reservation] {
	return watchedTable[tables.Reservation]{w.Memory.Reservations(), "number_blocks", w}
}

type watchedTable[R any] struct {
	tables.Table[R]
	name string
	w    watched
}

func (t watchedTable[R]) Append(ctx context.Context, account string, rows ...R) error {
	carryOut := func() error { return t.Table.Append(ctx, account, rows...) }
	if t.name == "commits" && t.w.commit != nil {
		return t.w.commit(carryOut)
	}
	return carryOut()
}

func (t watchedTable[R]) Read(ctx context.Context, account string) ([]R, error) {
	if t.w.reading != nil {
		t.w.reading(t.name)
	}
	return t.Table.Read(ctx, account)
}

func begin(t *testing.T, port tables.Port, token string) *commits.Session {
	t.Helper()
	s, err := commits.Begin(t.Context(), port, account, token)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// reserving begins a session that has numbers.
func reserving(t *testing.T, port tables.Port, token string) *commits.Session {
	t.Helper()
	s := begin(t, port, token)
	if _, err := s.Number(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

// commit makes titles of so many rows live, and returns their generation.
func commit(t *testing.T, s *commits.Session, rows uint64) (uint32, error) {
	t.Helper()
	number, err := s.BeginCommit(t.Context())
	if err != nil {
		return 0, err
	}
	generation, err := s.Number(t.Context())
	if err != nil {
		return 0, err
	}
	return generation, s.Commit(t.Context(), number, []manifest.Entry{{Unit: manifest.Unit{Kind: manifest.Titles}, Generation: generation, Rows: rows}})
}

func live(t *testing.T, port tables.Port) uint32 {
	t.Helper()
	state, err := commits.Read(t.Context(), port, account)
	if err != nil {
		t.Fatal(err)
	}
	return state.Manifest.Generation(manifest.Unit{Kind: manifest.Titles})
}

var errLost = errors.New("the connection was lost")

// The commit's answer is lost, and it is carried out after another writer has
// read the record and before this one looks for it. The other's fence is going
// to keep it out, so it must not be believed to be live.
func TestACommitIsNotBelievedWhileAnotherWriterMayKeepItOut(t *testing.T) {
	store := newStore()
	var late func() error
	began := false
	looks := map[string]bool{}
	first := watched{Memory: store, commit: func(carryOut func() error) error {
		if late != nil {
			return carryOut()
		}
		late = carryOut
		return errLost
	}}
	// The other begins between the two reads of the look. Its own fence waits
	// until the look is over.
	var fence func() error
	first.reading = func(table string) {
		if late == nil || looks[table] {
			return
		}
		if looks[table] = true; len(looks) < 2 {
			return
		}
		second := watched{Memory: store, commit: func(carryOut func() error) error { fence = carryOut; return late() }}
		began = true
		commits.Begin(t.Context(), second, account, "second") // finds that its fence is not there yet
	}
	s := begin(t, first, "first")
	generation, err := commit(t, s, 1)
	if !began {
		t.Fatal("the look for the commit has not two reads")
	}
	if ferr := fence(); ferr != nil {
		t.Fatal(ferr)
	}
	if is := live(t, store) == generation; err == nil && !is || err != nil && !errors.Is(err, commits.ErrUnknown) && is {
		t.Errorf("the commit is live: %t, and was reported as %v", is, err)
	}
}

// The commit is carried out, and others build on it until one names all units: the
// record begins with that one then, and does not say what became of the first.
func TestACommitThatALaterOneHasTakenInIsNotSaidToBeLost(t *testing.T) {
	store := newStore()
	var carried, looked bool
	first := watched{Memory: store, commit: func(carryOut func() error) error {
		carried = true
		return errors.Join(carryOut(), errLost)
	}}
	first.reading = func(string) {
		if !carried || looked {
			return
		}
		looked = true
		second := reserving(t, store, "second")
		for range 200 {
			if _, err := commit(t, second, 2); err != nil {
				t.Fatal(err)
			}
		}
		if second.Chain().Root() < 200 {
			t.Fatalf("the record begins with %d", second.Chain().Root())
		}
	}
	_, err := commit(t, begin(t, first, "first"), 1)
	if !looked || !errors.Is(err, commits.ErrUnknown) {
		t.Errorf("the commit was taken in by a later one, and was reported as %v", err)
	}
}

// The engine ends at a write for which there is no space. Who is told of a commit
// that it ended in is told why.
func TestACommitOnAFullDiskOfWhichNothingIsKnownSaysThatItIsFull(t *testing.T) {
	kinds := []adlens.Kind{adlens.EngineUnavailable, adlens.DiskFull} // of the commit, of its fence
	store := watched{Memory: newStore(), commit: func(func() error) error {
		kind := kinds[0]
		kinds = kinds[1:]
		return &adlens.Error{Kind: kind, Err: errors.New("not written")}
	}}
	_, err := commit(t, begin(t, store, "first"), 1)
	if !errors.Is(err, commits.ErrUnknown) || adlens.KindOf(err) != adlens.DiskFull {
		t.Errorf("the commit is reported as %s: %v", adlens.KindOf(err), err)
	}
}

// unsealing is a port whose seals are lost.
type unsealing struct{ *tables.Memory }

func (u unsealing) Seals() tables.Table[tables.Seal] { return lostSeals{u.Memory.Seals()} }

type lostSeals struct{ tables.Table[tables.Seal] }

func (lostSeals) Append(context.Context, string, ...tables.Seal) error { return errLost }

// Nothing would tell of it if the disk lost it afterwards, so its caller must neither
// report it nor note it as loaded.
func TestACommitWithoutASealIsNotCalledLoaded(t *testing.T) {
	store := newStore()
	number, err := commit(t, reserving(t, unsealing{store}, "one"), 3)
	if !errors.Is(err, commits.ErrUnknown) || !errors.Is(err, errLost) {
		t.Errorf("the commit of %d ends with %v", number, err)
	}
	if _, err := commit(t, reserving(t, store, "two"), 3); err != nil {
		t.Errorf("the same once more ends with %v", err)
	}
}

// A session that finds a commit without a seal and changes nothing tells its caller that what
// is live is loaded: from then on its loss is noticed.
func TestWhatASessionIsBuiltOnIsSealed(t *testing.T) {
	store := newStore()
	zero := begin(t, store, "zero")
	if _, err := commit(t, zero, 3); err != nil {
		t.Fatal(err)
	}
	if err := zero.End(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := commit(t, reserving(t, unsealing{store}, "one"), 3); !errors.Is(err, commits.ErrUnknown) {
		t.Fatalf("the commit ends with %v", err)
	}
	if err := begin(t, store, "two").End(t.Context()); err != nil {
		t.Fatal(err)
	}
	isLossNoticed := func() bool {
		_, err := commits.ReadWhole(t.Context(), store, account)
		return strings.Contains(fmt.Sprint(err), "was acknowledged")
	}
	if isLossNoticed() {
		t.Error("commits of a whole account are called lost")
	}
	store.DropBlocks("commits", account, func(place int) bool { return place > 0 })
	if !isLossNoticed() {
		t.Error("that the newest commits are lost is not noticed")
	}
}

// A writer that died while it reserved numbers has left a block that is carried
// out after the next one has taken the same. It is not used.
func TestABlockOfADeadWriterLeavesNoDoubt(t *testing.T) {
	store := newStore()
	s := begin(t, store, "living")
	store.Reservations().Append(t.Context(), account, tables.Reservation{First: 1, Next: 1025, Token: "dead"})
	if _, err := commit(t, s, 1); err != nil {
		t.Errorf("the commit is reported as %v, expected success", err)
	}
}

// A writer that was taken over reserves no further block: its numbers would be
// greater than those of the writer that works now, and outdo it.
func TestAWriterThatWasTakenOverGetsNoGreaterNumbers(t *testing.T) {
	store := newStore()
	stopped := begin(t, store, "stopped")
	next := begin(t, store, "next")
	generation, err := commit(t, next, 1)
	if err != nil {
		t.Fatal(err)
	}
	for range 2000 {
		if _, err = stopped.Number(t.Context()); err != nil {
			break
		}
	}
	if err == nil {
		if _, err = commit(t, stopped, 2); err == nil {
			t.Error("the writer that was taken over has committed")
		}
	}
	if got := live(t, store); got != generation {
		t.Errorf("generation %d is live, expected %d of the writer that took over", got, generation)
	}
}

// A session that needs many numbers ends as well as one that needs few.
func TestFurtherBlocksOfASessionAreSettled(t *testing.T) {
	store := newStore()
	s := begin(t, store, "large")
	for range 3000 {
		if _, err := s.Number(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := commit(t, s, 1); err != nil {
		t.Fatal(err)
	}
	if err := s.End(t.Context()); err != nil {
		t.Fatal(err)
	}
	if accounts, err := commits.Unsettled(t.Context(), store); err != nil || len(accounts) > 0 {
		t.Errorf("unsettled are %v, %v, expected none", accounts, err)
	}
}

// The table of blocks lost all rows. No number that was used comes again.
func TestNoNumberComesAgainWhenBlocksAreLost(t *testing.T) {
	store := newStore()
	for _, token := range []string{"a", "b", "c"} {
		s := begin(t, store, token)
		if _, err := commit(t, s, 1); err != nil {
			t.Fatal(err)
		}
		if err := s.End(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	before := live(t, store)
	store.DropBlocks("number_blocks", account, func(int) bool { return true })
	s := begin(t, store, "d")
	after, err := commit(t, s, 1)
	if err != nil || after <= before || live(t, store) != after {
		t.Errorf("generation %d is live after %d, %v; expected %d", live(t, store), before, err, after)
	}
}

// An account without numbers says so, whether blocks or rows have used them up.
func TestNumbersThatAreUsedUpAreAnError(t *testing.T) {
	blocks, rows := newStore(), newStore()
	if err := blocks.Reservations().Append(t.Context(), account, tables.Reservation{First: 1, Next: math.MaxUint32 - 1000, Token: "a"}); err != nil {
		t.Fatal(err)
	}
	s := begin(t, rows, "a")
	number, err := s.BeginCommit(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	last := manifest.Entry{Unit: manifest.Unit{Kind: manifest.Titles}, Generation: math.MaxUint32}
	if err := s.Commit(t.Context(), number, []manifest.Entry{last}); err != nil {
		t.Fatal(err)
	}
	for name, store := range map[string]*tables.Memory{"blocks": blocks, "rows": rows} {
		if _, err := commits.Begin(t.Context(), store, account, "next"); err == nil || !strings.Contains(err.Error(), "has used all of its 4294967295 numbers") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What a session read of blocks when it began may be old by the time that it takes its
// first numbers, and of the blocks since then only the newest may be left.
func TestNumbersThatWereTakenAndClearedAwayAreNotTakenAgain(t *testing.T) {
	store := newStore()
	if err := reserving(t, store, "first").End(t.Context()); err != nil {
		t.Fatal(err)
	}
	paused := begin(t, store, "paused")
	for _, r := range []tables.Reservation{{First: 1025, Next: 2049, Token: "other"}, {First: 2049, Next: 3073, Token: "last"}} {
		if err := store.Reservations().Append(t.Context(), account, r); err != nil {
			t.Fatal(err)
		}
	}
	if err := store.Reservations().DeleteBelow(t.Context(), account, 2500); err != nil {
		t.Fatal(err)
	}
	if number, err := paused.Number(t.Context()); err != nil || number < 3073 {
		t.Errorf("the next number is %d, %v; expected one from 3073", number, err)
	}
}

// Rows of a writer that died, whose block was lost, are under numbers of the
// next writer's block.
func TestNumbersOfRowsThatAreStoredAreSkipped(t *testing.T) {
	store := newStore()
	s := begin(t, store, "next")
	if err := s.RequireWhole(t.Context(), nil, []tables.Count{{Table: "facts", Generation: 700, Rows: 1}}, "facts"); err != nil {
		t.Fatal(err)
	}
	if number, err := s.Number(t.Context()); err != nil || number <= 700 {
		t.Errorf("the next number is %d, %v; expected one above 700", number, err)
	}
}

// A session that reserved numbers and committed nothing has told its caller that
// nothing has to change. Other writers leave its numbers to it, so that holds
// only where none of them may make another state live.
func TestASessionWithoutACommitMakesSureOfWhatItRead(t *testing.T) {
	store := newStore()
	s := reserving(t, store, "finds nothing to change")
	if err := s.Confirm(t.Context()); err != nil {
		t.Fatal(err)
	}
	reserving(t, store, "takes over")
	if err := s.End(t.Context()); err == nil {
		t.Error("the session ended well after another writer had taken over")
	}
}

// A load that finds nothing to change writes nothing, however often it runs.
func TestASessionThatNeedsNoNumbersWritesNothing(t *testing.T) {
	store := newStore()
	first := begin(t, store, "first")
	if _, err := commit(t, first, 1); err != nil {
		t.Fatal(err)
	}
	if err := first.End(t.Context()); err != nil {
		t.Fatal(err)
	}
	before, _ := store.Reservations().Read(t.Context(), account)
	for range 3 {
		s := begin(t, store, "again")
		if err := s.End(t.Context()); err != nil || s.Manifest().Len() != 1 {
			t.Fatal(s.Manifest(), err)
		}
	}
	after, _ := store.Reservations().Read(t.Context(), account)
	settled, _ := store.Settled().Read(t.Context(), account)
	if len(after) != len(before) || len(settled) != 1 {
		t.Errorf("%d blocks of numbers after %d, %d settled; expected no more", len(after), len(before), len(settled))
	}
}

// Of two sessions that began when everything was settled, the one that reserves
// later takes over where the other has not committed, else it stops.
func TestASessionThatReservesLaterSeesWhatWasCommitted(t *testing.T) {
	for _, committed := range []bool{false, true} {
		store := newStore()
		late, early := begin(t, store, "late"), reserving(t, store, "early")
		if committed {
			if _, err := commit(t, early, 1); err != nil {
				t.Fatal(err)
			}
		}
		_, err := late.Number(t.Context())
		if (err != nil) != committed {
			t.Errorf("committed %v: the later one reserves with %v", committed, err)
		}
		if _, err := commit(t, early, 2); err == nil && !committed {
			t.Error("the earlier one commits after it was taken over")
		}
	}
}

// A writer that is overtaken while it begins builds on nothing: it would outdo
// the other, or be outdone.
func TestAWriterThatIsOvertakenWhileItBeginsStops(t *testing.T) {
	store := newStore()
	reserving(t, store, "died")
	port := watched{Memory: store, commit: func(carryOut func() error) error {
		begin(t, store, "faster")
		return carryOut()
	}}
	if _, err := commits.Begin(t.Context(), port, account, "slower"); err == nil {
		t.Error("the writer goes on")
	}
}

// The newest commit is lost. A writer that finds another's work not ended would
// commit a fence, after which the newest commit is a newer one than the lost.
func TestAFenceDoesNotHideALostCommit(t *testing.T) {
	store := newStore()
	for _, token := range []string{"a", "b"} {
		if _, err := commit(t, begin(t, store, token), 1); err != nil {
			t.Fatal(err)
		}
	}
	last := -1
	store.DropBlocks("commits", account, func(place int) bool { last = max(last, place); return false })
	store.DropBlocks("commits", account, func(place int) bool { return place == last })
	for range 2 { // the first look changes nothing for the second
		if _, err := commits.Begin(t.Context(), store, account, "next"); adlens.KindOf(err) != adlens.Damaged {
			t.Errorf("the next writer begins with %v, expected an error of damage", err)
		}
	}
	state, err := commits.Read(t.Context(), store, account)
	seals, _ := store.Seals().Read(t.Context(), account)
	if faults := commits.Faults(state, seals, nil); err != nil || len(faults) == 0 {
		t.Errorf("faults are %v, %v; expected the lost commit", faults, err)
	}
}

// clocks is a port whose accounts are on servers with clocks of their own.
type clocks struct {
	*tables.Memory
	ahead map[string]time.Duration // of the clock that dates what is stored
}

func (c clocks) Now(ctx context.Context, account string) (time.Time, error) {
	now, err := c.Memory.Now(ctx, account)
	return now.Add(c.ahead[account]), err
}

// What a writer that died has stored is deleted once it was noted. What has a greater number
// may be of a writer that takes over now, and is not live yet.
func TestOnlyRowsOfEarlierWritersAreNotedAsLeft(t *testing.T) {
	store := newStore()
	died, err := begin(t, store, "died").Number(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s := begin(t, store, "next")
	kept, err := commit(t, s, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, generation := range []uint32{died, kept, kept + 5000} {
		if err := store.Rows("product_titles").Append(t.Context(), account, tables.Row{Generation: generation}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.End(t.Context()); err != nil {
		t.Fatal(err)
	}
	if dead, err := store.Dead().Read(t.Context(), account); err != nil || len(dead) != 1 || dead[0].Generation != died {
		t.Errorf("noted are %+v, expected generation %d alone: %v", dead, died, err)
	}
}

// A reader may still read what was noted a moment ago, whatever the time is elsewhere.
func TestDeadRowsAreAsOldAsTheirOwnServerSays(t *testing.T) {
	port := clocks{newStore(), map[string]time.Duration{"old": time.Hour}}
	for _, of := range []string{account, "old"} {
		if err := port.Dead().Append(t.Context(), of, tables.Dead{Table: "facts", Generation: 7}); err != nil {
			t.Fatal(err)
		}
	}
	if err := commits.DeleteDead(t.Context(), port, "", time.Minute, time.Minute); err != nil {
		t.Fatal(err)
	}
	left, err := port.Dead().ReadAll(t.Context())
	if err != nil || len(left["old"]) > 0 || len(left[account]) != 1 {
		t.Errorf("left are %v: %v", left, err)
	}
}

// A writer that was taken over may have noted what is live, and of an account that is
// damaged it is not known what is.
func TestNoRowsAreDeletedThatMayBeLive(t *testing.T) {
	for _, damaged := range []bool{false, true} {
		store := newStore()
		s := begin(t, store, "writer")
		var all []uint32
		for range 2 {
			generation, err := commit(t, s, 1)
			if err != nil {
				t.Fatal(err)
			}
			row, note := tables.Row{Generation: generation}, tables.Dead{Table: "product_titles", Generation: generation}
			if err := errors.Join(store.Rows("product_titles").Append(t.Context(), account, row), store.Dead().Append(t.Context(), account, note)); err != nil {
				t.Fatal(err)
			}
			all = append(all, generation)
		}
		left := all[1:]
		if damaged {
			store.DropBlocks("commits", account, func(place int) bool { return place == 0 })
			left = all
		}
		if err := commits.DeleteDead(t.Context(), store, "", 0, 0); err != nil {
			t.Fatal(err)
		}
		rows, err := store.Rows("product_titles").Read(t.Context(), account)
		var got []uint32
		for _, r := range rows {
			got = append(got, r.Generation)
		}
		if err != nil || !slices.Equal(got, left) {
			t.Errorf("damaged: %t: left are the generations %d, expected %d: %v", damaged, got, left, err)
		}
	}
}
