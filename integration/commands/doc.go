// Package commands holds the tests of the command line: doctor, completion, progress
// and names.
package commands
