// Package loading holds the tests of what may be loaded: broken and odd files,
// places that files are read from, and readers next to loads.
package loading
