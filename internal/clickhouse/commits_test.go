package clickhouse

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"adlens/internal/clickhouse/conn"
	"adlens/internal/commits"
	"adlens/internal/manifest"
	"adlens/internal/tables"
)

var errLost = errors.New("the answer was lost")

// lossy are small tables that lose a commit, or its answer.
type lossy struct {
	tables.Port
	appending func(do func() error) error
	reading   func() error
}

type lossyCommits struct {
	tables.Table[manifest.Commit]
	lossy *lossy
}

func (l *lossy) Commits() tables.Table[manifest.Commit] { return lossyCommits{l.Port.Commits(), l} }

func (c lossyCommits) Append(ctx context.Context, account string, rows ...manifest.Commit) error {
	do := func() error { return c.Table.Append(ctx, account, rows...) }
	if c.lossy.appending == nil {
		return do()
	}
	return c.lossy.appending(do)
}

func (c lossyCommits) Read(ctx context.Context, account string) ([]manifest.Commit, error) {
	if c.lossy.reading != nil {
		if err := c.lossy.reading(); err != nil {
			return nil, err
		}
	}
	return c.Table.Read(ctx, account)
}

func titlesAt(t *testing.T, port tables.Port, account string) uint32 {
	t.Helper()
	s, err := commits.Read(t.Context(), port, account)
	if err != nil {
		t.Fatal(err)
	}
	return s.Manifest.Generation(titlesOf(0)[0].Unit)
}

// Whatever became of an insert whose answer was lost: the store is asked, what is
// still on its way is fenced off, and what cannot be known is not guessed at.
func TestALostAnswerOfACommitIsNotGuessedAt(t *testing.T) {
	d := openShared(t)
	for name, c := range map[string]struct {
		arrives, away  bool // the insert; the store afterwards
		fails, unknown bool
	}{
		"it arrived":                            {arrives: true},
		"it did not":                            {fails: true},
		"it arrived, and the store is away":     {arrives: true, away: true, fails: true, unknown: true},
		"it did not, and the store is away too": {away: true, fails: true, unknown: true},
	} {
		t.Run(name, func(t *testing.T) {
			port, account := d.Tables, t.Name()
			commitUnits(t, d.Database, account, titlesOf(7)...)
			l := &lossy{Port: port}
			s, err := commits.Begin(t.Context(), l, account, "first")
			if err != nil {
				t.Fatal(err)
			}
			var late func() error
			l.appending = func(do func() error) error {
				l.appending, late = nil, do
				if c.away {
					l.reading = func() error { return errLost }
				}
				if c.arrives {
					return errors.Join(do(), errLost)
				}
				return errLost
			}
			err = s.Commit(t.Context(), beginCommit(t, s), titlesOf(8))
			if (err != nil) != c.fails || errors.Is(err, commits.ErrUnknown) != c.unknown {
				t.Errorf("the commit ends with %v", err)
			}
			want := uint32(7)
			if c.arrives {
				want = 8
			}
			if got := titlesAt(t, port, account); got != want {
				t.Errorf("generation %d is live, expected %d", got, want)
			}
			beginWriter(t, d.Database, account) // fences off what is not known
			if err := late(); err != nil {
				t.Fatal(err)
			}
			if got := titlesAt(t, port, account); got != want {
				t.Errorf("after the insert came late, generation %d is live, expected %d", got, want)
			}
		})
	}
}

