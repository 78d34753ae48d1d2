package protocol_test

import (
	"bytes"
	"embed"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"adlens/integration/harness"
	"adlens/integration/house"
)

const conformanceScript = "node_modules/@modelcontextprotocol/conformance/dist/index.js"

// scenarios holds what each run must report, one scenario a line: a scenario
// or a check that is skipped differs as much as one that fails.
//
//go:embed testdata/*.txt
var scenarios embed.FS

// TestConformance runs all server scenarios that a revision scores, against a
// build with the suite's fixtures.
//
// Four scenarios of 2025-11-25 have the server send requests to the client,
// which a release does not do: it has no sessions. They fail there by design,
// and pass in the run with sessions.
func TestConformance(t *testing.T) {
	binary := buildFixtures(t)
	for _, run := range []struct{ revision, mode string }{
		{"2026-07-28", "stateless"},
		{"2025-11-25", "stateless"},
		{"2025-11-25", "sessions"},
	} {
		name := run.revision + "-" + run.mode
		t.Run(name, func(t *testing.T) {
			want, err := scenarios.ReadFile("testdata/" + name + ".txt")
			house.Need(t, err)
			command := nodeCommand(t, conformanceScript, "server", "--url", serveFixtures(t, binary, run.mode)+"/mcp", "--requirements", run.revision, "--output-dir", "results")
			output, err := command.CombinedOutput()
			if failing := bytes.Contains(want, []byte("✗")); err != nil != failing {
				t.Errorf("the suite ended with %v\n%s", err, output)
			}
			got := summaryLines(string(output))
			t.Logf("%s", got)
			if got != string(want) {
				t.Errorf("want these scenarios:\n%s\ngot:\n%s", want, output)
			}
		})
	}
}

// summaryLines returns the lines of the suite's summary, without the extension
// for tasks, which adlens does not have.
func summaryLines(output string) string {
	var lines strings.Builder
	_, summary, _ := strings.Cut(output, "=== SUMMARY ===")
	summary, _, _ = strings.Cut(summary, "\nTotal:")
	for line := range strings.Lines(summary) {
		if strings.TrimSpace(line) != "" && !strings.Contains(line, " tasks-") {
			lines.WriteString(strings.TrimSuffix(line, "\n") + "\n")
		}
	}
	return lines.String()
}

// buildFixtures builds the program with the suite's fixtures, for as long as the test
// runs.
func buildFixtures(t *testing.T) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "adlens")
	build := exec.Command("go", "build", "-tags=nomsgpack,conformance", "-o", path, "./cmd/adlens")
	build.Dir = harness.Root()
	if output, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, output)
	}
	return path
}

// serveFixtures serves the fixtures without accounts and returns the address.
func serveFixtures(t *testing.T, binary, mode string) string {
	t.Helper()
	p := &harness.Program{Bin: binary, DataDir: filepath.Join(t.TempDir(), "data"), Settings: []string{"ADLENS_CONFORMANCE=" + mode}}
	server, err := p.Serve()
	house.Need(t, err)
	t.Cleanup(func() { house.Need(t, server.Stop()) })
	return server.Address
}
