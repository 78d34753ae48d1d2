// Package integration holds the black-box tests of the adlens program: they
// know the contract (files in, answers out) and share no code with it. Each
// subject is a package of its own, and house is what they share.
//
// The independent oracle is in model, the random writer of extracts in
// extracts, the driver of the binary in harness, and the plain-text scripts
// that a product person can extend in script and figures/testdata/scripts.
package integration
