package auth

import (
	"fmt"
	"regexp"
	"strings"
)

// secretText matches what may be a key, the token of a link or a secret of an
// assistant's connection, or a part of one, past the start that may be shown.
var secretText = func() *regexp.Regexp {
	prefixes := []string{keyPrefix, codePrefix, accessPrefix, refreshPrefix}
	for _, l := range links {
		prefixes = append(prefixes, l.prefix)
	}
	return regexp.MustCompile(fmt.Sprintf(`((?:%s)[%s]{%d})[%[2]s]+`, strings.Join(prefixes, "|"), base62, startLength))
}()

// MaskSecrets leaves of every secret in a text no more than its start. Errors repeat
// what was sent, and people pass errors on.
func MaskSecrets(text []byte) []byte { return secretText.ReplaceAll(text, []byte("$1...")) }

// HoldsKey reports whether a text has an API key, or a part of one.
func HoldsKey(text string) bool { return strings.Contains(text, keyPrefix) }
