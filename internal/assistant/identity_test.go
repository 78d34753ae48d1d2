package assistant

import (
	"context"
	"strings"
	"testing"
	"time"

	"adlens"
	"adlens/internal/auth"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// isAcme is Config.Account of a server of one account.
func isAcme(context.Context, *mcp.RequestExtra) adlens.Account { return adlens.Account{ID: "acme"} }

// A person may pick a prompt of one of several connections, which all read figures.
func TestPromptsNameTheAccount(t *testing.T) {
	session := connectTo(t, warehouse{products: 1}, atNoon)
	for _, one := range prompts {
		got, err := session.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: one.name})
		if err != nil {
			t.Fatal(err)
		}
		if text := got.Messages[0].Content.(*mcp.TextContent).Text; !strings.Contains(text, " of account acme ") || strings.Contains(text, "{account}") {
			t.Errorf("%s is %s", one.name, text)
		}
	}
}

// Clients of each revision are told whose figures they get, also where the name is
// hostile or not known.
func TestTheServerSaysWhoseFiguresItHas(t *testing.T) {
	for _, revision := range []string{"2025-06-18", "2026-07-28"} {
		for _, c := range []struct {
			account adlens.Account
			want    string
		}{
			{adlens.Account{ID: "c05", Name: "Client 05"}, "account c05 (Client 05)"},
			{adlens.Account{ID: "c05", Name: "Client\u202e\n05"}, "account c05 (Client 05)"},
			{adlens.Account{ID: "c05", Name: "c05"}, "account c05"},
			{adlens.Account{ID: "c05"}, "account c05"},
			{adlens.Account{}, "an advertising account"},
		} {
			s := New(Config{Now: time.Now, Version: "v1", Account: func(context.Context, *mcp.RequestExtra) adlens.Account { return c.account },
				Admit: func(context.Context, *mcp.RequestExtra) (auth.Caller, error) { return auth.Caller{}, auth.ErrCanceled }})
			session := connectClient(t, s, &mcp.ClientSessionOptions{ProtocolVersion: revision})
			got := session.InitializeResult()
			if got.ProtocolVersion != revision || got.ServerInfo.Name != "adlens" || got.ServerInfo.Version != "v1" || got.ServerInfo.Title != "adlens of "+c.want {
				t.Errorf("%s: %q is the server %+v of revision %s", revision, c.want, got.ServerInfo, got.ProtocolVersion)
			}
			if !strings.HasPrefix(got.Instructions, "Exact figures of "+c.want+", whose account_id every result has. ") {
				t.Errorf("%s: %q has the instructions %.100q", revision, c.want, got.Instructions)
			}
		}
	}
}
