package assistant_test

import (
	"strings"
	"testing"

	"adlens/integration/house"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Several connections of one assistant do not look alike: each server says whose account
// it reads, and so does each result.
func TestEveryConnectionAndResultSaysWhoseItIs(t *testing.T) {
	t.Parallel()
	p := house.OwnProgram(t)
	const account = "c05"
	_, err := p.Account(account)
	house.Need(t, err)
	for name, s := range map[string]session{
		"adlens mcp": openSession(t, p, account),
		"/mcp":       connect(t, p, house.Serve(t, p), account, "desk").open(t),
	} {
		checkIdentity(t, name, s.InitializeResult())
		for tool := range s.schemas {
			arguments := map[string]any{}
			if tool == "list" {
				arguments["kind"] = "rules"
			}
			result := s.mustCall(t, tool, arguments)
			if tool == "overview" {
				result = result["account"].(map[string]any)
			}
			if got := result["account_id"]; got != account {
				t.Errorf("%s: the result of %s is of the account %v", name, tool, got)
			}
		}
	}
}

func checkIdentity(t *testing.T, name string, got *mcp.InitializeResult) {
	t.Helper()
	const want = "of account c05 (Account c05)"
	if got.ServerInfo.Title != "adlens "+want || !strings.HasPrefix(got.Instructions, "Exact figures "+want+",") {
		t.Errorf("%s is %q: %.100q", name, got.ServerInfo.Title, got.Instructions)
	}
}
