package http

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"adlens/internal/auth"
	"adlens/internal/query"

	"github.com/gin-gonic/gin"
	"github.com/go-json-experiment/json"
)

// The budget of a feed link, beside the account's limits: spreadsheets ask for
// a cell about once an hour.
const (
	feedMinute = 10    // requests in any 60 seconds
	feedDay    = 1_000 // requests in a UTC day
)

// feedOf is the path below which feed links answer.
const feedOf = "/feed/"

// feed admits the bearer of a token to the one request that was saved under
// it, and makes the request that one.
func (s *Server) feed(c *gin.Context) (caller, error) {
	now := s.now()
	feed, err := s.redeem(c, now)
	if err != nil {
		return caller{}, err
	}
	c.Set(keyCaller, feed)
	if d := s.feedBudget.Allow(feed.ID, now); !d.Allowed {
		return caller{}, &problem{code: codeRateLimited, limit: d.Limit, retry: d.RetryAfter,
			detail: fmt.Sprintf("this feed's own limit of requests per %s is reached; try again in %d s", d.Limit, wholeSeconds(d.RetryAfter))}
	}
	who, err := s.welcome(c, feed, false, now)
	if err != nil {
		return caller{}, err
	}
	var none struct{}
	if faults := decode(c.Request.URL.RawQuery, &none); len(faults) > 0 {
		return caller{}, &query.FaultsError{Faults: faults}
	}
	saved, err := url.Parse(feed.Request)
	if err != nil {
		return caller{}, err
	}
	c.Request.URL = saved
	c.Request.Header.Del("Accept") // the format was saved too
	return who, nil
}

// redeem finds the feed link of a token. One that is unknown, revoked or
// expired leads nowhere, like any other path.
func (s *Server) redeem(c *gin.Context, now time.Time) (auth.Record, error) {
	token, address := c.Param("token"), addressOf(c)
	feed, wait, err := s.failures.Guard(address, now, func(suspect bool) (auth.Record, error) {
		return s.feeds.Feed(c.Request.Context(), token, suspect, now)
	})
	if wait > 0 {
		return feed, addressWaits(wait)
	}
	if errors.Is(err, auth.ErrInvalidKey) {
		return feed, &problem{code: codeNotFound, detail: "there is no such feed: it may be misspelt, revoked or expired"}
	}
	return feed, err
}

// saved answers the request that a feed link has become.
func (s *Server) saved(c *gin.Context, who caller) (answer, error) {
	path := c.Request.URL.Path
	if run, ok := s.endpoints[path]; ok {
		return run(c, who)
	}
	if rule, ok := strings.CutPrefix(path, "/api/v1/rules/"); ok && strings.HasSuffix(rule, "/runs") {
		c.Params = gin.Params{{Key: "rule_id", Value: strings.TrimSuffix(rule, "/runs")}}
		return s.ruleRuns(c, who)
	}
	return nil, &problem{code: codeNotFound, detail: fmt.Sprintf("%s is nothing that a feed can answer", printable(path))}
}

// TryFeed answers a feed link that nobody was given yet, for nobody. The error
// says what a client would be told.
func (s *Server) TryFeed(ctx context.Context, token string) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, feedOf+token, nil)
	if err != nil {
		return err
	}
	r.RequestURI = r.URL.RequestURI()
	w := &unsent{header: http.Header{}}
	s.Handler().ServeHTTP(w, r)
	if w.status == http.StatusOK {
		return nil
	}
	var p problemBody
	if err := json.Unmarshal(w.body.Bytes(), &p); err != nil {
		return fmt.Errorf("status %d", w.status)
	}
	return errors.New(p.Detail)
}

// unsent is an answer that goes nowhere.
type unsent struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (u *unsent) Header() http.Header { return u.header }

func (u *unsent) WriteHeader(status int) { u.status = status }

func (u *unsent) Write(text []byte) (int, error) { return u.body.Write(text) }
