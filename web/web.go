// Package web holds the pages that the program serves for people. Nothing in
// them comes from another host, and nothing in them is of any account.
package web

import (
	"crypto/sha256"
	"encoding/base64"
)

// File is a page, or something that a page needs, ready to be sent.
type File struct {
	Type   string // the media type
	Body   []byte
	ETag   string // names the body, quoted
	Policy string // what a browser may do with it
}

// NewFile names a body.
func NewFile(mediaType string, body []byte, policy string) File {
	sum := sha256.Sum256(body)
	return File{Type: mediaType, Body: body, ETag: `"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`, Policy: policy}
}

// ReadingPolicy is for pages that are only read: their own style and pictures,
// and not a line of script.
const ReadingPolicy = "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// SearchPolicy is for the page that searches: that of reading, and one script of the
// server's own.
const SearchPolicy = ReadingPolicy + "; script-src 'self'"

// The media types of files.
const (
	HTML       = "text/html; charset=utf-8"
	CSS        = "text/css; charset=utf-8"
	JavaScript = "text/javascript; charset=utf-8"
	SVG        = "image/svg+xml"
	JSON       = "application/json"
)
