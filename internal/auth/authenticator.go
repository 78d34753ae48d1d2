package auth

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"strings"
	"time"

	"adlens/internal/recent"
)

// What can be wrong with the key of a request. Unknown, malformed, revoked
// and expired keys are one error: the difference is no caller's business.
var (
	ErrMissingKey = errors.New("the request has no API key")
	ErrInvalidKey = errors.New("the API key is not valid")
)

// Store finds what is stored about a key; found is false where there is none.
type Store interface {
	KeyByHash(ctx context.Context, hash [32]byte) (record Record, found bool, err error)
}

// Authenticator finds out whose request it is, from a store of keys or from one
// of feed links. It is safe for concurrent use.
type Authenticator struct {
	records *recent.Values[[32]byte, Record] // by hash
	known   knownKeys
}

const (
	// recordFor is how long a record may be used after it was asked for: the
	// time that a running server may take to obey a revocation.
	recordFor = 2 * time.Second
	// maxRecords bounds the records that are kept.
	maxRecords = 10_000
)

// NewAuthenticator returns an authenticator that asks a store.
func NewAuthenticator(store Store) *Authenticator {
	return &Authenticator{records: recent.New(recordFor, maxRecords, store.KeyByHash)}
}

// Authenticate returns the record of the valid key of a request whose
// Authorization header has these values. The error is ErrMissingKey,
// ErrInvalidKey, or wraps the store's.
func (a *Authenticator) Authenticate(ctx context.Context, headerValues []string, now time.Time) (Record, error) {
	key, err := keyOf(headerValues)
	if err != nil {
		return Record{}, err
	}
	return a.find(ctx, key, now)
}

// Feed returns the record of the valid feed link of a token. The error is
// ErrInvalidKey, or wraps the store's.
func (a *Authenticator) Feed(ctx context.Context, token string, now time.Time) (Record, error) {
	key, ok := ParseFeedToken(token)
	if !ok {
		return Record{}, ErrInvalidKey
	}
	return a.find(ctx, key, now)
}

// KnownFeed is Known for the token of a feed link.
func (a *Authenticator) KnownFeed(token string) bool {
	key, ok := ParseFeedToken(token)
	return ok && a.known.has(key.Hash())
}

func (a *Authenticator) find(ctx context.Context, key Key, now time.Time) (Record, error) {
	hash := key.Hash()
	record, found, err := a.records.Get(ctx, hash, now)
	if err != nil {
		return Record{}, fmt.Errorf("look up an API key: %w", err)
	}
	if !found || !same(record.Hash, hash) || !record.ValidAt(now) {
		return Record{}, ErrInvalidKey
	}
	a.known.add(hash, now)
	return record, nil
}

// Known tells whether the key of a request was valid not long ago. It asks
// nobody, and says nothing of whether the key is valid now.
func (a *Authenticator) Known(headerValues []string) bool {
	key, err := keyOf(headerValues)
	return err == nil && a.known.has(key.Hash())
}

// keyOf is strict: of two values, a proxy in front and this program might
// believe different ones.
func keyOf(headerValues []string) (Key, error) {
	if len(headerValues) == 0 {
		return Key{}, ErrMissingKey
	}
	text, isBearer := strings.CutPrefix(headerValues[0], "Bearer ")
	key, ok := ParseKey(text)
	if len(headerValues) > 1 || !isBearer || !ok {
		return Key{}, ErrInvalidKey
	}
	return key, nil
}

// same compares in constant time: how much of a hash was right must not be
// measurable.
func same(a, b [32]byte) bool { return subtle.ConstantTimeCompare(a[:], b[:]) == 1 }
