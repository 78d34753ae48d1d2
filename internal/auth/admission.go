package auth

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"adlens"
	"adlens/internal/recent"
)

// The reasons to refuse a request whose key is valid, next to LimitError and
// ScopeError; and that of a feed link that is unknown, revoked or expired, which
// leads nowhere, like any other path.
var (
	ErrCanceled    = errors.New("the account's subscription is canceled")
	ErrUnknownFeed = errors.New("there is no such feed: it may be misspelt, revoked or expired")
)

// LimitError reports a request beyond a limit.
type LimitError struct {
	Limit      string        // LimitMinute, LimitDay or LimitAddress
	RetryAfter time.Duration // a request after this time is let in
	reached    string
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("%s; try again in %d s", e.reached, max(1, wholeSeconds(e.RetryAfter)))
}

// RefusedError reports a call that another server refused, in its words.
type RefusedError struct{ Detail string }

func (e *RefusedError) Error() string { return e.Detail }

// ScopeError reports a key that lacks the scope that is needed.
type ScopeError struct {
	Scopes []string // of the key
	Needed string
}

func (e *ScopeError) Error() string {
	return fmt.Sprintf("the key has the scopes [%s]; this endpoint needs %s", strings.Join(e.Scopes, ", "), e.Needed)
}

// Limits decides about calls of accounts: a Limiter, or one that servers share.
type Limits interface {
	Allow(account string, now time.Time) Decision
}

// AccountStore finds accounts.
type AccountStore interface {
	Account(ctx context.Context, id string) (account adlens.Account, found bool, err error)
}

// An account that is remembered is never older than accountsFor, so that a
// changed subscription shows within seconds; at most maxAccounts are remembered.
const (
	accountsFor = 2 * time.Second
	maxAccounts = 10_000
)

// The budget of a feed link, next to the account's limits: spreadsheets fetch a
// cell about once an hour.
const (
	feedMinute = 10    // requests in any 60 seconds
	feedDay    = 1_000 // requests in a UTC day
)

// appMinute is how many calls a connection of an assistant has in any 60 seconds,
// next to the account's limits (contract D4).
const appMinute = 30

// Admission decides which requests are let in. It is safe for concurrent use.
type Admission struct {
	keys, feeds *Authenticator
	apps        *Authenticator // nil without assistants
	failures    *Failures
	feedBudget  *Limiter
	appBudget   *Limiter
	limits      Limits
	usage       *Usage
	accounts    *recent.Values[string, adlens.Account]
}

// NewAdmission returns an admission of the bearers of keys and of feed links.
func NewAdmission(keys, feeds *Authenticator, limits Limits, usage *Usage, accounts AccountStore) *Admission {
	return &Admission{keys: keys, feeds: feeds, failures: NewFailures(), feedBudget: NewLimiter(feedMinute, feedDay), appBudget: NewLimiter(0, 0), limits: limits, usage: usage,
		accounts: recent.New(accountsFor, maxAccounts, func(ctx context.Context, id string) (adlens.Account, bool, error) {
			return accounts.Account(ctx, id)
		})}
}

// AdmitApps lets assistants in by their access tokens. Their own limit of a minute is
// off where the account's is.
func (a *Admission) AdmitApps(apps *Authenticator, limitMinute int) {
	a.apps = apps
	if limitMinute > 0 {
		a.appBudget = NewLimiter(appMinute, 0)
	}
}

// Credentials are what a request shows: a key, or the token of a feed link.
type Credentials struct {
	Authorization []string // values of the header
	FeedToken     string   // "" where a key is needed
}

// Caller is whose request it is.
type Caller struct {
	Account adlens.Account
	Key     Record     // or feed link
	LastUse *time.Time // of the key, before this request
	Windows []Window   // of the account's limits, after this request
}

// Admit lets a request in, in the contract's order: key, limit, subscription and
// scope. The error is ErrMissingKey, ErrInvalidKey, ErrUnknownFeed, ErrCanceled,
// a *LimitError or *ScopeError, or wraps a store's; the caller then has what was
// known before it: the key, and the windows.
func (a *Admission) Admit(ctx context.Context, c Credentials, remote netip.Addr, now time.Time) (Caller, error) {
	return a.admitCaller(ctx, c, remote, false, now)
}

// AdmitCanceled is Admit for what accounts without an active subscription may
// read as well.
func (a *Admission) AdmitCanceled(ctx context.Context, c Credentials, remote netip.Addr, now time.Time) (Caller, error) {
	return a.admitCaller(ctx, c, remote, true, now)
}

