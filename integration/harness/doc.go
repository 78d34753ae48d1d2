// Package harness builds and drives the adlens program as a user would: by its
// command line, over HTTP, and with signals. It reads no source of the program.
package harness
