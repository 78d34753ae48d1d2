// Package cluster holds the tests of shards, of several servers of one
// installation, and of ClickHouse servers elsewhere.
package cluster
