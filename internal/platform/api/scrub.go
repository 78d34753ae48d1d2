package api

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"adlens/internal/platform"
)

// keptTokens is how many past access tokens are still recognised; one lives an
// hour, so the older ones are worth nothing.
const keptTokens = 8

// secretForms are the platform's tokens and the signature of a download's
// address wherever they stand, whichever server issued them.
var secretForms = regexp.MustCompile(`(?i)atz[ar](\||%7c|\\u007c)[^\s"'<>&]*|x-amz-(signature|security-token|credential)=[^\s"'<>&]*`)

// scrubber takes secrets out of texts of the outside before they are repeated.
// A server may send back what it was sent.
type scrubber struct {
	mu     sync.Mutex
	fixed  []forms // the connection's own
	tokens []forms // access tokens, the newest last
}

func newScrubber(secrets ...Secret) *scrubber {
	s := &scrubber{}
	for _, secret := range secrets {
		s.fixed = append(s.fixed, formsOf(secret.Reveal()))
	}
	return s
}

// addToken makes an access token known.
func (s *scrubber) addToken(token Secret) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tokens = append(s.tokens, formsOf(token.Reveal()))
	if len(s.tokens) > keptTokens {
		s.tokens = slices.Delete(s.tokens, 0, len(s.tokens)-keptTokens)
	}
}

// cleanText returns a foreign text without secrets and control characters, on one
// line, and of at most limit bytes.
func (s *scrubber) cleanText(text string, limit int) string {
	return platform.ClipText(oneLine(s.hideSecrets(text)), limit)
}

// HideSecrets returns an error whose text has none of the connection's secrets. It
// is for faults that are found in what the platform sent, which quote it. The error
// is the same where it has none, nil too.
func (c *Client) HideSecrets(err error) error {
	if err == nil {
		return nil
	}
	if text := c.scrub.hideSecrets(err.Error()); text != err.Error() {
		return errors.New(text)
	}
	return err
}

// CleanText returns a text that the platform sent, on one line, without control
// characters and the connection's secrets, and cut to a length for people.
func (c *Client) CleanText(text string) string { return c.scrub.cleanText(text, 100) }

func (s *scrubber) hideSecrets(text string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	text = hideForms(text, slices.Concat(s.fixed, s.tokens))
	return secretForms.ReplaceAllString(text, hidden)
}

// oneLine makes a text safe for a terminal and a log.
func oneLine(text string) string {
	text = strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !unicode.IsGraphic(r) {
			return ' '
		}
		return r
	}, text)
	return strings.Join(strings.Fields(text), " ")
}
