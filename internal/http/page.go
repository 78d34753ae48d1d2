package http

import (
	"crypto/sha256"
	"encoding/base64"
	"io/fs"
	"net/http"
	"path"

	"adlens/web/page"

	"github.com/gin-gonic/gin"
)

// pagePolicy lets the page use its own files and ask its own server. What an
// account's texts might smuggle in has nowhere to run and nowhere to send to.
const pagePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// The entry of the page, which is served at / alone.
const pageIndex = "index.html"

// pageKinds are the kinds of the page's files. The system's own table would do
// until somebody changes it.
var pageKinds = map[string]string{
	".html": "text/html; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".svg":  "image/svg+xml",
}

// pageRoutes serves the page at / and its files below /page/. Each file is a
// route of its own, so that nothing else there exists.
func (s *Server) pageRoutes(engine *gin.Engine) {
	files, err := fs.ReadDir(page.Files, ".")
	if err != nil {
		panic(err) // they are part of the binary
	}
	for _, file := range files {
		address := "/page/" + file.Name()
		if file.Name() == pageIndex {
			address = "/"
		}
		s.get(engine, address, pageFile(file.Name()))
	}
}

// pageFile serves one file. It holds nothing of anybody, so whoever keeps it
// may show it again once its tag is confirmed.
func pageFile(name string) gin.HandlerFunc {
	body, err := page.Files.ReadFile(name)
	if err != nil {
		panic(err)
	}
	sum := sha256.Sum256(body)
	tag := `"` + base64.RawURLEncoding.EncodeToString(sum[:16]) + `"`
	kind := pageKinds[path.Ext(name)]
	return func(c *gin.Context) {
		h := c.Writer.Header()
		h.Set("Cache-Control", "no-cache")
		h.Set("Content-Security-Policy", pagePolicy)
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("ETag", tag)
		if holds(c.Request.Header.Values("If-None-Match"), tag) {
			c.Status(http.StatusNotModified)
			c.Writer.WriteHeaderNow()
			return
		}
		c.Data(http.StatusOK, kind, body)
	}
}
