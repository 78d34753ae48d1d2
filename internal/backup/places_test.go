package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

// failing is a place that does not give some files.
type failing struct {
	*directory
	fails func(name string) error
}

func (f failing) Open(ctx context.Context, name string) (io.ReadCloser, error) {
	if err := f.fails(name); err != nil {
		return nil, err
	}
	return f.directory.Open(ctx, name)
}

func newFailing(t *testing.T) *failing {
	t.Helper()
	place, err := openDirectory(t.TempDir(), true)
	if err != nil {
		t.Fatal(err)
	}
	return &failing{place.(*directory), func(string) error { return nil }}
}

// An index that the disk does not give may be of another database: it is not removed, nor
// is a file.
func TestABackupThatCannotBeReadNowIsNotRemoved(t *testing.T) {
	place := newFailing(t)
	s := &shelf{now: time.Unix(1_800_000_000, 0), generation: 1, promised: 3, stored: map[uint32]int{1: 3}}
	foreign, err := Take(t.Context(), s, place, Options{Now: s.clock, Identity: "another"}, silence{})
	if err != nil {
		t.Fatal(err)
	}
	place.fails = func(name string) error {
		if name == foreign.Name {
			return &Damage{name, &fs.PathError{Op: "read", Path: name, Err: errors.New("input/output error")}}
		}
		return nil
	}
	for n := range 3 {
		s.now = s.now.Add(time.Hour)
		s.generation++
		s.stored[s.generation] = 3
		if _, err := Take(t.Context(), s, place, Options{Now: s.clock, Keep: 1, Identity: "ours"}, silence{}); err == nil || !strings.Contains(err.Error(), "input/output error") {
			t.Errorf("backup %d: %v", n, err)
		}
	}
	if all, err := List(t.Context(), place); err != nil || !slices.Contains(all, foreign.Name) {
		t.Errorf("left are %v: %v", all, err)
	}
	if faults, err := Verify(t.Context(), place.directory, foreign, silence{}); len(faults) > 0 || err != nil {
		t.Errorf("of the backup that could not be read is damaged: %v, %v", faults, err)
	}
}

// A new backup that cannot be read back takes the place of none.
func TestABackupThatCannotBeReadBackRemovesNone(t *testing.T) {
	place := newFailing(t)
	s := &shelf{now: time.Unix(1_800_000_000, 0), generation: 1, promised: 3, stored: map[uint32]int{1: 3}}
	take := func() (Taken, error) {
		s.now = s.now.Add(time.Hour)
		return Take(t.Context(), s, place, Options{Now: s.clock, Keep: 1, Identity: "ours"}, silence{})
	}
	whole, err := take()
	if err != nil {
		t.Fatal(err)
	}
	place.fails = func(name string) error {
		if strings.HasPrefix(name, backups) && name != whole.Name {
			return &Damage{name, ErrMissing}
		}
		return nil
	}
	if _, err := take(); err == nil || !strings.Contains(err.Error(), "nothing can be restored from it") {
		t.Errorf("a backup that cannot be read back: %v", err)
	}
	if all, err := List(t.Context(), place); err != nil || !slices.Contains(all, whole.Name) {
		t.Errorf("left are %v: %v", all, err)
	}
}

// lagging is a place that does not list yet what was put there lately.
type lagging struct {
	*directory
	needed map[string]bool // what the last sweep left
}

func (l *lagging) List(context.Context, string) (map[string]int64, error) { return nil, nil }

func (l *lagging) Sweep(_ context.Context, needed map[string]bool) error {
	l.needed = needed
	return nil
}

func TestFilesOfABackupThatIsNotListedYetStay(t *testing.T) {
	place := &lagging{directory: newFailing(t).directory}
	s := &shelf{now: time.Unix(1_800_000_000, 0), generation: 1, promised: 3, stored: map[uint32]int{1: 3}}
	taken, err := Take(t.Context(), s, place, Options{Now: s.clock, Keep: 1, Identity: "ours"}, silence{})
	if err != nil || len(taken.Accounts) == 0 {
		t.Fatal(taken, err)
	}
	for _, e := range taken.Accounts {
		if !place.needed[e.Catalogue] || len(place.needed) < 2 {
			t.Errorf("of the backup that was just taken only %v are left", place.needed)
		}
	}
}

// A file that the network does not give is not written again: an earlier backup may name
// it, and another copy of the same rows has other bytes.
func TestAFileThatCannotBeReadNowIsNotReplaced(t *testing.T) {
	place := newFailing(t)
	s := &shelf{now: time.Unix(1_800_000_000, 0), generation: 1, promised: 3, stored: map[uint32]int{1: 3}}
	taken, err := Take(t.Context(), s, place, Options{Now: s.clock}, silence{})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(place.path, taken.Name)); err != nil { // so that no backup names the files
		t.Fatal(err)
	}
	for _, reset := range []error{errors.New("connection reset"), &Damage{"facts", &fs.PathError{Op: "read", Path: "facts", Err: syscall.ESTALE}}} {
		place.fails = func(name string) error {
			if strings.Contains(name, "facts") {
				return reset
			}
			return nil
		}
		s.now = s.now.Add(time.Hour)
		if _, err := Take(t.Context(), s, place, Options{Now: s.clock}, silence{}); !errors.Is(err, reset) {
			t.Errorf("a backup over a file that was not given (%v): %v", reset, err)
		}
	}
}

