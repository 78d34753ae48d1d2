package assistant_test

import (
	"context"
	"encoding/json"
	"testing"

	"adlens/integration/harness"
	"adlens/integration/house"
	"adlens/integration/model"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// session is a client of adlens mcp.
type session struct {
	*mcp.ClientSession
	schemas map[string]*jsonschema.Schema // of results, by tool
}

// newSession reads what the server says of its results, which each has to be.
func newSession(t testing.TB, opened *mcp.ClientSession) session {
	t.Helper()
	s := session{opened, map[string]*jsonschema.Schema{}}
	listed, err := opened.ListTools(context.Background(), nil)
	house.Need(t, err)
	compiler := jsonschema.NewCompiler()
	for _, tool := range listed.Tools {
		house.Need(t, compiler.AddResource(tool.Name, tool.OutputSchema))
		s.schemas[tool.Name], err = compiler.Compile(tool.Name)
		house.Need(t, err)
	}
	return s
}

// openSession starts adlens mcp as an assistant does, and ends it with the test.
func openSession(t testing.TB, p *harness.Program, account string, more ...string) session {
	t.Helper()
	ctx := context.Background()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	args := append([]string{"mcp", "--account", account}, more...)
	opened, err := client.Connect(ctx, &mcp.CommandTransport{Command: p.Command(ctx, args...)}, nil)
	house.Need(t, err)
	t.Cleanup(func() { house.Need(t, opened.Close()) })
	return newSession(t, opened)
}

// call calls a tool. Text and structured content are the same.
func (s session) call(t testing.TB, tool string, arguments map[string]any) (result map[string]any, refusal string) {
	t.Helper()
	said, err := s.CallTool(context.Background(), &mcp.CallToolParams{Name: tool, Arguments: arguments})
	house.Need(t, err)
	text := said.Content[0].(*mcp.TextContent).Text
	if said.IsError {
		return nil, text
	}
	decoded, err := model.Decode([]byte(text))
	house.Need(t, err)
	structured, err := json.Marshal(said.StructuredContent)
	house.Need(t, err)
	again, err := model.Decode(structured)
	house.Need(t, err)
	if differences := append(model.Diff(decoded, again), model.Diff(again, decoded)...); len(differences) > 0 {
		t.Errorf("%s: text and structured content differ: %v", tool, differences)
	}
	result = decoded.(map[string]any)
	if err := s.schemas[tool].Validate(result); err != nil {
		t.Errorf("%s %v is not what the server says of it: %v", tool, arguments, err)
	}
	for name := range result {
		if _, known := s.schemas[tool].Properties[name]; !known {
			t.Errorf("%s has %s, which its schema does not know", tool, name)
		}
	}
	return result, ""
}

// mustCall calls a tool that has to answer.
func (s session) mustCall(t testing.TB, tool string, arguments map[string]any) map[string]any {
	t.Helper()
	result, refusal := s.call(t, tool, arguments)
	if refusal != "" {
		t.Fatalf("%s %v: %s", tool, arguments, refusal)
	}
	return result
}
