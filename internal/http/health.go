package http

import (
	"context"
	"html/template"
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

// docsOfErrors is where the type of every problem leads.
const docsOfErrors = "/docs/errors/"

var errorTemplate = template.Must(template.New("error").Parse(`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{{.Title}} - adlens</title>
<style>:root{color-scheme:light dark}body{font:1rem/1.6 system-ui,sans-serif;max-width:40rem;margin:3rem auto;padding:0 1rem}code{font-size:.95em}</style>
<h1>{{.Title}}</h1>
<p><code>{{.Code}}</code>, status {{.Status}}</p>
<p>{{.Help}}</p>
</html>
`))

// errorPage explains a problem.
func (s *Server) errorPage(c *gin.Context) {
	for _, kind := range problemKinds {
		if string(kind.Code) == c.Param("code") {
			c.Header("Content-Type", "text/html; charset=utf-8")
			c.Header("Cache-Control", "public, max-age=3600") // it holds nothing of anybody
			c.Header("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")
			c.Status(http.StatusOK)
			if err := errorTemplate.Execute(c.Writer, kind); err != nil {
				c.Set(keyCause, err)
			}
			return
		}
	}
	s.fail(c, notFound(printable(c.Request.URL.Path)))
}
