package auth

import (
	"slices"
	"time"
)

// ScopeRead lets a key read the account. It is the only scope of v1.
const ScopeRead = "read"

// Record is what is stored about a key or a link. Several requests share one record:
// no caller may change what its slice and its pointers point to.
type Record struct {
	ID, AccountID, Name string
	Start               string   // the key's first characters
	Hash                [32]byte // of the key's text, which is not stored
	Scopes              []string
	CreatedAt           time.Time
	LastUsedAt          *time.Time // as persisted, nil where found by its hash; Usage knows better
	ExpiresAt           *time.Time // the first instant at which it is invalid
	RevokedAt           *time.Time
	// Request is, of a feed link, the path and query string that it answers; of a
	// share link, the view that it shows; and, of an assistant's token, the resource
	// that it is for.
	Request string
	// Marketplaces are country codes and marketplace ids: all others of the account
	// are unknown to its bearer (contract D6). nil is all that there are.
	Marketplaces []string
	Limits       Quotas // of a key's own, within those of its account
	Successor    string // the id of the key that replaces it, "" without one
}

// Quotas are how many requests are let in, in any 60 seconds and on a day of UTC. 0
// is no limit.
type Quotas struct{ Minute, Day int }

// ValidAt reports whether the key may be used. A revocation has no date to wait
// for: it holds at once, also where the clocks of two machines differ.
func (r Record) ValidAt(now time.Time) bool {
	return r.RevokedAt == nil && (r.ExpiresAt == nil || now.Before(*r.ExpiresAt))
}

// HasScope reports whether the key was given a scope.
func (r Record) HasScope(scope string) bool { return slices.Contains(r.Scopes, scope) }
