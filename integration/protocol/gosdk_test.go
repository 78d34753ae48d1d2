package protocol_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"testing"

	"adlens/integration/house"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

// authorizeGo returns the Go SDK's handler of a 401: it discovers the servers,
// registers itself, and has the test give the consent.
func authorizeGo(t *testing.T, name string) auth.OAuthHandler {
	t.Helper()
	const callback = "http://127.0.0.1:33419/callback" // nothing listens: the fetcher reads it
	handler, err := auth.NewAuthorizationCodeHandler(&auth.AuthorizationCodeHandlerConfig{
		RedirectURL: callback,
		DynamicClientRegistrationConfig: &auth.DynamicClientRegistrationConfig{Metadata: &oauthex.ClientRegistrationMetadata{
			ClientName: name, RedirectURIs: []string{callback}, TokenEndpointAuthMethod: "none",
			GrantTypes: []string{"authorization_code", "refresh_token"}, ResponseTypes: []string{"code"},
		}},
		AuthorizationCodeFetcher: func(_ context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
			redirect, err := giveConsent(t, args.URL)
			if err != nil {
				return nil, err
			}
			at, err := url.Parse(redirect)
			if err != nil {
				return nil, err
			}
			q := at.Query()
			return &auth.AuthorizationResult{Code: q.Get("code"), State: q.Get("state"), Iss: q.Get("iss")}, nil
		},
	})
	house.Need(t, err)
	return handler
}

// connectGo opens a session of one revision, after consent.
func connectGo(t *testing.T, address, revision string, handler auth.OAuthHandler) *mcp.ClientSession {
	t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "adlens-test", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: address + "/mcp", OAuthHandler: handler},
		&mcp.ClientSessionOptions{ProtocolVersion: revision})
	house.Need(t, err)
	t.Cleanup(func() { session.Close() })
	return session
}

// TestGoClients connects the Go SDK's client in both eras, from discovery over
// consent to a figure.
func TestGoClients(t *testing.T) {
	for _, revision := range []string{"2025-11-25", "2026-07-28"} {
		t.Run(revision, func(t *testing.T) {
			address := startShared(t)
			session := connectGo(t, address, revision, authorizeGo(t, "Go client "+revision))
			listed, err := session.ListTools(t.Context(), nil)
			house.Need(t, err)
			result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: figureTool, Arguments: figureArguments})
			house.Need(t, err)
			var got toolResult
			content, err := json.Marshal(result)
			house.Need(t, err)
			house.Need(t, json.Unmarshal(content, &got))
			if got.Protocol = session.InitializeResult().ProtocolVersion; got.Protocol != revision {
				t.Errorf("want protocol %s, got %s", revision, got.Protocol)
			}
			if !slices.ContainsFunc(listed.Tools, func(tool *mcp.Tool) bool { return tool.Name == figureTool }) {
				t.Errorf("want the tool %s in %d tools", figureTool, len(listed.Tools))
			}
			checkFigures(t, got)
		})
	}
}

// TestWithoutToken requires the challenge that discovery starts with, and the
// resource's metadata where the challenge says that they are.
func TestWithoutToken(t *testing.T) {
	address := startShared(t)
	response, err := newBrowser().Post(address+"/mcp", "application/json", http.NoBody)
	house.Need(t, err)
	defer response.Body.Close()
	challenges, err := oauthex.ParseWWWAuthenticate(response.Header.Values("WWW-Authenticate"))
	house.Need(t, err)
	if response.StatusCode != http.StatusUnauthorized || len(challenges) != 1 || challenges[0].Scheme != "bearer" {
		t.Fatalf("want 401 and one Bearer challenge, got %s and %q", response.Status, response.Header.Values("WWW-Authenticate"))
	}
	metadata, err := oauthex.GetProtectedResourceMetadata(t.Context(), challenges[0].Params["resource_metadata"], address+"/mcp", http.DefaultClient)
	house.Need(t, err)
	if !slices.Equal(metadata.AuthorizationServers, []string{address}) {
		t.Errorf("want the authorization server %s, got %v", address, metadata.AuthorizationServers)
	}
}
