// Package integration holds the black-box tests of the adlens program: they
// know the contract (files in, answers out) and share no code with it.
//
// The independent oracle is in model, the random writer of extracts in
// extracts, the driver of the binary in harness, and the plain-text scripts
// that a product person can extend in script and testdata/scripts.
package integration
