package auth

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"adlens"
	"github.com/google/go-cmp/cmp"
)

// shelf is a store in memory, which counts the questions.
type shelf struct {
	mu      sync.Mutex
	records map[[32]byte]Record
	asked   int
	err     error
	takes   time.Duration // of a bubble's time
}

func (s *shelf) KeyByHash(ctx context.Context, hash [32]byte) (Record, bool, error) {
	s.mu.Lock()
	s.asked++
	record, found := s.records[hash]
	err := s.err
	s.mu.Unlock()
	if s.takes > 0 {
		select {
		case <-ctx.Done():
			return Record{}, false, ctx.Err()
		case <-time.After(s.takes):
		}
	}
	return record, found && err == nil, err
}

func (s *shelf) change(key Key, change func(*Record)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	record := s.records[key.Hash()]
	change(&record)
	s.records[key.Hash()] = record
}

func newShelf(keys ...Key) *shelf {
	s := &shelf{records: map[[32]byte]Record{}}
	for _, key := range keys {
		s.records[key.Hash()] = Record{ID: key.Start(), AccountID: "acme", Hash: key.Hash(), Scopes: []string{ScopeRead}}
	}
	return s
}

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func bearer(key Key) []string { return []string{"Bearer " + key.Reveal()} }

func TestTheRecordOfAValidKeyIsFound(t *testing.T) {
	key := NewKey()
	store := newShelf(key, NewKey())
	got, err := NewAuthenticator(store).Authenticate(t.Context(), bearer(key), false, noon)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(store.records[key.Hash()], got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestHeadersOfAnyOtherShapeAreRefusedWithoutALookUp(t *testing.T) {
	text := NewKey().Reveal()
	typo := text[:44] + "-"
	for name, c := range map[string]struct {
		values []string
		want   error
	}{
		"no header":            {nil, ErrMissingKey},
		"no value":             {[]string{}, ErrMissingKey},
		"an empty value":       {[]string{""}, ErrInvalidKey},
		"the scheme alone":     {[]string{"Bearer"}, ErrInvalidKey},
		"an empty key":         {[]string{"Bearer "}, ErrInvalidKey},
		"the key alone":        {[]string{text}, ErrInvalidKey},
		"lower case":           {[]string{"bearer " + text}, ErrInvalidKey},
		"upper case":           {[]string{"BEARER " + text}, ErrInvalidKey},
		"another scheme":       {[]string{"Basic " + text}, ErrInvalidKey},
		"two spaces":           {[]string{"Bearer  " + text}, ErrInvalidKey},
		"a tab":                {[]string{"Bearer\t" + text}, ErrInvalidKey},
		"no space":             {[]string{"Bearer" + text}, ErrInvalidKey},
		"a colon":              {[]string{"Bearer: " + text}, ErrInvalidKey},
		"space before":         {[]string{" Bearer " + text}, ErrInvalidKey},
		"space after":          {[]string{"Bearer " + text + " "}, ErrInvalidKey},
		"newline after":        {[]string{"Bearer " + text + "\n"}, ErrInvalidKey},
		"quoted":               {[]string{`Bearer "` + text + `"`}, ErrInvalidKey},
		"a placeholder":        {[]string{"Bearer <API_KEY>"}, ErrInvalidKey},
		"a wrong checksum":     {[]string{"Bearer " + typo}, ErrInvalidKey},
		"the same header":      {[]string{"Bearer " + text, "Bearer " + text}, ErrInvalidKey},
		"a second, empty one":  {[]string{"Bearer " + text, ""}, ErrInvalidKey},
		"joined by a comma":    {[]string{"Bearer " + text + ", Bearer " + text}, ErrInvalidKey},
		"a masked key":         {[]string{"Bearer " + NewKey().String()}, ErrInvalidKey},
		"something after it":   {[]string{"Bearer " + text + " x"}, ErrInvalidKey},
		"a no-break space":     {[]string{"Bearer\u00a0" + text}, ErrInvalidKey},
		"key in another case":  {[]string{"Bearer KEY_LIVE_" + text[9:]}, ErrInvalidKey},
		"ten kilobytes of key": {[]string{"Bearer " + string(make([]byte, 10_000))}, ErrInvalidKey},
	} {
		store := newShelf()
		_, err := NewAuthenticator(store).Authenticate(t.Context(), c.values, false, noon)
		if err != c.want || store.asked != 0 {
			t.Errorf("%s: got %v after %d look-ups", name, err, store.asked)
		}
	}
}

func TestUnknownKeysAreInvalidAndNeverCached(t *testing.T) {
	store := newShelf()
	a := NewAuthenticator(store)
	key := NewKey()
	for want := 1; want <= 3; want++ {
		if _, err := a.Authenticate(t.Context(), bearer(key), false, noon); err != ErrInvalidKey || store.asked != want {
			t.Errorf("got %v after %d look-ups", err, store.asked)
		}
	}
}

func TestRevokedAndExpiredKeysAreInvalid(t *testing.T) {
	earlier, later := noon.Add(-time.Nanosecond), noon.Add(time.Nanosecond)
	for name, c := range map[string]struct {
		record Record
		want   bool
	}{
		"neither":                              {Record{}, true},
		"expires in a moment":                  {Record{ExpiresAt: &later}, true},
		"expires now":                          {Record{ExpiresAt: &noon}, false},
		"has expired":                          {Record{ExpiresAt: &earlier}, false},
		"was revoked":                          {Record{RevokedAt: &earlier}, false},
		"was revoked now":                      {Record{RevokedAt: &noon}, false},
		"was revoked by a clock that is ahead": {Record{RevokedAt: &later}, false},
		"revoked before it would expire":       {Record{RevokedAt: &earlier, ExpiresAt: &later}, false},
	} {
		if got := c.record.ValidAt(noon); got != c.want {
			t.Errorf("a key that %s: valid is %t", name, got)
		}
		key := NewKey()
		c.record.Hash = key.Hash()
		store := &shelf{records: map[[32]byte]Record{key.Hash(): c.record}}
		if _, err := NewAuthenticator(store).Authenticate(t.Context(), bearer(key), false, noon); (err == nil) != c.want || err != nil && err != ErrInvalidKey {
			t.Errorf("a key that %s: got %v", name, err)
		}
	}
}

func TestAKeyExpiresWhileItIsCached(t *testing.T) {
	key, end := NewKey(), noon.Add(time.Second)
	store := newShelf(key)
	store.change(key, func(r *Record) { r.ExpiresAt = &end })
	a := NewAuthenticator(store)
	_, before := a.Authenticate(t.Context(), bearer(key), false, end.Add(-1))
	_, after := a.Authenticate(t.Context(), bearer(key), false, end)
	if before != nil || after != ErrInvalidKey || store.asked != 1 {
		t.Errorf("got %v, then %v after %d look-ups", before, after, store.asked)
	}
}

func TestARevocationIsObeyedWithinTwoSeconds(t *testing.T) {
	key := NewKey()
	store := newShelf(key)
	a := NewAuthenticator(store)
	try := func(at time.Duration) error {
		_, err := a.Authenticate(t.Context(), bearer(key), false, noon.Add(at))
		return err
	}
	if err := try(0); err != nil {
		t.Fatal(err)
	}
	store.change(key, func(r *Record) { r.RevokedAt = &noon })
	// Being used all the time does not keep it in the cache. From one second on
	// it may be looked up again.
	for at := time.Duration(0); at < 2*time.Second; at += 100 * time.Millisecond {
		if err := try(at); err != nil && (at < time.Second || err != ErrInvalidKey) {
			t.Fatalf("after %s: %v", at, err)
		}
	}
	if err := try(2 * time.Second); err != ErrInvalidKey {
		t.Errorf("after two seconds: %v", err)
	}
}

func TestTheCacheIsNotTrustedWhenTheClockGoesBack(t *testing.T) {
	key := NewKey()
	store := newShelf(key)
	a := NewAuthenticator(store)
	for _, at := range []time.Time{noon, noon.Add(-time.Hour), noon.Add(-time.Hour)} {
		if _, err := a.Authenticate(t.Context(), bearer(key), false, at); err != nil {
			t.Fatal(err)
		}
	}
	if store.asked != 2 {
		t.Errorf("%d look-ups", store.asked)
	}
}

func TestTheStoresErrorsAreNotTakenForInvalidKeysAndNotCached(t *testing.T) {
	key := NewKey()
	store := newShelf(key)
	store.err = &adlens.Error{Kind: adlens.EngineUnavailable, Err: errors.New("no server there")}
	a := NewAuthenticator(store)
	_, err := a.Authenticate(t.Context(), bearer(key), false, noon)
	if !errors.Is(err, store.err) || adlens.KindOf(err) != adlens.EngineUnavailable {
		t.Errorf("got %v", err)
	}
	store.err = nil
	if _, err := a.Authenticate(t.Context(), bearer(key), false, noon); err != nil {
		t.Errorf("after the store came back: %v", err)
	}
}

func TestARecordOfAnotherHashIsNotBelieved(t *testing.T) {
	key := NewKey()
	store := newShelf(key)
	store.change(key, func(r *Record) { r.Hash[31] ^= 1 })
	if _, err := NewAuthenticator(store).Authenticate(t.Context(), bearer(key), false, noon); err != ErrInvalidKey {
		t.Errorf("got %v", err)
	}
}
