package http

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"io/fs"
	"net/http"
	"path"
	"time"

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

// asset is a file of the page with its tag.
type asset struct {
	name, tag string
	body      []byte
}

// pageRoutes serves the page at / and its files below /page/.
func (s *Server) pageRoutes(engine *gin.Engine) {
	files, err := fs.ReadDir(page.Files, ".")
	if err != nil {
		panic(err) // they are part of the binary
	}
	assets := map[string]asset{}
	for _, file := range files {
		assets[file.Name()] = newAsset(file.Name())
	}
	index := assets[pageIndex]
	delete(assets, pageIndex)
	s.get(engine, "/", index.serve)
	s.get(engine, "/page/:file", func(c *gin.Context) {
		a, known := assets[c.Param("file")]
		if !known {
			s.fail(c, notFound(printable(c.Request.URL.Path)))
			return
		}
		a.serve(c)
	})
}

func newAsset(name string) asset {
	body, err := page.Files.ReadFile(name)
	if err != nil {
		panic(err)
	}
	sum := sha256.Sum256(body)
	return asset{name: name, tag: `"` + base64.RawURLEncoding.EncodeToString(sum[:16]) + `"`, body: body}
}

// serve answers with the file. It holds nothing of anybody, so whoever keeps it
// may show it again once its tag is confirmed.
func (a asset) serve(c *gin.Context) {
	h := c.Writer.Header()
	h.Set("Cache-Control", "no-cache")
	h.Set("Content-Security-Policy", pagePolicy)
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("ETag", a.tag)
	h.Set("Content-Type", pageKinds[path.Ext(a.name)])
	http.ServeContent(c.Writer, c.Request, a.name, time.Time{}, bytes.NewReader(a.body))
}
