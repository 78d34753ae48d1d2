package http

import (
	"strconv"
	"strings"
)

// plainLetters decodes the letters of an escaped path that need no escape: by
// RFC 3986, part 6.2.2.2, %73ummary is summary. All else stays as it was sent: a
// slash that is escaped is a part of a name.
func plainLetters(path string) string {
	if !strings.Contains(path, "%") {
		return path
	}
	var plain strings.Builder
	for i := 0; i < len(path); i++ {
		if path[i] == '%' && i+2 < len(path) {
			if letter, ok := decodeUnreserved(path[i+1 : i+3]); ok {
				plain.WriteByte(letter)
				i += 2
				continue
			}
		}
		plain.WriteByte(path[i])
	}
	return plain.String()
}

// decodeUnreserved is the character of two hexadecimal digits; ok is false where it
// may mean something else without its escape.
func decodeUnreserved(digits string) (c byte, ok bool) {
	n, err := strconv.ParseUint(digits, 16, 8)
	c = byte(n)
	return c, err == nil && ('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("-._~", c) >= 0)
}
