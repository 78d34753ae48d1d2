package protocol_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"adlens/integration/house"

	"github.com/modelcontextprotocol/go-sdk/auth"
)

const inspectorScript = "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js"

// inspect asks a server with a token by the Inspector's command line, and
// reads its answer.
func inspect(t *testing.T, address, era, token string, into any, args ...string) {
	t.Helper()
	command := nodeCommand(t, inspectorScript, append([]string{"--cli", address + "/mcp", "--transport", "http", "--protocol-era", era,
		"--format", "json", "--header", "Authorization: Bearer " + token}, args...)...)
	var stderr strings.Builder
	command.Stderr = &stderr
	stdout, err := command.Output()
	house.Need(t, exitError(err, &stderr))
	if err := json.Unmarshal(stdout, into); err != nil {
		t.Fatalf("%v: %s", err, stdout)
	}
}

// TestInspector lists the tools, has the Inspector check that other clients
// can use their schemas, and calls one, in both eras.
func TestInspector(t *testing.T) {
	address := startShared(t)
	handler := authorizeGo(t, "Inspector")
	connectGo(t, address, "2026-07-28", handler)
	token := currentToken(t, handler)
	arguments, err := json.Marshal(figureArguments)
	house.Need(t, err)
	for _, era := range []string{"legacy", "modern"} {
		t.Run(era, func(t *testing.T) {
			var listed struct {
				Result struct{ Tools []struct{ Name string } }
			}
			inspect(t, address, era, token, &listed, "--method", "tools/list", "--strict")
			if !slices.Contains(listed.Result.Tools, struct{ Name string }{figureTool}) {
				t.Errorf("want the tool %s, got %+v", figureTool, listed)
			}
			var called struct{ Result toolResult }
			inspect(t, address, era, token, &called, "--method", "tools/call", "--tool-name", figureTool, "--tool-args-json", string(arguments))
			checkFigures(t, called.Result)
		})
	}
}

// currentToken returns the access token that a connected client uses.
func currentToken(t *testing.T, handler auth.OAuthHandler) string {
	t.Helper()
	source, err := handler.TokenSource(t.Context())
	house.Need(t, err)
	token, err := source.Token()
	house.Need(t, err)
	return token.AccessToken
}
