package auth

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"strings"
	"time"

	"adlens/internal/flight"
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
	store Store
	cache recordCache
	known knownKeys
	// lookups lets concurrent requests of one key share one question, so that a
	// burst does not reach the store as a burst.
	lookups flight.Group[[32]byte, lookup]
}

// lookup is the store's answer about a key.
type lookup struct {
	record Record
	found  bool
}

// NewAuthenticator returns an authenticator that asks a store.
func NewAuthenticator(store Store) *Authenticator { return &Authenticator{store: store} }

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
	record, found, err := a.record(ctx, hash, now)
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

func (a *Authenticator) record(ctx context.Context, hash [32]byte, now time.Time) (Record, bool, error) {
	if record, ok := a.cache.get(hash, now); ok {
		return record, true, nil
	}
	l, err := a.lookups.Do(ctx, hash, func(ctx context.Context) (lookup, error) {
		record, found, err := a.store.KeyByHash(ctx, hash)
		if err == nil && found {
			a.cache.put(hash, record, now)
		}
		return lookup{record, found}, err
	})
	return l.record, l.found, err
}

// same compares in constant time: how much of a hash was right must not be
// measurable.
func same(a, b [32]byte) bool { return subtle.ConstantTimeCompare(a[:], b[:]) == 1 }
