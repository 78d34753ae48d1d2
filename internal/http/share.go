package http

import (
	"bytes"
	"html/template"
	"net/http"
	"strings"
	"time"

	"adlens/internal/answer"
	"adlens/internal/auth"
	"adlens/internal/query"
	"adlens/web"
	"adlens/web/page"

	"github.com/gin-gonic/gin"
)

// sharePath is the path below which share links show their views, by their tokens.
// The page of a link is at the token; what the page asks is below it, at the paths
// of the API.
const sharePath = "/share/"

// shareIndex is the page of a share link, a template that is served at no address of
// its own.
const shareIndex = "share.html"

var sharePage = template.Must(template.ParseFS(page.Files, shareIndex))

// sharedView is what the page of a share link says before it asks.
type sharedView struct {
	Name, View, Expires string
	Fault               string // why there is none
	Wait                int    // seconds until there may be one; 0 is not known
	Gone                bool   // there is none, whenever it is requested
}

// addShares adds what is read without a key by those who have a share link.
func (s *Server) addShares(engine *gin.Engine) {
	s.addGet(engine, sharePath+":token", s.wrapHandler(s.showShared))
	s.addGet(engine, sharePath+":token/*request", s.wrapHandler(s.answerShared))
}

// admitShared lets the reader of a share link in, and returns the view that it shows.
// The token is in the address: nothing that is answered there is stored or named to
// others.
func (s *Server) admitShared(c *gin.Context) (auth.Caller, answer.SavedView, error) {
	h := c.Writer.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Robots-Tag", "noindex")
	caller, err := s.admitCaller(c, auth.Credentials{Link: auth.Share, Token: c.Param("token")})
	if err != nil {
		return caller, answer.SavedView{}, err
	}
	view, err := answer.ParseView(caller.Key.Request)
	return caller, view, err
}

// showShared answers the page of a share link.
func (s *Server) showShared(c *gin.Context) error {
	caller, view, err := s.admitShared(c)
	if err == nil {
		err = answer.RefuseParameters(answer.ReadQuery(c.Request.URL.RawQuery))
	}
	if err != nil {
		return err
	}
	expires := caller.Key.ExpiresAt.Add(-time.Nanosecond).UTC().Format(time.DateOnly)
	writeSharePage(c, http.StatusOK, sharedView{Name: caller.Key.Name, View: view.String(), Expires: expires})
	return nil
}

// answerShared answers one of the requests that the view of a share link is made of.
func (s *Server) answerShared(c *gin.Context) error {
	caller, view, err := s.admitShared(c)
	if err != nil {
		return err
	}
	sent, faults := answer.ReadQuery(c.Request.URL.RawQuery)
	r, err := view.Request(c.Param("request"), sent, faults)
	if err != nil {
		return err
	}
	r.Format = query.JSON
	return s.writeAnswer(c, caller, r)
}

// writeSharePage writes the page of a share link, or why there is none.
func writeSharePage(c *gin.Context, status int, v sharedView) {
	var body bytes.Buffer
	if err := sharePage.Execute(&body, v); err != nil {
		panic(err) // the view is of a fixed type
	}
	h := c.Writer.Header()
	h.Set("Content-Security-Policy", pagePolicy)
	writeBody(c, status, web.HTML, body.Bytes())
}

// isForPeople reports whether a browser shows the answer at this address to a
// person, who cannot read a problem document.
func isForPeople(c *gin.Context) bool {
	return c.FullPath() == sharePath+":token" && strings.Contains(c.GetHeader("Accept"), "text/html")
}
