// Package freshness holds the tests of what a server does by itself with connected
// accounts, against a stand-in of the platform.
package freshness
