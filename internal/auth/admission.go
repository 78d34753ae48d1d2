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

// ErrCanceled is a reason to refuse a request whose key is valid, next to LimitError
// and ScopeError.
var ErrCanceled = errors.New("the account's subscription is canceled")

// LimitError reports a request beyond a limit.
type LimitError struct {
	Limit      string        // LimitMinute, LimitDay or LimitAddress
	RetryAfter time.Duration // a request after this time is let in
	reached    string
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("%s; try again in %d s", e.reached, max(1, WholeSeconds(e.RetryAfter)))
}

// limitError is the error of a refused call. own names the limits of the caller's own.
func (d Decision) limitError(own string) *LimitError {
	what := "the account's limit of requests"
	if d.Own {
		what = own
	}
	return &LimitError{d.Limit, d.RetryAfter, fmt.Sprintf("%s per %s is reached", what, d.Limit)}
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
	AllowKey(account string, key KeyLimit, now time.Time) Decision
	// PeekKey returns what AllowKey would decide, as far as this server knows by itself,
	// and counts nothing.
	PeekKey(account string, key KeyLimit, now time.Time) Decision
}

// AccountStore finds accounts.
type AccountStore interface {
	Account(ctx context.Context, id string) (account adlens.Account, found bool, err error)
}

// An account that is remembered is never older than accountsFor, unless the mark is the
// same, so that a changed subscription shows within seconds; at most maxAccounts are remembered.
const (
	accountsFor = 2 * time.Second
	maxAccounts = 10_000
)

// AppMinute is how many calls a connection of an assistant has in any 60 seconds, within
// the account's limits and counted as a key's own (contract D4).
const AppMinute = 30

// Admission decides which requests are let in. It is safe for concurrent use.
type Admission struct {
	keys, links *Authenticator
	apps        *Authenticator // nil without assistants
	failures    *Failures
	linkBudgets map[*Link]linkBudget
	appQuotas   Quotas // of each connection of an assistant
	limits      Limits
	usage       *Usage
	accounts    *recent.Values[string, adlens.Account]
}

// NewAdmission returns an admission of the bearers of keys and of links.
func NewAdmission(keys, links *Authenticator, limits Limits, usage *Usage, accounts AccountStore) *Admission {
	return &Admission{keys: keys, links: links, failures: NewFailures(), linkBudgets: newLinkBudgets(), limits: limits, usage: usage,
		accounts: recent.New(accountsFor, maxAccounts, func(ctx context.Context, id string) (adlens.Account, bool, error) {
			return accounts.Account(ctx, id)
		})}
}

// linkBudget is that of a kind of links, for each of them.
type linkBudget struct {
	answers *Limiter
	looks   *Limiter // of answers without a body; nil where they count as others do
}

func newLinkBudgets() map[*Link]linkBudget {
	budgets := map[*Link]linkBudget{}
	for _, link := range links {
		budget := linkBudget{answers: NewLimiter(link.minute, link.day)}
		if link.looks > 0 {
			budget.looks = NewLimiter(link.looks*link.minute, link.looks*link.day)
		}
		budgets[link] = budget
	}
	return budgets
}

// Trust has accounts and all that callers show kept while a mark of the store stays
// the same.
func (a *Admission) Trust(mark recent.Mark) {
	a.accounts.Trust(mark)
	for _, bearers := range []*Authenticator{a.keys, a.links, a.apps} {
		if bearers != nil {
			bearers.Trust(mark)
		}
	}
}

// AdmitApps lets assistants in by their access tokens. Their own limit of a minute is
// off where the account's is.
func (a *Admission) AdmitApps(apps *Authenticator, limitMinute int) {
	a.apps = apps
	if limitMinute > 0 {
		a.appQuotas.Minute = AppMinute
	}
}

// Credentials are what a request shows: a key, or the token of a link.
type Credentials struct {
	Authorization []string // values of the header
	Link          *Link    // the kind of the token; nil where a key is needed
	Token         string
	Look          bool // it gets headers alone
	Canceled      bool // it may be of an account without an active subscription
}

// Caller is whose request it is.
type Caller struct {
	Account adlens.Account
	Key     Record     // or link
	Link    *Link      // its kind; nil of a key
	LastUse *time.Time // of the key, before this request
	Windows []Window   // of the limits that hold, or of a link's own budget, after this request
	At      time.Time  // when the request was counted
	// Marketplaces are all that the caller can know of, as Record has them; nil is all
	// that there are.
	Marketplaces []string
}

// Admit lets a request in, in the contract's order: key, limit, subscription and
// scope. The error is ErrMissingKey, ErrInvalidKey, ErrCanceled, an
// *UnknownLinkError, *LimitError or *ScopeError, or wraps a store's; the caller then
// has what was known before it: the key, also one that was revoked or has expired, and
// the windows.
func (a *Admission) Admit(ctx context.Context, c Credentials, remote netip.Addr, now time.Time) (caller Caller, err error) {
	caller.Link = c.Link
	if caller.Key, err = a.authenticateCaller(ctx, c, remote, now); err != nil {
		return caller, err
	}
	budget := a.linkBudgets[c.Link]
	switch {
	case c.Link != nil && c.Look && budget.looks != nil:
		return a.admitWithin(ctx, budget.looks, fmt.Sprintf("this %s's own limit of requests for headers", c.Link.Name), caller, c.Canceled, now)
	case c.Link != nil:
		return a.admitWithin(ctx, budget.answers, fmt.Sprintf("this %s's own limit of requests", c.Link.Name), caller, c.Canceled, now)
	}
	return a.admitRecord(ctx, caller, "this key's own limit of requests", c.Canceled, now)
}

