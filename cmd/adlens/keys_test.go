package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"adlens"
	"adlens/internal/auth"
	"adlens/internal/engine"

	"golang.org/x/sys/unix"
)

func TestMain(m *testing.M) {
	engine.RunIfAsked(version)
	os.Exit(m.Run())
}

// home is a data directory whose engine runs as long as the test.
func home(t *testing.T) (*data, *options) {
	t.Helper()
	o := &options{dataDir: t.TempDir()}
	d, err := o.openDatabase(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d, o
}

// run runs a command in a data directory.
func run(o *options, words ...string) (out string, err error) {
	var text strings.Builder
	err = runTo(&text, o, words...)
	return text.String(), err
}

func runTo(out io.Writer, o *options, words ...string) error {
	root := newRoot()
	root.SetOut(out)
	root.SetErr(out)
	root.SetArgs(append(words, "--data-dir", o.dataDir))
	return root.Execute()
}

// runUntilItWaits runs a command to where it reports whom it waits for, and returns how
// it ends.
func runUntilItWaits(t *testing.T, o *options, what string, words ...string) (ended chan error) {
	t.Helper()
	lines, ended := make(writes, 2), make(chan error, 1)
	go func() { ended <- runTo(lines, o, words...) }()
	select {
	case line := <-lines:
		if !strings.HasPrefix(line, "waiting for "+what+": process ") {
			t.Errorf("%v does not wait for %s: %q", words, what, line)
		}
	case err := <-ended:
		t.Fatalf("%v ended before it waited for %s: %v", words, what, err)
	}
	return ended
}

func TestChangesOfAnAccountAtOnceAllCount(t *testing.T) {
	d, o := home(t)
	if _, err := run(o, "account", "add", "acme", "--name", "Acme"); err != nil {
		t.Fatal(err)
	}
	for i := range 10 {
		status := []string{"canceled", "trialing"}[i%2]
		name := fmt.Sprint("Acme ", i)
		var both sync.WaitGroup
		for _, change := range [][]string{{"--name", name}, {"--subscription", status}} {
			both.Go(func() {
				if out, err := run(o, append([]string{"account", "set", "acme"}, change...)...); err != nil {
					t.Error(out, err)
				}
			})
		}
		both.Wait()
		if a, _, err := d.Accounts.Account(t.Context(), "acme"); err != nil || a.Name != name || a.Subscription != status {
			t.Errorf("round %d: the account is %+v, %v; expected %s, %s", i, a, err, name, status)
		}
	}
}

// Of several who rotate a key at once, one makes its successor.
func TestRotatesAtOnceMakeOneSuccessor(t *testing.T) {
	d, o := home(t)
	key := rotatable(t, d, o)
	for round := range 5 {
		var all sync.WaitGroup
		var done atomic.Int32
		for range 4 {
			all.Go(func() {
				if out, err := run(o, "key", "rotate", key.ID); err == nil {
					done.Add(1)
				} else if !strings.Contains(err.Error(), "was replaced by k_") {
					t.Error(out, err)
				}
			})
		}
		all.Wait()
		made, err := d.Keys.Keys(t.Context(), "acme")
		if err != nil || len(made) != round+2 || done.Load() != 1 {
			t.Fatalf("round %d: %d rotations succeeded; the keys are %+v, %v", round, done.Load(), made, err)
		}
		key = made[len(made)-1]
	}
}

// A key that was revoked after it was read has no successor that is valid.
func TestAKeyThatIsRevokedMeanwhileIsNotReplaced(t *testing.T) {
	d, o := home(t)
	old := rotatable(t, d, o)
	if out, err := run(o, "key", "revoke", old.ID); err != nil {
		t.Fatal(out, err)
	}
	_, _, _, err := d.rotateKey(t.Context(), old, usualOverlap, time.Now())
	if err == nil || !strings.Contains(err.Error(), "key "+old.ID+" was revoked or replaced meanwhile") {
		t.Errorf("the error is %v", err)
	}
	keys, err := d.Keys.Keys(t.Context(), "acme")
	for _, key := range keys {
		if key.RevokedAt == nil || key.Successor != "" {
			t.Errorf("there is still %+v", key)
		}
	}
	if err != nil || len(keys) != 2 {
		t.Errorf("the keys are %+v, %v", keys, err)
	}
}

// An end that is stored, though its store failed after that, ends the old key: its
// successor is printed, and is not to be revoked.
func TestARotationIsPrintedWhoseEndWasStoredByAFailure(t *testing.T) {
	d, o := home(t)
	old := rotatable(t, d, o)
	seals := func(change string) {
		t.Helper()
		if err := d.Cluster.Home().Server.Exec(t.Context(), "ALTER TABLE directory_seals "+change, nil); err != nil {
			t.Fatal(err)
		}
	}
	seals(fmt.Sprintf("ADD CONSTRAINT broken CHECK key != '%x'", old.Hash))
	key, successor, ended, err := d.rotateKey(t.Context(), old, usualOverlap, time.Now())
	if err != nil || key.Hash() != successor.Hash || ended.Successor != successor.ID || ended.ExpiresAt == nil {
		t.Errorf("got %+v for %+v, %v", successor, ended, err)
	}
	seals("DROP CONSTRAINT broken")
	stored, err := d.Keys.Keys(t.Context(), "acme")
	if err != nil || len(stored) != 2 || stored[0].Successor != successor.ID || stored[1].RevokedAt != nil {
		t.Errorf("the keys are %+v, %v", stored, err)
	}
}

// A command that failed between a change and its seal is repeated, and what it finds done
// is acknowledged: if its row were lost later, that would be noticed.
func TestARevocationThatIsRepeatedIsSealed(t *testing.T) {
	d, o := home(t)
	old := rotatable(t, d, o)
	change := func(sql string) {
		t.Helper()
		if err := d.Cluster.Home().Server.Exec(t.Context(), sql, nil); err != nil {
			t.Fatal(err)
		}
	}
	revoke := func() error {
		_, err := run(o, "key", "revoke", old.ID)
		return err
	}
	change(fmt.Sprintf("ALTER TABLE directory_seals ADD CONSTRAINT broken CHECK key != '%x'", old.Hash))
	if err := revoke(); err == nil {
		t.Error("a revocation that is not sealed succeeds")
	}
	change("ALTER TABLE directory_seals DROP CONSTRAINT broken")
	if err := revoke(); err != nil {
		t.Error(err)
	}
	change("DELETE FROM api_keys WHERE revoked_at IS NOT NULL")
	if err := d.Inspector.RequireDirectory(t.Context(), "acme"); adlens.KindOf(err) != adlens.Damaged {
		t.Errorf("the revocation is lost, and the directory is whole: %v", err)
	}
}

// An end that is not stored may be so later, or never: what is advised is right either way.
func TestARotationWhoseEndIsNotKnownIsRepeatedAtTheSuccessor(t *testing.T) {
	d, o := home(t)
	old := rotatable(t, d, o)
	keys := func(change string) {
		t.Helper()
		if err := d.Cluster.Home().Server.Exec(t.Context(), "ALTER TABLE api_keys "+change, nil); err != nil {
			t.Fatal(err)
		}
	}
	keys(fmt.Sprintf("ADD CONSTRAINT broken CHECK key_id != '%s'", old.ID))
	_, successor, _, err := d.rotateKey(t.Context(), old, usualOverlap, time.Now())
	if err == nil || !strings.Contains(err.Error(), "not known whether the end of key "+old.ID) || !strings.Contains(err.Error(), "adlens key rotate "+successor.ID+" --overlap 0 prints another; where key list shows "+old.ID+" valid, revoke it") {
		t.Errorf("the error is %v", err)
	}
	keys("DROP CONSTRAINT broken")
	if out, err := run(o, "key", "rotate", successor.ID, "--overlap", "0"); err != nil {
		t.Error(out, err)
	}
	stored, err := d.Keys.Keys(t.Context(), "acme")
	if err != nil || len(stored) != 3 || stored[0].RevokedAt != nil || stored[1].RevokedAt == nil || stored[2].RevokedAt != nil {
		t.Errorf("the keys are %+v, %v", stored, err)
	}
}

// Who revokes a key waits until it is rotated.
func TestARevocationWaitsForARotation(t *testing.T) {
	d, o := home(t)
	old := rotatable(t, d, o)
	_, release, err := keys.lock(t.Context(), d, old.ID, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	revoked := runUntilItWaits(t, o, "the key", "key", "revoke", old.ID)
	if key, _, err := d.Keys.KeyByID(t.Context(), old.ID); err != nil || key.RevokedAt != nil {
		t.Errorf("a locked key is %+v, %v", key, err)
	}
	if err := errors.Join(release(), <-revoked); err != nil {
		t.Error(err)
	}
	if key, _, err := d.Keys.KeyByID(t.Context(), old.ID); err != nil || key.RevokedAt == nil {
		t.Errorf("after the wait it is %+v, %v", key, err)
	}
}

func TestAChangeOfAnAccountNamesWhomItWaitsFor(t *testing.T) {
	d, o := home(t)
	if out, err := run(o, "account", "add", "acme", "--name", "Acme"); err != nil {
		t.Fatal(out, err)
	}
	release, err := d.locker.Lock(t.Context(), "account/acme", func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	changed := runUntilItWaits(t, o, "the account", "account", "set", "acme", "--name", "Acme Ltd")
	if err := errors.Join(release(), <-changed); err != nil {
		t.Error(err)
	}
}

// rotatable is the only key of an account.
func rotatable(t *testing.T, d *data, o *options) auth.Record {
	t.Helper()
	for _, command := range [][]string{{"account", "add", "acme", "--name", "Acme"}, {"key", "create", "--account", "acme", "--name", "sheet"}} {
		if out, err := run(o, command...); err != nil {
			t.Fatal(out, err)
		}
	}
	all, err := d.Keys.Keys(t.Context(), "acme")
	if err != nil || len(all) != 1 {
		t.Fatal(all, err)
	}
	return all[0]
}

func TestALastDayThatCannotBeKeptIsRefusedByName(t *testing.T) {
	d, o := home(t)
	if _, err := run(o, "account", "add", "acme", "--name", "Acme"); err != nil {
		t.Fatal(err)
	}
	for _, command := range [][]string{{"key", "create", "--account", "acme", "--name", "x"}, {"feed", "create", "--account", "acme", "--name", "x", "--request", "/summary"}} {
		for _, c := range []struct{ day, want string }{
			{"", `--expires: "" is no calendar day of the form YYYY-MM-DD`},
			{"2262-04-11", "--expires: 2262-04-11 is later than can be kept; expected a day up to 2262-04-10"},
			{"2262-04-12", "--expires: 2262-04-12 is later than can be kept; expected a day up to 2262-04-10"},
			{"9999-12-31", "--expires: 9999-12-31 is later than can be kept; expected a day up to 2262-04-10"},
			{"2020-01-01", "--expires: 2020-01-01 has passed; expected today ("},
		} {
			if out, err := run(o, append(command, "--expires", c.day)...); err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("%s --expires %q: the error is %v, expected %s; it printed %q", command[0], c.day, err, c.want, out)
			}
		}
	}
	if _, err := run(o, "key", "create", "--account", "acme", "--name", "x", "--expires", "2262-04-10"); err != nil {
		t.Fatal(err)
	}
	keys, err := d.Keys.Keys(t.Context(), "acme")
	if err != nil || len(keys) != 1 || keys[0].ExpiresAt == nil || adlens.FormatTime(*keys[0].ExpiresAt) != "2262-04-11T00:00:00.000Z" {
		t.Errorf("the last day that can be kept is kept as %+v, %v", keys, err)
	}
}

// What doctor examines is named before any database is open.
func TestAnInstallationIsNamedWithoutADatabase(t *testing.T) {
	dir := t.TempDir()
	if in := (&options{dataDir: dir}).newInstallation(platformOptions{}, ""); in.DataDir != dir || in.CanOpen == nil {
		t.Errorf("the installation is %+v", in)
	}
}

// full is a standard output on a full disk.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, unix.ENOSPC }

// What cannot be printed is no success: a key or an address is shown this once, and the
// error names its id, so that it can be revoked.
func TestWhatCannotBePrintedFails(t *testing.T) {
	d, o := home(t)
	old := rotatable(t, d, o)
	rates := filepath.Join(t.TempDir(), "rates.csv")
	if err := os.WriteFile(rates, []byte("date,currency,usd\n2026-01-02,EUR,1.1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		words []string
		names string // of the id that the error names
	}{
		{[]string{"key", "create", "--account", "acme", "--name", "lost"}, "k_"},
		{[]string{"key", "create", "--account", "acme", "--name", "lost", "--json"}, "k_"},
		{[]string{"feed", "create", "--account", "acme", "--name", "lost", "--request", "/rules"}, "f_"},
		{[]string{"feed", "create", "--account", "acme", "--name", "lost", "--request", "/rules", "--json"}, "f_"},
		{[]string{"load", "--account", "acme", rates}, ""},
		{[]string{"key", "rotate", old.ID, "--overlap", "0"}, "k_"},
		{[]string{"key", "revoke", old.ID}, ""},
	} {
		root := newRoot()
		root.SetOut(full{})
		root.SetErr(io.Discard)
		root.SetArgs(append(c.words, "--data-dir", o.dataDir))
		err := root.Execute()
		if !errors.Is(err, unix.ENOSPC) || strings.Contains(err.Error(), "made visible") {
			t.Errorf("%v: the error is %v", c.words, err)
			continue
		}
		_, command, found := strings.Cut(err.Error(), "revoke it with adlens ")
		if !found {
			if c.names != "" {
				t.Errorf("%v: the error is %v", c.words, err)
			}
			continue
		}
		command, _, _ = strings.Cut(command, ",")
		if out, err := run(o, strings.Fields(command)...); err != nil || !strings.Contains(command, " "+c.names) {
			t.Errorf("%v: adlens %s: %v: %s", c.words, command, err, out)
		}
	}
	made, err := d.Keys.Keys(t.Context(), "acme")
	for _, key := range made {
		if key.RevokedAt == nil {
			t.Errorf("there is still %+v", key)
		}
	}
	if err != nil || len(made) != 4 {
		t.Errorf("the keys are %+v, %v", made, err)
	}
}
