// Package script reads and runs the plain-text scripts of integration/figures/testdata:
// extract rows, loads, requests and the answers that must come. The language
// is described in integration/README.md.
package script
