//go:build !conformance

package assistant

import "github.com/modelcontextprotocol/go-sdk/mcp"

// addFixtures adds what the protocol's conformance suite asks for, in a build for
// it alone.
func addFixtures(*mcp.Server) {}
