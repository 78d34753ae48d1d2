package commands_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"adlens/integration/house"
)

// TestNamesOfAccountsAreNoPathsAndNoCode makes accounts of names that would
// mean something to a file system, a shell, a terminal or a database.
func TestNamesOfAccountsAreNoPathsAndNoCode(t *testing.T) {
	t.Parallel()
	h := house.Shared(t)
	outside := filepath.Join(filepath.Dir(h.DataDir), "escaped")
	for _, id := range []string{"", " ", ".", "..", "../escaped", "a/b", "/etc", `a\b`, "a\nb", "\x1b[31m", "a b", "-a", "--json", "a'; DROP TABLE accounts; --",
		"$(id)", "%2e%2e", "\u202ea", "A\u0301", strings.Repeat("a", 300), "\xff"} {
		r := h.Run("account", "add", id, "--name", "x")
		if r.Code == 0 || r.Stderr == "" || strings.Contains(r.Stderr, "\x1b") {
			t.Errorf("account add %q: %s", id, r)
		}
	}
	if _, err := os.Stat(outside); err == nil {
		t.Errorf("%s was made", outside)
	}
}
