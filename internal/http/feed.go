package http

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"adlens/internal/auth"
	"adlens/internal/query"

	"github.com/gin-gonic/gin"
	"github.com/go-json-experiment/json"
)

// feedOf is the path below which feed links answer.
const feedOf = "/feed/"

// feed admits the bearer of a token to the one request that was saved under
// it, and makes the request that one.
func (s *Server) feed(c *gin.Context) (auth.Caller, error) {
	caller, err := s.admit(c, auth.Credentials{FeedToken: c.Param("token")}, false)
	if err != nil {
		return caller, err
	}
	var none struct{}
	if faults := decode(c.Request.URL.RawQuery, &none); len(faults) > 0 {
		return caller, &query.FaultsError{Faults: faults}
	}
	saved, err := url.Parse(caller.Key.Request)
	if err != nil {
		return caller, err
	}
	c.Request.URL = saved
	c.Request.Header.Del("Accept") // the format was saved too
	return caller, nil
}

// saved answers the request that a feed link has become.
func (s *Server) saved(c *gin.Context, who auth.Caller) (answer, error) {
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
