package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
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

// What was fetched for one account would give another one its profiles and figures.
func TestALoadTakesNothingThatWasFetchedForAnotherAccount(t *testing.T) {
	_, o := home(t)
	link := filepath.Join(t.TempDir(), "link")
	for _, account := range []string{"acme", "beta"} {
		dir := filepath.Join(o.extractsDir(), account)
		_, err := run(o, "account", "add", account, "--name", account)
		if err := errors.Join(err, os.MkdirAll(dir, 0o700), os.WriteFile(filepath.Join(dir, "products.csv"), []byte("product_id,title\nB1,"+account+"\n"), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(o.extractsDir(), "beta"), link); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{o.dataDir, o.extractsDir(), filepath.Join(o.extractsDir(), "beta"), filepath.Join(o.extractsDir(), "beta", "products.csv"), link} {
		out, err := run(o, "load", "--account", "acme", filepath.Join(o.extractsDir(), "acme"), path)
		if err == nil || !strings.Contains(err.Error(), "nothing was loaded: "+path+" has files that were fetched for account beta") {
			t.Errorf("%s: %q, %v", path, out, err)
		}
	}
	for account, path := range map[string]string{"acme": filepath.Join(o.extractsDir(), "acme"), "beta": link} {
		if out, err := run(o, "load", "--account", account, path); err != nil || !strings.HasPrefix(out, "1 loaded") {
			t.Errorf("%s of account %s: %q, %v", path, account, out, err)
		}
	}
}
