package http

import (
	"context"
	"fmt"
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
func (s *Server) admit(c *gin.Context, always bool) (caller, error) {
	now := s.now()
	key, err := s.keys.Authenticate(c.Request.Context(), c.Request.Header.Values("Authorization"), now)
	if err != nil {
		return caller{}, err
	}
	c.Set(keyCaller, key)
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

// AccountStore finds accounts.
type AccountStore interface {
	Account(ctx context.Context, id string) (account adlens.Account, found bool, err error)
}

// ConnectionStore finds the connections of accounts to the platform.
type ConnectionStore interface {
	Connection(ctx context.Context, account string) (c adlens.Connection, found bool, err error)
}
