package auth

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"strings"
	"time"

	"adlens"
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
// of links. It is safe for concurrent use.
type Authenticator struct {
	records *recent.Values[[32]byte, Record] // by hash
	known   knownKeys
	turn    chan struct{} // held while a key of a suspect is looked up
}

const (
	// recordFor is how long a record may be used after it was requested, or after
	// the mark was the same: the time that a running server may take to obey a
	// revocation.
	recordFor = 2 * time.Second
	// maxRecords bounds the records that are kept.
	maxRecords = 10_000
)

// NewAuthenticator returns an authenticator that asks a store.
func NewAuthenticator(store Store) *Authenticator {
	return &Authenticator{records: recent.New(recordFor, maxRecords, store.KeyByHash), turn: make(chan struct{}, 1)}
}

// Trust has records kept while a mark of the store stays the same.
func (a *Authenticator) Trust(mark recent.Mark) { a.records.Trust(mark) }

// Authenticate returns the record of the valid key of a request whose
// Authorization header has these values. A suspect's is looked up as well, but
// only in its turn. The error is ErrMissingKey, ErrInvalidKey, or wraps the
// store's. A revoked or expired key has its record with ErrInvalidKey, for the log
// alone.
func (a *Authenticator) Authenticate(ctx context.Context, headerValues []string, suspect bool, now time.Time) (Record, error) {
	key, err := keyOf(headerValues)
	if err != nil {
		return Record{}, err
	}
	return a.findRecord(ctx, key, suspect, now)
}

// Link returns the record of the valid link of a kind that has a token. The error is
// ErrInvalidKey, with the record of a revoked or expired link, or wraps the store's.
func (a *Authenticator) Link(ctx context.Context, kind *Link, token string, suspect bool, now time.Time) (Record, error) {
	key, ok := kind.parseToken(token)
	if !ok {
		return Record{}, ErrInvalidKey
	}
	return a.findRecord(ctx, key, suspect, now)
}

func (a *Authenticator) findRecord(ctx context.Context, key Key, suspect bool, now time.Time) (Record, error) {
	hash := key.Hash()
	if suspect && !a.known.hasHash(hash) {
		if err := a.awaitTurn(ctx); err != nil {
			return Record{}, err
		}
		defer func() { <-a.turn }()
	}
	record, found, err := a.records.Get(ctx, hash, now)
	if err != nil {
		return Record{}, fmt.Errorf("look up an API key: %w", err)
	}
	if !found || !EqualHashes(record.Hash, hash) {
		return Record{}, ErrInvalidKey
	}
	if !record.ValidAt(now) {
		return record, ErrInvalidKey
	}
	a.known.addHash(hash, now)
	return record, nil
}

// awaitTurn lets one key of all suspects be looked up at a time, in the order in
// which they came: guessing keeps one statement of the store busy at most, and a
// valid key behind the same address gets in however much others guess there.
func (a *Authenticator) awaitTurn(ctx context.Context) error {
	select {
	case a.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
	}
	kind := adlens.Cancelled
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		kind = adlens.Overloaded
	}
	return &adlens.Error{Kind: kind, Err: fmt.Errorf("wait for a turn to look up an API key: %w", ctx.Err())}
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

// EqualHashes compares in constant time: how much of a hash was right must not be
// measurable.
func EqualHashes(a, b [32]byte) bool { return subtle.ConstantTimeCompare(a[:], b[:]) == 1 }
