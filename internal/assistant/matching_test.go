package assistant

import (
	"context"
	"strings"
	"testing"
	"time"

	"adlens"
	"adlens/internal/answer"
	"adlens/internal/auth"
	"adlens/internal/query"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Rows that are not read may meet conditions too.
func TestConditionsAreOfAllRowsOrRefused(t *testing.T) {
	now := func() time.Time { return time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC) }
	for rows, want := range map[int]string{
		query.MaxRows:     `"matching_rows":1}`,
		query.MaxRows + 1: "where looks at 100000 rows at most, and the call has 100001; take a shorter period or fewer dimensions",
	} {
		spends := make([]uint64, rows)
		spends[0] = 1_000_000
		s := New(Config{Answers: answer.New(answer.Config{Figures: query.NewService(shelf{warehouse{}, spends, new(int)}, nil), Now: now}), Now: now,
			Failed: func(_ *mcp.RequestExtra, tool string, err error) { t.Errorf("%s: %v", tool, err) },
			Admit: func(context.Context, *mcp.RequestExtra) (auth.Caller, error) {
				return auth.Caller{Account: adlens.Account{ID: "acme"}}, nil
			}})
		result, err := s.callHandler(tools[3])(t.Context(), &mcp.CallToolRequest{Params: &mcp.CallToolParamsRaw{Name: "rank",
			Arguments: []byte(`{"range":"this_month","dimensions":["product"],"figures":["spend"],"where":["spend>=1"]}`)}})
		if err != nil {
			t.Fatal(err)
		}
		if text := result.Content[0].(*mcp.TextContent).Text; !strings.Contains(text, want) || result.IsError != (rows > query.MaxRows) {
			t.Errorf("of %d rows: %.400s, want %s", rows, text, want)
		}
	}
}
