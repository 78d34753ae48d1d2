package http

import (
	"regexp"
	"strings"
)

// keyPrefix is how the text of every key begins.
const keyPrefix = "key_live_"

// keyText is what may be a key, or a part of one, past the four characters
// that may be shown.
var keyText = regexp.MustCompile(keyPrefix + `[0-9A-Za-z]{4}[0-9A-Za-z]+`)

// masked leaves of every key in a text no more than its start. Errors repeat
// what was sent, and people pass errors on.
func masked(text []byte) []byte {
	return keyText.ReplaceAllFunc(text, func(key []byte) []byte {
		return append(key[:len(keyPrefix)+4:len(keyPrefix)+4], "..."...)
	})
}

// keyInAddress tells whether somebody put a key where browsers, proxies and
// logs keep it.
func keyInAddress(uri string) bool { return strings.Contains(uri, keyPrefix) }
