//go:build !conformance

package assistant

import "github.com/modelcontextprotocol/go-sdk/mcp"

// What the protocol's conformance suite asks for is in a build for it alone
// (conformance.go); a release has nothing of it.

func addFixtures(*mcp.Server) {}

func prepareOptions(*mcp.ServerOptions) {}

// PrepareTransport changes nothing: releases speak the protocol without sessions.
func PrepareTransport(*mcp.StreamableHTTPOptions) {}

// AdmitsWithoutToken is false: releases ask for a token.
func AdmitsWithoutToken() bool { return false }
