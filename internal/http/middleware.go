package http

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime/debug"
	"time"

	"adlens"
	"adlens/internal/auth"

	"github.com/gin-gonic/gin"
	"go.uber.org/zap"
)

// What the steps of a request leave for each other.
const (
	keyRequestID = "request_id"
	keyCaller    = "caller"
	keyCode      = "code"
	keyCause     = "cause"
	keyHow       = "how"
	keyLimit     = "limit" // that a request met
	keyCut       = "cut"   // the client has not taken all of the answer
)

// unchanged is where an answer comes from that the client has, next to
// answer.Computed and answer.Remembered.
const unchanged = "unchanged"

// assignRequestID gives the request an id. A caller's own is not taken: it would
// have to be made safe for headers and logs first.
func (s *Server) assignRequestID(c *gin.Context) {
	id := rand.Text()
	c.Set(keyRequestID, id)
	h := c.Writer.Header()
	h.Set("X-Request-Id", id)
	h.Set("X-Content-Type-Options", "nosniff")
	if s.draining.Load() {
		h.Set("Connection", "close")
	}
}

func requestID(c *gin.Context) string { return c.GetString(keyRequestID) }

// logAccess writes the access log. Neither the key nor the query string is in
// it: people do put keys into addresses.
func (s *Server) logAccess(c *gin.Context) {
	began := time.Now()
	c.Next()
	took := time.Since(began)
	status := c.Writer.Status()
	if c.GetBool(keyCut) {
		status = statusClientIsGone
	}
	s.Observe(c.FullPath(), status, c.GetString(keyHow), took)
	fields := []zap.Field{
		zap.String("request_id", requestID(c)), zap.String("method", c.Request.Method), zap.String("route", c.FullPath()),
		zap.Int("status", status), zap.Int("bytes", max(0, c.Writer.Size())), zap.Duration("took", took),
		zap.String("client", c.RemoteIP()),
	}
	if key, ok := c.Value(keyCaller).(auth.Record); ok {
		fields = append(fields, zap.String("account", key.AccountID), zap.String("key_id", key.ID))
	}
	if code, ok := c.Value(keyCode).(adlens.Code); ok {
		fields = append(fields, zap.String("code", string(code)))
	}
	if limit := c.GetString(keyLimit); limit != "" {
		fields = append(fields, zap.String("limit", limit))
	}
	cause, failed := c.Value(keyCause).(error)
	switch {
	case failed:
		s.Log.Error("request failed", append(fields, zap.Error(cause))...)
	case status == http.StatusOK && isProbe(c.FullPath()):
		s.Log.Debug("request", fields...)
	default:
		s.Log.Info("request", fields...)
	}
}

// recoverPanic answers a panic without its text; the log has it. A connection that
// was given up on purpose stays given up.
func (s *Server) recoverPanic(c *gin.Context) {
	defer func() {
		switch cause := recover(); {
		case cause == nil:
		case cause == http.ErrAbortHandler:
			panic(cause)
		default:
			s.Log.Error("panic", zap.String("request_id", requestID(c)), zap.Any("panic", cause), zap.ByteString("stack", debug.Stack()))
			if !c.Writer.Written() {
				s.writeError(c, errors.New("panic"))
			}
		}
	}()
	c.Next()
}

// limitSize refuses what is larger than any honest request.
func (s *Server) limitSize(c *gin.Context) {
	r := c.Request
	if len(r.RequestURI) > maxAddress {
		s.writeError(c, tooLarge(http.StatusRequestURITooLong, "the address", maxAddress))
		return
	}
	size := len(r.Host)
	for name, values := range r.Header {
		for _, value := range values {
			size += len(name) + len(value)
		}
	}
	if size > maxHeaders {
		s.writeError(c, tooLarge(http.StatusRequestHeaderFieldsTooLarge, "the header", maxHeaders))
		return
	}
	if r.ContentLength == 0 || s.bodies[c.FullPath()] {
		return
	}
	// Where a body ends is what proxies and servers come to disagree about, so
	// nothing that stands behind one is taken for a request.
	c.Writer.Header().Set("Connection", "close")
	if c.FullPath() == "" {
		return // the path or the method is refused, whatever the body
	}
	if r.ContentLength > maxBody {
		s.writeError(c, tooLarge(http.StatusRequestEntityTooLarge, "the body", maxBody))
		return
	}
	switch n, err := io.CopyN(io.Discard, r.Body, maxBody+1); {
	case n > maxBody:
		s.writeError(c, tooLarge(http.StatusRequestEntityTooLarge, "the body", maxBody))
	case !errors.Is(err, io.EOF):
		s.writeError(c, &problem{code: adlens.InvalidParameter, detail: "the request announced a body that did not arrive; no endpoint needs one"})
	}
}

func tooLarge(status int, what string, limit int) *problem {
	return &problem{code: codeTooLarge, status: status, detail: fmt.Sprintf("%s is larger than %d bytes", what, limit)}
}
