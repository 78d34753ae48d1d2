package http

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/go-json-experiment/json"
)

// TryFeed answers a feed link and drops the answer. The error is what a client
// would get.
func (s *Server) TryFeed(ctx context.Context, token string) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, feedPath+token, nil)
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
