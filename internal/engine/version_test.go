package engine

import (
	"strings"
	"testing"
)

// After an upgrade the engine of the earlier program goes on while a process uses it.
func TestAnEngineOfAnotherVersionIsFound(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	e := open(t, dir)
	defer closed(t, e)
	at := endpoint(t, e)
	for _, c := range []struct{ engine, program, want string }{
		{at.Version, "test", ""}, // as TestMain names it
		{"test", "v2", "the running engine was started by adlens test; this is v2; if this is the newer version, end all adlens processes of the directory"},
		{"test", development, "the running engine was started by adlens test; this is dev; "},
		{development, development, ""},
		{"", "v2", "the running engine was started by an earlier version of adlens; this is v2; end all"},
		{"", development, ""},
	} {
		at.Version = c.engine
		if err := e.home.writeEndpoint(at); err != nil {
			t.Fatal(err)
		}
		got := ""
		if other := FindOtherVersion(dir, c.program); other != nil {
			got = other.Error()
		}
		if !strings.HasPrefix(got, c.want) || c.want == "" && got != "" {
			t.Errorf("an engine of %q and a program of %q: %q, expected %q", c.engine, c.program, got, c.want)
		}
	}
}
