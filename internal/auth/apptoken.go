package auth

import (
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"io"
	"strings"
)

// The secrets of an assistant's connection. All of one connection begin, after
// their prefix, with the same family: a secret that was replaced is so
// recognized, and ends the connection. Prefixes differ, so that no kind is
// taken for another.
const (
	codePrefix    = "adlens_code_"
	accessPrefix  = "adlens_at_"
	refreshPrefix = "adlens_rt_"
	familyLength  = 22 // 131 bits
	appBodyLength = familyLength + secretLength
)

// NewCode makes an authorization code of a new family.
func NewCode() Key { return newAppToken(codePrefix, randomText(familyLength)) }

// NewAccessToken makes an access token of the family of another secret.
func NewAccessToken(of Key) Key { return newAppToken(accessPrefix, of.familyText()) }

// NewRefreshToken makes a refresh token of the family of another secret.
func NewRefreshToken(of Key) Key { return newAppToken(refreshPrefix, of.familyText()) }

func newAppToken(prefix, family string) Key { return makeKey(prefix, family+randomText(secretLength)) }

// ParseCode returns the authorization code of a text that can be one: prefix,
// length, alphabet and checksum are right.
func ParseCode(text string) (Key, bool) { return parseKey(codePrefix, appBodyLength, text) }

// ParseAccessToken is ParseCode for an access token.
func ParseAccessToken(text string) (Key, bool) { return parseKey(accessPrefix, appBodyLength, text) }

// ParseRefreshToken is ParseCode for a refresh token.
func ParseRefreshToken(text string) (Key, bool) { return parseKey(refreshPrefix, appBodyLength, text) }

// Family returns the SHA-256 of the family of a code, access or refresh token,
// by which AppStore finds its connection; that of no text for other keys.
func (k Key) Family() [32]byte { return sha256.Sum256([]byte(k.familyText())) }

func (k Key) familyText() string {
	switch k.prefix {
	case codePrefix, accessPrefix, refreshPrefix:
		return k.Reveal()[len(k.prefix):][:familyLength]
	}
	return ""
}

// The text of an invitation. Letters that are easily confused are not in the
// alphabet (Crockford's base 32); they are read as what they resemble.
const (
	inviteLength   = 12 // 60 bits: few enough to type, and worth something for ten minutes
	inviteGroup    = 4
	inviteAlphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
)

var inviteSpelling = strings.NewReplacer(" ", "", "\t", "", "-", "", "O", "0", "I", "1", "L", "1")

// Invite is the one-time code that the consent page asks for. It never prints
// itself: only Reveal gives its text.
type Invite struct{ text *string } // a pointer, as in Key

// NewInvite makes a new random invitation.
func NewInvite() Invite {
	text := make([]byte, inviteLength)
	rand.Read(text) // never fails
	for i, b := range text {
		text[i] = inviteAlphabet[b%32] // 32 divides 256: each letter is equally likely
	}
	return Invite{new(string(text))}
}

// ParseInvite returns the invitation of a text that can be one. Case, spaces and
// hyphens do not matter.
func ParseInvite(text string) (Invite, bool) {
	if len(text) > 4*inviteLength {
		return Invite{}, false
	}
	plain := inviteSpelling.Replace(strings.ToUpper(text))
	if len(plain) != inviteLength || strings.Trim(plain, inviteAlphabet) != "" {
		return Invite{}, false
	}
	return Invite{&plain}, true
}

// Hash returns the SHA-256 of the invitation without hyphens.
func (i Invite) Hash() [32]byte { return sha256.Sum256([]byte(i.plainText())) }

// Reveal returns the invitation in groups: "7Q4M-2XKD-9RTA".
func (i Invite) Reveal() string {
	var groups []string
	for text := i.plainText(); len(text) >= inviteGroup; text = text[inviteGroup:] {
		groups = append(groups, text[:inviteGroup])
	}
	return strings.Join(groups, "-")
}

func (i Invite) plainText() string {
	if i.text == nil {
		return ""
	}
	return *i.text
}

// String returns an ellipsis.
func (i Invite) String() string { return ellipsis }

// GoString is String.
func (i Invite) GoString() string { return ellipsis }

// MarshalText gives what String gives.
func (i Invite) MarshalText() ([]byte, error) { return []byte(ellipsis), nil }

// Format writes what String gives, whatever the verb.
func (i Invite) Format(out fmt.State, _ rune) { io.WriteString(out, ellipsis) }
