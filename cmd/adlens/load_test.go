package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"adlens"
	"adlens/internal/commits"
)

// What a person can do about a failed load, and what became of it, is reported for
// both: that the disk is full, and that it is not known whether it was made
// visible.
func TestAFailedLoadSaysWhyAndWhatBecameOfIt(t *testing.T) {
	t.Parallel()
	cause := errors.New("no space left")
	unknown := fmt.Errorf("%w: %w", commits.ErrUnknown, cause)
	for _, c := range []struct {
		err    error
		says   []string
		silent string
	}{
		{&adlens.Error{Kind: adlens.DiskFull, Err: cause}, []string{"the disk is full", "nothing of the failed files was made visible", "free some space"}, "not known"},
		{&adlens.Error{Kind: adlens.DiskFull, Err: unknown}, []string{"the disk is full", "not known yet", "free some space", "load the failed files again"}, "nothing"},
		{&adlens.Error{Kind: adlens.EngineUnavailable, Err: unknown}, []string{"not known yet", "Load the failed files again"}, "full"},
		{&adlens.Error{Kind: adlens.Damaged, Err: cause}, []string{"stored data is damaged", "adlens restore"}, "full"},
	} {
		text := explainError(c.err).Error()
		for _, part := range c.says {
			if !strings.Contains(text, part) {
				t.Errorf("%q does not say %q", text, part)
			}
		}
		if strings.Contains(text, c.silent) {
			t.Errorf("%q says %q", text, c.silent)
		}
		if !errors.Is(explainError(c.err), cause) {
			t.Errorf("%q has lost its cause", text)
		}
	}
}

// What was fetched for one account, whether the database knows that now or not, or made up for
// the demo, would give another one its profiles and figures.
func TestALoadTakesNoFilesOfOtherAccounts(t *testing.T) {
	_, o := home(t)
	kept, link := o.extractsDir(), filepath.Join(t.TempDir(), "link")
	_, err := run(o, "account", "add", "acme", "--name", "Acme")
	for _, dir := range []string{filepath.Join(kept, "acme"), filepath.Join(kept, "beta"), filepath.Join(o.dataDir, "demo-extracts")} {
		err = errors.Join(err, os.MkdirAll(dir, 0o700), os.WriteFile(filepath.Join(dir, "products.csv"), []byte("product_id,title\nB1,One\n"), 0o600))
	}
	if err := errors.Join(err, os.Symlink(o.dataDir, link)); err != nil {
		t.Fatal(err)
	}
	t.Chdir(link) // a directory that has another name too
	for _, path := range []string{o.dataDir, kept, "extracts", ".", filepath.Join(link, "extracts")} {
		out, err := run(o, "load", "--account", "acme", path)
		if err == nil || !strings.Contains(err.Error(), "nothing was loaded: the paths "+path+" lead to "+o.dataDir) {
			t.Errorf("%s: %q, %v", path, out, err)
		}
	}
	// So is extracts/*.
	if out, err := run(o, "load", "--account", "acme", "extracts/acme", "extracts/beta/products.csv"); err == nil || !strings.Contains(err.Error(), "nothing was loaded") {
		t.Errorf("files of two accounts: %q, %v", out, err)
	}
	// One directory that was chosen is taken: what was fetched can be loaded anywhere.
	for _, path := range []string{"extracts/acme", "extracts/beta", "demo-extracts/products.csv"} {
		if out, err := run(o, "load", "--account", "acme", path); err != nil || !strings.Contains(out, "0 refused") {
			t.Errorf("%s: %q, %v", path, out, err)
		}
	}
}

// What a pull could not write was not downloaded, so that loading it again is no way out.
func TestAPullOnAFullDiskIsRepeated(t *testing.T) {
	full := &os.PathError{Op: "write", Path: "x.json.gz", Err: syscall.ENOSPC}
	text := explainError(explainFullPull(fmt.Errorf("download: %w", full))).Error()
	if strings.Count(text, "the disk is full") != 1 || !strings.Contains(text, "free some space and pull again") || strings.Contains(text, "load again") || !strings.Contains(text, full.Error()) {
		t.Errorf("the error is %q", text)
	}
	if other := errors.New("other"); explainFullPull(other) != other {
		t.Error("another error is called a full disk")
	}
}
