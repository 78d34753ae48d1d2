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