// admitWithin is admitRecord for a link, which has a budget of its own as well. What
// the account's limits refuse does not use it up. Where both refuse, the longer wait is
// the true one, as decideCall has it.
func (a *Admission) admitWithin(ctx context.Context, budget *Limiter, what string, caller Caller, canceled bool, now time.Time) (Caller, error) {
	d := budget.Allow(caller.Key.ID, now)
	caller.Windows = d.Windows
	if !d.Allowed {
		d.Own = true
		if of := a.limits.PeekKey(caller.Key.AccountID, KeyLimit{caller.Key.ID, caller.Key.Limits}, now); of.RetryAfter > d.RetryAfter {
			d = of
		}
		return caller, d.limitError(what)
	}
	caller, err := a.admitRecord(ctx, caller, what, canceled, now)
	var limited *LimitError
	if errors.As(err, &limited) {
		caller.Windows = budget.TakeBack(caller.Key.ID, now)
	}
	return caller, err
}

// CountAsLook counts the request of a link that was answered without a body as one
// for headers alone, where the link has any of these left. It returns the windows of
// these then, else none.
func (a *Admission) CountAsLook(caller Caller) []Window {
	budget := a.linkBudgets[caller.Link]
	if budget.looks == nil {
		return nil
	}
	d := budget.looks.Allow(caller.Key.ID, caller.At)
	if !d.Allowed {
		return nil
	}
	budget.answers.TakeBack(caller.Key.ID, caller.At)
	return d.Windows
}

// AuthenticateApp returns the connection of an access token, without counting a call:
// an assistant reads what there is to call before it calls. The error is
// ErrInvalidKey, as Authenticate has it, or wraps a store's: clients make a new token of
// that alone, and an address that sent too many wrong ones may be a proxy's, so it is
// told nothing else.
func (a *Admission) AuthenticateApp(ctx context.Context, token string, remote netip.Addr, now time.Time) (Record, error) {
	record, _, err := a.failures.Guard(remote, now, func(suspect bool) (Record, error) {
		key, ok := ParseAccessToken(token)
		if !ok || a.apps == nil {
			return Record{}, ErrInvalidKey
		}
		return a.apps.findRecord(ctx, key, suspect, now)
	})
	return record, err
}

// AccountOf returns the account of a connection, and counts no call. Where it cannot be
// looked up, only its id is known.
func (a *Admission) AccountOf(ctx context.Context, app Record, now time.Time) adlens.Account {
	account, found, err := a.accounts.Get(ctx, app.AccountID, now)
	if err != nil || !found {
		return adlens.Account{ID: app.AccountID}
	}
	return account
}

// AdmitApp counts a call of an assistant, and lets it in as Admit does.
func (a *Admission) AdmitApp(ctx context.Context, app Record, now time.Time) (Caller, error) {
	app.Limits = a.appQuotas
	return a.admitRecord(ctx, Caller{Key: app}, "the limit of an assistant's calls", false, now)
}

// AdmitCounted is AdmitApp for a call that a running server has counted already.
func (a *Admission) AdmitCounted(ctx context.Context, app Record, now time.Time) (Caller, error) {
	return a.admitAccount(ctx, Caller{Key: app}, false, now)
}

// admitRecord counts the request of a caller who is known, and lets it in. own names the
// limits of the record's own.
func (a *Admission) admitRecord(ctx context.Context, caller Caller, own string, canceled bool, now time.Time) (Caller, error) {
	d := a.limits.AllowKey(caller.Key.AccountID, KeyLimit{caller.Key.ID, caller.Key.Limits}, now)
	caller.At = now
	if caller.Link == nil { // a link's reader is told of its budget, and not of how much others use
		caller.Windows = d.Windows
	}
	if !d.Allowed {
		return caller, d.limitError(own)
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
	// A restore shows keys before the accounts, and may be killed between.
	case !found && caller.Link != nil:
		return caller, &UnknownLinkError{caller.Link}
	case !found:
		return caller, ErrInvalidKey
	case account.Subscription == adlens.Canceled && !canceled:
		return caller, ErrCanceled
	case !caller.Key.HasScope(ScopeRead):
		return caller, &ScopeError{caller.Key.Scopes, ScopeRead}
	}
	caller.Account, caller.Marketplaces = account, caller.Key.Marketplaces
	return caller, nil
}

// authenticateCaller finds the key or link of a request. From an address that
// sent too many wrong ones only valid ones get in; others have to wait.
func (a *Admission) authenticateCaller(ctx context.Context, c Credentials, remote netip.Addr, now time.Time) (Record, error) {
	key, wait, err := a.failures.Guard(remote, now, func(suspect bool) (Record, error) {
		if c.Link != nil {
			return a.links.Link(ctx, c.Link, c.Token, suspect, now)
		}
		return a.keys.Authenticate(ctx, c.Authorization, suspect, now)
	})
	switch {
	case wait > 0:
		return key, &LimitError{LimitAddress, wait, "this address sent too many keys that are not valid"}
	case c.Link != nil && errors.Is(err, ErrInvalidKey):
		return key, &UnknownLinkError{c.Link}
	}
	return key, err
}
