package http

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"adlens"
	"adlens/internal/auth"

	"github.com/gin-gonic/gin"
)

// caller is whose request it is.
type caller struct {
	account adlens.Account
	key     auth.Record
	lastUse *time.Time // of the key, before this request
}

// admit lets a request in: key, limit, subscription, scope.
func (s *Server) admit(c *gin.Context) (caller, error) { return s.admitKey(c, false) }

// admitAlways is admit, without an active subscription too.
func (s *Server) admitAlways(c *gin.Context) (caller, error) { return s.admitKey(c, true) }

func (s *Server) admitKey(c *gin.Context, always bool) (caller, error) {
	now := s.now()
	key, err := s.authenticate(c, now)
	if err != nil {
		return caller{}, err
	}
	c.Set(keyCaller, key)
	return s.welcome(c, key, always, now)
}

// welcome lets the bearer of a valid key or feed link in.
func (s *Server) welcome(c *gin.Context, key auth.Record, always bool, now time.Time) (caller, error) {
	if err := s.limit(c, key.AccountID, now); err != nil {
		return caller{}, err
	}
	lastUse := s.usage.Touch(key.ID, key.LastUsedAt, now)
	account, err := s.accounts.get(c.Request.Context(), key.AccountID, now)
	if err != nil {
		return caller{}, err
	}
	if account.Subscription == adlens.Canceled && !always {
		return caller{}, &problem{code: codeInactive, detail: "the account's subscription is canceled"}
	}
	if !key.HasScope(auth.ScopeRead) {
		return caller{}, &problem{code: codeScope, detail: fmt.Sprintf("the key has the scopes [%s]; this endpoint needs %s", strings.Join(key.Scopes, ", "), auth.ScopeRead)}
	}
	return caller{account: account, key: key, lastUse: lastUse}, nil
}

// authenticate finds out whose key the request has. Of an address that sent too
// many wrong ones, valid keys alone get in; with others it has to wait.
func (s *Server) authenticate(c *gin.Context, now time.Time) (auth.Record, error) {
	sent, address := c.Request.Header.Values("Authorization"), addressOf(c)
	key, wait, err := s.failures.Guard(address, now, func(suspect bool) (auth.Record, error) {
		return s.keys.Authenticate(c.Request.Context(), sent, suspect, now)
	})
	if wait > 0 {
		return key, addressWaits(wait)
	}
	if errors.Is(err, auth.ErrMissingKey) && keyInAddress(c.Request.RequestURI) {
		return key, &problem{code: codeMissingKey, detail: "the key stands in the address, where it is not looked for and where others can read it: " +
			"revoke it, make another, and send that in the header Authorization: Bearer key_live_..."}
	}
	return key, err
}

func addressWaits(wait time.Duration) *problem {
	return &problem{code: codeRateLimited, limit: auth.LimitAddress, retry: wait,
		detail: fmt.Sprintf("this address sent too many keys that are not valid; try again in %d s", wholeSeconds(wait))}
}

// addressOf is the address of the client's end of the connection. What proxies
// say of others is not believed.
func addressOf(c *gin.Context) netip.Addr {
	address, _ := netip.ParseAddrPort(c.Request.RemoteAddr)
	return address.Addr()
}

// limit counts the request and says in the headers what is left.
func (s *Server) limit(c *gin.Context, account string, now time.Time) error {
	d := s.limiter.Allow(account, now)
	var policy, left []string
	for _, w := range d.Windows {
		policy = append(policy, fmt.Sprintf("%q;q=%d;w=%d", w.Name, w.Quota, w.WindowSeconds))
		left = append(left, fmt.Sprintf("%q;r=%d;t=%d", w.Name, w.Remaining, w.ResetSeconds))
	}
	if len(d.Windows) > 0 {
		h := c.Writer.Header()
		h.Set("RateLimit-Policy", strings.Join(policy, ", "))
		h.Set("RateLimit", strings.Join(left, ", "))
	}
	if d.Allowed {
		return nil
	}
	return &problem{code: codeRateLimited, limit: d.Limit, retry: d.RetryAfter,
		detail: fmt.Sprintf("the account's limit of requests per %s is reached; try again in %d s", d.Limit, wholeSeconds(d.RetryAfter))}
}

// Limiter decides about calls of accounts.
type Limiter interface {
	Allow(account string, now time.Time) auth.Decision
}

// AccountStore finds accounts.
type AccountStore interface {
	Account(ctx context.Context, id string) (account adlens.Account, found bool, err error)
}

// ConnectionStore finds the connections of accounts to the platform.
type ConnectionStore interface {
	Connection(ctx context.Context, account string) (c adlens.Connection, found bool, err error)
}
