package http

import (
	"regexp"
	"strings"
)

// keyPrefix is how the text of every key begins.
const keyPrefix = "key_live_"

// feedPrefix is how every token of a feed link begins.
const feedPrefix = "feed_"

// keyText is what may be a key or the token of a feed link, or a part of one,
// past the four characters that may be shown.
var keyText = regexp.MustCompile(`(` + keyPrefix + `|` + feedPrefix + `)([0-9A-Za-z]{4})[0-9A-Za-z]+`)

// masked leaves of every key in a text no more than its start. Errors repeat
// what was sent, and people pass errors on.
func masked(text []byte) []byte {
	return keyText.ReplaceAll(text, []byte("$1$2..."))
}

// keyInAddress tells whether somebody put a key where browsers, proxies and
// logs keep it.
func keyInAddress(uri string) bool { return strings.Contains(uri, keyPrefix) }
