package protocol_test

import (
	"bytes"
	"embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"adlens/integration/harness"
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
	for _, run := range []struct{ revision, mode string }{
		{"2026-07-28", "stateless"},
		{"2025-11-25", "stateless"},
		{"2025-11-25", "sessions"},
	} {
		name := run.revision + "-" + run.mode
		t.Run(name, func(t *testing.T) {
			want, err := scenarios.ReadFile("testdata/" + name + ".txt")
			need(t, err)
			command := nodeCommand(t, conformanceScript, "server", "--url", serveFixtures(t, run.mode)+"/mcp", "--requirements", run.revision, "--output-dir", "results")
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

// fixtureBinary is the build with the suite's fixtures, made once.
// ADLENS_CONFORMANCE_BIN names one that is there already.
var fixtureBinary = sync.OnceValues(func() (string, error) {
	if path := os.Getenv("ADLENS_CONFORMANCE_BIN"); path != "" {
		return path, nil
	}
	dir, err := os.MkdirTemp("", "adlens-conformance-")
	if err != nil {
		return "", err
	}
	shared.close = append(shared.close, func() error { return os.RemoveAll(dir) })
	path := filepath.Join(dir, "adlens")
	build := exec.Command("go", "build", "-tags=nomsgpack,conformance", "-o", path, "./cmd/adlens")
	build.Dir = harness.Root()
	if output, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, output)
	}
	return path, nil
})

// serveFixtures serves the fixtures without accounts and returns the address.
func serveFixtures(t *testing.T, mode string) string {
	t.Helper()
	binary, err := fixtureBinary()
	need(t, err)
	p := &harness.Program{Bin: binary, DataDir: filepath.Join(t.TempDir(), "data"), Settings: []string{"ADLENS_CONFORMANCE=" + mode}}
	server, err := p.Serve()
	need(t, err)
	t.Cleanup(func() { need(t, server.Stop()) })
	return server.Address
}
