package main

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"adlens/internal/engine"
)

func TestMain(m *testing.M) {
	engine.RunIfAsked()
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
	root := newRoot()
	var text strings.Builder
	root.SetOut(&text)
	root.SetErr(&text)
	root.SetArgs(append(words, "--data-dir", o.dataDir))
	err = root.Execute()
	return text.String(), err
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
	if err != nil || len(keys) != 1 || keys[0].ExpiresAt == nil || formatTime(*keys[0].ExpiresAt) != "2262-04-11T00:00:00.000Z" {
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
