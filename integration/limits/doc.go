// Package limits holds the tests of bounds: calls of a key, connections, and memory
// of large answers and of files that unpack to much.
package limits