// What a loader named of a commit that it died before is in no backup.
func TestTheLiveUnitsAreThoseOfTheManifest(t *testing.T) {
	d := openShared(t)
	account := t.Name()
	number := commitUnits(t, d.Database, account, titlesOf(7)...)
	l := &lossy{Port: d.Tables, appending: func(func() error) error { return errLost }}
	s, err := commits.Begin(t.Context(), l, account, "killed")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Commit(t.Context(), beginCommit(t, s), titlesOf(8)); err == nil {
		t.Fatal("the commit ends without an error")
	}
	if named := one[uint64](t, d.Database, "SELECT uniqExact(generation) FROM commit_units WHERE account_id = {account:String}", conn.Params{"account": account}); named != 2 {
		t.Fatalf("%d generations are named, expected that of the killed loader too", named)
	}
	columns, err := d.Source.Columns(t.Context(), "commit_units")
	if err != nil {
		t.Fatal(err)
	}
	live, err := d.Source.Live(t.Context(), account, columns)
	if err != nil || len(live) != 1 || live[0].Generation != 7 || live[0].Version != number || len(live[0].Row) == 0 {
		t.Errorf("%+v are live: %v; expected generation 7 of commit %d", live, err, number)
	}
}

// A writer whose lock was taken over while it was away.
func TestAWriterThatWasTakenOverMakesNothingVisible(t *testing.T) {
	d := openShared(t)
	account := t.Name()
	first := beginWriter(t, d.Database, account)
	mine := beginCommit(t, first)
	second := beginWriter(t, d.Database, account)
	if err := first.Commit(t.Context(), mine, titlesOf(7)); err == nil || errors.Is(err, commits.ErrUnknown) {
		t.Errorf("the first writer's commit ends with %v", err)
	}
	if got := titlesAt(t, d.Tables, account); got != 0 {
		t.Errorf("generation %d of the first writer is live", got)
	}
	if err := second.Commit(t.Context(), beginCommit(t, second), titlesOf(8)); err != nil {
		t.Error(err)
	}
	if got := titlesAt(t, d.Tables, account); got != 8 {
		t.Errorf("generation %d is live, expected that of the second writer", got)
	}
}

