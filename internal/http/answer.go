package http

import (
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"
)

// answer is what a handler returns: it describes itself field by field.
type answer interface {
	fields(w *writer)
}

// headed is an answer that says something in headers as well.
type headed interface {
	paged() paged
}

// private is an answer that no cache may keep.
type private interface{ noStore() }

// write is the only place that writes an answer. It is complete before the
// first byte goes out, and its length is said, so a failure never looks like a
// short answer.
func (s *Server) write(c *gin.Context, a answer) error {
	h := c.Writer.Header()
	h.Set("Cache-Control", "private, no-cache")
	if n, ok := a.(notModified); ok {
		h.Set("ETag", n.tag)
		c.Writer.WriteHeader(http.StatusNotModified)
		c.Writer.WriteHeaderNow()
		return nil
	}
	if _, ok := a.(private); ok {
		h.Set("Cache-Control", "no-store")
	}
	f, err := s.coded(c, a)
	if err != nil {
		return err
	}
	part, err := f.asked(c.Request)
	if err != nil {
		return err
	}
	f.headers(h)
	part.headers(h)
	if f.paged != nil {
		f.paged.headers(h)
		if c.FullPath() != feedOf+":token" { // its bearer can read no other page
			f.paged.link(h, c.Request.URL.Path, c.Request.URL.RawQuery)
		}
	}
	h.Set("Content-Length", strconv.Itoa(len(part.body)))
	c.Writer.WriteHeader(part.status)
	c.Writer.Write(part.body)
	return nil
}

// coded is an answer as it was asked for, in a content coding that the client
// takes.
func (s *Server) coded(c *gin.Context, a answer) (*finished, error) {
	f, ok := a.(*finished)
	if !ok {
		return finish(a, plainJSON, "")
	}
	sent := f
	if coding, wanted := codingFor(f, c.Request.Header.Values("Accept-Encoding")); wanted {
		var err error
		if sent, err = s.answers.coded(c.Request.Context(), f, coding); err != nil {
			return nil, err
		}
	}
	if u, ok := c.Value(keyUse).(*use); ok {
		bytes := cap(f.body)
		if sent != f {
			bytes += cap(sent.body)
		}
		u.atLeast(bytes)
	}
	return sent, nil
}
