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

// A link's reader learns what is left of its budget, and not what the account uses.
func TestALinkIsToldOfItsOwnBudget(t *testing.T) {
	now, token := time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC), Feed.NewToken()
	link := &oneRecord{Record{ID: "f_1", AccountID: "acme", Hash: token.Hash(), Scopes: []string{ScopeRead}}, adlens.Account{ID: "acme", Subscription: "active"}}
	a := NewAdmission(nil, NewAuthenticator(link), NewLimiter(11, 500), NewUsage(), link)
	for i := range 14 {
		look := i > 10
		caller, err := a.Admit(t.Context(), Credentials{Link: Feed, Token: token.Reveal(), Look: look}, netip.MustParseAddr("192.0.2.1"), now)
		minute, day := 10, 1_000
		left := max(0, 9-i)
		if look { // the first is the account's last, the others are refused and take nothing
			minute, day, left = 30, 3_000, 29
		}
		if w := caller.Windows; (err == nil) != (i != 10 && i < 12) || len(w) != 2 || w[0].Quota != minute || w[0].Remaining != left || w[1].Quota != day || look && w[1].Remaining != day-1 {
			t.Errorf("request %d: %+v, %v", i+1, w, err)
		}
	}
}

// Each request has every fault that comes later in the contract's order, too.
func TestRequestsAreRefusedInTheContractsOrder(t *testing.T) {
	now, remote := time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC), netip.MustParseAddr("192.0.2.1")
	key, other, token, shared := NewKey(), NewKey(), Feed.NewToken(), Share.NewToken()
	for name, c := range map[string]struct {
		sent     Credentials
		requests int // before it
		canceled bool
		scopes   []string
		want     string // begins the error
	}{
		"no key":         {Credentials{}, 0, true, nil, "the request has no API key"},
		"unknown key":    {Credentials{Authorization: []string{"Bearer " + other.Reveal()}}, 0, true, nil, "the API key is not valid"},
		"unknown feed":   {Credentials{Link: Feed, Token: Feed.NewToken().Reveal()}, 0, true, nil, "there is no such feed"},
		"key as a feed":  {Credentials{Link: Feed, Token: key.Reveal()}, 0, true, nil, "there is no such feed"},
		"unknown share":  {Credentials{Link: Share, Token: Share.NewToken().Reveal()}, 0, true, nil, "there is no such share link"},
		"feed as share":  {Credentials{Link: Share, Token: token.Reveal()}, 0, true, nil, "there is no such share link"},
		"share as feed":  {Credentials{Link: Feed, Token: shared.Reveal()}, 0, true, nil, "there is no such feed"},
		"limit":          {Credentials{Authorization: []string{"Bearer " + key.Reveal()}}, 40, true, nil, "the account's limit of requests per minute is reached; try again in 60 s"},
		"feed's budget":  {Credentials{Link: Feed, Token: token.Reveal()}, 10, true, nil, "this feed's own limit of requests per minute is reached; try again in 60 s"},
		"share's budget": {Credentials{Link: Share, Token: shared.Reveal()}, 30, true, nil, "this share link's own limit of requests per minute is reached; try again in 60 s"},
		"subscription":   {Credentials{Authorization: []string{"Bearer " + key.Reveal()}}, 0, true, nil, "the account's subscription is canceled"},
		"scope":          {Credentials{Authorization: []string{"Bearer " + key.Reveal()}}, 0, false, []string{"a", "b"}, "the key has the scopes [a, b]; this endpoint needs read"},
		"welcome":        {Credentials{Authorization: []string{"Bearer " + key.Reveal()}}, 0, false, []string{ScopeRead}, ""},
		"feed":           {Credentials{Link: Feed, Token: token.Reveal()}, 9, false, []string{ScopeRead}, ""},
		"share":          {Credentials{Link: Share, Token: shared.Reveal()}, 29, false, []string{ScopeRead}, ""},
	} {
		account := adlens.Account{ID: "acme", Subscription: "active"}
		if c.canceled {
			account.Subscription = adlens.Canceled
		}
		keys := &oneRecord{Record{ID: "k_1", AccountID: "acme", Hash: key.Hash(), Scopes: c.scopes}, account}
		links := &oneRecord{Record{ID: "f_1", AccountID: "acme", Hash: token.Hash(), Scopes: c.scopes}, account}
		if c.sent.Token == shared.Reveal() {
			links.Hash = shared.Hash()
		}
		a := NewAdmission(NewAuthenticator(keys), NewAuthenticator(links), NewLimiter(40, 0), NewUsage(), keys)
		for range c.requests {
			a.Admit(t.Context(), c.sent, remote, now)
		}
		caller, err := a.Admit(t.Context(), c.sent, remote, now)
		if (err == nil) != (c.want == "") || err != nil && !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v, expected %q", name, err, c.want)
		}
		if err == nil && (caller.Account != account || caller.Key.AccountID != "acme" || len(caller.Windows) == 0) {
			t.Errorf("%s: the caller is %+v", name, caller)
		}
		c.sent.Canceled = true
		if _, err := a.Admit(t.Context(), c.sent, remote, now); c.canceled && errors.Is(err, ErrCanceled) {
			t.Errorf("%s: refused what a canceled account may read", name)
		}
	}
}