// Of the commits of several restores that close an account the database keeps the
// newest one: only the restore that made it goes on.
func TestOfTheMarksOfRestoresTheNewestStays(t *testing.T) {
	d := openShared(t)
	account := t.Name()
	first, err := commits.Close(t.Context(), d.Tables, account, 1)
	if err != nil {
		t.Fatal(err)
	}
	second, err := commits.Close(t.Context(), d.Tables, account, 2)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Cluster.Exec(t.Context(), "OPTIMIZE TABLE commits FINAL", nil); err != nil {
		t.Fatal(err)
	}
	if err := first.Reopen(t.Context()); err == nil {
		t.Error("the first restore reopens an account that the second one has closed")
	}
	if err := second.RequireOurs(t.Context()); err != nil {
		t.Errorf("the second restore is overtaken: %v", err)
	}
	if _, err := d.Tables.Manifest(t.Context(), account); !errors.Is(err, manifest.ErrClosed) {
		t.Errorf("the account is open: %v", err)
	}
	if err := second.Reopen(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := d.Tables.Manifest(t.Context(), account); err != nil {
		t.Errorf("the account stays closed: %v", err)
	}
}

// Another writer has taken numbers, and may have read the state before our commit
// was in it or after.
func TestACommitThatAnotherMayPassOverIsNotKnown(t *testing.T) {
	d := openShared(t)
	s := beginWriter(t, d.Database, t.Name())
	mine := beginCommit(t, s)
	if err := d.Tables.Reservations().Append(t.Context(), t.Name(), tables.Reservation{First: 5000, Next: 6000, Token: "another"}); err != nil {
		t.Fatal(err)
	}
	if err := s.Commit(t.Context(), mine, titlesOf(7)); !errors.Is(err, commits.ErrUnknown) {
		t.Errorf("the commit ends with %v", err)
	}
}

func TestALongChainIsBegunAgainAndWhatIsBelowItGoes(t *testing.T) {
	d := openShared(t)
	port, account := d.Tables, t.Name()
	rates := manifest.Entry{Unit: manifest.Unit{Kind: manifest.Rates}, Generation: 5, Rows: 1}
	first := commitUnits(t, d.Database, account, rates)
	s := beginWriter(t, d.Database, account)
	for range 70 {
		number := beginCommit(t, s)
		if err := s.Commit(t.Context(), number, titlesOf(number)); err != nil {
			t.Fatal(err)
		}
	}
	state, err := commits.Read(t.Context(), port, account)
	if err != nil || len(state.Chain) > 64 || state.Chain.Root() <= first || state.Chain.Head() == (manifest.Commit{}) {
		t.Fatalf("a chain of %d from %d on: %v", len(state.Chain), state.Chain.Root(), err)
	}
	trim := func(after time.Duration) (below int) {
		t.Helper()
		if err := s.Trim(t.Context(), after); err != nil {
			t.Fatal(err)
		}
		settle(t, d.Database, "commits")
		settle(t, d.Database, "commit_units")
		all, err := port.Commits().Read(t.Context(), account)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range all {
			if c.Number < state.Chain.Root() {
				below++
			}
		}
		return below
	}
	if trim(time.Hour) == 0 {
		t.Error("rows went that a reader may still need")
	}
	if below := trim(0); below > 0 {
		t.Errorf("%d commits below the chain are left", below)
	}
	after, err := commits.Read(t.Context(), port, account)
	if err != nil || after.Manifest.Digest() != state.Manifest.Digest() || after.Manifest.Generation(rates.Unit) != 5 {
		t.Errorf("what is live changed: %+v, %v", after.Manifest.Entries(), err)
	}
	if n := beginCommit(t, beginWriter(t, d.Database, account)); n <= state.Chain.Head().Number {
		t.Errorf("number %d is given again", n)
	}
}

// What a session replaced is noted at its end; what one left that did not end,
// by the next.
func TestDeadRowsAreNotedAndWhatIsLiveIsNeverDeleted(t *testing.T) {
	d := openShared(t)
	port, account := d.Tables, t.Name()
	write := func(generation uint32) manifest.Entry {
		t.Helper()
		if err := d.Loads.InsertTitles(t.Context(), account, generation, map[string]string{"P1": "one"}); err != nil {
			t.Fatal(err)
		}
		return manifest.Entry{Unit: manifest.Unit{Kind: manifest.Titles}, Generation: generation, Rows: 1}
	}
	noted := func() (generations []uint32) {
		t.Helper()
		all, err := port.Dead().Read(t.Context(), account)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range all {
			generations = append(generations, n.Generation)
		}
		slices.Sort(generations)
		return slices.Compact(generations)
	}
	unsettled := func() bool {
		t.Helper()
		all, err := commits.Unsettled(t.Context(), port)
		if err != nil {
			t.Fatal(err)
		}
		return slices.Contains(all, account)
	}
	commitUnits(t, d.Database, account, write(10))
	commitUnits(t, d.Database, account, write(1030))
	if got := noted(); !slices.Equal(got, []uint32{10}) || unsettled() {
		t.Fatalf("%d are noted, expected 10; unsettled %v", got, unsettled())
	}
	died := beginWriter(t, d.Database, account)
	left := beginCommit(t, died)
	write(left)
	if !unsettled() {
		t.Error("a session that did not end is settled")
	}
	commitUnits(t, d.Database, account)
	if got := noted(); !slices.Equal(got, []uint32{10, left}) || unsettled() {
		t.Fatalf("%d are noted, expected 10 and %d; unsettled %v", got, left, unsettled())
	}
	if err := port.Dead().Append(t.Context(), account, tables.Dead{Table: "product_titles", Generation: 1030}); err != nil {
		t.Fatal(err)
	}
	if err := commits.DeleteDead(t.Context(), port, account, 0, 0); err != nil {
		t.Fatal(err)
	}
	settle(t, d.Database, "product_titles")
	counts, err := port.CountRows(t.Context(), account, "product_titles")
	if err != nil || len(counts) != 1 || counts[0].Generation != 1030 {
		t.Errorf("left is %+v, expected the live generation 1030 alone: %v", counts, err)
	}
}
