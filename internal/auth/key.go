package auth

import (
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"hash/crc32"
	"io"
	"strings"
)

// The parts of a key's text. The prefix lets scanners of leaked secrets find
// keys; the checksum lets a mistyped or invented key be refused without
// asking the database, and lets scanners tell keys from what only looks so.
const (
	keyPrefix    = "key_live_"
	secretLength = 30 // 178.6 bits
	checkLength  = 6  // 62^6 exceeds 2^32
	startLength  = 4  // after the prefix
	base62       = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	ellipsis     = "…"
)

// Key is an API key, the token of a link, or a secret of an assistant's
// connection. It never prints itself: only
// Reveal gives its text, for the one time that it is shown.
type Key struct {
	prefix string
	// A pointer, because fmt prints unexported fields of other structs, and
	// operands of unfit verbs, without asking the type's own methods. Of a
	// pointer that shows an address.
	text *string
}

// NewKey makes a new random key.
func NewKey() Key { return newKey(keyPrefix) }

func newKey(prefix string) Key { return makeKey(prefix, randomText(secretLength)) }

func makeKey(prefix, random string) Key {
	text := prefix + random + keyChecksum(prefix+random)
	return Key{prefix, &text}
}

// ParseKey returns the key of a text that can be one: length, alphabet and
// checksum are right. Whether such a key was ever given out, only the store
// knows.
func ParseKey(text string) (Key, bool) { return parseKey(keyPrefix, secretLength, text) }

func parseKey(prefix string, length int, text string) (Key, bool) {
	if len(text) != len(prefix)+length+checkLength || !strings.HasPrefix(text, prefix) {
		return Key{}, false
	}
	body, check := text[:len(text)-checkLength], text[len(text)-checkLength:]
	if !isBase62(body[len(prefix):]) || check != keyChecksum(body) {
		return Key{}, false
	}
	return Key{prefix, &text}, true
}

func isBase62(text string) bool {
	for i := range len(text) {
		if strings.IndexByte(base62, text[i]) < 0 {
			return false
		}
	}
	return true
}

// Hash returns the SHA-256 of the key's text, which is all that is stored. A
// slow or salted hash would protect guessable secrets; these are not.
func (k Key) Hash() [32]byte { return sha256.Sum256([]byte(k.Reveal())) }

// Start returns the first characters, by which people tell their keys apart.
func (k Key) Start() string { return k.Reveal()[:min(len(k.prefix)+startLength, len(k.Reveal()))] }

// Reveal returns the text of the key.
func (k Key) Reveal() string {
	if k.text == nil {
		return ""
	}
	return *k.text
}

// String returns the start of the key and an ellipsis.
func (k Key) String() string {
	return k.Start() + ellipsis
}

// GoString is String.
func (k Key) GoString() string { return k.String() }

// MarshalText gives what String gives, to JSON too: a marshalled key cannot
// be read back.
func (k Key) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// Format writes what String gives, whatever the verb.
func (k Key) Format(out fmt.State, _ rune) { io.WriteString(out, k.String()) }

// randomText returns n characters of the alphabet, each equally likely.
func randomText(n int) string {
	text := make([]byte, 0, n)
	var random [64]byte
	for len(text) < n {
		rand.Read(random[:]) // never fails
		text = appendCharacters(text, random[:])
	}
	return string(text[:n])
}

// appendCharacters drops what is past the alphabet's end: a remainder would
// make the first characters likelier than the others.
func appendCharacters(text, random []byte) []byte {
	for _, b := range random {
		if i := int(b & 63); i < len(base62) {
			text = append(text, base62[i])
		}
	}
	return text
}

// keyChecksum writes the CRC32 (IEEE) of a text in base62, padded with zeros.
func keyChecksum(text string) string {
	sum := crc32.ChecksumIEEE([]byte(text))
	var digits [checkLength]byte
	for i := range digits {
		digits[checkLength-1-i] = base62[sum%uint32(len(base62))]
		sum /= uint32(len(base62))
	}
	return string(digits[:])
}
