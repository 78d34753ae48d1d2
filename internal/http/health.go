package http

import (
	"context"
	"net/http"
	"time"

	"adlens"

	"github.com/gin-gonic/gin"
)

// pingTimeout is how long readiness waits for the engine.
const pingTimeout = 2 * time.Second

// healthz tells that the process lives. It never depends on the engine: a
// restart of this process would not mend that one.
func (s *Server) healthz(c *gin.Context) {
	c.Header("Cache-Control", "no-store")
	c.JSON(http.StatusOK, gin.H{"status": "ok"})
}

// readyz tells whether requests should be sent here, and why not.
func (s *Server) readyz(c *gin.Context) {
	c.Header("Cache-Control", "no-store")
	ctx, cancel := context.WithTimeout(c.Request.Context(), pingTimeout)
	defer cancel()
	switch err := s.ping(ctx); {
	case s.draining.Load():
		c.JSON(http.StatusServiceUnavailable, gin.H{"status": "not ready", "reason": "the server is stopping"})
	case err != nil:
		c.JSON(http.StatusServiceUnavailable, gin.H{"status": "not ready", "reason": "the database does not answer", "code": adlens.KindOf(err)})
	default:
		c.JSON(http.StatusOK, gin.H{"status": "ready"})
	}
}