// A file that is not as long as the backup before says is written again: a power cut may
// have cut it.
func TestAFileThatWasCutIsWrittenAgain(t *testing.T) {
	place := newFailing(t)
	s := &shelf{now: time.Unix(1_800_000_000, 0), generation: 1, promised: 3, stored: map[uint32]int{1: 3}}
	for n := range 2 {
		s.now = s.now.Add(time.Hour)
		taken, err := Take(t.Context(), s, place, Options{Now: s.clock}, silence{})
		if err != nil {
			t.Fatal(err)
		}
		if faults, err := Verify(t.Context(), place, taken, silence{}); len(faults) > 0 || err != nil {
			t.Errorf("backup %d is damaged: %v, %v", n, faults, err)
		}
		stored, err := place.List(t.Context(), "accounts/acme/")
		if err != nil {
			t.Fatal(err)
		}
		for name, size := range stored {
			if strings.Contains(name, "catalogue") {
				continue
			}
			if err := os.Truncate(filepath.Join(place.path, name), size-1); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// A disk that does not tell case lists one directory for two accounts.
func TestFilesAreNeededInWhateverCaseTheyAreListed(t *testing.T) {
	place := newFailing(t).directory
	for _, name := range []string{"needed", "left"} {
		path := filepath.Join(place.path, "accounts", "Acme", name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, nil, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	if err := place.Sweep(t.Context(), map[string]bool{"accounts/acme/needed": true}); err != nil {
		t.Fatal(err)
	}
	if left, err := place.List(t.Context(), "accounts/Acme/"); err != nil || len(left) != 1 {
		t.Errorf("left are %v: %v", left, err)
	}
}

// The directory of a former client has its id.
func TestNothingIsLeftOfAnAccountThatNoBackupHas(t *testing.T) {
	place := newFailing(t).directory
	for _, name := range []string{"former/catalogue", "stays/needed", "stays/old", "users/old", "users/notes/text"} {
		path := filepath.Join(place.path, "accounts", filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, nil, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Mkdir(filepath.Join(place.path, "accounts", "earlier"), 0o700), place.Sweep(t.Context(), map[string]bool{"accounts/stays/needed": true})); err != nil {
		t.Fatal(err)
	}
	left, err := fs.Glob(os.DirFS(place.path), "accounts/*/*")
	dirs, globbing := fs.Glob(os.DirFS(place.path), "accounts/*")
	if got := strings.Join(append(dirs, left...), " "); got != "accounts/stays accounts/users accounts/stays/needed accounts/users/notes" || err != nil || globbing != nil {
		t.Errorf("left are %s: %v", got, errors.Join(err, globbing))
	}
}

// Of an account that was damaged a backup keeps what an earlier version wrote, which
// knew fewer columns.
func TestAccountsOfSeveralVersionsAreShownTogether(t *testing.T) {
	earlier, err := NewHeader([]string{"account_id"}, []string{"String"})
	if err != nil {
		t.Fatal(err)
	}
	later, err := NewHeader([]string{"account_id", "limit_day"}, []string{"String", "UInt32"})
	if err != nil {
		t.Fatal(err)
	}
	r := &restoring{shown: map[string][]*Block{}}
	keys := File{Table: "api_keys"}
	for i, h := range []Header{earlier, later, earlier} {
		b := r.blockFor(keys, h, "acme")
		if !slices.Equal(b.Header, h) {
			t.Errorf("the rows of account %d go to a block of %v, expected %v", i, b.Header, h)
		}
		r.keepShown(keys.Table, b)
	}
	if n := len(r.shown[keys.Table]); n != 2 {
		t.Errorf("there are %d blocks, expected 2", n)
	}
}

// A disk without locks is no backup whose end could be waited for.
func TestADirectoryThatCannotBeLockedIsNamed(t *testing.T) {
	err := (&directory{path: "/mnt"}).lockError(syscall.ENOLCK)
	if !errors.Is(err, syscall.ENOLCK) || !strings.HasPrefix(err.Error(), "/mnt cannot be locked: ") {
		t.Errorf("got %v", err)
	}
}

func TestACatalogueThatIsNotTheIndexsIsDamaged(t *testing.T) {
	s := &shelf{now: time.Unix(1_800_000_000, 0), generation: 1, promised: 5, stored: map[uint32]int{1: 5}}
	place, taken := takeWhole(t, s, s.clock)
	for _, change := range []func(*Entry){func(e *Entry) { e.Files++ }, func(e *Entry) { e.Rows-- }, func(e *Entry) { e.Stored++ }, func(e *Entry) { e.Account = "bolt" }} {
		changed := taken
		changed.Accounts = slices.Clone(taken.Accounts)
		change(&changed.Accounts[0])
		faults, err := Verify(t.Context(), place, changed, silence{})
		want := "the index says"
		if e := changed.Accounts[0]; e.Account != "acme" {
			want = `it is of account "acme", expected "bolt"`
		}
		if err != nil || len(faults) != 1 || !strings.Contains(faults[0].Error(), want) {
			t.Errorf("with %+v in the index the faults are %v: %v", changed.Accounts[0], faults, err)
		}
	}
}

// What a file unpacks to is not read beyond what its catalogue says.
func TestAFileThatUnpacksToMoreIsDamaged(t *testing.T) {
	s := &shelf{now: time.Unix(1_800_000_000, 0), generation: 1, promised: 5, stored: map[uint32]int{1: 5}}
	place, taken := takeWhole(t, s, s.clock)
	c, err := readCatalogue(t.Context(), place, taken.Accounts[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range c.Files {
		f.Bytes--
		if _, err := verifyFile(t.Context(), place, f); !isDamage(err) || !strings.Contains(err.Error(), fmt.Sprintf("it unpacks to more than %d bytes", f.Bytes)) {
			t.Errorf("%s, whose catalogue says a byte less: %v", f.Name, err)
		}
	}
}

// The beginning of an id names a backup as long as no other begins so.
func TestABackupIsChosenByTheBeginningOfItsIDAlone(t *testing.T) {
	s := &shelf{now: time.Date(2026, 11, 2, 3, 0, 0, 0, time.UTC), generation: 1, promised: 3, stored: map[uint32]int{1: 3}}
	place, first := takeWhole(t, s, s.clock)
	s.now = s.now.Add(24 * time.Hour)
	second, err := Take(t.Context(), s, place, Options{Now: s.clock}, silence{})
	if err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]string{"20261102": first.Name, "20261103": second.Name, second.ID(): second.Name, "202611": "", "20261104": "", first.ID()[1:]: ""} {
		chosen, err := Choose(t.Context(), place, id, "")
		if (err == nil) != (want != "") || err == nil && chosen.Name != want {
			t.Errorf("by %q %s is chosen, expected %q: %v", id, chosen.Name, want, err)
		}
	}
}

// In a store nothing keeps other backups out: one that is being written is about to name
// its files. Those of other places are none of ours.
func TestOnlyOldFilesOfItsOwnAreRemovedFromAStore(t *testing.T) {
	clock := gofakes3.FixedTimeSource(time.Now().Add(-25 * time.Hour))
	backend := s3mem.New(s3mem.WithTimeSource(clock))
	if err := backend.CreateBucket("keep"); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(gofakes3.New(backend, gofakes3.WithTimeSkewLimit(0)).Server())
	defer server.Close()
	t.Setenv("AWS_ACCESS_KEY_ID", "user")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	places := map[string]Place{}
	for _, prefix := range []string{"", "some/where", "some/where/else"} {
		var err error
		if places[prefix], err = openBucket("keep", prefix, S3{Endpoint: server.URL, Region: "eu-central-1"}); err != nil {
			t.Fatal(err)
		}
	}
	keep := func(prefix, name string) {
		t.Helper()
		draft, err := places[prefix].Draft()
		if err != nil {
			t.Fatal(err)
		}
		_, err = draft.WriteString("rows")
		if err := errors.Join(err, places[prefix].Keep(t.Context(), name, draft), draft.Close()); err != nil {
			t.Fatal(err)
		}
	}
	for prefix := range places {
		keep(prefix, "accounts/acme/old.needed")
		keep(prefix, "accounts/acme/old.left")
	}
	clock.Advance(24 * time.Hour)
	keep("some/where", "accounts/acme/new")
	if _, err := backend.HeadObject("keep", "some/where/accounts/acme/new"); err != nil { // where earlier versions put it
		t.Error(err)
	}
	if err := places["some/where"].Sweep(t.Context(), map[string]bool{"accounts/acme/old.needed": true}); err != nil {
		t.Fatal(err)
	}
	for prefix, want := range map[string][]string{"": {"old.left", "old.needed"}, "some/where": {"new", "old.needed"}, "some/where/else": {"old.left", "old.needed"}} {
		left, err := places[prefix].List(t.Context(), "accounts/acme/")
		var names []string
		for name := range left {
			names = append(names, strings.TrimPrefix(name, "accounts/acme/"))
		}
		slices.Sort(names)
		if err != nil || !slices.Equal(names, want) {
			t.Errorf("in %s are left %v, expected %v: %v", places[prefix], names, want, err)
		}
	}
}
