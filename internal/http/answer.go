package http

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"adlens/internal/answer"
	"adlens/internal/auth"

	"github.com/gin-gonic/gin"
)

// feedPath is the path below which feed links answer, by their tokens.
const feedPath = "/feed/"

// varies are the headers of a request that its answer hangs on.
const varies = "Authorization, Accept, Accept-Encoding"

// wrapHandler runs a handler within the deadline of an answer, and writes its error.
func (s *Server) wrapHandler(handler func(*gin.Context) error) gin.HandlerFunc {
	return s.wrapWithin(answer.Timeout, handler)
}

func (s *Server) wrapWithin(timeout time.Duration, handler func(*gin.Context) error) gin.HandlerFunc {
	return func(c *gin.Context) {
		ctx, cancel := context.WithTimeout(c.Request.Context(), timeout)
		defer cancel()
		c.Request = c.Request.WithContext(ctx)
		c.Writer.Header().Set("Vary", varies)
		if err := handler(c); err != nil {
			s.writeError(c, err)
		}
	}
}

// endpointHandler answers what is asked at an endpoint by the bearer of a key.
func (s *Server) endpointHandler(name string) gin.HandlerFunc {
	return s.wrapHandler(func(c *gin.Context) error {
		caller, err := s.admitCaller(c, auth.Credentials{Authorization: c.Request.Header.Values("Authorization"), Canceled: name == answer.Account})
		if err != nil {
			return err
		}
		r := answer.Request{Endpoint: name, RuleID: c.Param("rule_id"), Format: chooseFormat(c.Request.Header.Values("Accept"))}
		r.Parameters, r.Faults = answer.ReadQuery(c.Request.URL.RawQuery)
		return s.writeAnswer(c, caller, r)
	})
}

// answerFeed answers the one request that was saved under a token, in the format that
// was saved too.
func (s *Server) answerFeed(c *gin.Context) error {
	caller, err := s.admitCaller(c, auth.Credentials{Link: auth.Feed, Token: c.Param("token"), Look: c.Request.Method == http.MethodHead})
	if err != nil {
		return err
	}
	if err := answer.RefuseParameters(answer.ReadQuery(c.Request.URL.RawQuery)); err != nil {
		return err
	}
	r, err := answer.ReadFeed(caller.Key.Request)
	if err != nil {
		return err
	}
	err = s.writeAnswer(c, caller, r)
	if c.Request.Method == http.MethodGet && c.Writer.Status() == http.StatusNotModified {
		writeLimits(c.Writer.Header(), s.Admission.CountAsLook(caller))
	}
	return err
}

// writeAnswer answers a request, and is the only place that writes an answer. It is
// complete before the first byte goes out, and its length is sent, so a failure
// never looks like a short answer.
func (s *Server) writeAnswer(c *gin.Context, caller auth.Caller, r answer.Request) error {
	ctx, sent, h := c.Request.Context(), c.Request.Header, c.Writer.Header()
	question, err := s.Answers.Ask(ctx, caller, r)
	if err != nil {
		return err
	}
	defer question.Close()
	h.Set("Cache-Control", "private, no-cache")
	holds := sent.Values("If-None-Match")
	if question.Name == "" || caller.Link == auth.Share {
		h.Set("Cache-Control", "no-store")
		holds = nil
	}
	if answerUnchanged(c, caller, holds, question.Head()) {
		c.Set(keyHow, unchanged)
		return nil
	}
	a, err := question.Answer(ctx)
	c.Set(keyHow, question.How)
	if err != nil {
		return err
	}
	if answerUnchanged(c, caller, holds, a.Head) { // a load that changes nothing of the answer
		return nil
	}
	if coding, wanted := chooseCoding(a, sent.Values("Accept-Encoding")); wanted {
		a, err = question.Encode(ctx, a, coding, codings[coding])
		if err != nil {
			return err
		}
	}
	part, err := partOf(a, c.Request)
	if err != nil {
		return err
	}
	writeHeaders(h, a)
	if caller.Link == auth.Share {
		h.Del("ETag") // of an answer that is not to be stored
	}
	part.writeHeaders(h)
	writePages(c, caller, a.Pages)
	h.Set("Content-Length", strconv.Itoa(len(part.body)))
	defer gatherStart(ctx)()
	c.Writer.WriteHeader(part.status)
	c.Set(keyCut, !s.sendBody(c.Writer, part.body))
	c.Writer.Flush() // a client does not wait for the log
	return nil
}

