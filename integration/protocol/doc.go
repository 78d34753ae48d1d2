// Package protocol tests /mcp and the authorization server with what others
// wrote: the protocol's conformance suite, its Inspector, and the Go and
// TypeScript clients of both eras (2025-11-25 with sessions' handshake,
// 2026-07-28 without).
//
// The suite and the Inspector need Node 22, which comes from npm with them
// (make fetches both).
package protocol
