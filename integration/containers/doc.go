// Package containers starts real servers in containers, through testcontainers.
// It is the only room that knows it.
package containers
