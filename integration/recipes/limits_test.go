package recipes_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"adlens/integration/house"
)

// A tool that waited for the next day would stand still for hours without a word, with
// its table locked. It fails with what the server says.
func TestNoToolWaitsForTheNextDay(t *testing.T) {
	t.Parallel()
	server, dir := spentDay(t), t.TempDir()
	node := nodeOf(t)
	house.Need(t, os.Symlink(filepath.Join(packageDir(), "node_modules"), filepath.Join(dir, "node_modules")))
	house.Need(t, os.WriteFile(filepath.Join(dir, "days.mjs"), []byte(blocksOf(t, "duckdb", "js")[0]), 0o600))
	fails := func(name, says string, command ...string) {
		t.Helper()
		out, err := run(t, dir, []string{"ADLENS=" + server, "ADLENS_KEY=key"}, "timeout", append([]string{"20"}, command...)...)
		if err == nil || strings.HasPrefix(err.Error(), "exit status 124") || !strings.Contains(err.Error(), says) {
			t.Errorf("%s prints %q and ends with %v, expected %q", name, out, err, says)
		}
	}
	fails("DuckDB", spentDetail, node, "days.mjs")
	const refused = "The requested URL returned error: 429" // curl prints no answer that it may repeat
	fails("curl", refused, "sh", "-ec", blocksOf(t, "curl", "sh")[1])
	fails("a list by curl", refused, "sh", "-c", replaced(t, string(mustRun(t, "page.mjs", "curl", server, "/api/v1/campaigns?marketplace_id=101&page_size=25")), "  curl", "  curl -sS"))
	state := signedIn(t, scriptFor(t, server, map[string]string{"markets": "/marketplaces"}), "key").do("open", "menu:Refresh")
	if len(state.Slept) > 0 || len(state.Errors) != 1 || !strings.Contains(state.Errors[0], spentDetail) {
		t.Errorf("the script slept %v ms and reports %v", state.Slept, state.Errors)
	}
	if fault, _ := newFlow(t, server, "key").run(t); !strings.Contains(fault, "Marketplaces") || !strings.Contains(fault, spentDetail) {
		t.Errorf("the workflow reports %q", fault)
	}
	fails("Python", spentDetail, pandas(t), "-c", blocksOf(t, "python", "python")[1]+"\ntable()")
}
