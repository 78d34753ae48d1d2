package protocol_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"adlens/integration/house"
)

// TestTypeScriptClients connects the TypeScript SDK's clients of both eras,
// from discovery over consent to a figure.
func TestTypeScriptClients(t *testing.T) {
	for _, revision := range []string{"2025-11-25", "2026-07-28"} {
		t.Run(revision, func(t *testing.T) {
			address := startShared(t)
			arguments, err := json.Marshal(figureArguments)
			house.Need(t, err)
			command := nodeCommand(t, "client.mjs", revision, address+"/mcp", figureTool, string(arguments))
			stdin, err := command.StdinPipe()
			house.Need(t, err)
			stdout, err := command.StdoutPipe()
			house.Need(t, err)
			var stderr strings.Builder
			command.Stderr = &stderr
			house.Need(t, command.Start())
			var got *toolResult
			lines := bufio.NewScanner(stdout)
			lines.Buffer(nil, 4<<20)
			for lines.Scan() {
				var line struct {
					Authorize string
					Result    *toolResult
				}
				if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
					t.Errorf("unexpected output: %s", lines.Bytes())
					continue
				}
				if line.Authorize != "" {
					redirect, err := giveConsent(t, line.Authorize)
					if err != nil {
						t.Error(err)
						stdin.Close()
						break
					}
					fmt.Fprintln(stdin, redirect)
				}
				if line.Result != nil {
					got = line.Result
				}
			}
			house.Need(t, exitError(command.Wait(), &stderr))
			if got == nil {
				t.Fatal("the client printed no result")
			}
			if got.Protocol != revision || !slices.Contains(got.Tools, figureTool) {
				t.Errorf("want protocol %s and the tool %s, got %q and %v", revision, figureTool, got.Protocol, got.Tools)
			}
			checkFigures(t, *got)
		})
	}
}
