package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"adlens/internal/backup"
	"adlens/internal/clickhouse/cluster"
	"adlens/internal/clickhouse/conn"
	"adlens/internal/tables"
)

// A place that was made by a user who may not open the database could not be written to
// by those who may.
func TestABackupThatIsRefusedMakesNoPlace(t *testing.T) {
	o := &options{dataDir: filepath.Join(t.TempDir(), "no-directory")}
	if err := os.WriteFile(o.dataDir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	place := filepath.Join(t.TempDir(), "place")
	if out, err := run(o, "backup", "--to", place); err == nil || !strings.Contains(err.Error(), "no-directory") {
		t.Errorf("%q: %v", out, err)
	}
	if _, err := os.Stat(place); !os.IsNotExist(err) {
		t.Errorf("the place was made: %v", err)
	}
	if out, err := run(o, "backup", "--to", "ftp://host/x"); err == nil || !strings.Contains(err.Error(), "s3://bucket/prefix") {
		t.Errorf("%q: %v", out, err)
	}
}

// What was revoked since a backup works after its restore, which says so.
func TestARestoreTellsWhatIsToBeDoneAgain(t *testing.T) {
	d, o := home(t)
	key, place := rotatable(t, d, o), t.TempDir()
	for _, command := range [][]string{{"backup", "--to", place}, {"key", "revoke", key.ID}} {
		if out, err := run(o, command...); err != nil {
			t.Fatal(out, err)
		}
	}
	for want, restore := range map[string][]string{
		"restored 1 account, 2 rows, from backup ": {"restore", "--from", place},
		`"account_id":null}`:                       {"restore", "--from", place, "--json"},
		`"account_id":"acme"}`:                     {"restore", "--from", place, "--json", "--account", "acme"},
	} {
		restored := &options{dataDir: t.TempDir()}
		out, err := run(restored, restore...)
		if !strings.Contains(out, want) {
			t.Errorf("%v printed %q, expected %q", restore, out, want)
		}
		if err != nil || !strings.Contains(out, "cancel, revoke and remove again what was canceled, revoked or removed since, and connect again assistants that connected or refreshed since") {
			t.Errorf("%v printed %q, %v", restore, out, err)
		}
		if out, err := run(restored, "key", "list", "--account", "acme", "--json"); err != nil || !strings.Contains(out, `"revoked_at":null`) {
			t.Errorf("%v: the restored key is %s, %v", restore, out, err)
		}
	}
}

// An older copy of the first shard's disk has nothing of an account that was added since, and
// other shards have its loads. No command makes an account of these by itself.
func TestAnAccountThatTheDirectoryForgotComesBack(t *testing.T) {
	d, o := home(t)
	key, place := rotatable(t, d, o), t.TempDir()
	dir := t.TempDir()
	profiles := filepath.Join(dir, "profiles.json")
	if err := os.WriteFile(profiles, []byte(`[{"profileId": 101, "countryCode": "US", "currencyCode": "USD", "timezone": "America/Los_Angeles", "accountInfo": {"type": "seller", "name": "Lamps"}}]`), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, command := range [][]string{{"load", "--account", "acme", profiles}, {"backup", "--to", place}, {"account", "add", "beta", "--name", "Beta"}} {
		if out, err := run(o, command...); err != nil {
			t.Fatal(out, err)
		}
	}
	forget := func() {
		t.Helper()
		for _, table := range tables.OfDirectory() {
			if err := d.Cluster.Home().Exec(t.Context(), "DELETE FROM "+table+" WHERE "+cluster.RowsOf(table), conn.Params{"account": "acme"}); err != nil {
				t.Fatal(err)
			}
		}
	}
	forget()
	if out, err := run(o, "account", "add", "acme", "--name", "Acme"); err == nil || !strings.Contains(err.Error(), "adlens restore --from PLACE --account acme brings it back") {
		t.Errorf("an account was made of rows that are left: %s, %v", out, err)
	}
	out, err := run(o, "restore", "--from", place, "--account", "acme")
	if err != nil || !strings.Contains(out, "does not know it") || !strings.Contains(out, "its figures are whole and stay as they are") || !strings.Contains(out, "revoke and remove again") {
		t.Errorf("the restore printed %s, %v", out, err)
	}
	if out, err := run(o, "key", "list", "--account", "acme", "--json"); err != nil || !strings.Contains(out, key.ID) {
		t.Errorf("the keys are %s, %v", out, err)
	}
	if v, err := d.Figures.View(t.Context(), "acme"); err != nil || len(v.Marketplaces) != 1 {
		t.Errorf("the account has %d marketplaces: %v", len(v.Marketplaces), err)
	}
	if faults, err := d.Inspector.Faults(t.Context(), "acme"); err != nil || len(faults) > 0 {
		t.Errorf("it has the faults %v, %v", faults, err)
	}
	if out, err := run(o, "restore", "--from", place, "--account", "acme"); err == nil || !strings.Contains(err.Error(), "is there already, and whole") {
		t.Errorf("once more: %s, %v", out, err)
	}
	// Of one that no backup has, what there is makes an account again.
	forget()
	if out, err := run(o, "account", "add", "acme", "--name", "Acme", "--recall"); err != nil {
		t.Errorf("what is left is not taken over: %s, %v", out, err)
	}
	if faults, err := d.Inspector.Faults(t.Context(), "acme"); err != nil || len(faults) > 0 {
		t.Errorf("taken over, it has the faults %v, %v", faults, err)
	}
	if out, err := run(o, "account", "add", "gamma", "--name", "Gamma", "--recall"); err != nil {
		t.Errorf("nothing is left of another one: %s, %v", out, err)
	}
	if err := d.Cluster.Home().Exec(t.Context(), "INSERT INTO product_titles (account_id, generation) VALUES ('delta', 5)", nil); err != nil { // by a load that was killed
		t.Fatal(err)
	}
	if out, err := run(o, "account", "add", "delta", "--name", "Delta"); err == nil || !strings.Contains(err.Error(), "repeat this with --recall") {
		t.Errorf("rows of no load are taken over by themselves: %s, %v", out, err)
	}
	if out, err := run(o, "account", "add", "delta", "--name", "Delta", "--recall"); err != nil {
		t.Errorf("rows of no load keep an account from being added: %s, %v", out, err)
	}
	// On one server nothing is left, but what one that runs counted since.
	if err := d.Sink.Clear(t.Context(), "acme", backup.LockName); err != nil {
		t.Fatal(err)
	}
	if err := d.Cluster.Home().Exec(t.Context(), "INSERT INTO day_uses (account_id, day) VALUES ('acme', today())", nil); err != nil {
		t.Fatal(err)
	}
	if err := d.requireNoRestore(t.Context(), "acme", false); err != nil {
		t.Errorf("what was counted keeps an account from being added: %v", err)
	}
	if out, err := run(o, "restore", "--from", place, "--account", "acme"); err != nil || !strings.Contains(out, "restored account acme, 5 rows, from backup ") {
		t.Errorf("the restore printed %s, %v", out, err)
	}
	if v, err := d.Figures.View(t.Context(), "acme"); err != nil || len(v.Marketplaces) != 1 {
		t.Errorf("the account has %d marketplaces: %v", len(v.Marketplaces), err)
	}
}

// A client who leaves is left out of a new directory (docs/operating.md), and of the place once
// the backups of the old one are removed from it.
func TestAClientWhoLeavesIsNowhereInTheNewDirectory(t *testing.T) {
	d, o := home(t)
	rotatable(t, d, o)
	place, next := t.TempDir(), &options{dataDir: t.TempDir()}
	mustRun := func(o *options, words ...string) string {
		t.Helper()
		out, err := run(o, words...)
		if err != nil {
			t.Fatalf("%v: %s, %v", words, out, err)
		}
		return out
	}
	mustRun(o, "account", "add", "former", "--name", "Former Lamps")
	mustRun(o, "backup", "--to", place)
	before, err := filepath.Glob(filepath.Join(place, "backups", "*"))
	if err != nil || len(before) != 1 {
		t.Fatal(before, err)
	}
	mustRun(next, "restore", "--from", place, "--backup", strings.TrimSuffix(filepath.Base(before[0]), ".json"), "--account", "acme")
	if out := mustRun(next, "key", "list", "--account", "acme"); !strings.Contains(out, "sheet") {
		t.Errorf("the keys of the account that stays are %s", out)
	}
	mustRun(next, "backup", "--to", place)
	if err := os.Remove(before[0]); err != nil {
		t.Fatal(err)
	}
	mustRun(next, "backup", "--to", place, "--keep", "1")
	mustRun(next, "backup", "verify", "--from", place)
	for _, dir := range []string{next.dataDir, place} {
		err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			var text []byte
			if err == nil && e.Type().IsRegular() {
				text, err = os.ReadFile(path)
			}
			if strings.Contains(strings.ToLower(path+string(text)), "former") {
				t.Errorf("%s has something of the former client", path)
			}
			if errors.Is(err, fs.ErrNotExist) { // the engine merges
				return nil
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// A list of nothing may be one of the wrong place.
func TestAPlaceWithoutBackupsIsTold(t *testing.T) {
	place := t.TempDir()
	out, err := run(&options{dataDir: t.TempDir()}, "backup", "list", "--from", place)
	if err != nil || !strings.Contains(out, "there is no whole backup in "+place) {
		t.Errorf("%v: %s", err, out)
	}
}
