package auth

import (
	"context"
	"errors"
	"net/netip"
	"strings"
	"testing"
	"time"

	"adlens"
)

// oneRecord is a store of one key or feed link, and of the account that it is of.
type oneRecord struct {
	Record
	account adlens.Account
}

func (s *oneRecord) KeyByHash(_ context.Context, hash [32]byte) (Record, bool, error) {
	return s.Record, hash == s.Hash, nil
}

func (s *oneRecord) Account(context.Context, string) (adlens.Account, bool, error) {
	return s.account, s.account.ID != "", nil
}

// Each request has every fault that comes later in the contract's order, too.
func TestRequestsAreRefusedInTheContractsOrder(t *testing.T) {
	now, remote := time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC), netip.MustParseAddr("192.0.2.1")
	key, other, token := NewKey(), NewKey(), NewFeedToken()
	for name, c := range map[string]struct {
		sent     Credentials
		requests int // before it
		canceled bool
		scopes   []string
		want     string // begins the error
	}{
		"no key":        {Credentials{}, 0, true, nil, "the request has no API key"},
		"unknown key":   {Credentials{Authorization: []string{"Bearer " + other.Reveal()}}, 0, true, nil, "the API key is not valid"},
		"unknown feed":  {Credentials{FeedToken: NewFeedToken().Reveal()}, 0, true, nil, "there is no such feed"},
		"key as a feed": {Credentials{FeedToken: key.Reveal()}, 0, true, nil, "there is no such feed"},
		"limit":         {Credentials{Authorization: []string{"Bearer " + key.Reveal()}}, 20, true, nil, "the account's limit of requests per minute is reached; try again in 60 s"},
		"feed's budget": {Credentials{FeedToken: token.Reveal()}, 10, true, nil, "this feed's own limit of requests per minute is reached; try again in 60 s"},
		"subscription":  {Credentials{Authorization: []string{"Bearer " + key.Reveal()}}, 0, true, nil, "the account's subscription is canceled"},
		"scope":         {Credentials{Authorization: []string{"Bearer " + key.Reveal()}}, 0, false, []string{"a", "b"}, "the key has the scopes [a, b]; this endpoint needs read"},
		"welcome":       {Credentials{Authorization: []string{"Bearer " + key.Reveal()}}, 0, false, []string{ScopeRead}, ""},
		"feed":          {Credentials{FeedToken: token.Reveal()}, 9, false, []string{ScopeRead}, ""},
	} {
		account := adlens.Account{ID: "acme", Subscription: "active"}
		if c.canceled {
			account.Subscription = adlens.Canceled
		}
		keys := &oneRecord{Record{ID: "k_1", AccountID: "acme", Hash: key.Hash(), Scopes: c.scopes}, account}
		feeds := &oneRecord{Record{ID: "f_1", AccountID: "acme", Hash: token.Hash(), Scopes: c.scopes}, account}
		a := NewAdmission(NewAuthenticator(keys), NewAuthenticator(feeds), NewLimiter(20, 0), NewUsage(), keys)
		for range c.requests {
			a.Admit(t.Context(), c.sent, remote, now)
		}
		caller, err := a.Admit(t.Context(), c.sent, remote, now)
		if (err == nil) != (c.want == "") || err != nil && !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v, expected %q", name, err, c.want)
		}
		if err == nil && (caller.Account != account || caller.Key.AccountID != "acme" || len(caller.Windows) != 1) {
			t.Errorf("%s: the caller is %+v", name, caller)
		}
		if _, err := a.AdmitCanceled(t.Context(), c.sent, remote, now); c.canceled && errors.Is(err, ErrCanceled) {
			t.Errorf("%s: refused what a canceled account may read", name)
		}
	}
}

func TestWhatTheAccountsLimitRefusesUsesUpNoBudget(t *testing.T) {
	now, remote := time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC), netip.MustParseAddr("192.0.2.1")
	key, token := NewKey(), NewFeedToken()
	account := adlens.Account{ID: "acme", Subscription: "active"}
	keys := &oneRecord{Record{ID: "k_1", AccountID: "acme", Hash: key.Hash(), Scopes: []string{ScopeRead}}, account}
	feeds := &oneRecord{Record{ID: "f_1", AccountID: "acme", Hash: token.Hash(), Scopes: []string{ScopeRead}}, account}
	a := NewAdmission(NewAuthenticator(keys), NewAuthenticator(feeds), NewLimiter(50, 0), NewUsage(), keys)
	a.AdmitApps(nil, 50)
	for range 50 {
		if _, err := a.Admit(t.Context(), Credentials{Authorization: []string{"Bearer " + key.Reveal()}}, remote, now); err != nil {
			t.Fatal(err)
		}
	}
	callers := map[string]func(now time.Time) error{
		"feed": func(now time.Time) error {
			_, err := a.Admit(t.Context(), Credentials{FeedToken: token.Reveal()}, remote, now)
			return err
		},
		"assistant": func(now time.Time) error {
			_, err := a.AdmitApp(t.Context(), Record{ID: "a_1", AccountID: "acme", Scopes: []string{ScopeRead}}, now)
			return err
		},
	}
	for who, call := range callers {
		for range 3 * appMinute {
			if err := call(now.Add(30 * time.Second)); err == nil || !strings.HasPrefix(err.Error(), "the account's limit") {
				t.Fatalf("%s: %v, expected the account's limit", who, err)
			}
		}
	}
	for who, call := range callers {
		for i := range feedMinute {
			if err := call(now.Add(61 * time.Second)); err != nil {
				t.Fatalf("%s: call %d after the account's minute: %v", who, i+1, err)
			}
		}
	}
	if err := callers["feed"](now.Add(61 * time.Second)); err == nil || !strings.HasPrefix(err.Error(), "this feed's own limit") {
		t.Errorf("one call more than the feed's budget: %v", err)
	}
}
