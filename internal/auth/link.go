package auth

import (
	"fmt"
	"strings"
)

// Link is a kind of address that reads one saved part of an account without a key.
// All kinds are stored in one table: the prefix of a token is part of its hash, so
// that a token of one kind is unknown to the other.
type Link struct {
	Name   string // in messages
	prefix string // of its tokens
	// The budget of each link, next to the account's limits: requests in any 60
	// seconds, and in a UTC day; and how many without an answer's body (HEAD, 304) come
	// on top for each of them, 0 where they count as others do. Together they are below
	// the account's 60 a minute, which all who know a link could use up otherwise.
	minute, day, looks int
}

// The kinds of links. Spreadsheets fetch a cell about once an hour, and LibreOffice
// looks three times at the headers before it does. To open a shared view takes up to
// four requests, and each change of its page one or two.
var (
	Feed  = &Link{Name: "feed", prefix: "feed_", minute: 10, day: 1_000, looks: 3}
	Share = &Link{Name: "share link", prefix: "share_", minute: 30, day: 2_000}
)

// links are all kinds.
var links = []*Link{Feed, Share}

// NewToken makes a new random token of the kind. It is no key: neither is taken for
// the other.
func (l *Link) NewToken() Key { return newKey(l.prefix) }

// parseToken is ParseKey for a token of the kind.
func (l *Link) parseToken(text string) (Key, bool) { return parseKey(l.prefix, secretLength, text) }

// IsOf reports whether a stored link is of the kind.
func (l *Link) IsOf(r Record) bool { return strings.HasPrefix(r.Start, l.prefix) }

// UnknownLinkError reports a link that is unknown, revoked or expired, which leads
// nowhere, like any other path.
type UnknownLinkError struct{ Link *Link }

func (e *UnknownLinkError) Error() string {
	return fmt.Sprintf("there is no such %s: it may be misspelt, revoked or expired", e.Link.Name)
}
