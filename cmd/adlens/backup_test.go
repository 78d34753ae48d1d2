package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
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
	for _, restore := range [][]string{{"restore", "--from", place}, {"restore", "--from", place, "--account", "acme"}} {
		restored := &options{dataDir: t.TempDir()}
		out, err := run(restored, restore...)
		if err != nil || !strings.Contains(out, "cancel, revoke and remove again what was canceled, revoked or removed since, and connect again assistants that connected or refreshed since") {
			t.Errorf("%v printed %q, %v", restore, out, err)
		}
		if out, err := run(restored, "key", "list", "--account", "acme", "--json"); err != nil || !strings.Contains(out, `"revoked_at":null`) {
			t.Errorf("%v: the restored key is %s, %v", restore, out, err)
		}
	}
}
