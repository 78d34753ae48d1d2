// Package page is the page at / that shows an account to a person who types a key
// of it: plain HTML, CSS and ES modules, which ask the public API alone.
package page

import "embed"

// Files are what the browser is given: index.html, and what that asks for.
//
//go:embed *.html *.css *.js *.svg
var Files embed.FS