// sendBody sends a body in blocks. Each that was taken gives the client as much time for
// the next one as the server gives it for a whole small answer, unless the server is
// about to stop. It reports whether all was taken.
func (s *Server) sendBody(w http.ResponseWriter, body []byte) (whole bool) {
	last := time.Now().Add(s.maxSending)
	for block := range slices.Chunk(body, sendBlock) {
		if _, err := w.Write(block); err != nil {
			return false
		}
		if s.draining.Load() {
			continue
		}
		deadline := time.Now().Add(s.server.WriteTimeout)
		if deadline.After(last) {
			deadline = last
		}
		// A connection that cannot have one keeps that of the server.
		_ = http.NewResponseController(w).SetWriteDeadline(deadline)
	}
	return true
}

// answerUnchanged answers a client that holds the answer under one of its tags, and
// reports whether it does.
func answerUnchanged(c *gin.Context, caller auth.Caller, holds []string, head answer.Head) bool {
	tag, held := heldTag(holds, head.Tag)
	if held {
		writePages(c, caller, head.Pages)
		writeUnchanged(c, tag)
	}
	return held
}

// writeUnchanged answers a client that holds what it asks for under a tag.
func writeUnchanged(c *gin.Context, tag string) {
	c.Writer.Header().Set("ETag", tag)
	c.Writer.WriteHeader(http.StatusNotModified) // sent at the end: its limits may be others by then
}

// writeHeaders describes an answer.
func writeHeaders(h http.Header, a *answer.Answer) {
	form := forms[a.Format]
	h.Set("Content-Type", form.mediaType)
	if a.Tag != "" {
		h.Set("ETag", quotedTag(a.Tag, a.Coding))
	}
	if a.Coding != "" {
		h.Set("Content-Encoding", a.Coding)
	}
	if form.packed {
		h.Set("Accept-Ranges", "bytes")
	}
	if form.extension != "" && a.File != "" {
		h.Set("Content-Disposition", `attachment; filename="`+a.File+"."+form.extension+`"`)
	}
}

// writePages repeats the paging, for formats whose body has no place for it, and for
// clients that hold this page and not the next ones.
func writePages(c *gin.Context, caller auth.Caller, p *answer.Pages) {
	if p == nil {
		return
	}
	h := c.Writer.Header()
	h.Set("X-Total-Rows", strconv.Itoa(p.Rows))
	if p.Truncated {
		h.Set("X-Truncated", "true")
	}
	if next, ok := p.NextPage(p.Rows); ok && caller.Link == nil { // whose bearer can follow it
		h.Set("Link", fmt.Sprintf("<%s?%s>; rel=\"next\"", c.Request.URL.Path, withPage(c.Request.URL.RawQuery, next)))
	}
}

// escapeQuery writes what a query string may not have (RFC 3986, 3.4) as %XX, and leaves
// all else as it was sent.
func escapeQuery(sent string) string {
	var b strings.Builder
	for _, c := range []byte(sent) {
		if c <= ' ' || c >= 0x7f || strings.IndexByte("\"#<>[\\]^`{|}", c) >= 0 {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// withPage returns a query string as it was sent, for another page.
func withPage(sent string, page int) string {
	var kept []string
	for _, part := range strings.Split(sent, "&") {
		name, _, _ := strings.Cut(part, "=")
		if plain, err := url.QueryUnescape(name); part != "" && (err != nil || plain != "page") {
			kept = append(kept, escapeQuery(part))
		}
	}
	return strings.Join(append(kept, fmt.Sprintf("page=%d", page)), "&")
}
