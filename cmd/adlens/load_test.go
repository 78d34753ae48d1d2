package main

import (
	"errors"
	"fmt"
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