// A restore that was killed may have shown a key whose account is not there: it is none.
func TestAKeyWithoutItsAccountIsNoKey(t *testing.T) {
	now, remote := time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC), netip.MustParseAddr("192.0.2.1")
	key, token := NewKey(), Feed.NewToken()
	keys := &oneRecord{Record{ID: "k_1", AccountID: "acme", Hash: key.Hash(), Scopes: []string{ScopeRead}}, adlens.Account{}}
	links := &oneRecord{Record{ID: "f_1", AccountID: "acme", Hash: token.Hash(), Scopes: []string{ScopeRead}}, adlens.Account{}}
	a := NewAdmission(NewAuthenticator(keys), NewAuthenticator(links), NewLimiter(0, 0), NewUsage(), keys)
	if _, err := a.Admit(t.Context(), Credentials{Authorization: []string{"Bearer " + key.Reveal()}}, remote, now); !errors.Is(err, ErrInvalidKey) {
		t.Errorf("the key: %v", err)
	}
	var unknown *UnknownLinkError
	if _, err := a.Admit(t.Context(), Credentials{Link: Feed, Token: token.Reveal()}, remote, now); !errors.As(err, &unknown) {
		t.Errorf("the feed: %v", err)
	}
	if _, err := a.AdmitCounted(t.Context(), keys.Record, now); !errors.Is(err, ErrInvalidKey) {
		t.Errorf("the connection of an assistant: %v", err)
	}
}

func TestWhatTheAccountsLimitRefusesUsesUpNoBudget(t *testing.T) {
	now, remote := time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC), netip.MustParseAddr("192.0.2.1")
	key, token := NewKey(), Feed.NewToken()
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
			_, err := a.Admit(t.Context(), Credentials{Link: Feed, Token: token.Reveal()}, remote, now)
			return err
		},
		"assistant": func(now time.Time) error {
			_, err := a.AdmitApp(t.Context(), Record{ID: "a_1", AccountID: "acme", Scopes: []string{ScopeRead}}, now)
			return err
		},
	}
	for who, call := range callers {
		for range 3 * AppMinute {
			if err := call(now.Add(30 * time.Second)); err == nil || !strings.HasPrefix(err.Error(), "the account's limit") {
				t.Fatalf("%s: %v, expected the account's limit", who, err)
			}
		}
	}
	for who, call := range callers {
		for i := range Feed.minute {
			if err := call(now.Add(61 * time.Second)); err != nil {
				t.Fatalf("%s: call %d after the account's minute: %v", who, i+1, err)
			}
		}
	}
	if err := callers["feed"](now.Add(61 * time.Second)); err == nil || !strings.HasPrefix(err.Error(), "this feed's own limit") {
		t.Errorf("one call more than the feed's budget: %v", err)
	}
}

// A link that has used up its budget, and its account the day, waits for the day.
func TestALinkIsToldTheLongestWait(t *testing.T) {
	now, token := time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC), Feed.NewToken()
	feed := &oneRecord{Record{ID: "f_1", AccountID: "acme", Hash: token.Hash(), Scopes: []string{ScopeRead}}, adlens.Account{ID: "acme", Subscription: "active"}}
	for day, want := range map[int]LimitError{
		10: {LimitDay, 12 * time.Hour, "the account's limit of requests per day is reached"},
		11: {LimitMinute, time.Minute, "this feed's own limit of requests per minute is reached"},
	} {
		for name, limits := range map[string]Limits{"local": NewLimiter(0, day), "stored": NewStoredLimiter(NewLimiter(0, day), nil, "s", func() time.Time { return now })} {
			a := NewAdmission(nil, NewAuthenticator(feed), limits, NewUsage(), feed)
			admit := func() (Caller, error) {
				return a.Admit(t.Context(), Credentials{Link: Feed, Token: token.Reveal()}, netip.MustParseAddr("192.0.2.1"), now)
			}
			for range Feed.minute {
				if _, err := admit(); err != nil {
					t.Fatal(err)
				}
			}
			caller, err := admit()
			var limited *LimitError
			if !errors.As(err, &limited) || *limited != want || caller.Windows[0].Quota != Feed.minute {
				t.Errorf("%s, %d a day: %v, %+v; expected %v, and the feed's windows", name, day, err, caller.Windows, &want)
			}
			if d := limits.PeekKey("acme", KeyLimit{}, now); d.Windows[0].Remaining != day-Feed.minute {
				t.Errorf("%s, %d a day: a refused request left %d, expected %d", name, day, d.Windows[0].Remaining, day-Feed.minute)
			}
		}
	}
}

