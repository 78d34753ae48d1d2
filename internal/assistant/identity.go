package assistant

import (
	"context"

	"adlens"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// nameAccount has what a client reads first say whose figures it gets: several connections
// of one client look alike otherwise. The list of tools, which each conversation reads,
// stays as short as it is.
func (s *Server) nameAccount(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, r mcp.Request) (result mcp.Result, err error) {
		defer catchPanic(func(caught error) {
			err = &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: method + ": " + s.explainError(r.GetExtra(), method, caught)}
		})
		result, err = next(ctx, method, r)
		if err != nil {
			return result, err
		}
		switch said := result.(type) {
		case *mcp.InitializeResult:
			account := describeAccount(s.Account(ctx, r.GetExtra()))
			said.ServerInfo, said.Instructions = s.describeServer(account), instructionsFor(account)
		case *mcp.DiscoverResult:
			account := describeAccount(s.Account(ctx, r.GetExtra()))
			said.Meta, said.Instructions = mcp.Meta{mcp.MetaKeyServerInfo: s.describeServer(account)}, instructionsFor(account)
		}
		return result, nil
	}
}

// describeServer returns what a client shows of the server.
func (s *Server) describeServer(account string) *mcp.Implementation {
	return &mcp.Implementation{Name: "adlens", Title: "adlens of " + account, Version: s.Version}
}

// describeAccount names an account in a sentence.
func describeAccount(a adlens.Account) string {
	if a.ID == "" {
		return "an advertising account"
	}
	return "account " + a.DisplayName()
}