func (a *Admission) admitCaller(ctx context.Context, c Credentials, remote netip.Addr, canceled bool, now time.Time) (caller Caller, err error) {
	if caller.Key, err = a.authenticateCaller(ctx, c, remote, now); err != nil {
		return caller, err
	}
	if c.FeedToken != "" {
		return a.admitWithin(ctx, a.feedBudget, "this feed's own limit of requests", caller, canceled, now)
	}
	return a.admitRecord(ctx, caller, canceled, now)
}

// admitWithin is admitRecord for a caller who has a budget of his own as well. What
// the account's limits refuse does not use it up.
func (a *Admission) admitWithin(ctx context.Context, budget *Limiter, what string, caller Caller, canceled bool, now time.Time) (Caller, error) {
	if d := budget.Allow(caller.Key.ID, now); !d.Allowed {
		return caller, &LimitError{d.Limit, d.RetryAfter, fmt.Sprintf("%s per %s is reached", what, d.Limit)}
	}
	caller, err := a.admitRecord(ctx, caller, canceled, now)
	var limited *LimitError
	if errors.As(err, &limited) {
		budget.TakeBack(caller.Key.ID, now)
	}
	return caller, err
}

// AuthenticateApp returns the connection of an access token, without counting a call:
// an assistant reads what there is to call before it calls. The error is
// ErrInvalidKey, a *LimitError, or wraps a store's.
func (a *Admission) AuthenticateApp(ctx context.Context, token string, remote netip.Addr, now time.Time) (Record, error) {
	record, wait, err := a.failures.Guard(remote, now, func(suspect bool) (Record, error) {
		key, ok := ParseAccessToken(token)
		if !ok || a.apps == nil {
			return Record{}, ErrInvalidKey
		}
		return a.apps.findRecord(ctx, key, suspect, now)
	})
	if wait > 0 {
		return record, &LimitError{LimitAddress, wait, "this address sent too many tokens that are not valid"}
	}
	return record, err
}

// AdmitApp counts a call of an assistant, and lets it in as Admit does.
func (a *Admission) AdmitApp(ctx context.Context, app Record, now time.Time) (Caller, error) {
	return a.admitWithin(ctx, a.appBudget, "the limit of an assistant's calls", Caller{Key: app}, false, now)
}

// AdmitCounted is AdmitApp for a call that a running server has counted already.
func (a *Admission) AdmitCounted(ctx context.Context, app Record, now time.Time) (Caller, error) {
	return a.admitAccount(ctx, Caller{Key: app}, false, now)
}

// admitRecord counts the request of a caller who is known, and lets it in.
func (a *Admission) admitRecord(ctx context.Context, caller Caller, canceled bool, now time.Time) (Caller, error) {
	d := a.limits.Allow(caller.Key.AccountID, now)
	caller.Windows = d.Windows
	if !d.Allowed {
		return caller, &LimitError{d.Limit, d.RetryAfter, fmt.Sprintf("the account's limit of requests per %s is reached", d.Limit)}
	}
	caller.LastUse = a.usage.Touch(caller.Key.ID, caller.Key.LastUsedAt, now)
	return a.admitAccount(ctx, caller, canceled, now)
}

// admitAccount lets a request in whose account may read.
func (a *Admission) admitAccount(ctx context.Context, caller Caller, canceled bool, now time.Time) (Caller, error) {
	account, found, err := a.accounts.Get(ctx, caller.Key.AccountID, now)
	switch {
	case err != nil:
		return caller, err
	case !found:
		return caller, fmt.Errorf("a key belongs to account %q, which does not exist", caller.Key.AccountID)
	case account.Subscription == adlens.Canceled && !canceled:
		return caller, ErrCanceled
	case !caller.Key.HasScope(ScopeRead):
		return caller, &ScopeError{caller.Key.Scopes, ScopeRead}
	}
	caller.Account = account
	return caller, nil
}

// authenticateCaller finds the key or feed link of a request. From an address that
// sent too many wrong ones only valid ones get in; others have to wait.
func (a *Admission) authenticateCaller(ctx context.Context, c Credentials, remote netip.Addr, now time.Time) (Record, error) {
	key, wait, err := a.failures.Guard(remote, now, func(suspect bool) (Record, error) {
		if c.FeedToken != "" {
			return a.feeds.Feed(ctx, c.FeedToken, suspect, now)
		}
		return a.keys.Authenticate(ctx, c.Authorization, suspect, now)
	})
	switch {
	case wait > 0:
		return key, &LimitError{LimitAddress, wait, "this address sent too many keys that are not valid"}
	case c.FeedToken != "" && errors.Is(err, ErrInvalidKey):
		return key, ErrUnknownFeed
	}
	return key, err
}
