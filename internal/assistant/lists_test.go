package assistant

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"adlens"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// callTool returns the text of a call's result.
func callTool(t *testing.T, session *mcp.ClientSession, tool string, arguments map[string]any) string {
	t.Helper()
	called, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		t.Fatal(err)
	}
	return called.Content[0].(*mcp.TextContent).Text
}

// atNoon is a time of which the warehouse holds the days before.
func atNoon() time.Time { return time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC) }

// A campaign has a namesake in each marketplace, so a ranking says which one it is.
func TestARankingIsOfCampaignsOfMarketplaces(t *testing.T) {
	session := connectTo(t, warehouse{products: 1}, atNoon)
	for _, arguments := range []map[string]any{nil, {"where": "spend>1"}} {
		got := callTool(t, session, "rank", arguments)
		for _, want := range []string{`"columns":["marketplace","marketplace_id","campaign_id","campaign_name",`, "dimensions=marketplace,campaign&"} {
			if !strings.Contains(got, want) {
				t.Errorf("rank %v has no %s: %s", arguments, want, got)
			}
		}
	}
}

// What was done, and why, names campaigns, so it is cut later than a name is.
func TestSentencesOfListsAreLongerThanNames(t *testing.T) {
	sentence := strings.Repeat("Paused \u202ecampaign. ", 30)
	said, err := readObject(jsontext.Value(fmt.Sprintf(`{"data":[{"summary":%[1]q,"name":%[1]q,"changes":[{"entity_name":%[1]q,"reason":%[1]q}]}]}`, sentence)))
	if err != nil {
		t.Fatal(err)
	}
	got, err := listTable(said, nil)
	if err != nil {
		t.Fatal(err)
	}
	name, long := adlens.CleanText(sentence, 80), adlens.CleanText(sentence, 300)
	if want := fmt.Sprintf("[%q %q [{%q:%q,%q:%q}]]", long, name, "entity_name", name, "reason", long); fmt.Sprintf("%s", got.Rows[0]) != want {
		t.Errorf("got %s, want %s", got.Rows[0], want)
	}
}
