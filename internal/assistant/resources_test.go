package assistant

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"adlens/internal/auth"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// connectClient returns a client's session with a server.
func connectClient(t *testing.T, s *Server) *mcp.ClientSession {
	t.Helper()
	of, to := mcp.NewInMemoryTransports()
	if _, err := s.Protocol().Connect(t.Context(), of, nil); err != nil {
		t.Fatal(err)
	}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), to, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	return session
}

// So do prompts and resources, of which the SDK catches no panic either.
func TestAPanicOfAPromptOrResourceEndsItAlone(t *testing.T) {
	var failed []error
	s := New(Config{Now: time.Now, Failed: func(_ string, err error) { failed = append(failed, err) },
		Admit: func(context.Context, *mcp.RequestExtra) (auth.Caller, error) { panic("a secret of the inside") }})
	session := connectClient(t, s)
	_, ofPrompt := session.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "weekly_review"})
	_, ofResource := session.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "adlens://freshness"})
	for _, err := range []error{ofPrompt, ofResource} {
		var refused *jsonrpc.Error
		if !errors.As(err, &refused) || refused.Code != jsonrpc.CodeInternalError || strings.Contains(err.Error(), "secret") {
			t.Errorf("the client reads %v", err)
		}
	}
	if len(failed) != 2 || !strings.Contains(failed[0].Error(), "secret") {
		t.Errorf("the log has %v", failed)
	}
}

// JSON-RPC has codes for arguments and for all else; 0 is none of them.
func TestErrorsOfPromptsAndResourcesHaveACode(t *testing.T) {
	s := New(Config{Now: time.Now, Admit: func(context.Context, *mcp.RequestExtra) (auth.Caller, error) { return auth.Caller{}, auth.ErrCanceled }})
	session := connectClient(t, s)
	mustRefuse := func(what string, err error, code int64, words string) {
		t.Helper()
		var refused *jsonrpc.Error
		if !errors.As(err, &refused) || refused.Code != code || !strings.Contains(refused.Message, words) {
			t.Errorf("%s: %v, want code %d and %q", what, err, code, words)
		}
	}
	_, err := session.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "why_did_acos_change", Arguments: map[string]string{"range": "ever"}})
	mustRefuse("a wrong range", err, jsonrpc.CodeInvalidParams, `range is "ever"; expected one of today`)
	_, err = session.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "weekly_review", Arguments: map[string]string{"range": "today"}})
	mustRefuse("an unknown argument", err, jsonrpc.CodeInvalidParams, `"range" is no argument of weekly_review`)
	_, err = session.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "adlens://freshness"})
	mustRefuse("a canceled account", err, jsonrpc.CodeInternalError, "adlens://freshness: "+auth.ErrCanceled.Error())
}