// Servers that share the limits of accounts share those of assistants.
func TestAnAssistantsLimitIsSharedByServers(t *testing.T) {
	now, account := time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC), adlens.Account{ID: "acme", Subscription: "active"}
	accounts, limits := &oneRecord{Record{}, account}, NewLimiter(50, 0)
	var servers []*Admission
	for range 2 {
		servers = append(servers, NewAdmission(nil, nil, limits, NewUsage(), accounts))
		servers[len(servers)-1].AdmitApps(nil, 50)
	}
	call := func(i int, app string) error {
		_, err := servers[i%2].AdmitApp(t.Context(), Record{ID: app, AccountID: "acme", Scopes: []string{ScopeRead}}, now)
		return err
	}
	for i := range AppMinute {
		if err := call(i, "a_1"); err != nil {
			t.Fatalf("call %d: %v", i+1, err)
		}
	}
	for i := range 2 {
		if err := call(i, "a_1"); err == nil || err.Error() != "the limit of an assistant's calls per minute is reached; try again in 60 s" {
			t.Errorf("a call too many, of server %d: %v", i+1, err)
		}
	}
	for i := range 50 - AppMinute { // refused calls took nothing of the account's
		if err := call(i, "a_2"); err != nil {
			t.Errorf("call %d of another assistant: %v", i+1, err)
		}
	}
	if err := call(0, "a_2"); err == nil || !strings.HasPrefix(err.Error(), "the account's limit of requests per minute") {
		t.Errorf("a call beyond the account's limit: %v", err)
	}
}

// LibreOffice looks at the headers three times before it reads, and a client that
// holds the answer gets no body.
func TestAFeedsBudgetIsForAnswersWithABody(t *testing.T) {
	now, remote := time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC), netip.MustParseAddr("192.0.2.1")
	token, account := Feed.NewToken(), adlens.Account{ID: "acme", Subscription: "active"}
	feeds := &oneRecord{Record{ID: "f_1", AccountID: "acme", Hash: token.Hash(), Scopes: []string{ScopeRead}}, account}
	limits := NewLimiter(1_000, 0)
	a := NewAdmission(nil, NewAuthenticator(feeds), limits, NewUsage(), feeds)
	admit := func(look bool) (Caller, error) {
		now = now.Add(time.Millisecond)
		return a.Admit(t.Context(), Credentials{Link: Feed, Token: token.Reveal(), Look: look}, remote, now)
	}
	must := func(what string, want error, got error) {
		t.Helper()
		var limited *LimitError
		if errors.As(got, &limited) != (want != nil) || got != nil && !errors.As(got, &limited) {
			t.Fatalf("%s: %v", what, got)
		}
	}
	refused := &LimitError{}
	for i := range 9 { // a client that holds the answer
		caller, err := admit(false)
		must("an unchanged answer", nil, err)
		if left := a.CountAsLook(caller)[0]; left.Quota != Feed.looks*Feed.minute || left.Remaining != left.Quota-3*i-1 {
			t.Fatalf("after %d requests for headers %+v are left", 3*i+1, left)
		}
		for range 2 {
			_, err = admit(true)
			must("a look", nil, err)
		}
		_, err = admit(false)
		must("an answer", nil, err)
		if left := limits.Allow("acme", now).Windows[0].Remaining; left != 1_000-5*(i+1) { // four, and this look itself
			t.Fatalf("the account has %d requests left", left)
		}
	}
	for range Feed.looks {
		_, err := admit(true)
		must("a look", nil, err)
	}
	_, err := admit(true)
	must("a look too many", refused, err)
	caller, err := admit(false)
	must("the tenth answer", nil, err)
	a.CountAsLook(caller) // no look is left, so it counts as what it was admitted as
	_, err = admit(false)
	must("an answer too many", refused, err)
	now = now.Add(time.Minute)
	_, err = admit(true)
	must("a look a minute later", nil, err)
}
